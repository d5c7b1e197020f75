"""The sessions that the rules for dead ends were made with."""

from __future__ import annotations

from labelled.outputs import pytest_failed
from labelled.streams import CLAUDE, Scenarios, Session, scenario

DEVELOPED: Scenarios = []


@scenario(DEVELOPED, same_call="confirmed")
def same_script_fails_again(s: Session) -> None:
    module = s.pick("yaml", "requests", "numpy")
    for _ in range(s.number(3, 5)):
        s.sh(
            f"python scripts/{s.name}.py",
            (
                "Traceback (most recent call last):\n"
                f'  File "{s.name}.py", line {s.number(1, 90)}, in <module>\n'
                f"ModuleNotFoundError: No module named '{module}'"
            ),
            1,
        )
        s.filler()
    s.end()


@scenario(DEVELOPED, same_call="resolved")
def same_install_fails_then_works(s: Session) -> None:
    for _ in range(3):
        s.sh(
            "npm install",
            (
                "npm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree\n"
                "npm error A complete log of this run can be found in:"
                f" /home/user/.npm/_logs/2026-11-15T0{s.number(1, 9)}_12_11_111Z-debug-0.log"
            ),
            1,
        )
        s.filler()
    s.sh("npm install", f"added 120 packages in {s.took()}")
    s.end()


@scenario(DEVELOPED, same_call="confirmed", shapes=CLAUDE)
def same_fetch_fails(s: Session) -> None:
    for _ in range(3):
        s.tool(
            "WebFetch",
            {"url": f"https://example.com/{s.name}", "prompt": "read"},
            "Request failed: invalid certificate for host",
            True,
        )
        s.filler()


@scenario(DEVELOPED)
def one_error_from_many_commands(s: Session) -> None:
    for command in (
        "pip install lxml",
        "pip3 install lxml",
        "python -m pip install --user lxml",
        "pip install lxml==5.1",
        "sudo pip install lxml --upgrade",
    ):
        s.sh(
            command,
            "error: externally-managed-environment\n\n× This environment is externally managed",
            1,
        )
        s.filler()
    s.end()


@scenario(DEVELOPED)
def one_missing_tool_however_called(s: Session) -> None:
    for flags in ("--version", "build .", "run hello", "info"):
        s.sh(f"podman {flags}", "bash: line 1: podman: command not found", 127)
        s.filler()


@scenario(DEVELOPED, shapes=CLAUDE)
def two_reads_in_a_circle(s: Session) -> None:
    one, other = s.path("alpha"), s.path("beta")
    for _ in range(4):
        s.read(one, "1\tfrom beta import run\n")
        s.say("The definition must be in the other file.")
        s.read(other, "1\tfrom alpha import run\n")
    s.end()


@scenario(DEVELOPED)
def two_commands_in_a_circle(s: Session) -> None:
    for _ in range(5):
        s.sh("git status --short", " M src/a.py\n")
        s.sh("git diff src/a.py", "-a\n+b\n")


@scenario(DEVELOPED, shapes=CLAUDE)
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


@scenario(DEVELOPED, shapes=CLAUDE)
def edits_miss_then_fit(s: Session) -> None:
    for i in range(4):
        s.edit(
            s.path(),
            f"x = {i}",
            "x = 9",
            error=f"String to replace not found in file.\nString: x = {i}",
        )
        s.read(s.path(), "1\tx = 77\n")
    s.edit(s.path(), "x = 77", "x = 9")
    s.end()


@scenario(DEVELOPED, undone_edit="confirmed", shapes=CLAUDE)
def edit_is_reversed(s: Session) -> None:
    old, new = "return cache[key]", "return lock(cache)[key]"
    s.edit(s.path(), old, new)
    s.sh("pytest -q", pytest_failed(s, "RuntimeError: dead lock"), 1)
    s.filler()
    s.edit(s.path(), new, old)
    s.filler()
    s.end()


@scenario(DEVELOPED, shapes=CLAUDE)
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
    s.sh("pytest -q", pytest_failed(s, "ImportError: cannot import name 'fancy'"), 1)
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
        f"pytest tests/test_{s.name}.py -x",
        f"python -m pytest tests/test_{s.name}.py 2>&1 | tail -30",
        "pytest -q",
    )
    code = 0 if "tail" in command else 1
    s.sh(command, pytest_failed(s, "assert 2 == 3"), code)
    for new in ("value + 1", "round(value)", "int(value) + 1"):
        s.filler()
        s.edit(s.path(), "value", new)
        s.sh(command, pytest_failed(s, "assert 2 == 3"), code)
    s.end()


@scenario(DEVELOPED, failing_test="confirmed", allows=("same-call",))
def jest_fails_the_same_after_edits(s: Session) -> None:
    def out() -> str:
        return (
            f"FAIL src/{s.name}.test.ts\n  ● {s.name} › totals\n\n    expect(received).toBe(expected)\n\n"
            "    Expected: 3\n    Received: 2\n\n"
            f"      at Object.<anonymous> (src/{s.name}.test.ts:{s.number(3, 99)}:7)\n\n"
            f"Tests:       1 failed, 4 passed, 5 total\nTime:        {s.took()}"
        )

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
    call = s.agent(
        "Port the tests",
        "Async agent launched successfully.",
        detail={"isAsync": True, "agentId": "a77"},
    )
    s.task("task_started", task_id="a77", tool_use_id=call, task_type="local_agent")
    s.filler()
    s.task(
        "task_notification",
        task_id="a77",
        tool_use_id=call,
        status="failed",
        summary="could not finish: no such tool",
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
