"""What a window holds: each file and command once, under one name, the most used first."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.agents.call import ToolCall
from brim.agents.events import Message, StateSeen, ToolResult
from brim.memory import inventory as module
from brim.memory.inventory import LONGEST, Inventory, is_set_up, told_in


def read(inventory: Inventory, path: str, *, tool: str = "read", refusal: str = "") -> None:
    inventory.take(ToolCall(id=path, name="Read", kind=tool, input={"file_path": path}))
    inventory.take(ToolResult(id=path, text="x", refusal=refusal))


def test_the_examples_hold() -> None:
    assert doctest.testmod(module).failed == 0


def test_a_file_has_one_name_however_it_is_called() -> None:
    inventory = Inventory()
    inventory.take(StateSeen(name="folder", value="/home/user/shop"))
    inventory.take(Message(role="user", text="Look at app.py", human=True))
    read(inventory, "/home/user/shop/src/app.py")
    read(inventory, "./src/app.py")
    inventory.take(Message(role="user", text="Is app.py done?", human=True))
    assert [(thing, held.uses) for thing, held in inventory.held.items()] == [
        (("file", "src/app.py"), 4)
    ]


def test_what_was_changed_ranks_above_what_was_read_as_often() -> None:
    inventory = Inventory("/p")
    read(inventory, "/p/changed.py", tool="edit")
    for name in ("/p/read.py", "/p/latest.py", "/p/read.py"):
        read(inventory, name)
    assert [text for _, text in inventory.ranked()] == ["changed.py", "read.py", "latest.py"]


def test_a_call_that_was_refused_used_nothing() -> None:
    inventory = Inventory("/p")
    read(inventory, "/p/a.py", refusal="interrupt")
    assert inventory.held == {}


@pytest.mark.parametrize(
    ("command", "shown", "changed", "worth"),
    [
        ("cat src/a.py src/b.py", ("src/a.py", "src/b.py"), (), ""),
        ("grep -n foo src/a.py", (), (), ""),
        ("ls; git status && pwd", (), (), ""),
        ("git add -A && npm run build", (), (), "git add -A && npm run build"),
        ("sed -i 's/a/b/' src/a.py", (), ("src/a.py",), ""),
        ("make test > out.txt", (), ("out.txt",), "make test > out.txt"),
        ("/bin/bash -lc 'cargo test --all'", (), (), "cargo test --all"),
        ("cd web && pnpm test | grep -E 'FAIL|ERROR' | head", (), (), "pnpm test"),
        ("python - <<'E'\nprint(1)\nE", (), (), ""),
        ("python -c '" + "x" * LONGEST + "'", (), (), ""),
        ("", (), (), ""),
    ],
)
def test_what_a_command_tells(
    command: str, shown: tuple[str, ...], changed: tuple[str, ...], worth: str
) -> None:
    told = told_in(command)
    assert (told.shown, told.changed, told.command) == (shown, changed, worth)


def test_commands_for_the_client_are_no_task() -> None:
    assert is_set_up("/model sonnet")
    assert not is_set_up("/fix-issue 12")
    assert not is_set_up("")


@given(st.text(max_size=200))
def test_nothing_in_a_command_raises(command: str) -> None:
    assert len(told_in(command).command) <= LONGEST
