"""Sessions that no stream tells apart from dead ends: only the agent knows what it meant. They are
not judged."""

from __future__ import annotations

from labelled.outputs import go_failed, pytest_failed, pytest_passed
from labelled.streams import CLAUDE, Scenarios, Session, scenario

UNCLEAR: Scenarios = []


@scenario(UNCLEAR, shapes=CLAUDE)
def code_is_broken_on_purpose(s: Session) -> None:
    s.sh("pytest -q", pytest_passed(s))
    s.edit(s.path(), "if a > b:", "if a < b:")
    s.sh("pytest -q", pytest_failed(s, "assert False"), 1)
    s.edit(s.path(), "if a < b:", "if a > b:")
    s.sh("pytest -q", pytest_passed(s))
    s.end()


@scenario(UNCLEAR, shapes=CLAUDE)
def switch_is_turned_for_a_look(s: Session) -> None:
    s.edit("/home/user/project/config.toml", "workers = 8", "workers = 1")
    s.sh("python -m app", "order is stable")
    s.edit("/home/user/project/config.toml", "workers = 1", "workers = 8")
    s.end()


@scenario(UNCLEAR)
def one_test_stays_red_through_planned_steps(s: Session) -> None:
    command = f"go test ./{s.name} -run TestAll"
    for i in range(3):
        s.sh(command, go_failed(s, "TestAll", "not implemented"), 1)
        s.edit(s.path(ending="go"), f"// part {i}", f"part{i}()")
    s.sh(command, f"ok  \texample.com/shop\t{s.took()}")
    s.end()
