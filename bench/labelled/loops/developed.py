"""Sessions in which an agent goes in circles, and ordinary ones that look like it: what the rules
were made with.

Each loop goes on for three more repeats after the call that may be held.
"""

from __future__ import annotations

from labelled.outputs import cargo_failed, go_failed, pytest_failed, pytest_passed, tsc_failed
from labelled.streams import Scenarios, Session, scenario

DEVELOPED: Scenarios = []

REPEATS = 8
DUE = 5


def due_at(s: Session, at: int, due: int = DUE) -> None:
    """Say that the next call of *s* may be held, if *at* repeats are enough."""
    if at == due:
        s.loops()  # type: ignore[attr-defined]


# Loops --------------------------------------------------------------------------------------------


@scenario(DEVELOPED, loop="held")
def tests_fail_the_same_way(s: Session) -> None:
    s.filler()
    for at in range(REPEATS):
        due_at(s, at)
        s.sh("pytest -q", pytest_failed(s, "AssertionError: assert 2 == 3"), 1)


@scenario(DEVELOPED, loop="held")
def tests_fail_while_files_are_read(s: Session) -> None:
    for at in range(REPEATS):
        due_at(s, at)
        s.sh("cargo test", cargo_failed(s, "assertion failed: a == b"), 101)
        s.read(s.path(f"part{at}", "rs"), f"1\tfn part{at}() {{}}\n")


@scenario(DEVELOPED, loop="held")
def the_same_search(s: Session) -> None:
    for at in range(REPEATS):
        due_at(s, at)
        s.sh(f"grep -rn {s.name}_total src", "", 1)
        s.say("Let me look for it once more.")


@scenario(DEVELOPED, loop="held")
def the_same_tool_that_no_list_names(s: Session) -> None:
    for at in range(REPEATS):
        due_at(s, at)
        out = (
            f'{{"request": "{s.random.getrandbits(128):032x}", "pages": [], "took": "{s.took()}"}}'
        )
        s.tool("mcp__wiki__lookup", {"title": f"How {s.name} works", "limit": 5}, out)


@scenario(DEVELOPED, loop="held")
def a_server_that_does_not_start(s: Session) -> None:
    for at in range(REPEATS):
        due_at(s, at)
        out = f"[{s.number(10, 23)}:{s.number(10, 59)}:{s.number(10, 59)}] pid {s.number(1000, 9999)}\n"
        s.sh(
            "node server.js", f"{out}Error: listen EADDRINUSE: address already in use :::3000\n", 1
        )


@scenario(DEVELOPED, loop="held")
def two_reads_in_turn(s: Session) -> None:
    one, other = s.path("one"), s.path("other")
    for at in range(REPEATS):
        due_at(s, at, 4)
        s.read(one, "1\tfrom other import b\n" * 300)
        s.read(other, "1\tfrom one import a\n" * 300)


@scenario(DEVELOPED, loop="held")
def build_and_list_in_turn(s: Session) -> None:
    for at in range(REPEATS):
        due_at(s, at, 4)
        s.sh("make", "make: Nothing to be done for 'all'.\n")
        s.sh("ls build", "ls: cannot access 'build': No such file or directory\n", 2)


@scenario(DEVELOPED, loop="held")
def an_edit_undone_and_redone(s: Session) -> None:
    path = s.path()
    for at in range(6):
        due_at(s, at, 3)
        old, new = ("retries = 3", "retries = 5") if at % 2 == 0 else ("retries = 5", "retries = 3")
        s.edit(path, old, new)
        s.sh(
            "pytest -q",
            pytest_failed(s, "TimeoutError: gave up" if at % 2 == 0 else "RetryError: too few"),
            1,
        )


@scenario(DEVELOPED, loop="held")
def an_edit_taken_back_with_git(s: Session) -> None:
    path = s.path()
    for at in range(5):
        due_at(s, at, 2)
        s.edit(path, "    return total", "    return round(total, 2)")
        s.sh("go test ./...", go_failed(s, "TestTotal", f"got {at}.5"), 1)
        s.sh(f"git checkout -- {path}", "Updated 1 path from the index\n")


@scenario(DEVELOPED, loop="held")
def a_file_that_is_not_there(s: Session) -> None:
    for at in range(REPEATS):
        due_at(s, at)
        s.read(s.path("missing"), error=f"File does not exist: {s.path('missing')}")


# Ordinary sessions --------------------------------------------------------------------------------


@scenario(DEVELOPED)
def tests_between_edits(s: Session) -> None:
    for at in range(9):
        s.edit(s.path(), f"step = {at}", f"step = {at + 1}")
        s.sh("pytest -q", pytest_failed(s, "AssertionError: assert 2 == 3"), 1)
    s.sh("pytest -q", pytest_passed(s))


@scenario(DEVELOPED)
def reading_after_each_edit(s: Session) -> None:
    for at in range(9):
        s.read(s.path(), "1\tdef total():\n" * 50)
        s.edit(s.path(), f"a{at}", f"b{at}")


@scenario(DEVELOPED)
def waiting_for_a_run(s: Session) -> None:
    for _ in range(14):
        s.sh("sleep 30 && gh run view 17 --json status", '{"status":"in_progress"}\n')
    s.sh("gh run view 17 --json status", '{"status":"completed"}\n')


@scenario(DEVELOPED)
def asking_a_tool_how_far_it_is(s: Session) -> None:
    for at in range(12):
        s.tool(
            "mcp__deploy__get_job", {"id": 17}, f'{{"state": "running", "elapsed": "{at * 11}s"}}'
        )
    s.tool("mcp__deploy__get_job", {"id": 17}, '{"state": "done"}')


@scenario(DEVELOPED)
def watching_a_log(s: Session) -> None:
    for at in range(10):
        s.sh("tail -n 3 train.log", f"epoch {at // 4}\n")


@scenario(DEVELOPED)
def retries_that_succeed(s: Session) -> None:
    for _ in range(4):
        s.sh(
            "npm install",
            "npm ERR! network request to https://packages.example/x failed, ETIMEDOUT\n",
            1,
        )
    s.sh("npm install", f"added {s.number(10, 90)} packages in {s.took()}\n")
    s.filler()


@scenario(DEVELOPED)
def a_look_between_different_files(s: Session) -> None:
    for at in range(10):
        s.sh("git status --short", " M src/a.py\n")
        s.read(s.path(f"file{at}"), f"1\tvalue_{at} = {at}\n")


@scenario(DEVELOPED)
def going_through_a_repository(s: Session) -> None:
    for at in range(12):
        s.sh(f"grep -rn word{at} src", f"src/a{at}.py:{at}: word{at}\n")
        s.read(s.path(f"a{at}"), f"1\tword{at}\n" * 30)


@scenario(DEVELOPED)
def a_person_asks_again_and_again(s: Session) -> None:
    for _ in range(9):
        s.human("run the tests again, please")
        s.sh("pytest -q", pytest_failed(s, "AssertionError: assert 2 == 3"), 1)


@scenario(DEVELOPED)
def types_that_get_fewer(s: Session) -> None:
    for at in range(9, 0, -1):
        s.sh(
            "npx tsc --noEmit",
            "\n".join([tsc_failed(s, 2322 + each, f"Type {each}") for each in range(at)]),
            2,
        )
        s.edit(s.path(ending="ts"), f"x{at}", f"y{at}")


@scenario(DEVELOPED)
def installing_one_thing_after_another(s: Session) -> None:
    for name in ("requests", "httpx", "attrs", "rich", "click", "yarl", "idna"):
        s.sh("python app.py", f"ModuleNotFoundError: No module named '{name}'\n", 1)
        s.sh(f"pip install {name}", f"Successfully installed {name}-{s.number(1, 9)}.0\n")


@scenario(DEVELOPED)
def pages_of_a_file(s: Session) -> None:
    for at in range(12):
        s.sh(
            f"sed -n {at * 200 + 1},{at * 200 + 200}p big.sql",
            f"INSERT INTO t VALUES ({at});\n" * 200,
        )


@scenario(DEVELOPED)
def a_browser_that_moves_on(s: Session) -> None:
    for at in range(9):
        s.tool("mcp__browser__click", {"selector": "#next"}, "Clicked #next")
        s.tool(
            "mcp__browser__snapshot",
            {},
            f"- heading: Page {at}\n- list: {s.random.getrandbits(40)}",
        )


@scenario(DEVELOPED)
def screenshots_have_no_text(s: Session) -> None:
    for _ in range(9):
        s.tool("mcp__browser__press", {"key": "Tab"}, "")
        s.tool("mcp__browser__screenshot", {}, "")


@scenario(DEVELOPED)
def commits_one_by_one(s: Session) -> None:
    for at in range(9):
        s.edit(s.path(f"m{at}"), "old_name", "new_name")
        s.sh("git add -A", "")
        s.sh(
            f"git commit -m 'Rename in m{at}'",
            f"[main {s.random.getrandbits(28):07x}] Rename in m{at}\n",
        )
        s.sh("git status --short", "")


@scenario(DEVELOPED)
def bisecting(s: Session) -> None:
    for at in range(7, 0, -1):
        s.sh("make test", "FAIL: test_sum\nmake: *** [test] Error 1\n", 2)
        s.sh(
            "git bisect bad",
            f"Bisecting: {2**at} revisions left to test after this (roughly {at} steps)\n",
        )


@scenario(DEVELOPED)
def the_same_install_in_many_folders(s: Session) -> None:
    for name in ("web", "api", "admin", "docs", "shared", "worker", "cli", "mail"):
        s.sh(f"cd packages/{name} && npm ci", f"added 10 packages in {s.took()}\n")
        s.sh(f"cd packages/{name} && npm test", "ok\n")
