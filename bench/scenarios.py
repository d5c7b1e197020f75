"""The sessions that the rules for dead ends were made with. How well the rules do is told by ``held_out``."""

from __future__ import annotations

from streams import Scenarios, Session, scenario

CLAUDE = ("claude", "claude-bare")
DEVELOPED: Scenarios = []


def _pytest(s: Session, error: str, test: str = "test_total", failed: int = 1) -> str:
    line = s.number(10, 400)
    return (
        f"============================= test session starts ==============================\n"
        f"collected 12 items\n\ntests/test_{s.name}.py F\n\n=================================== FAILURES ===\n"
        f"    def {test}():\n>       assert run() == 3\nE       {error}\n\ntests/test_{s.name}.py:{line}: AssertionError\n"
        f"=========================== short test summary info ============================\n"
        f"FAILED tests/test_{s.name}.py::{test} - {error}\n"
        f"========================= {failed} failed, {12 - failed} passed in {s.took()} =========================\n"
    )


def _passed(s: Session) -> str:
    return f"........\n12 passed in {s.took()}\n"


# --- dead ends ------------------------------------------------------------------------------------------------------


@scenario(DEVELOPED, same_call="suspect")
def same_script_fails_again(s: Session) -> None:
    module = s.pick("yaml", "requests", "numpy")
    for _ in range(s.number(3, 5)):
        s.sh(
            f"python scripts/{s.name}.py",
            f"Traceback (most recent call last):\n  File \"{s.name}.py\", line {s.number(1, 90)}, in <module>\nModuleNotFoundError: No module named '{module}'",
            1,
        )
        s.filler()
    s.end()


@scenario(DEVELOPED, same_call="resolved")
def same_install_fails_then_works(s: Session) -> None:
    for _ in range(3):
        s.sh(
            "npm install",
            f"npm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree\nnpm error A complete log of this run can be found in: /home/user/.npm/_logs/2026-11-15T0{s.number(1, 9)}_12_11_111Z-debug-0.log",
            1,
        )
        s.filler()
    s.sh("npm install", f"added 120 packages in {s.took()}")
    s.end()


@scenario(DEVELOPED, same_call="suspect", shapes=CLAUDE)
def same_fetch_fails(s: Session) -> None:
    for _ in range(3):
        s.tool(
            "WebFetch",
            {"url": f"https://example.com/{s.name}", "prompt": "read"},
            "Request failed: invalid certificate for host",
            True,
        )
        s.filler()


@scenario(DEVELOPED, same_error="suspect")
def one_error_from_many_commands(s: Session) -> None:
    for command in (
        "pip install lxml",
        "pip3 install lxml",
        "python -m pip install --user lxml",
        "pip install lxml==5.1",
        "sudo pip install lxml --upgrade",
    ):
        s.sh(command, "error: externally-managed-environment\n\n× This environment is externally managed", 1)
        s.filler()
    s.end()


@scenario(DEVELOPED, same_error="suspect")
def one_missing_tool_however_called(s: Session) -> None:
    for flags in ("--version", "build .", "run hello", "info"):
        s.sh(f"podman {flags}", "bash: line 1: podman: command not found", 127)
        s.filler()


@scenario(DEVELOPED, alternating="suspect", shapes=CLAUDE)
def two_reads_in_a_circle(s: Session) -> None:
    one, other = s.path("alpha"), s.path("beta")
    for _ in range(4):
        s.read(one, "1\tfrom beta import run\n")
        s.say("The definition must be in the other file.")
        s.read(other, "1\tfrom alpha import run\n")
    s.end()


@scenario(DEVELOPED, alternating="suspect")
def two_commands_in_a_circle(s: Session) -> None:
    for _ in range(5):
        s.sh("git status --short", " M src/a.py\n")
        s.sh("git diff src/a.py", "-a\n+b\n")


@scenario(DEVELOPED, missed_edit="suspect", shapes=CLAUDE)
def edits_miss_their_text(s: Session) -> None:
    for i in range(3):
        s.edit(
            s.path(),
            f"def run(a{i}):",
            "def run(b):",
            error=f"String to replace not found in file.\nString: def run(a{i}):",
        )
        s.filler()
    s.end()


@scenario(DEVELOPED, missed_edit="resolved", shapes=CLAUDE)
def edits_miss_then_fit(s: Session) -> None:
    for i in range(4):
        s.edit(s.path(), f"x = {i}", "x = 9", error=f"String to replace not found in file.\nString: x = {i}")
        s.read(s.path(), "1\tx = 77\n")
    s.edit(s.path(), "x = 77", "x = 9")
    s.end()


@scenario(DEVELOPED, undone_edit="confirmed", shapes=CLAUDE)
def edit_is_reversed(s: Session) -> None:
    old, new = "return cache[key]", "return lock(cache)[key]"
    s.edit(s.path(), old, new)
    s.sh("pytest -q", _pytest(s, "RuntimeError: dead lock"), 1)
    s.filler()
    s.edit(s.path(), new, old)
    s.filler()
    s.end()


@scenario(DEVELOPED, undone_edit="confirmed", shapes=CLAUDE)
def file_is_written_back(s: Session) -> None:
    first, second = "def run():\n    return 1\n", "async def run():\n    return await one()\n"
    s.write(s.path(), first)
    s.write(s.path(), second)
    s.sh("python -m app", "TypeError: object is not awaitable", 1)
    s.write(s.path(), first)
    s.end()


@scenario(DEVELOPED, undone_edit="confirmed")
def git_takes_edits_back(s: Session) -> None:
    s.edit(s.path(), "a = 1", "a = fancy(1)")
    s.edit(s.path("other"), "b = 1", "b = fancy(2)")
    s.sh("pytest -q", _pytest(s, "ImportError: cannot import name 'fancy'"), 1)
    command = s.pick(
        f"git checkout -- {s.path()}",
        "git checkout .",
        f"git restore {s.path()}",
        "git reset --hard",
        "git stash && git stash drop",
        f"git checkout HEAD {s.path()[19:]}",
    )
    s.sh(command, "")
    s.filler()
    s.end()


@scenario(DEVELOPED, failing_test="confirmed", allows=("same-call",))
def test_fails_the_same_after_edits(s: Session) -> None:
    command = s.pick(
        f"pytest tests/test_{s.name}.py -x", f"python -m pytest tests/test_{s.name}.py 2>&1 | tail -30", "pytest -q"
    )
    code = 0 if "tail" in command else 1
    s.sh(command, _pytest(s, "assert 2 == 3"), code)
    for new in ("value + 1", "round(value)", "int(value) + 1"):
        s.filler()
        s.edit(s.path(), "value", new)
        s.sh(command, _pytest(s, "assert 2 == 3"), code)
    s.end()


@scenario(DEVELOPED, failing_test="confirmed", allows=("same-call",))
def jest_fails_the_same_after_edits(s: Session) -> None:
    def out() -> str:
        return f"FAIL src/{s.name}.test.ts\n  ● {s.name} › totals\n\n    expect(received).toBe(expected)\n\n    Expected: 3\n    Received: 2\n\n      at Object.<anonymous> (src/{s.name}.test.ts:{s.number(3, 99)}:7)\n\nTests:       1 failed, 4 passed, 5 total\nTime:        {s.took()}"

    s.sh(f"npx jest src/{s.name}.test.ts", out(), 1)
    for new in ("Math.floor(a)", "Math.round(a)"):
        s.edit(s.path(ending="ts"), "a", new)
        s.filler()
        s.sh(f"npx jest src/{s.name}.test.ts", out(), 1)
    s.end()


@scenario(DEVELOPED, sub_agent="confirmed", shapes=CLAUDE)
def sub_agent_fails(s: Session) -> None:
    s.agent(
        f"Find the {s.name}",
        s.pick(
            "Agent failed: maximum number of turns reached",
            "Error: the agent could not finish: context window exceeded",
        ),
        True,
    )
    s.end()


@scenario(DEVELOPED, sub_agent="confirmed", shapes=CLAUDE)
def sub_agent_in_the_background_fails(s: Session) -> None:
    call = s.agent("Port the tests", "Async agent launched successfully.", detail={"isAsync": True, "agentId": "a77"})
    s.task("task_started", task_id="a77", tool_use_id=call, task_type="local_agent")
    s.filler()
    s.task(
        "task_notification", task_id="a77", tool_use_id=call, status="failed", summary="could not finish: no such tool"
    )
    s.end()


@scenario(DEVELOPED, backtrack="confirmed", shapes=CLAUDE)
def person_rewinds(s: Session) -> None:
    s.human("make the parser faster")
    s.edit(s.path(), "slow()", "fast()")
    s.filler()
    s.human("/rewind")
    s.human("do it without new dependencies")
    s.end()


# --- look-alikes ----------------------------------------------------------------------------------------------------


@scenario(DEVELOPED, shapes=CLAUDE)
def cascade_of_one_failure(s: Session) -> None:
    for _ in range(4):
        calls = [
            ("Read", {"file_path": s.path(f"f{i}")}, "<tool_use_error>Sibling tool call errored</tool_use_error>", True)
            for i in range(4)
        ]
        s.together(
            [
                ("Bash", {"command": f"ls {s.number(1, 9999)}"}, "Exit code 2\nls: cannot access: No such file", True),
                *calls,
            ]
        )


@scenario(DEVELOPED, shapes=CLAUDE)
def permission_is_refused(s: Session) -> None:
    for _ in range(5):
        s.tool(
            "Bash",
            {"command": "rm -rf build"},
            "The user doesn't want to proceed with this tool use. The tool use was rejected.",
            True,
        )
        s.filler()


@scenario(DEVELOPED, shapes=CLAUDE)
def person_interrupts(s: Session) -> None:
    for _ in range(4):
        s.tool("Bash", {"command": "npm run dev"}, "[Request interrupted by user for tool use]", True)
        s.human("wait")
        s.human("go on")


@scenario(DEVELOPED)
def polling_until_ready(s: Session) -> None:
    url = s.pick("curl -sf http://localhost:8080/health", "curl -f https://api.example.com/healthz", "pg_isready -h db")
    for _ in range(s.number(3, 7)):
        s.sh(url, "curl: (7) Failed to connect to localhost port 8080: Connection refused", 7)
        s.sh("sleep 2")
    s.sh(url, '{"status":"ok"}')


@scenario(DEVELOPED)
def ci_run_progresses(s: Session) -> None:
    for i in range(6):
        s.sh("gh run view 88 --json status", f'{{"status":"in_progress","step":{i}}}')
        s.sh("sleep 30")


@scenario(DEVELOPED)
def red_then_green(s: Session) -> None:
    command = f"pytest tests/test_{s.name}.py -q"
    s.write(f"/home/user/project/tests/test_{s.name}.py", "def test_total(): assert total() == 3")
    s.sh(command, _pytest(s, f"ImportError: cannot import name 'total' from '{s.name}'"), 1)
    s.edit(s.path(), "pass", "def total(): pass")
    s.sh(command, _pytest(s, "assert None == 3"), 1)
    s.edit(s.path(), "def total(): pass", "def total(): return 3")
    s.sh(command, _passed(s))
    s.end()


@scenario(DEVELOPED)
def several_red_green_cycles(s: Session) -> None:
    for i in range(5):
        test = f"test_case_{i}"
        s.edit(f"/home/user/project/tests/test_{s.name}.py", f"# {i}", f"def {test}(): ...")
        s.sh("pytest -q", _pytest(s, f"NameError: name 'step{i}' is not defined", test), 1)
        s.edit(s.path(), f"# step {i}", f"def step{i}(): ...")
        s.sh("pytest -q", _passed(s))
    s.end()


@scenario(DEVELOPED)
def network_fails_then_works(s: Session) -> None:
    command = s.pick("npm ci", "pip install -r requirements.txt", "git fetch origin")
    for _ in range(s.number(2, 4)):
        s.sh(
            command,
            s.pick(
                "npm error code ECONNRESET\nnpm error network aborted",
                "fatal: unable to access: Could not resolve host: github.com",
                "ReadTimeoutError: Read timed out.",
            ),
            1,
        )
    s.sh(command, "done")


@scenario(DEVELOPED)
def same_command_in_other_folders(s: Session) -> None:
    for package in ("api", "web", "worker", "admin"):
        s.sh(f"cd /home/user/project/{package}")
        s.sh("cat setup.cfg", "cat: setup.cfg: No such file or directory", 1)


@scenario(DEVELOPED)
def searches_without_a_match(s: Session) -> None:
    for word in ("alpha", "beta", "gamma", "delta", "delta", "delta"):
        s.sh(f"grep -rn {word} src | head -5" if word == "beta" else f"grep -rn {word} src", "", 1)
    for _ in range(3):
        s.sh("test -f .env", "", 1)
        s.sh("diff a.txt b.txt", "1c1\n< a\n---\n> b", 1)


@scenario(DEVELOPED, shapes=CLAUDE)
def looking_for_a_file_in_many_places(s: Session) -> None:
    for name in ("package.json", "pyproject.toml", "Cargo.toml", "go.mod", "pom.xml"):
        s.read(f"/home/user/project/{name}", error="File does not exist.")


@scenario(DEVELOPED)
def linter_with_other_findings(s: Session) -> None:
    for i in range(5):
        s.sh("ruff check .", f"src/a.py:{s.number(1, 99)}:1: F{400 + i} unused import\nFound {5 - i} errors.", 1)
        s.edit(s.path(), f"import x{i}", "")
    s.sh("ruff check .", "All checks passed!")


@scenario(DEVELOPED, shapes=CLAUDE)
def another_edit_of_the_same_place(s: Session) -> None:
    texts = ["timeout = 5", "timeout = 10", "timeout = 30", "timeout = config.timeout"]
    for old, new in zip(texts, texts[1:], strict=False):
        s.edit(s.path(), old, new)
        s.filler()
    s.end()


@scenario(DEVELOPED)
def git_moves_between_branches(s: Session) -> None:
    s.edit(s.path(), "a = 1", "a = 2")
    s.sh("git commit -am 'set a'", "[main 1a2b3c4] set a")
    for command in (
        "git checkout -b feature",
        "git checkout main",
        f"git checkout {s.name}-work",
        "git restore --staged .",
        "git reset --hard origin/main",
    ):
        s.sh(command, "ok")
    s.end()


@scenario(DEVELOPED)
def stash_and_pop(s: Session) -> None:
    s.edit(s.path(), "a = 1", "a = 2")
    s.sh(
        s.pick("git stash", "git stash push -m wip", "git stash -u && make test; git stash pop"),
        "Saved working directory",
    )
    s.sh("pytest -q", _passed(s))
    s.sh("git stash pop", "Dropped refs/stash@{0}")
    s.end()


@scenario(DEVELOPED)
def files_not_edited_here_are_restored(s: Session) -> None:
    s.edit(s.path(), "a = 1", "a = 2")
    s.sh("npm install", "changed 3 packages")
    s.sh("git checkout package-lock.json", "Updated 1 path from the index")
    s.end()


@scenario(DEVELOPED, shapes=CLAUDE)
def person_asks_to_undo(s: Session) -> None:
    s.edit(s.path(), "return a", "return b")
    s.human("No, put that back please")
    if s.number(0, 1):
        s.edit(s.path(), "return b", "return a")
    else:
        s.sh(f"git checkout -- {s.path()}")
    s.end()


@scenario(DEVELOPED, shapes=CLAUDE)
def probes_are_taken_out(s: Session) -> None:
    old = "value = load(key)"
    new = old + s.pick('\nprint("value", value)', "\nconsole.log(value)", "\nlogger.debug(value)\nbreakpoint()")
    s.edit(s.path(), old, new)
    s.sh("python -m app", "value 3")
    s.edit(s.path(), new, old)
    s.end()


@scenario(DEVELOPED, shapes=CLAUDE)
def edit_is_put_back_after_a_look(s: Session) -> None:
    old, new = "if a > b:", "if a >= b:"
    s.edit(s.path(), old, new)
    s.sh("pytest -q", _passed(s))
    s.edit(s.path(), new, old)
    s.sh("pytest -q", _pytest(s, "assert False"), 1)
    s.edit(s.path(), old, new)
    s.sh("pytest -q", _passed(s))
    s.end()


@scenario(DEVELOPED)
def broken_test_elsewhere(s: Session) -> None:
    out = "FAILED tests/test_network.py::test_dns - OSError: no route to host\n1 failed, 80 passed in 3.1s"
    for i in range(4):
        s.edit(s.path(), f"step {i}", f"step {i + 1}")
        s.sh("pytest -q", out, 1)
    s.end()


@scenario(DEVELOPED, shapes=CLAUDE)
def files_must_be_read_first(s: Session) -> None:
    for i in range(5):
        s.edit(s.path(f"f{i}"), "a", "b", error="File has not been read yet. Read it first before writing to it.")
        s.read(s.path(f"f{i}"), "1\ta\n")
        s.edit(s.path(f"f{i}"), "a", "b")


@scenario(DEVELOPED)
def numbers_tell_progress(s: Session) -> None:
    for i in range(4):
        s.sh("python migrate.py", f"Error: stopped at row {1200 * (i + 1)} of 9000: constraint failed", 1)


@scenario(DEVELOPED, shapes=CLAUDE)
def provider_is_busy_for_a_sub_agent(s: Session) -> None:
    s.agent("Find the tests", "API Error: 529 overloaded_error: Overloaded", True)
    s.agent("Find the tests", "found")
