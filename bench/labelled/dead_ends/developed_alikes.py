"""What only looks like a dead end, in the sessions that the rules were made with."""

from __future__ import annotations

from itertools import pairwise

from labelled.outputs import pytest_failed, pytest_passed
from labelled.streams import CLAUDE, Scenarios, Session, scenario

LOOK_ALIKES: Scenarios = []


@scenario(LOOK_ALIKES, shapes=CLAUDE)
def cascade_of_one_failure(s: Session) -> None:
    for _ in range(4):
        calls = [
            (
                "Read",
                {"file_path": s.path(f"f{i}")},
                "<tool_use_error>Sibling tool call errored</tool_use_error>",
                True,
            )
            for i in range(4)
        ]
        s.together(
            [
                (
                    "Bash",
                    {"command": f"ls {s.number(1, 9999)}"},
                    "Exit code 2\nls: cannot access: No such file",
                    True,
                ),
                *calls,
            ]
        )


@scenario(LOOK_ALIKES, shapes=CLAUDE)
def permission_is_refused(s: Session) -> None:
    for _ in range(5):
        s.tool(
            "Bash",
            {"command": "rm -rf build"},
            "The user doesn't want to proceed with this tool use. The tool use was rejected.",
            True,
        )
        s.filler()


@scenario(LOOK_ALIKES, shapes=CLAUDE)
def person_interrupts(s: Session) -> None:
    for _ in range(4):
        s.tool(
            "Bash", {"command": "npm run dev"}, "[Request interrupted by user for tool use]", True
        )
        s.human("wait")
        s.human("go on")


@scenario(LOOK_ALIKES)
def polling_until_ready(s: Session) -> None:
    url = s.pick(
        "curl -sf http://localhost:8080/health",
        "curl -f https://api.example.com/healthz",
        "pg_isready -h db",
    )
    for _ in range(s.number(3, 7)):
        s.sh(url, "curl: (7) Failed to connect to localhost port 8080: Connection refused", 7)
        s.sh("sleep 2")
    s.sh(url, '{"status":"ok"}')


@scenario(LOOK_ALIKES)
def ci_run_progresses(s: Session) -> None:
    for i in range(6):
        s.sh("gh run view 88 --json status", f'{{"status":"in_progress","step":{i}}}')
        s.sh("sleep 30")


@scenario(LOOK_ALIKES)
def red_then_green(s: Session) -> None:
    command = f"pytest tests/test_{s.name}.py -q"
    s.write(f"/home/user/project/tests/test_{s.name}.py", "def test_total(): assert total() == 3")
    s.sh(command, pytest_failed(s, f"ImportError: cannot import name 'total' from '{s.name}'"), 1)
    s.edit(s.path(), "pass", "def total(): pass")
    s.sh(command, pytest_failed(s, "assert None == 3"), 1)
    s.edit(s.path(), "def total(): pass", "def total(): return 3")
    s.sh(command, pytest_passed(s))
    s.end()


@scenario(LOOK_ALIKES)
def several_red_green_cycles(s: Session) -> None:
    for i in range(5):
        test = f"test_case_{i}"
        s.edit(f"/home/user/project/tests/test_{s.name}.py", f"# {i}", f"def {test}(): ...")
        s.sh("pytest -q", pytest_failed(s, f"NameError: name 'step{i}' is not defined", test), 1)
        s.edit(s.path(), f"# step {i}", f"def step{i}(): ...")
        s.sh("pytest -q", pytest_passed(s))
    s.end()


@scenario(LOOK_ALIKES)
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


@scenario(LOOK_ALIKES)
def same_command_in_other_folders(s: Session) -> None:
    for package in ("api", "web", "worker", "admin"):
        s.sh(f"cd /home/user/project/{package}")
        s.sh("cat setup.cfg", "cat: setup.cfg: No such file or directory", 1)


@scenario(LOOK_ALIKES)
def searches_without_a_match(s: Session) -> None:
    for word in ("alpha", "beta", "gamma", "delta", "delta", "delta"):
        s.sh(f"grep -rn {word} src | head -5" if word == "beta" else f"grep -rn {word} src", "", 1)
    for _ in range(3):
        s.sh("test -f .env", "", 1)
        s.sh("diff a.txt b.txt", "1c1\n< a\n---\n> b", 1)


@scenario(LOOK_ALIKES, shapes=CLAUDE)
def looking_for_a_file_in_many_places(s: Session) -> None:
    for name in ("package.json", "pyproject.toml", "Cargo.toml", "go.mod", "pom.xml"):
        s.read(f"/home/user/project/{name}", error="File does not exist.")


@scenario(LOOK_ALIKES)
def linter_with_other_findings(s: Session) -> None:
    for i in range(5):
        s.sh(
            "ruff check .",
            f"src/a.py:{s.number(1, 99)}:1: F{400 + i} unused import\nFound {5 - i} errors.",
            1,
        )
        s.edit(s.path(), f"import x{i}", "")
    s.sh("ruff check .", "All checks passed!")


@scenario(LOOK_ALIKES, shapes=CLAUDE)
def another_edit_of_the_same_place(s: Session) -> None:
    texts = ["timeout = 5", "timeout = 10", "timeout = 30", "timeout = config.timeout"]
    for old, new in pairwise(texts):
        s.edit(s.path(), old, new)
        s.filler()
    s.end()


@scenario(LOOK_ALIKES)
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


@scenario(LOOK_ALIKES)
def stash_and_pop(s: Session) -> None:
    s.edit(s.path(), "a = 1", "a = 2")
    s.sh(
        s.pick("git stash", "git stash push -m wip", "git stash -u && make test; git stash pop"),
        "Saved working directory",
    )
    s.sh("pytest -q", pytest_passed(s))
    s.sh("git stash pop", "Dropped refs/stash@{0}")
    s.end()


@scenario(LOOK_ALIKES)
def files_not_edited_here_are_restored(s: Session) -> None:
    s.edit(s.path(), "a = 1", "a = 2")
    s.sh("npm install", "changed 3 packages")
    s.sh("git checkout package-lock.json", "Updated 1 path from the index")
    s.end()


@scenario(LOOK_ALIKES, shapes=CLAUDE)
def person_asks_to_undo(s: Session) -> None:
    s.edit(s.path(), "return a", "return b")
    s.human("No, put that back please")
    if s.number(0, 1):
        s.edit(s.path(), "return b", "return a")
    else:
        s.sh(f"git checkout -- {s.path()}")
    s.end()


@scenario(LOOK_ALIKES, shapes=CLAUDE)
def probes_are_taken_out(s: Session) -> None:
    old = "value = load(key)"
    new = old + s.pick(
        '\nprint("value", value)', "\nconsole.log(value)", "\nlogger.debug(value)\nbreakpoint()"
    )
    s.edit(s.path(), old, new)
    s.sh("python -m app", "value 3")
    s.edit(s.path(), new, old)
    s.end()


@scenario(LOOK_ALIKES, shapes=CLAUDE)
def edit_is_put_back_after_a_look(s: Session) -> None:
    old, new = "if a > b:", "if a >= b:"
    s.edit(s.path(), old, new)
    s.sh("pytest -q", pytest_passed(s))
    s.edit(s.path(), new, old)
    s.sh("pytest -q", pytest_failed(s, "assert False"), 1)
    s.edit(s.path(), old, new)
    s.sh("pytest -q", pytest_passed(s))
    s.end()


@scenario(LOOK_ALIKES)
def broken_test_elsewhere(s: Session) -> None:
    out = "FAILED tests/test_network.py::test_dns - OSError: no route to host\n1 failed, 80 passed in 3.1s"
    for i in range(4):
        s.edit(s.path(), f"step {i}", f"step {i + 1}")
        s.sh("pytest -q", out, 1)
    s.end()


@scenario(LOOK_ALIKES, shapes=CLAUDE)
def files_must_be_read_first(s: Session) -> None:
    for i in range(5):
        s.edit(
            s.path(f"f{i}"),
            "a",
            "b",
            error="File has not been read yet. Read it first before writing to it.",
        )
        s.read(s.path(f"f{i}"), "1\ta\n")
        s.edit(s.path(f"f{i}"), "a", "b")


@scenario(LOOK_ALIKES)
def numbers_tell_progress(s: Session) -> None:
    for i in range(4):
        s.sh(
            "python migrate.py",
            f"Error: stopped at row {1200 * (i + 1)} of 9000: constraint failed",
            1,
        )


@scenario(LOOK_ALIKES, shapes=CLAUDE)
def provider_is_busy_for_a_sub_agent(s: Session) -> None:
    s.agent("Find the tests", "API Error: 529 overloaded_error: Overloaded", True)
    s.agent("Find the tests", "found")
