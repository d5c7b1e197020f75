"""The supervisor without a command line: what takes too long, and what only a program that uses it
can see."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

from brim.run import RunReport, Supervisor, client_command
from brim.run.purse import Purse
from brim.run.session import Notes, SessionFiles, Tracked
from brim.sessions.window.budget import ContextBudget
from tests.run import supervised_claude


class Told:
    """A face that only listens."""

    can_ask = False

    def __init__(self) -> None:
        self.told: list[str] = []
        self.answers: list[str] = []

    def tell(self, text: str) -> None:
        self.told.append(text)

    def ask(self, text: str) -> None:
        raise AssertionError(text)

    def line(self, line: bytes) -> None:
        json.loads(line)

    def answer(self, text: str, line: bytes) -> None:
        self.answers.append(text)

    def show(self, tracked: Tracked, *, settled: bool) -> None:
        assert tracked.budget.used_tokens >= 0


def supervise(
    folder: Path, prompt: str, *then: str, patience: float = 60.0, **environ: str
) -> tuple[RunReport, Told]:
    program = folder / "claude"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{supervised_claude.__file__}" "$@"\n')
    program.chmod(0o755)
    (folder / "sessions").mkdir()
    face = Told()
    tracked = Tracked(
        ContextBudget(),
        Purse(None, scope="shop/run", tell=face.tell),
        Notes(
            str(folder),
            str(folder),
            clock=time.time,
            tell=face.tell,
            environ={"HOME": str(folder / "home")},
        ),
        SessionFiles("claude", {}, since=0.0),
    )
    ours = {"FAKE_LOG": str(folder / "log"), "FAKE_FOLDER": str(folder / "sessions"), **environ}
    run = Supervisor(
        client_command([str(program), "-p", prompt]),
        prompt,
        tracked,
        face,
        environ={**os.environ, **ours},
        cwd=str(folder),
        run="r1",
        then=then,
        compact_patience=patience,
    )
    return run.run(), face


def test_a_compaction_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    report, face = supervise(tmp_path, "BIG work", "go on", patience=0.2, FAKE_COMPACT="silent")
    assert (report.outcome, report.turns, report.compactions) == ("finished", 2, 0)
    assert "the agent did not compact: it took too long" in face.told


def test_what_is_shown_are_the_answers_and_not_the_compaction(tmp_path: Path) -> None:
    report, face = supervise(tmp_path, "BIG work", "go on")
    assert [answer.split()[-1] for answer in face.answers] == ["work", "on"]
    assert report.compactions == 1


def test_a_report_tells_its_exit_code() -> None:
    codes = [
        RunReport(outcome=outcome).exit_code
        for outcome in ("finished", "limit", "failed", "interrupted")
    ]
    assert codes == [0, 1, 1, 1]
    assert RunReport(outcome="interrupted", signal=2).exit_code == 130


def test_the_last_answer_is_in_the_report(tmp_path: Path) -> None:
    report, _ = supervise(tmp_path, "hi")
    assert (report.answer, report.client_exit, report.scratch) == (
        "did: hi",
        0,
        ".context/scratch.md",
    )
