"""``brim run`` and the person in front of it: Ctrl-C, what is typed, and what is asked."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import COMMAND, Brim
from tests.run.supervised_run import Run
from tests.waiting import wait_until


@pytest.fixture
def run(brim: Brim, tmp_path: Path) -> Run:
    return Run(brim, tmp_path)


def started(run: Run, *words: str, **keywords: Any) -> subprocess.Popen[bytes]:
    environ = {**run.brim.environ, **run.environ}
    command = [COMMAND, "run", "--json", "--", str(run.program), "-p", *words]
    return subprocess.Popen(
        command,
        cwd=run.cwd,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **keywords,
    )


def test_ctrl_c_ends_the_turn_and_the_report_is_true(run: Run) -> None:
    process = started(run, "SLOW work", stdin=subprocess.DEVNULL)
    wait_until(lambda: run.log.exists() and len(run.heard) == 2)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=300)
    report = json.loads(out)
    assert (process.returncode, report["outcome"], report["why"]) == (
        130,
        "interrupted",
        "by SIGINT",
    )
    assert json.loads(run.heard[-1]["line"])["request"] == {"subtype": "interrupt"}
    assert "SLOW work" in run.scratch


def test_ctrl_c_twice_ends_an_agent_that_does_not_listen(run: Run) -> None:
    process = started(run, "STUCK work", stdin=subprocess.DEVNULL)
    wait_until(lambda: run.log.exists() and len(run.heard) == 2)

    process.send_signal(signal.SIGINT)
    wait_until(lambda: '"interrupt"' in run.log.read_text().replace("\\", ""))
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=300)
    assert (process.returncode, json.loads(out)["outcome"]) == (130, "interrupted")


def on_terminal(
    run: Run, prompt: str, *options: str, types: list[tuple[str, str]]
) -> tuple[int, str]:
    """Run with a terminal; type each text as soon as what stands before it is on the screen."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(run.cwd)
        words = [COMMAND, "run", *options, "--", str(run.program), "-p", prompt]
        os.execve(
            COMMAND, words, {**run.brim.environ, **run.environ, "TERM": "xterm", "COLUMNS": "100"}
        )
    shown, waiting = "", list(types)
    while True:
        try:
            block = os.read(terminal, 65536)
        except OSError:
            break
        if not block:
            break
        shown += block.decode("utf-8", "replace")
        if waiting and waiting[0][0] in shown:
            os.write(terminal, waiting.pop(0)[1].encode() + b"\n")
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown


def test_a_person_is_asked_at_the_limit_and_can_raise_it(run: Run) -> None:
    types = [("What now?", "nonsense"), ("isn't an answer", "r 5")]
    code, shown = on_terminal(
        run, "COST=0.96 one", "--budget-usd", "1", "--then", "two", "--task", "it", types=types
    )
    assert code == 0
    assert "c        continue once, with a tenth more" in shown
    assert "going on: the limit is $5.00 now" in shown
    assert "did: two" in shown
    assert "200,000 tokens" in shown


def test_a_person_who_declines_gets_the_wrap_up(run: Run) -> None:
    options = ("--budget-usd", "1", "--then", "two", "--task", "it")
    code, shown = on_terminal(run, "COST=0.96 one", *options, types=[("[w] ", "")])
    assert code == 1
    assert "the last of them the wrap-up" in shown


def test_a_line_that_is_typed_while_the_agent_works_is_the_next_turn(run: Run) -> None:
    code, shown = on_terminal(run, "PAUSE one", types=[("nothing reported yet", "and two")])
    assert code == 0
    assert "the next turn: and two" in shown
    assert run.told == ["PAUSE one", "and two"]
    assert "and two" in run.scratch


def test_whoever_has_left_is_not_waited_for_at_the_limit(run: Run) -> None:
    options = ("--budget-usd", "1", "--then", "two")
    code, shown = on_terminal(
        run, "PAUSE COST=0.96 one", *options, types=[("nothing reported yet", "\x04")]
    )
    assert code == 1
    assert "the last of them the wrap-up" in shown


def test_what_is_typed_stays_on_the_screen_and_the_gauge_goes(run: Run) -> None:
    _, shown = on_terminal(run, "PAUSE one", types=[("nothing reported yet", "and two")])
    assert "\x1b[4A" in shown[shown.index("and two") :], "the typed line is one more than the gauge"
    assert "brim: the next turn: and two" in shown
