"""What one file does beyond the contract: events, costs of another renderer, what is known of
models."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from brim.errors import StoreError
from brim.store import RuleEvent, Store, open_store
from brim.store.rows import INDEX_VERSION
from brim.tokens.calibrate import Calibration, learn
from tests.store.making import behavior, raw


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / ".brim" / "brim.db")


def test_events_are_kept_in_order_and_can_be_asked_for(path: str) -> None:
    with open_store(path) as store:
        store.put(behavior("a"), event="learned", now=1.0, session="s1", wrong="pip")
        store.put(behavior("b"), event="learned", now=2.0)
        store.put(behavior("a", status="forgotten"), event="forgotten", now=3.0)
        store.record(RuleEvent("noted", 4.0, detail={"n": 1}))
        assert [(event.kind, event.behavior) for event in store.events()] == [
            ("learned", "a"),
            ("learned", "b"),
            ("forgotten", "a"),
            ("noted", None),
        ]
        assert store.events(behavior="a")[0] == RuleEvent(
            "learned", 1.0, "a", session="s1", detail={"wrong": "pip"}
        )
        assert [event.time for event in store.events(kind="learned")] == [1.0, 2.0]
        assert [event.time for event in store.events(limit=2)] == [3.0, 4.0]


@pytest.mark.parametrize("sql", ["UPDATE events SET kind = 'x'", "DELETE FROM events"])
def test_nobody_can_change_what_happened(path: str, sql: str) -> None:
    with open_store(path) as store:
        store.put(behavior(), event="learned", now=1.0)
    other = raw(path)
    with pytest.raises(sqlite3.IntegrityError, match="event cannot be"):
        other.execute(sql)
    other.close()


def test_a_use_is_counted_and_told_once_for_all_that_were_used(path: str) -> None:
    with open_store(path) as store:
        store.put_many([behavior("a"), behavior("b"), behavior("c")], event="learned", now=1.0)
        store.used(["a", "b"], now=7.0, session="s1", tokens=40)
        assert [each.usage.injected for each in store.behaviors()] == [1, 1, 0]
        assert store.events(kind="injected") == [
            RuleEvent("injected", 7.0, session="s1", detail={"ids": ["a", "b"], "tokens": 40})
        ]


def test_costs_of_another_renderer_are_not_believed_until_they_are_counted_anew(path: str) -> None:
    with open_store(path) as store:
        store.put_many([behavior("a"), behavior("b")], event="learned", now=1.0)
        fresh = store.line_costs(["a", "b"], "cl100k_base")
        with store.writing():
            store.database.run("UPDATE line_costs SET renderer = 0, tokens = 1 WHERE behavior = 1")
        assert store.line_costs(["a", "b"], "cl100k_base") == {
            k: v for k, v in fresh.items() if k[0] == "b"
        }
        assert store.recost() == 1
        assert store.line_costs(["a", "b"], "cl100k_base") == fresh
        assert store.recost() == 0


def test_costs_in_an_unknown_encoding_are_none(path: str) -> None:
    with open_store(path) as store:
        store.put(behavior("a"), event="learned", now=1.0)
        assert store.line_costs(["a"], "p50k_base") == {}
        assert store.line_costs(["a"], "x' OR 1 --") == {}


def test_an_index_of_another_version_is_written_anew_by_the_next_command_only(path: str) -> None:
    with open_store(path) as store:
        store.put(behavior("a", when={"language": "python"}), event="learned", now=1.0)
        with store.writing():
            store.database.run("DELETE FROM triggers")
            store.database.run("UPDATE meta SET value = 'old' WHERE key = 'index'")
    with open_store(path, create=False) as store:
        assert store.seeds({"language": ("python",)}, frozenset()) == []
    with open_store(path) as store:
        assert [node.id for node in store.seeds({"language": ("python",)}, frozenset())] == ["a"]
        assert store.database.row("SELECT value FROM meta WHERE key = 'index'") == (INDEX_VERSION,)


def test_learned_ratios_outlive_the_process(path: str) -> None:
    with open_store(path) as store:
        assert store.calibrations.get("claude-x") is None
        learn(store.calibrations, "claude-x", "claude", reported=13_000, local=10_000)
        learn(store.calibrations, "claude-x", "claude", reported=12_000, local=10_000)
    with open_store(path) as store:
        found = store.calibrations.get("claude-x")
    assert found is not None
    assert found.samples == 2
    assert found.ratio == pytest.approx(1.25)


def test_a_ratio_that_cannot_be_counts_as_unknown(path: str) -> None:
    with open_store(path) as store:
        store.calibrations.put("claude-x", Calibration(1.5))
        with store.writing():
            store.database.run("UPDATE calibrations SET ratio = 99")
        assert store.calibrations.get("claude-x") is None


def test_reported_windows_outlive_the_process(path: str) -> None:
    from brim.models import model, remember_in, report_window

    with open_store(path) as store:
        before = remember_in(store.windows)
        try:
            report_window("claude-sonnet-4-5", 555_000)
            report_window("claude-sonnet-4-5", 444_000)
            assert model("claude-sonnet-4-5").context_window == 444_000
        finally:
            remember_in(before)
    with open_store(path) as store:
        assert store.windows.get("claude-sonnet-4-5") == 444_000


def test_what_is_read_inside_reading_is_of_one_moment(path: str) -> None:
    with open_store(path) as reader, open_store(path) as writer:
        with reader.reading():
            assert reader.behaviors() == []
            writer.put(behavior(), event="learned", now=1.0)
            assert reader.behaviors() == []
        assert len(reader.behaviors()) == 1


def test_nothing_is_written_inside_reading_and_lost_with_it(path: str) -> None:
    with open_store(path) as store:
        with pytest.raises(RuntimeError, match="writing inside reading"), store.reading():
            store.put(behavior("b"), event="learned", now=1.0)
        with store.writing(), store.reading():
            store.put(behavior("b"), event="learned", now=1.0)
        assert store.get("b") is not None


@pytest.mark.parametrize("asked", [{"behavior": "b7"}, {"kind": "rare"}])
def test_events_are_found_by_an_index(path: str, asked: dict[str, str]) -> None:
    """What was injected lately is read at every injection, and a file has more and more events."""
    with open_store(path) as store:
        seen: list[str] = []
        store.database._connection.set_trace_callback(seen.append)
        assert store.events(**asked, limit=5) == []
        plans = [row[3] for sql in seen for row in store.database.rows(f"EXPLAIN QUERY PLAN {sql}")]
        assert len(plans) == 1
        assert "USING INDEX" in plans[0]


def test_a_store_opened_for_reading_writes_nothing(path: str) -> None:
    open_store(path).close()
    with open_store(path, readonly=True) as store, pytest.raises(StoreError, match="read-only"):
        store.put(behavior(), event="learned", now=1.0)


def test_a_sound_file_has_nothing_wrong_with_it(path: str) -> None:
    with open_store(path) as store:
        assert store.check() == []
        assert repr(store) == f"Store({path!r})"


def test_reading_what_a_hook_reads_imports_nothing_heavy(path: str) -> None:
    with open_store(path) as store:
        store.put(behavior(when={"language": "python"}), event="learned", now=1.0)
    code = """if True:
        import sys
        from brim.store import open_scopes
        with open_scopes(None, sys.argv[1], trusted=False, create=False, timeout=0.15) as store:
            ids = [node.id for node in store.seeds({"language": ("python",)}, frozenset())]
            store.edges(ids), store.nodes(ids), store.get_many(ids), store.line_costs(ids, "o200k_base")
            with store.session("s1") as session:
                session.next_prompt()
            store.used(ids, now=1.0)
        print(*sys.modules)
    """
    done = subprocess.run(
        [sys.executable, "-I", "-c", code, str(Path(path).parent)],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    heavy = {"logging", "subprocess", "yaml", "argparse"}
    assert set(done.stdout.split()) & heavy == set()


def ids(store: Store) -> list[str]:
    return [each.id for each in store.behaviors()]


LEARN = """
import sys
from dataclasses import replace

from brim.behaviors import Rule
from brim.store import open_store

path, name, times = sys.argv[1], sys.argv[2], int(sys.argv[3])
for number in range(times):
    with open_store(path, timeout=300) as store, store.writing():
        known = store.get("same")
        if known is None:
            known = Rule("same", "same", "directive", "The same thing.", summary="Same.")
        usage = replace(known.usage, confirmed=known.usage.confirmed + 1)
        store.put(replace(known, usage=usage), event="learned", now=1.0, by=name)
        store.put(Rule(f"{name}-{number}", name, "directive", "Own.", summary="Own."), event="learned", now=1.0)
"""


def test_processes_that_learn_the_same_thing_end_in_one_row_and_all_events(path: str) -> None:
    names = [f"p{number}" for number in range(4)]
    running = [subprocess.Popen([sys.executable, "-c", LEARN, path, name, "5"]) for name in names]
    assert [process.wait(timeout=300) for process in running] == [0] * 4
    with open_store(path) as store:
        same = store.get("same")
        assert same is not None
        assert same.usage.confirmed == 20
        assert len(store.events(behavior="same")) == 20
        assert ids(store) == sorted(
            ["same", *(f"{name}-{number}" for name in names for number in range(5))]
        )
        assert store.check() == []
