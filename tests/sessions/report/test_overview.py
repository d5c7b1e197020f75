"""The report on a folder of sessions: what is counted, once, and what the index and the calendar
change."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from brim.memory.comparison import KINDS
from brim.sessions.report.overview import LOST_KINDS, Overview, sessions_report
from brim.sessions.session_files import named_files
from tests.sessions.window.transcripts import MODEL, answer, cost_state, usage, write

NOW = 1_767_700_000.0
"""2026-01-06T11:46:40Z."""
WARM = usage(written=20_000)
COLD = usage(written=21_000)


def session(name: str = "s-1", day: str = "2026-01-05", **more: Any) -> list[dict[str, Any]]:
    """Return a session whose second request writes again what the first had cached."""
    first = answer(f"m1-{name}", "r1", WARM, session=name, time=f"{day}T10:00:00Z", **more)
    return [first, answer(f"m2-{name}", "r2", COLD, session=name, time=f"{day}T10:01:00Z", **more)]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return tmp_path / "tree"


def put(tree: Path, name: str, *lines: Any) -> Path:
    path = write(tree / f"{name}.jsonl", *lines)
    os.utime(path, (NOW, NOW))
    return path


def seen(tree: Path, **more: Any) -> Overview:
    return sessions_report(named_files([str(tree)]), models={}, now=NOW, **{"days": 30, **more})


def test_every_kind_of_fact_that_can_be_lost_is_reported() -> None:
    assert sorted(LOST_KINDS) == sorted(KINDS)


def test_an_empty_folder_has_nothing_to_report(tree: Path) -> None:
    tree.mkdir()
    found = seen(tree)
    assert (found.bill.sessions, found.bill.total, found.breaks, found.waste, found.start) == (
        0,
        0,
        [],
        [],
        None,
    )
    assert found.to_dict()["compactions"]["count"] == 0


def test_a_break_is_counted_once_whichever_files_have_it(tree: Path) -> None:
    put(tree, "s-1", *session())
    copied = [{**line, "sessionId": "s-2"} for line in session()]
    put(
        tree,
        "s-2",
        *copied,
        answer("m3", "r3", usage(read=21_000), session="s-2", time="2026-01-05T10:02:00Z"),
    )
    found = seen(tree)
    assert [(each.tokens, each.cost) for each in found.breaks] == [(20_000, 69_000)]
    assert found.break_cost == 69_000


def test_only_the_last_days_count(tree: Path) -> None:
    put(tree, "old", *session("old", "2025-11-20"))
    put(tree, "new", *session("new"))
    assert [each.session for each in seen(tree).breaks] == ["new"]
    assert seen(tree).bill.sessions == 1
    assert {each.session for each in seen(tree, days=None).breaks} == {"old", "new"}
    assert seen(tree, days=None).bill.total == 2 * seen(tree).bill.total


def test_files_that_are_older_are_not_read(tree: Path) -> None:
    old = put(tree, "old", *session("old", "2025-11-20"))
    os.utime(old, (NOW - 40 * 86_400, NOW - 40 * 86_400))
    assert seen(tree).reading.files == 0
    assert seen(tree, days=None).reading.files == 1


def test_a_beginning_that_was_cached_before_costs_no_more_than_its_session(tree: Path) -> None:
    put(tree, "s-1", answer("m1", "r1", usage(read=20_000), time="2026-01-05T10:00:00Z"))
    found = seen(tree)
    (start,) = found.waste
    assert (start.kind, start.cost) == ("start", found.bill.total)


def test_one_project_can_be_asked_for(tree: Path) -> None:
    put(tree, "s-1", *session("s-1"))
    put(tree, "s-2", *session("s-2", cwd="/home/user/api"))
    assert seen(tree).bill.sessions == 2
    for name in ("/home/user/api", "api"):
        assert [each.session for each in seen(tree, project=name).breaks] == ["s-2"]
    assert seen(tree, project="other").bill.sessions == 0


def test_a_total_of_the_client_is_compared_if_all_its_requests_are_seen(tree: Path) -> None:
    total = cost_state(0.25, inputTokens=20, outputTokens=10, cacheCreationInputTokens=41_000)
    put(tree, "s-1", *session(), total)
    bill = seen(tree).bill
    assert (bill.client_sessions, bill.client_total, bill.client_counted) == (
        1,
        250_000,
        bill.total,
    )
    assert bill.client_prices == 250_000 - bill.requests
    assert bill.total == 250_000
    put(tree, "s-1", *session(day="2025-11-20"), *session(), total)
    assert seen(tree).bill.client_sessions == 0


def test_the_index_changes_nothing_and_a_grown_file_is_read_again(
    tree: Path, tmp_path: Path
) -> None:
    index = str(tmp_path / "home" / "usage.db")
    put(tree, "s-1", *session())
    fresh = seen(tree).to_dict()
    first, second = (
        seen(tree, index=index, cache=index + ".cache"),
        seen(tree, index=index, cache=index + ".cache"),
    )
    assert (first.reading.state, second.reading.new_bytes) == ("used", 0)
    for each in (first.to_dict(), second.to_dict()):
        assert {**each, "read": None} == {**fresh, "read": None}
    put(tree, "s-1", *session(), answer("m3", "r3", COLD, time="2026-01-05T10:09:00Z"))
    assert [each.cause for each in seen(tree, index=index, cache=index + ".cache").breaks] == [
        "pause",
        "unknown",
    ]


def test_too_much_to_read_leaves_what_the_index_knows(tree: Path, tmp_path: Path) -> None:
    index = str(tmp_path / "home" / "usage.db")
    put(tree, "s-1", *session("s-1"))
    seen(tree, index=index, cache=index + ".cache")
    put(tree, "s-2", *session("s-2"))
    found = seen(tree, index=index, cache=index + ".cache", most=10)
    assert [each.session for each in found.breaks] == ["s-1"]
    assert found.reading.unread == (tree / "s-2.jsonl").stat().st_size
    assert seen(tree, index=index, cache=index + ".cache", most=10**9).bill.sessions == 2


def test_without_a_place_for_the_index_it_works(tree: Path, tmp_path: Path) -> None:
    put(tree, "s-1", *session())
    (tmp_path / "file").write_text("")
    found = seen(tree, index=str(tmp_path / "file" / "usage.db"))
    assert (found.reading.state, found.bill.sessions) == ("unavailable", 1)


def test_a_file_that_vanishes_or_cant_be_read_is_left_out(tree: Path) -> None:
    put(tree, "s-1", *session("s-1"))
    put(tree, "s-2", *session("s-2"))
    files = named_files([str(tree)])
    (tree / "s-2.jsonl").unlink()
    assert sessions_report(files, models={}, now=NOW).bill.sessions == 1
    (tree / "s-2.jsonl").mkdir()
    found = sessions_report(files, models={}, now=NOW)
    assert (found.bill.sessions, len(found.reading.failed)) == (1, 1)


def test_many_small_files_and_times_beyond_every_calendar_are_read(tree: Path) -> None:
    for number in range(300):
        put(
            tree,
            f"s-{number}",
            *session(f"s-{number}", "9999-12-31" if number % 2 else "2026-01-05"),
        )
    found = seen(tree)
    assert (found.bill.sessions, len(found.breaks)) == (300, 300)
    assert found.to_dict()["money"]["total"] > 0


def test_a_tool_that_another_session_of_the_project_called_isnt_idle(tree: Path) -> None:
    tools = [{"name": name, "description": "word " * 90} for name in ("mcp__a__b", "mcp__a__c")]
    shape: Any = {
        "type": "api-request-shape",
        "shapeHash": "h",
        "shape": {"system": [], "tools": tools},
    }
    record = {
        "type": "api-request",
        "id": "r",
        "shapeHash": "h",
        "params": {"model": MODEL},
        "keep": 0,
        "tail": ["x"],
    }
    call = {"type": "tool_use", "id": "t", "name": "mcp__a__b", "input": {}}
    for name, calls in (("s-1", [call]), ("s-2", [])):
        line = answer(f"m-{name}", "r", usage(), session=name)
        line["message"]["content"] += calls
        put(tree, name, *({**each, "sessionId": name} for each in (shape, record)), line)
    assert seen(tree).idle_tools[0] == 1
    (idle,) = [each for each in seen(tree).waste if each.kind == "tool"]
    assert {each.what for each in idle.items} == {"mcp: a: c"}
