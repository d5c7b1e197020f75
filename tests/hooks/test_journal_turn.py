"""A turn is read on from where the last hook stopped, in the time that there is, and ends up the
same."""

from __future__ import annotations

import itertools
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.agents import agent_named, read
from brim.agents.call import HookCall
from brim.hooks.state import HookWorkspace
from brim.hooks.turns import LARGE, OVERLAP, SECONDS, write_turn
from brim.memory import ScratchModel
from tests.hooks.sittings import SESSION, Sitting


def write_slowly(sitting: Sitting, step: float) -> int:
    """Write the turn with a clock that goes on by *step* at every look; return how far it came."""
    ticks = itertools.count()
    call = HookCall(
        agent=agent_named("claude"),
        event="stop",
        session=sitting.session,
        transcript=str(sitting.transcript),
    )
    with HookWorkspace(sitting.environ, str(sitting.project), now=sitting.now) as place:
        place.clock = lambda: next(ticks) * step
        write_turn(call, place, seconds=SECONDS)
        noted: dict[str, int] = place.state(sitting.session).kept("noted")
    return noted[""]


def fill(sitting: Sitting, calls: int) -> None:
    for at in range(calls):
        sitting.called(f"t{at}", "Write", {"file_path": f"/p/{at}.py", "content": "x" * 9_000})
        sitting.answered(f"t{at}", "ok")


def test_what_there_is_no_time_for_is_read_by_the_next_hook(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path)
    fill(sitting, 100)
    reached = [write_slowly(sitting, 10.0) for _ in range(12)]
    assert reached == sorted(reached)
    assert reached[0] < reached[-1] == sitting.transcript.stat().st_size
    assert sitting.texts("artifact") == [f"/p/{at}.py" for at in range(100)]


@pytest.mark.parametrize("calls", [35, 100])
def test_a_hook_that_was_ended_before_it_had_written_gives_the_next_one_less_to_do(
    tmp_path: Path, calls: int
) -> None:
    sitting = Sitting(tmp_path)
    fill(sitting, calls)
    assert (sitting.transcript.stat().st_size > LARGE) is (calls == 100)
    (sitting.home / "state").mkdir()
    state = sitting.home / "state" / f"{SESSION}.json"
    state.write_text(json.dumps({"turn begun": 4}))
    less = write_slowly(sitting, 0.05)
    state.write_text("{}")
    assert less < write_slowly(sitting, 0.05)


def codex_line(sitting: Sitting, kind: str, **payload: Any) -> int:
    """Add a line to the rollout, a second after the last; return where it ends."""
    sitting.now += 1
    stamp = datetime.fromtimestamp(sitting.now, UTC).isoformat()
    with sitting.transcript.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"timestamp": stamp, "type": kind, "payload": payload}) + "\n")
    return sitting.transcript.stat().st_size


def codex_prompt(sitting: Sitting, text: str) -> int:
    """Write *text* as Codex does, in two lines; return where the first one ends."""
    words = [{"type": "input_text", "text": text}]
    end = codex_line(sitting, "response_item", type="message", role="user", content=words)
    codex_line(sitting, "event_msg", type="user_message", message=text)
    return end


def test_a_prompt_of_two_lines_is_there_once_if_reading_goes_on_between_them(
    tmp_path: Path,
) -> None:
    sitting = Sitting(tmp_path)
    codex_line(sitting, "session_meta", id=sitting.session)
    sitting.hook("UserPromptSubmit", "codex", prompt="go on")
    between = codex_prompt(sitting, "go on")
    before, now = (
        sitting.transcript.stat().st_size,
        codex_line(sitting, "event_msg", type="agent_message", message=""),
    )
    left = between + OVERLAP - now - (now - before)
    assert (
        codex_line(sitting, "event_msg", type="agent_message", message="x" * left)
        == between + OVERLAP
    )
    sitting.hook("Stop", "codex")
    codex_prompt(sitting, "and now?")  # its hook was killed
    sitting.hook("Stop", "codex")
    assert sitting.texts("human") == ["go on", "and now?"]


STEPS = st.lists(st.sampled_from(("say", "write", "fail", "stop", "edit")), min_size=1, max_size=14)


@settings(max_examples=25, deadline=None)
@given(steps=STEPS)
def test_however_a_session_is_cut_into_turns_the_journal_holds_what_the_whole_says(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str]
) -> None:
    sitting = Sitting(tmp_path_factory.mktemp("sitting"))
    for at, step in enumerate(steps):
        if step == "say":
            sitting.prompt(f"say {at % 2}")
        elif step == "write":
            sitting.tool("Write", {"file_path": f"/p/{at % 3}.py", "content": "x"})
        elif step == "edit":
            given = {"file_path": f"/p/{at % 3}.py", "old_string": "a", "new_string": "b"}
            sitting.tool("Edit", given, fails="String to replace not found" if at % 2 else "")
        elif step == "fail":
            sitting.tool("Bash", {"command": f"make {at % 2}"}, fails="Exit code 2\nmake: no rule")
        else:
            sitting.hook("Stop")
    sitting.hook("Stop")
    model = ScratchModel(session=SESSION)
    for event in read(sitting.transcript) if sitting.transcript.exists() else ():
        model.extract(event)
    shown = {kind: sorted(sitting.texts(kind)) for kind in ("human", "command")}
    assert shown == {
        "human": sorted(model.human_inputs),
        "command": sorted(entry.text for entry in model.entries if entry.kind == "command"),
    }
    gone = {str(entry.refs["of"]) for entry in sitting.entries("withdrawn")}
    kept = {entry.text for entry in sitting.entries("artifact") if entry.id not in gone}
    assert kept == set(model.artifacts)


JUNK = [None, 7, "x", [], [1, 2], {}, {"": "x"}, {"a": -1}, True]


@pytest.mark.parametrize("junk", JUNK, ids=repr)
def test_whatever_the_state_holds_nothing_fails(tmp_path: Path, junk: Any) -> None:
    sitting = Sitting(tmp_path)
    names = (
        "noted",
        "scratch",
        "looked",
        "compacted",
        "limit refusals",
        "began in",
        "failures",
        "turn begun",
        "told",
        "lost",
    )
    (sitting.home / "state").mkdir()
    (sitting.home / "state" / f"{SESSION}.json").write_text(json.dumps(dict.fromkeys(names, junk)))
    sitting.limit("100/day")
    sitting.prompt("hello")
    sitting.hook("PreToolUse", tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="t")
    sitting.tool("Bash", {"command": "make"}, fails="Exit code 1\nbad")
    sitting.used("m1", 190_000)
    for event in ("PreCompact", "PostCompact", "Stop", "SubagentStop", "SessionEnd"):
        sitting.hook(event, compact_summary="x", trigger="auto", agent_transcript_path=7)
    assert sitting.log() == ""
    assert sitting.spent() == 190_000 * 3
