"""What a window holds: each file and command once, under one name, the most used first."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.agents.call import ToolCall
from brim.agents.events import Message, StateSeen, ToolResult
from brim.memory import shell_facts as module
from brim.memory.inventory import Inventory, is_set_up
from brim.memory.shell_facts import LONGEST, shell_facts


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
    assert [(thing, use.uses) for thing, use in inventory.uses.items() if thing[0] == "file"] == [
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
    assert inventory.uses == {}


def run(inventory: Inventory, command: str, *, text: str = "ok", error: bool = False) -> None:
    inventory.take(ToolCall(id=command, name="Bash", kind="shell", input={"command": command}))
    inventory.take(ToolResult(id=command, text=text, error=error))


def said(inventory: Inventory, text: str) -> None:
    inventory.take(Message(role="user", text=text, human=True))


def test_own_words_come_back_before_changed_files_commands_and_files_read_again() -> None:
    inventory = Inventory("/p")
    for _ in range(3):
        read(inventory, "/p/often.py")
    read(inventory, "/p/once.py")
    run(inventory, "make once")
    run(inventory, "make fixed", error=True)
    run(inventory, "make fixed")
    read(inventory, "/p/changed.py", tool="edit")
    said(inventory, "Fix the sum. Never touch src/legacy. We decided to use Decimal.")
    assert [text for _, text in inventory.ranked()] == [
        "We decided to use Decimal.",
        "Never touch src/legacy.",
        "changed.py",
        "make fixed",
        "often.py",
        "Fix the sum.",
        "make once",
        "once.py",
    ]


@pytest.mark.parametrize(
    "command", ["ls -la", "cat a | head", "seq 1 2000", "echo done", "brim memory", "git status"]
)
def test_trivial_commands_are_nothing_to_miss(command: str) -> None:
    inventory = Inventory()
    run(inventory, command)
    assert [kind for kind, _ in inventory.uses] == []


def test_bare_numbers_are_nothing_to_miss() -> None:
    inventory = Inventory()
    said(inventory, "It was 8443 this morning, 1,500 in all.")
    assert inventory.uses == {}


def test_an_interruption_is_no_decision_and_an_answer_is() -> None:
    inventory = Inventory()
    ask = {"questions": [{"question": "Which database?"}]}
    for id, text, refusal in (
        ("1", "[Request interrupted by user]", "interrupt"),
        ("2", "The user doesn't want to proceed with this tool use.", "permission"),
    ):
        inventory.take(ToolCall(id=id, name="AskUserQuestion", kind="question", input=ask))
        inventory.take(ToolResult(id=id, text=text, error=True, refusal=refusal))
        inventory.take(ToolCall(id=id, name="Bash", kind="shell", input={"command": "make x"}))
        inventory.take(ToolResult(id=id, text=text, error=True, refusal=refusal))
    assert inventory.uses == {}
    inventory.take(ToolCall(id="3", name="AskUserQuestion", kind="question", input=ask))
    inventory.take(ToolResult(id="3", text="x", detail={"answers": {"Which database?": "SQLite"}}))
    assert list(inventory.uses) == [("decision", "`Which database?`: SQLite")]


def test_what_brim_refused_did_not_run() -> None:
    inventory = Inventory()
    run(inventory, "npm install", text="Your user doesn't allow `npm install` here.", error=True)
    assert inventory.uses == {}


@pytest.mark.parametrize(
    ("command", "shown", "changed", "worth"),
    [
        ("cat src/a.py src/b.py", ("src/a.py", "src/b.py"), (), ""),
        ("grep -n foo src/a.py", (), (), ""),
        ("ls; git status && pwd", (), (), ""),
        ("git add -A && npm run build", (), (), "git add -A && npm run build"),
        ("sed -i 's/a/b/' src/a.py", (), ("src/a.py",), ""),
        ("make test > out.txt", (), ("out.txt",), "make test > out.txt"),
        ("echo 1 > /dev/shm/app/src/a.py", (), ("/dev/shm/app/src/a.py",), ""),
        ("echo 1 > /dev/stderr", (), (), ""),
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
    facts = shell_facts(command)
    assert (facts.shows, facts.changes, facts.command) == (shown, changed, worth)


def test_commands_for_the_client_are_no_task() -> None:
    assert is_set_up("/model sonnet")
    assert not is_set_up("/fix-issue 12")
    assert not is_set_up("")


@given(st.text(max_size=200))
def test_nothing_in_a_command_raises(command: str) -> None:
    assert len(shell_facts(command).command) <= LONGEST
