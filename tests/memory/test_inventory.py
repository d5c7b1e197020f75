"""What a window holds: each file and command once, under one name, the most used first."""

from __future__ import annotations

import doctest
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.agents.call import ToolCall
from brim.agents.events import Message, StateSeen, ToolResult
from brim.memory import facts, ranking, shell_facts
from brim.memory.inventory import Inventory, is_set_up
from brim.memory.ranking import CHANGED, COMMAND, JUST_NOW, LATEST, OTHER, READ_AGAIN
from brim.memory.shell_facts import LONGEST


def read(inventory: Inventory, path: str, *, tool: str = "read", refusal: str = "") -> None:
    inventory.take(ToolCall(id=path, name="Read", kind=tool, input={"file_path": path}))
    inventory.take(ToolResult(id=path, text="x", refusal=refusal))


@pytest.mark.parametrize("module", [facts, ranking, shell_facts])
def test_the_examples_hold(module: ModuleType) -> None:
    assert doctest.testmod(module).failed == 0


def test_a_file_has_one_name_however_it_is_called() -> None:
    inventory = Inventory()
    inventory.take(StateSeen(name="folder", value="/home/user/shop"))
    read(inventory, "/home/user/shop/src/app.py")
    read(inventory, "./src/app.py")
    assert [(fact, use.uses) for fact, use in inventory.uses.items()] == [
        (("file", "src/app.py"), 2)
    ]


def test_a_file_that_only_words_name_is_nothing_to_miss() -> None:
    inventory = Inventory("/p")
    said(inventory, "It has to be as fast as lib/old.py.")
    assert list(inventory.uses) == [("instruction", "It has to be as fast as lib/old.py.")]


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


def test_the_words_of_a_refusal_are_a_persons_words_and_the_call_is_not() -> None:
    inventory = Inventory("/p")
    words = "The user said:\nNever push by yourself. Wait."
    inventory.take(ToolCall(id="1", name="Bash", kind="shell", input={"command": "git push"}))
    inventory.take(ToolResult(id="1", text=words, error=True, refusal="permission"))
    assert list(inventory.uses) == [("instruction", "Never push by yourself.")]


def test_an_accepted_plan_is_nothing_to_miss() -> None:
    inventory = Inventory("/p")
    plan = {"plan": "# Never use floats"}
    inventory.take(ToolCall(id="1", name="ExitPlanMode", kind="plan", input=plan))
    inventory.take(ToolResult(id="1", text="User has approved your plan."))
    assert inventory.uses == {}


def test_absolute_and_relative_paths_of_one_file_are_one_where_the_client_names_no_folder() -> None:
    inventory = Inventory()
    read(inventory, "/home/lena/notes/app/main.kt", tool="edit")
    read(inventory, "/home/lena/notes/sync/queue.kt")
    run(inventory, "cat app/main.kt")
    read(inventory, "/home/lena/notes/sync/queue.kt")
    files = {text: use.uses for (kind, text), use in inventory.uses.items() if kind == "file"}
    assert files == {"app/main.kt": 2, "sync/queue.kt": 2}
    assert inventory.uses[("file", "app/main.kt")].changed


def test_the_bare_name_in_a_call_is_a_file_of_its_own() -> None:
    inventory = Inventory("/p")
    read(inventory, "/p/tests/radio/prj.conf")
    read(inventory, "prj.conf", tool="edit")
    files = {text: use.changed for (kind, text), use in inventory.uses.items() if kind == "file"}
    assert files == {"tests/radio/prj.conf": False, "prj.conf": True}


def test_commands_that_differ_in_numbers_are_one_in_the_latest_words() -> None:
    inventory = Inventory("/p")
    for count in (10, 30, 60):
        run(inventory, f"pytest -q --count {count}")
    assert [(fact, use.uses) for fact, use in inventory.uses.items()] == [
        (("command", "pytest -q --count 60"), 3)
    ]


def levels(inventory: Inventory) -> dict[str, int]:
    return {text: level for (_, text), level in inventory.levels(inventory.uses).items()}


def test_a_command_that_failed_and_worked_in_other_words_does_not_come_back() -> None:
    inventory = Inventory("/p")
    run(inventory, "stack test", error=True)
    run(inventory, "npm run lint", error=True)
    run(inventory, "stack --resolver lts-21 test")
    run(inventory, "npm run test")
    assert levels(inventory) == {
        "stack test": OTHER,
        "npm run lint": COMMAND,
        "stack --resolver lts-21 test": LATEST,
        "npm run test": LATEST,
    }


def test_each_command_of_a_line_counts_by_itself() -> None:
    inventory = Inventory("/p")
    run(inventory, "cd web && pnpm lint && pnpm test 2>&1 | tail -5")
    run(inventory, "pnpm lint; git status")
    assert {text: use.uses for (_, text), use in inventory.uses.items()} == {
        "pnpm lint": 2,
        "pnpm test": 1,
    }
    assert levels(inventory) == {"pnpm lint": COMMAND, "pnpm test": LATEST}


def test_a_command_with_a_value_in_quotes_is_done_with() -> None:
    inventory = Inventory("/p")
    run(inventory, "go test ./... -run 'TestSum'")
    run(inventory, "go test ./... -run 'TestSum'")
    assert levels(inventory) == {"go test ./... -run 'TestSum'": OTHER}


def test_a_long_command_that_ran_once_was_about_one_thing() -> None:
    inventory = Inventory("/p")
    run(inventory, "make test")
    run(inventory, "make test ONLY=sum SEED=1 LEVEL=2 JOBS=4")
    assert levels(inventory) == {
        "make test": LATEST,
        "make test ONLY=sum SEED=1 LEVEL=2 JOBS=4": OTHER,
    }


@pytest.mark.parametrize(
    "path",
    [
        "/tmp/pr_body.txt",
        "/home/lena/.claude/plans/nifty-sniffing-pelican.md",
        "web/node_modules/zod/index.d.ts",
        "tests/new-$i.js",
    ],
)
def test_a_file_that_is_not_the_projects_own_does_not_come_back(path: str) -> None:
    inventory = Inventory("/p")
    read(inventory, path, tool="edit")
    read(inventory, ".github/workflows/ci.yml", tool="edit")
    assert levels(inventory) == {path: OTHER, ".github/workflows/ci.yml": CHANGED}


def test_what_was_used_long_ago_does_not_come_back() -> None:
    inventory = Inventory("/p")
    read(inventory, "/p/changed.py", tool="edit")
    read(inventory, "/p/read.py")
    run(inventory, "make broken", error=True)
    for _ in range(2):
        run(inventory, "make again")
        read(inventory, "/p/worked_on.py", tool="edit")
    after_a_while = dict.fromkeys(["changed.py", "worked_on.py"], CHANGED)
    after_a_while |= {"make again": COMMAND, "read.py": OTHER, "make broken": OTHER}
    long_after = after_a_while | {"changed.py": OTHER, "make again": OTHER}
    for expected in (after_a_while, long_after):
        for at in range(JUST_NOW):
            read(inventory, f"/p/{at}.py")
        found = levels(inventory)
        assert {text: found[text] for text in expected} == expected


def test_a_file_that_lost_words_of_a_person_are_about_comes_back() -> None:
    inventory = Inventory("/p")
    for name in ("registry", "bid", "server"):
        read(inventory, f"/p/lib/{name}.ex")
    said(inventory, "Never call it directly, everything goes through Shop.Registry.")
    for at in range(JUST_NOW):
        read(inventory, f"/p/{at}.py")
    assert levels(inventory)["lib/registry.ex"] == READ_AGAIN
    assert levels(inventory)["lib/bid.ex"] == OTHER


def test_an_interruption_is_nobodys_words() -> None:
    inventory = Inventory("/p")
    said(inventory, "[Request interrupted by user]")
    said(inventory, "[Request interrupted by user for tool use]")
    assert inventory.uses == {}


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
        ("git add -A && npm run build", (), (), "npm run build"),
        ("for f in *.py; do black $f; done", (), (), ""),
        ("make 'a && b'; make \"c;d\"", (), (), "make 'a && b' | make \"c;d\""),
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
    facts = shell_facts.shell_facts(command)
    assert (facts.shows, facts.changes) == (shown, changed)
    assert " | ".join(facts.commands) == worth


def test_commands_for_the_client_are_no_task() -> None:
    assert is_set_up("/model sonnet")
    assert not is_set_up("/fix-issue 12")
    assert not is_set_up("")


@given(st.text(max_size=200))
def test_nothing_in_a_command_raises(command: str) -> None:
    assert all(len(text) <= LONGEST for text in shell_facts.shell_facts(command).commands)
