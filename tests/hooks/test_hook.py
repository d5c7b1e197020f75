"""The hook answers in one write what there is to say, and nothing when it is told to keep still."""

from __future__ import annotations

import io
import json
import os
import sqlite3
import threading
import time
from pathlib import Path

import pytest

from brim.agents import agent_named
from brim.agents.call import Answer, HookCall
from brim.hooks.process import LARGEST, PAUSED, main, run_hook
from brim.hooks.state import HookWorkspace
from brim.hooks.transcript import from_transcript, tail_lines, usage_now
from brim.store import open_store
from brim.store.trust import trust
from tests.hooks.hook_samples import CODEX, GEMINI
from tests.hooks.hook_world import RULE, World


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_a_session_start_is_told_the_rules(world: World) -> None:
    answer = json.loads(world.call("SessionStart", world.message("SessionStart", source="startup")))
    assert RULE in answer["hookSpecificOutput"]["additionalContext"]
    assert world.log() == ""


def test_half_a_letter_in_a_path_is_no_failure(world: World) -> None:
    world.call("Stop", world.message("Stop", cwd="/gone/\ud83d"))
    assert world.log() == ""


def test_the_launcher_gives_the_same_answer(world: World) -> None:
    done = world.launch("SessionStart", world.message("SessionStart", source="startup"))
    assert (done.returncode, done.stderr) == (0, b"")
    assert RULE in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    assert world.log() == ""


def test_what_the_hook_wrote_is_in_the_database_though_it_did_not_tidy_up(world: World) -> None:
    world.launch("SessionStart", world.message("SessionStart", source="startup"))
    with open_store(str(world.database)) as store:
        assert [event.kind for event in store.events()][-1] == "injected"
        found = store.get("b-1")
        assert found is not None
        assert found.usage.injected == 1
    with sqlite3.connect(world.database) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    database.close()


def test_codex_is_told_too(world: World) -> None:
    event, data = CODEX[0]
    answer = json.loads(world.call(event, {**data, "cwd": str(world.project)}, "codex"))
    assert RULE in answer["hookSpecificOutput"]["additionalContext"]


def test_gemini_is_told_with_the_first_prompt_because_a_session_that_goes_on_loses_what_its_start_said(
    world: World,
) -> None:
    (start, began), (prompt, asked) = (
        GEMINI[0],
        next(each for each in GEMINI if each[0] == "BeforeAgent"),
    )
    assert world.call(start, {**began, "cwd": str(world.project)}, "gemini") == ""
    answer = json.loads(world.call(prompt, {**asked, "cwd": str(world.project)}, "gemini"))
    assert RULE in answer["hookSpecificOutput"]["additionalContext"]


@pytest.mark.parametrize("value", ["1", "true", "yes"])
def test_switched_off_it_says_nothing(world: World, value: str) -> None:
    assert (
        world.call(
            "SessionStart", world.message("SessionStart", source="startup"), BRIM_DISABLE=value
        )
        == ""
    )
    assert world.log() == ""


def test_paused_it_says_nothing(world: World) -> None:
    (world.home / PAUSED).touch()
    assert world.call("SessionStart", world.message("SessionStart", source="startup")) == ""
    assert world.log() == ""


@pytest.mark.parametrize(
    ("argv", "sent", "why"),
    [
        (["Nonsense", "claude"], b"{}", "no event"),
        (["Stop", "nobody"], b"{}", "nobody"),
        (["Stop"], b"{}", "EVENT and AGENT"),
        ([], b"{}", "EVENT and AGENT"),
        (["Stop", "claude"], b"{", "JSONDecodeError"),
        (["Stop", "claude"], b"", "JSONDecodeError"),
        (["Stop", "claude"], b"[1]", "isn't a JSON object"),
        (["Stop", "claude"], b"[" * 200_000, "RecursionError"),
    ],
)
def test_what_cannot_be_understood_is_one_line_in_the_log(
    world: World, argv: list[str], sent: bytes, why: str
) -> None:
    out = io.StringIO()
    assert main(argv, io.BytesIO(sent), out, world.environ) == 0
    assert out.getvalue() == ""
    assert world.log().count("\n") == 1
    assert why in world.log()


def test_an_input_that_is_too_large_is_one_line_in_the_log(world: World) -> None:
    out = io.StringIO()
    too_large = io.BytesIO(b" " * (LARGEST + 1))
    assert main(["Stop", "claude"], too_large, out, world.environ) == 0
    assert out.getvalue() == ""
    assert world.log().count("\n") == 1
    assert "bytes came" in world.log()


def test_an_event_that_another_version_installed_goes_by_what_came(world: World) -> None:
    assert RULE in world.call("session-start", world.message("SessionStart", source="startup"))


class Failing:
    """A stream that raises whatever it is given."""

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def read(self, _: int) -> bytes:
        raise self._error

    def write(self, _: object) -> None:
        raise self._error


@pytest.mark.parametrize(
    "error",
    [
        SystemExit(2),
        KeyboardInterrupt(),
        MemoryError(),
        RecursionError(),
        OSError("gone"),
        GeneratorExit(),
        Exception(),
    ],
)
def test_whatever_is_raised_the_end_is_0(world: World, error: BaseException) -> None:
    assert main(["Stop", "claude"], Failing(error), io.StringIO(), world.environ) == 0
    start = json.dumps(world.message("SessionStart", source="startup")).encode()
    assert main(["SessionStart", "claude"], io.BytesIO(start), Failing(error), world.environ) == 0


class Slow:
    """Standard input that nobody ever closes."""

    def read(self, _: int) -> bytes:
        time.sleep(3_600)
        return b""


def test_the_time_of_a_hook_is_bounded(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("brim.hooks.process.SECONDS", 0.2)
    begun = time.monotonic()
    assert main(["Stop", "claude"], Slow(), io.StringIO(), world.environ) == 0
    assert time.monotonic() - begun < 3_600
    assert "took too long" in world.log()


def test_an_alarm_that_was_set_before_is_set_again(world: World) -> None:
    import signal

    rung: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
    signal.setitimer(signal.ITIMER_REAL, 500)
    try:
        world.call("Stop", world.message("Stop"))
        assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 500
        signal.raise_signal(signal.SIGALRM)
        assert rung == [1]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_thread_can_call_it_too(world: World) -> None:
    found: list[str] = []
    data = world.message("SessionStart", source="startup")
    thread = threading.Thread(target=lambda: found.append(world.call("SessionStart", data)))
    thread.start()
    thread.join()
    assert RULE in found[0]


def test_what_brim_does_not_know_is_not_answered(world: World) -> None:
    assert (
        run_hook(HookCall(agent=agent_named("claude"), event="other"), world.environ, now=0.0)
        == Answer()
    )


def test_a_project_that_is_not_trusted_sets_nothing(world: World) -> None:
    (world.project / ".brim" / "config.yaml").write_text(
        "token_budget:\n  default: 17\n", encoding="utf-8"
    )
    trust(str(world.project), str(world.home), now=0.0)
    with HookWorkspace(world.environ, str(world.project), now=0.0) as place:
        assert place.trusted
        assert place.config["token_budget.default"] == 17
    (world.project / ".brim" / "trusted").unlink()
    with HookWorkspace(world.environ, str(world.project), now=0.0) as place:
        assert not place.trusted
        assert place.config["token_budget.default"] != 17


# How full the window is ---------------------------------------------------------------------------


def seen(world: World, *lines: object, agent: str = "claude") -> object:
    world.transcript.write_text(
        "".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8"
    )
    found = from_transcript(str(world.transcript), agent=agent_named(agent), now=1.0)
    return None if found is None else (found.tokens, found.window, found.model)


def line(tokens: int, *, side: bool = False, model: str = "claude-sonnet-4-5") -> dict[str, object]:
    usage = {
        "input_tokens": 1,
        "cache_creation_input_tokens": 2,
        "cache_read_input_tokens": tokens - 3,
    }
    return {"type": "assistant", "isSidechain": side, "message": {"model": model, "usage": usage}}


def test_the_last_call_of_the_main_thread_counts(world: World) -> None:
    assert seen(world, line(100), line(200), line(50, side=True)) == (200, 0, "claude-sonnet-4-5")
    assert seen(world, line(100), line(9, model="<synthetic>")) == (100, 0, "claude-sonnet-4-5")
    assert seen(world) is None


def test_after_a_compaction_it_is_what_was_left(world: World) -> None:
    boundary = {
        "type": "system",
        "subtype": "compact_boundary",
        "compactMetadata": {"postTokens": 77},
    }
    assert seen(world, line(100), boundary) == (77, 0, "")
    assert seen(world, line(100), boundary, line(90)) == (90, 0, "claude-sonnet-4-5")
    assert seen(world, line(100), {**boundary, "compactMetadata": None}) is None


def test_codex_and_gemini_say_it_in_their_files(world: World) -> None:
    def told(tokens: int) -> dict[str, object]:
        info = {"last_token_usage": {"input_tokens": tokens}, "model_context_window": 258_400}
        return {"type": "event_msg", "payload": {"type": "token_count", "info": info}}

    context = {"type": "turn_context", "payload": {"model": "gpt-5.5-codex"}}
    assert seen(world, context, told(700), told(0), agent="codex") == (700, 258_400, "")
    assert seen(world, told(700), {"type": "compacted", "payload": {}}, agent="codex") is None
    gemini = {
        "type": "gemini",
        "model": "gemini-2.5-flash",
        "tokens": {"input": 5_984, "output": 3},
    }
    assert seen(world, gemini, agent="gemini") == (5_984, 0, "gemini-2.5-flash")


def test_gemini_reports_with_the_call_itself(world: World) -> None:
    event, data = GEMINI[3]
    world.call(event, {**data, "cwd": str(world.project), "transcript_path": ""}, "gemini")
    call = HookCall(agent=agent_named("gemini"), event="prompt", session=str(data["session_id"]))
    with HookWorkspace(world.environ, str(world.project), now=0.0) as place:
        found = usage_now(call, place)
    assert found is not None
    assert (found.tokens, found.model, found.source) == (5_984, "gemini-2.5-flash", "hook")


def test_lines_come_last_first_whatever_the_blocks(tmp_path: Path) -> None:
    path = tmp_path / "t"
    lines = [b"%d" % number * (number % 7 + 1) for number in range(40_000)] + [b"x" * 300_000]
    blank = [b"\n" * (number % 5) + b"\r\n" * (number % 3) for number in range(40_000)] + [
        b"\n" * 100_000
    ]
    path.write_bytes(b"".join(b"\n%b%b" % pair for pair in zip(blank, lines, strict=True))[1:])
    assert list(tail_lines(str(path))) == lines[::-1]
    few = list(tail_lines(str(path), most=410_000))
    assert few == lines[::-1][: len(few)]
    assert len(few) > 1


def test_a_transcript_that_is_no_plain_file_is_not_read(world: World, tmp_path: Path) -> None:
    link, pipe = tmp_path / "link", tmp_path / "pipe"
    os.symlink(world.transcript, link)
    os.mkfifo(pipe)
    for path in (link, pipe, tmp_path, tmp_path / "gone", "a\x00b"):
        assert list(tail_lines(str(path))) == []
