"""A subscription's windows: as the clients say them, as they're kept, and as they're told."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.sessions.plan_windows import (
    NAME,
    PlanWindow,
    claude_plan_windows,
    codex_plan_windows,
    keep_plan_windows,
    read_plan_windows,
)

NOW = 1_794_750_000.0
"""Sunday, 2026-11-15, 13:40 UTC."""
HOUR = 3_600.0
FIVE, WEEK = 300, 10_080


@pytest.fixture
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def window(used: float = 0.91, *, resets: float | None = HOUR, **fields: Any) -> PlanWindow:
    values = {"agent": "claude", "minutes": FIVE, "read_at": NOW, **fields}
    return PlanWindow(used=used, resets_at=None if resets is None else NOW + resets, **values)


# What the clients say -----------------------------------------------------------------------------


def test_claude_code_names_its_windows() -> None:
    limits = {
        "five_hour": {"used_percentage": 91.2, "resets_at": NOW + HOUR},
        "seven_day": {"used_percentage": 41, "resets_at": "2026-11-20T09:00:00Z"},
        "seven_day_opus": {"used_percentage": 12.5, "resets_at": None},
        "spend_limit": {"used_percentage": 10},
    }
    assert claude_plan_windows(limits, NOW) == [
        window(91.2 / 100),
        PlanWindow("claude", WEEK, 0.41, 1_795_165_200.0, NOW),
        PlanWindow("claude", WEEK, 0.125, None, NOW, "opus"),
    ]


def test_codex_tells_its_windows_by_their_length_whichever_comes_first() -> None:
    limits = {
        "limit_id": "codex",
        "primary": {"used_percent": 93.0, "window_minutes": WEEK, "resets_at": NOW + 50 * HOUR},
        "secondary": {"used_percent": 7.0, "window_minutes": FIVE, "resets_in_seconds": 120},
        "plan_type": "pro",
    }
    assert codex_plan_windows(limits, NOW) == [
        PlanWindow("codex", WEEK, 0.93, NOW + 50 * HOUR, NOW),
        PlanWindow("codex", FIVE, 0.07, NOW + 120, NOW),
    ]
    assert codex_plan_windows({"primary": None, "secondary": None}, NOW) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
FIELDS = st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(
        ("used_percentage", "used_percent", "window_minutes", "resets_at"), JSON
    ),
)


@given(
    st.dictionaries(
        st.sampled_from(["five_hour", "seven_day_x", "primary", "secondary"]), FIELDS | JSON
    )
)
def test_nothing_that_comes_raises(limits: dict[str, Any]) -> None:
    for each in (*claude_plan_windows(limits, NOW), *codex_plan_windows(limits, NOW)):
        assert each.used >= 0
        assert each.told(NOW)


# What is kept -------------------------------------------------------------------------------------


def test_the_last_reading_of_each_window_is_kept(tmp_path: Path) -> None:
    week = window(0.4, minutes=WEEK)
    keep_plan_windows(str(tmp_path), [window(0.5), week])
    keep_plan_windows(str(tmp_path), [window(0.6, read_at=NOW + 1)])
    keep_plan_windows(str(tmp_path), [window(0.1, agent="codex")])
    assert read_plan_windows(str(tmp_path)) == [
        window(0.6, read_at=NOW + 1),
        week,
        window(0.1, agent="codex"),
    ]


def test_the_same_reading_is_written_once_a_minute(tmp_path: Path) -> None:
    keep_plan_windows(str(tmp_path), [window()])
    stamp = os.stat(tmp_path / NAME).st_ino
    keep_plan_windows(str(tmp_path), [window(read_at=NOW + 59)])
    assert os.stat(tmp_path / NAME).st_ino == stamp
    keep_plan_windows(str(tmp_path), [window(read_at=NOW + 61)])
    assert read_plan_windows(str(tmp_path)) == [window(read_at=NOW + 61)]


def test_a_folder_that_is_gone_is_not_made_again(tmp_path: Path) -> None:
    keep_plan_windows(str(tmp_path / "gone"), [window()])
    assert not (tmp_path / "gone").exists()
    assert read_plan_windows(str(tmp_path / "gone")) == []


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b'{"windows": 7}',
        b'{"windows": [7, {}]}',
        b"\xff" * 99,
        b" " * 70_000,
        b"[" * 60_000,
    ],
)
def test_a_file_that_cannot_be_read_says_nothing_and_is_replaced(
    tmp_path: Path, content: bytes
) -> None:
    (tmp_path / NAME).write_bytes(content)
    assert read_plan_windows(str(tmp_path)) == []
    keep_plan_windows(str(tmp_path), [window()])
    assert read_plan_windows(str(tmp_path)) == [window()]


def rollout(folder: Path, day: str, *lines: object) -> Path:
    path = folder / "sessions" / day / "rollout-2026-11-15T13-00-00-0a.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def counted(used: float | None, at: str) -> dict[str, Any]:
    """A line of a rollout, as Codex writes it after each request."""
    primary = (
        None
        if used is None
        else {"used_percent": used, "window_minutes": FIVE, "resets_at": int(NOW + HOUR)}
    )
    limits = {"limit_id": "codex", "limit_name": None, "primary": primary, "secondary": None}
    return {
        "timestamp": at,
        "type": "event_msg",
        "payload": {"type": "token_count", "rate_limits": limits},
    }


def test_codex_is_read_from_the_end_of_its_newest_rollout(tmp_path: Path) -> None:
    rollout(tmp_path, "2026/11/14", counted(99.0, "2026-11-14T10:00:00Z"))
    path = rollout(
        tmp_path,
        "2026/11/15",
        counted(50.0, "2026-11-15T13:30:00Z"),
        counted(52.5, "2026-11-15T13:35:00Z"),
        counted(None, "2026-11-15T13:36:00Z"),
    )
    with path.open("ab") as file:
        file.write(b'{"rate_limits": half')
    environ = {"CODEX_HOME": str(tmp_path)}
    expected = PlanWindow("codex", FIVE, 0.525, NOW + HOUR, NOW - 300)
    assert read_plan_windows(str(tmp_path), environ) == [expected]
    newer = replace(expected, used=0.6, read_at=NOW)
    keep_plan_windows(str(tmp_path), [newer])
    assert read_plan_windows(str(tmp_path), environ) == [newer]


def test_a_session_of_codex_that_has_just_begun_hides_no_reading(tmp_path: Path) -> None:
    path = rollout(tmp_path, "2026/11/15", counted(93.0, "2026-11-15T13:30:00Z"))
    newest = path.with_name("rollout-2026-11-15T13-59-00-0b.jsonl")
    newest.write_text('{"type": "session_meta"}\n')
    os.utime(path, (NOW - 60, NOW - 60))
    (reading,) = read_plan_windows(str(tmp_path), {"CODEX_HOME": str(tmp_path)})
    assert reading.used == 0.93


def test_without_codex_there_is_nothing_of_it(tmp_path: Path) -> None:
    assert read_plan_windows(str(tmp_path), {"HOME": str(tmp_path)}) == []


# What is told -------------------------------------------------------------------------------------


@pytest.mark.usefixtures("utc")
@pytest.mark.parametrize(
    ("given", "told"),
    [
        (window(), "5h 91%, resets 14:40"),
        (window(minutes=WEEK, resets=50 * HOUR), "7d 91%, resets Tue 15:40"),
        (window(minutes=WEEK, resets=150 * HOUR), "7d 91%, resets 2026-11-21"),
        (window(0.004, name="opus", resets=None), "5h opus <1%"),
        (window(minutes=90), "90min 91%, resets 14:40"),
        (window(resets=1e18), "5h 91%"),
    ],
)
def test_it_is_told_with_the_time_of_its_reset(given: PlanWindow, told: str) -> None:
    assert given.told(NOW) == told


def test_a_window_that_has_begun_again_is_not_current() -> None:
    assert window().is_current(NOW)
    assert not window().is_current(NOW + HOUR)
    assert window(resets=None).is_current(NOW + 4 * HOUR)
    assert not window(resets=None).is_current(NOW + 5 * HOUR)
    assert window().is_fresh(NOW + 300)
    assert not window().is_fresh(NOW + 301)
