"""The end of a turn is told before its last answer is written: the hook waits for it a moment, and
not in vain."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from brim.agents import agent_named
from brim.agents.call import HookCall
from brim.hooks.endings import LARGE, LIVE, PATIENCE, await_answer
from brim.hooks.state import HookWorkspace
from tests.hooks.sittings import Sitting

NOW = 1_000_000.0


def line(kind: str, *blocks: dict[str, Any]) -> str:
    """A line as Claude Code writes it: no spaces, and letters as they are."""
    told = {
        "type": kind,
        "isSidechain": False,
        "userType": "external",
        "message": {"role": kind, "content": blocks},
    }
    return json.dumps(told, separators=(",", ":"), ensure_ascii=False) + "\n"


def said(text: str) -> str:
    return line("assistant", {"type": "text", "text": text})


PROMPT = line("user", {"type": "text", "text": "go on"})


class Waiting:
    """A transcript, a clock that goes on while somebody sleeps, and what comes into the transcript
    meanwhile."""

    def __init__(self, folder: Path, written: str) -> None:
        self.path = folder / "t.jsonl"
        self.later: dict[int, str] = {}
        self.slept = 0
        self.write(written)

    def write(self, text: str, at: float = NOW) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(text)
        os.utime(self.path, (at, at))

    def sleep(self, _seconds: float) -> None:
        self.slept += 1
        self.write(self.later.pop(self.slept, ""))

    def waits(self, answer: object) -> bool:
        call = HookCall(
            agent=agent_named("claude"),
            event="stop",
            transcript=str(self.path),
            last_answer=answer if isinstance(answer, str) else "",
        )
        place = HookWorkspace({}, str(self.path.parent), now=NOW)
        place.clock, place.sleep = lambda: self.slept * 0.01, self.sleep
        return await_answer(call, place)


ANSWERS = [
    "It is done.",
    "Größe: 3 µm, „fertig“ 🎉",
    'a "quote"\tand \\ more',
    "first\n\nlast line  \n",
    "x" * 500,
]


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answer_that_is_there_is_not_waited_for(tmp_path: Path, answer: str) -> None:
    waiting = Waiting(tmp_path, PROMPT + said(answer) + '{"type":"cost-state","totalCostUSD":1}\n')
    assert waiting.waits(answer.strip())
    assert waiting.slept == 0


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answer_that_comes_is_waited_for_and_no_longer(tmp_path: Path, answer: str) -> None:
    waiting = Waiting(tmp_path, said(answer) + PROMPT)
    waiting.later = {3: line("assistant", {"type": "thinking", "thinking": "hm"}), 7: said(answer)}
    assert waiting.waits(answer.strip())
    assert waiting.slept == 7


def test_an_answer_of_several_blocks_is_known_by_its_last_words(tmp_path: Path) -> None:
    waiting = Waiting(tmp_path, PROMPT + said("I look.") + said("It is done."))
    assert waiting.waits("I look.\nIt is done.")
    assert waiting.slept == 0


def test_half_a_line_is_not_the_answer(tmp_path: Path) -> None:
    waiting = Waiting(tmp_path, PROMPT)
    whole = said("It is done.")
    waiting.later = {2: whole[: whole.index("done") + 8], 5: whole[whole.index("done") + 8 :]}
    assert waiting.waits("It is done.")
    assert waiting.slept == 5


def test_an_answer_that_never_comes_is_waited_for_a_quarter_of_a_second(tmp_path: Path) -> None:
    waiting = Waiting(tmp_path, PROMPT)
    assert not waiting.waits("It is done.")
    assert waiting.slept == pytest.approx(PATIENCE * 100, abs=1)


@pytest.mark.parametrize("answer", [None, 3, "", "  \n", "cut \ufffd"])
def test_without_words_nothing_is_waited_for(tmp_path: Path, answer: object) -> None:
    waiting = Waiting(tmp_path, PROMPT)
    assert not waiting.waits(answer)
    assert waiting.slept == 0


def test_a_transcript_that_nobody_writes_to_is_not_waited_for(tmp_path: Path) -> None:
    waiting = Waiting(tmp_path, PROMPT)
    os.utime(waiting.path, (NOW - LIVE, NOW - LIVE))
    assert not waiting.waits("It is done.")
    waiting.path.unlink()
    assert not waiting.waits("It is done.")
    assert waiting.slept == 0


def test_what_the_last_answer_cost_is_settled_at_the_end_of_its_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process writes the answer a little after the hook was called, as Claude Code does in
    a terminal."""
    monkeypatch.setattr("brim.hooks.endings.PATIENCE", 300.0)  # however slow this machine is
    sitting = Sitting(tmp_path)
    sitting.used("m1", 1_000)
    sitting.line("user", message={"role": "user", "content": "go on"})
    usage = {"input_tokens": 500, "output_tokens": 0}
    block = {"type": "text", "text": "It is done."}
    message = {
        "role": "assistant",
        "id": "m2",
        "model": "claude-sonnet-4-5",
        "usage": usage,
        "content": [block],
    }
    told = json.dumps(
        {
            "type": "assistant",
            "sessionId": sitting.session,
            "isSidechain": False,
            "message": message,
        }
    )
    ready, begun = tmp_path / "ready", tmp_path / "begun"
    code = f"""
import pathlib, time
pathlib.Path({str(ready)!r}).touch()
while not pathlib.Path({str(begun)!r}).exists():
    time.sleep(0.002)
time.sleep(0.06)
with open({str(sitting.transcript)!r}, "a") as file:
    file.write({told + chr(10)!r})
"""
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", code]) as writer:
        while not ready.exists():
            time.sleep(0.01)
        begun.touch()
        sitting.now = time.time()
        sitting.limit("100/day")
        sitting.hook("Stop", last_assistant_message="It is done.")
        assert writer.wait(timeout=300) == 0
    assert sitting.spent() == 1_500 * 3


def test_nothing_is_waited_for_where_much_has_to_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A long session that is resumed takes the time that a hook has."""
    monkeypatch.setattr("brim.hooks.endings.PATIENCE", 3_600.0)
    sitting = Sitting(tmp_path)
    sitting.used("m1", 1_000)
    for _ in range(3):
        sitting.line("user", message={"role": "user", "content": "x" * (LARGE // 2)})
    sitting.limit("100/day")
    sitting.now = begun = time.time()
    sitting.hook("Stop", last_assistant_message="It is done.")
    assert time.time() < begun + 3_600
    assert sitting.spent() == 1_000 * 3
