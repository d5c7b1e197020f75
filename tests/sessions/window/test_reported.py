"""What a client reports about a session is one truth: the status line, hooks and brim context read
it from the same place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.config import Config
from brim.config.values import load
from brim.hooks.statusline import facts_of, lines_for
from brim.run.watch import read_session
from brim.sessions.window.windows import AutoCompact, ReportedWindow, reported_window
from tests.hooks.status_samples import NOW, SESSION, encoded, sent

OPUS = "claude-opus-5-5"


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "brim").mkdir()
    return {"HOME": str(tmp_path), "BRIM_HOME": str(tmp_path / "brim"), "NO_COLOR": "1"}


def settings(environ: dict[str, str]) -> Config:
    return load(environ, None)


def transcript(folder: Path, tokens: int, model: str = OPUS) -> str:
    """Write a session whose last request took so many *tokens*."""
    usage = {"input_tokens": tokens, "output_tokens": 10}
    message = {"id": "m1", "model": model, "role": "assistant", "content": [], "usage": usage}
    line = {
        "type": "assistant",
        "sessionId": SESSION,
        "requestId": "r1",
        "uuid": "u1",
        "timestamp": "2026-11-19T12:00:00.000Z",
        "message": message,
    }
    path = folder / f"{SESSION}.jsonl"
    path.write_text(json.dumps(line) + "\n")
    return str(path)


def told(window: int, tokens: int) -> dict[str, object]:
    return sent(tokens, window=window, model={"id": OPUS, "display_name": "Opus 5.5"})


def test_a_session_of_200_000_tokens_is_one_everywhere(
    environ: dict[str, str], tmp_path: Path
) -> None:
    path = transcript(tmp_path, 28_000)
    before = read_session(path, settings(environ), environ)
    assert before["context_window"] == 1_000_000, "the model table, as long as nobody says more"

    line = lines_for(encoded(told(200_000, 28_000)), environ, now=NOW).decode()
    assert "14%" in line
    after = read_session(path, settings(environ), environ)
    assert (after["context_window"], after["utilization"]) == (200_000, 0.14)
    assert after["window_source"] == "reported"


def test_where_the_client_compacts_is_where_the_status_line_was_told(
    environ: dict[str, str], tmp_path: Path
) -> None:
    folder = tmp_path / ".claude"
    folder.mkdir()
    (folder / "settings.json").write_text(json.dumps({"autoCompactWindow": 150_000}))
    lines_for(encoded(told(200_000, 28_000)), environ, now=NOW)
    (folder / "settings.json").unlink()  # the client goes on with what it was started with
    reading = read_session(transcript(tmp_path, 28_000), settings(environ), environ)
    assert AutoCompact(**reading["auto_compact"]) == AutoCompact(130_000, 117_000)
    facts = facts_of(encoded(told(200_000, 28_000)), environ, now=NOW)
    assert facts is not None
    assert facts["context_window"] == reading["context_window"]


def test_a_pinned_window_holds_against_the_client(environ: dict[str, str], tmp_path: Path) -> None:
    Path(environ["BRIM_HOME"], "config.yaml").write_text("context:\n  window: 500000\n")
    lines_for(encoded(told(200_000, 28_000)), environ, now=NOW)
    reading = read_session(transcript(tmp_path, 28_000), settings(environ), environ)
    assert (reading["context_window"], reading["window_source"]) == (500_000, "pinned")


def test_the_report_outlives_a_compaction(environ: dict[str, str]) -> None:
    lines_for(encoded(told(200_000, 28_000)), environ, now=NOW)
    lines_for(encoded(told(200_000, 0)), environ, now=NOW + 1)
    report = reported_window(environ, SESSION)
    assert report is not None
    assert (report.model, report.window) == (OPUS, 200_000)


@given(
    model=st.text(min_size=1, max_size=30),
    window=st.integers(0, 10**9),
    share=st.none() | st.floats(0, 10),
    point=st.none() | st.builds(AutoCompact, st.integers(1, 10**9), st.none() | st.integers(0, 9)),
)
def test_a_report_is_read_as_it_was_stored(
    model: str, window: int, share: float | None, point: AutoCompact | None
) -> None:
    report = ReportedWindow(model, window, share, point)
    assert ReportedWindow.read(json.loads(json.dumps(report.to_dict()))) == report


@pytest.mark.parametrize("stored", [None, 3, [], {}, {"model": 3}, {"model": ""}])
def test_what_is_no_report_is_none(stored: object) -> None:
    assert ReportedWindow.read(stored) is None


def test_a_report_that_is_half_broken_says_what_is_left() -> None:
    report = ReportedWindow.read({"model": OPUS, "window": -1, "share": "x", "auto_compact": 5})
    assert report == ReportedWindow(OPUS, 0)
