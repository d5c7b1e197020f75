"""Written when the marks in ``unseen`` had been corrected.

A loop is marked at the earliest call that a rule names: five same results, eight calls in turn, an
edit made again.
"""

from __future__ import annotations

from labelled.loops.developed import REPEATS, due_at
from labelled.outputs import pytest_failed
from labelled.streams import Scenarios, Session, scenario

UNSEEN_2: Scenarios = []


# Loops --------------------------------------------------------------------------------------------


@scenario(UNSEEN_2, loop="held")
def one_test_among_searches(s: Session) -> None:
    for at in range(REPEATS):
        due_at(s, at)
        s.sh(
            "pytest tests/test_money.py -x",
            pytest_failed(s, "ZeroDivisionError: division by zero"),
            1,
        )
        s.sh(f"rg -n round_{at} src", f"src/m{at}.py:{at + 3}: round_{at}()\n")


@scenario(UNSEEN_2, loop="held")
def a_long_output_each_time(s: Session) -> None:
    for at in range(REPEATS):
        due_at(s, at)
        rows = "".join([f"row {row}: {row * 31 % 97} value\n" for row in range(1_500)])
        s.sh("./report --all", f"{rows}took {s.took()}\n")


@scenario(UNSEEN_2, loop="held")
def an_agent_that_explains_itself(s: Session) -> None:
    for at in range(REPEATS):
        due_at(s, at)
        given = {"library": "left-pad", "topic": f"padding of {s.name}", "tokens": 5000}
        s.tool(
            "mcp__docs__resolve",
            given,
            f"No library found. (request {s.random.getrandbits(64):016x})",
            True,
        )
        s.say(f"Attempt {at}: the library may be there under this name.")


@scenario(UNSEEN_2, loop="held")
def a_lock_that_stays(s: Session) -> None:
    for at in range(REPEATS + 2):
        due_at(s, at)
        out = f"Waiting for lock, held by process {s.number(100, 9999)} (apt)\nE: Could not get lock /var/lib/dpkg/lock\n"
        s.sh("apt-get install -y jq", out, 100)


@scenario(UNSEEN_2, loop="held")
def a_notebook_cell_run_again(s: Session) -> None:
    for at in range(REPEATS):
        due_at(s, at)
        error = f"KeyError: 'price'\n  File \"/tmp/ipykernel_{s.number(1000, 99999)}/{s.number(10**8, 10**9)}.py\", line 3"
        s.tool("mcp__jupyter__execute_cell", {"cell": 4, "code": "df['price'].mean()"}, error, True)


@scenario(UNSEEN_2, loop="held")
def two_tools_in_turn(s: Session) -> None:
    for at in range(REPEATS):
        due_at(s, at, 4)
        s.tool("find_symbol", {"name": f"{s.name}Service"}, "[]")
        s.tool("list_dir", {"path": "."}, "src\ntests\nREADME.md")


@scenario(UNSEEN_2, loop="held")
def an_import_put_in_and_out(s: Session) -> None:
    path, old = s.path("view", "ts"), "import { a } from './a'\n"
    for at in range(7):
        due_at(s, at, 3)
        new = f"{old}import {{ b }} from './b'\n"
        s.edit(path, *((old, new) if at % 2 == 0 else (new, old)))
        s.sh("npx tsc --noEmit", f"src/view.ts({at + 1},9): error TS{2300 + at % 2}: no\n", 2)


@scenario(UNSEEN_2, loop="held")
def a_fix_that_is_restored_each_time(s: Session) -> None:
    path = s.path("queue", "go")
    for at in range(5):
        due_at(s, at, 2)
        s.edit(path, "mu.Lock()", "mu.RLock()")
        s.sh(
            "go test -race ./queue",
            f"WARNING: DATA RACE\nread at 0x{s.random.getrandbits(40):012x}\nFAIL\n",
            1,
        )
        s.sh("git restore .", "")


@scenario(UNSEEN_2, loop="held")
def the_same_file_written_again(s: Session) -> None:
    for at in range(REPEATS):
        due_at(s, at)
        s.write(s.path("Dockerfile", "txt"), "FROM python:3.12\nRUN pip install app\n")


@scenario(UNSEEN_2, loop="held")
def a_deployment_that_is_refused(s: Session) -> None:
    for at in range(REPEATS):
        due_at(s, at)
        stamp = f"2026-11-15T10:{s.number(10, 59)}:{s.number(10, 59)}Z"
        s.sh(
            "fly deploy --remote-only",
            f"{stamp} Error: app not found (request {s.random.getrandbits(80):020x})\n",
            1,
        )
        s.sh("fly auth whoami", "user@example.com\n") if at in (1, 3) else s.say(
            "Deploying once more."
        )


# Ordinary sessions --------------------------------------------------------------------------------


@scenario(UNSEEN_2)
def migrations_one_by_one(s: Session) -> None:
    for at in range(8):
        s.write(s.path(f"{at:04}_change", "sql"), f"ALTER TABLE t ADD c{at} int;\n")
        s.sh("make migrate", "OK\n")
        s.sh("make test-db", "ok\n")


@scenario(UNSEEN_2)
def a_rollout_in_a_cluster(s: Session) -> None:
    for _ in range(9):
        s.sh("kubectl get pods -n shop", "web-7d9 0/1 ContainerCreating 0 10s\n")
    s.sh("kubectl get pods -n shop", "web-7d9 1/1 Running 0 90s\n")


@scenario(UNSEEN_2)
def a_pipeline_that_is_asked_for(s: Session) -> None:
    for at in range(10):
        s.tool(
            "mcp__ci__pipeline",
            {"ref": "main"},
            f'{{"jobs": 12, "finished": {at // 3}, "eta_seconds": {90 - at}}}',
        )


@scenario(UNSEEN_2)
def the_same_page_of_different_items(s: Session) -> None:
    for at in range(10):
        s.tool("mcp__shop__get_item", {"id": at}, '{"stock": 0, "price": 5}')


@scenario(UNSEEN_2)
def a_debugger(s: Session) -> None:
    for at in range(9):
        s.tool("mcp__gdb__next", {}, f"{at + 20}\t  total += items[{at}];")
        s.tool("mcp__gdb__print", {"expression": "total"}, f"$1 = {at * 3}")


@scenario(UNSEEN_2)
def checking_each_branch(s: Session) -> None:
    for at in range(7):
        s.sh(f"git checkout feature-{at}", f"Switched to branch 'feature-{at}'\n")
        s.sh("npm test", "1 failing: totals\n", 1)


@scenario(UNSEEN_2)
def commands_in_many_folders(s: Session) -> None:
    for at in range(8):
        s.sh(f"git -C repos/r{at} pull", "Already up to date.\n")


@scenario(UNSEEN_2)
def flaky_network_then_fine(s: Session) -> None:
    for _ in range(6):
        s.sh(
            "git push origin main",
            "fatal: unable to access: Could not resolve host: github.com\n",
            128,
        )
    s.sh("git push origin main", "Everything up-to-date\n")


@scenario(UNSEEN_2)
def editing_through_the_shell(s: Session) -> None:
    for at in range(9):
        s.sh(f"sed -i 's/a{at}/b{at}/' src/app.js", "")
        s.sh("node --test", "not ok 1 - totals\n# fail 1\n", 1)


@scenario(UNSEEN_2)
def waiting_with_a_tool(s: Session) -> None:
    for _ in range(8):
        s.tool("wait", {"seconds": 30}, "done")
        s.tool("mcp__queue__length", {"name": "mail"}, "17")


@scenario(UNSEEN_2)
def a_person_who_corrects(s: Session) -> None:
    for at in range(7):
        s.sh("python plot.py", "saved plot.png\n")
        s.human(f"no, make it {at} percent wider")
        s.edit(s.path("plot"), f"width={at}", f"width={at + 1}")


@scenario(UNSEEN_2)
def typing_into_a_form(s: Session) -> None:
    for at in range(9):
        s.tool("mcp__browser__type", {"selector": f"#f{at}", "text": "x"}, "ok")
        s.tool("mcp__browser__press_key", {"key": "Tab"}, "ok")


@scenario(UNSEEN_2)
def counting_down_lint_errors(s: Session) -> None:
    for at in range(9, 0, -1):
        s.sh("ruff check .", f"Found {at} errors.\n", 1)
        s.sh(
            f"ruff check . --fix --select E{at}",
            f"Found 1 error (1 fixed, {at - 1} remaining).\n",
            1,
        )


@scenario(UNSEEN_2)
def reading_a_book_of_docs(s: Session) -> None:
    for at in range(12):
        s.read(s.path(f"chapter{at}", "md"), f"# Chapter {at}\n" * 40)
        s.read(s.path("index", "md"), "# Index\n" * 40)


@scenario(UNSEEN_2)
def rerunning_a_generator(s: Session) -> None:
    for at in range(6):
        s.write(s.path("schema", "proto"), f"message M{at} {{}}\n")
        s.sh("buf generate", "")
        s.sh("go build ./...", "")


@scenario(UNSEEN_2)
def a_game_that_is_played(s: Session) -> None:
    for _ in range(8):
        s.tool("mcp__game__move", {"direction": "north"}, f"You are in room {s.number(1, 500)}.")


@scenario(UNSEEN_2)
def undoing_once(s: Session) -> None:
    s.edit(s.path(), "timeout=5", "timeout=50")
    s.sh("pytest -q", pytest_failed(s, "TimeoutError"), 1)
    s.edit(s.path(), "timeout=50", "timeout=5")
    s.edit(s.path(), "retry=0", "retry=3")
    s.sh("pytest -q", pytest_failed(s, "TimeoutError"), 1)
    s.filler(4)
