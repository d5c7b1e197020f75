"""What sessions were told, and what a person has allowed: it may be lost, and never breaks."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from brim.errors import InputError, StoreError
from brim.rules.session import Shown
from brim.rules.state import HOUR, INTERVENTIONS, REFUSED, STOPPED, RulesState
from brim.rules.tiers import Tier
from tests.hooks.read_only import read_only
from tests.waiting import PATIENCE

LIMITS: dict[str, Any] = {"max_tokens": 1_000, "max_per_injection": 500, "backoff": 5}


def state(home: Path, now: float = 1_000.0) -> RulesState:
    return RulesState(str(home), now=now, patience=PATIENCE)


def spend(home: Path, tokens: int, sub_agent: str = "") -> None:
    """Charge the session ``s``, and note one rule."""
    place = state(home)
    with place.charging("s", sub_agent, **LIMITS) as session:
        session.spend(tokens)
        session.shown["uv"] = Shown(1, 0, Tier.FULL)
    place.close()


def test_a_session_goes_on_where_it_was(tmp_path: Path) -> None:
    spend(tmp_path, 30)
    spend(tmp_path, 12)
    session = state(tmp_path).session("s", **LIMITS)
    assert (session.used, session.shown) == (42, {"uv": Shown(1, 0, Tier.FULL)})
    assert state(tmp_path).session("other", **LIMITS).used == 0
    assert state(tmp_path).has_session("s")
    assert not state(tmp_path).has_session("other")


def test_a_sub_agent_has_a_window_of_its_own_and_spends_its_parents_tokens(tmp_path: Path) -> None:
    spend(tmp_path, 30, sub_agent="a1")
    assert state(tmp_path).session("s", **LIMITS).used == 30
    assert state(tmp_path).session("s", **LIMITS).shown == {}
    assert list(state(tmp_path).session("s", "a1", **LIMITS).shown) == ["uv"]


def test_what_fails_is_not_noted(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        spend(tmp_path, 1_001)
    assert not state(tmp_path).has_session("s")
    spend(tmp_path, 7)
    assert state(tmp_path).session("s", **LIMITS).used == 7


def _spend_one(home: str) -> None:
    spend(Path(home), 1)


def test_sessions_at_once_lose_no_token(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_spend_one, args=(str(tmp_path),)) for _ in range(8)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 8
    assert state(tmp_path).session("s", **LIMITS).used == 8


def garble(path: Path) -> None:
    path.write_bytes(b"garbage" * 1_000)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def zero(path: Path) -> None:
    path.write_bytes(b"\0" * path.stat().st_size)


def remove(path: Path) -> None:
    path.unlink()


def change_version(path: Path) -> None:
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version = 99")
    database.close()


def garble_rows(path: Path) -> None:
    database = sqlite3.connect(path)
    database.execute("UPDATE sessions SET told = '[3'")
    database.commit()
    database.close()


@pytest.mark.parametrize("harm", [garble, empty, zero, remove, change_version, garble_rows])
def test_a_damaged_file_is_made_anew(tmp_path: Path, harm: Callable[[Path], None]) -> None:
    spend(tmp_path, 30)
    harm(tmp_path / "state.db")
    assert state(tmp_path).session("s", **LIMITS).used == 0
    spend(tmp_path, 5)
    assert state(tmp_path).session("s", **LIMITS).used == 5


def test_damage_that_only_the_write_meets_loses_no_charge(tmp_path: Path) -> None:
    spend(tmp_path, 30)
    with sqlite3.connect(tmp_path / "state.db") as database:
        database.executemany(
            "INSERT INTO sessions VALUES (?, '', ?, 0)",
            [(f"t{number:04}", "x" * 500) for number in range(100)],
        )
    database.close()
    file = tmp_path / "state.db"
    whole = file.read_bytes()
    for kept in range(4096, len(whole), 4096):
        file.write_bytes(whole[:kept] + b"\xff" * (len(whole) - kept))
        spend(tmp_path, 12)
        assert state(tmp_path).session("s", **LIMITS).used in (12, 42)


def test_what_cannot_be_written_is_an_error_and_is_read_all_the_same(tmp_path: Path) -> None:
    spend(tmp_path, 30)
    with read_only(tmp_path):
        assert state(tmp_path).session("s", **LIMITS).used == 30
        with pytest.raises(StoreError), state(tmp_path).charging("s", **LIMITS):
            pass


@pytest.mark.parametrize("kind", ["folder", "link"])
def test_what_is_no_file_of_ours_is_left_alone(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "state.db"
    other = tmp_path / "other"
    if kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(other)
    with pytest.raises(StoreError), state(tmp_path).charging("s", **LIMITS):
        pass
    assert state(tmp_path).session("s", **LIMITS).used == 0
    assert not other.exists()


def test_a_folder_that_was_removed_is_not_made_again(tmp_path: Path) -> None:
    place = state(tmp_path / "home")
    with pytest.raises(StoreError), place.charging("s", **LIMITS):
        pass
    assert not os.path.exists(tmp_path / "home")


def test_a_call_is_allowed_once_or_in_a_session(tmp_path: Path) -> None:
    place = state(tmp_path)
    assert place.permission("uv", "user", "s") == ""
    place.allow("uv", "user")
    assert place.permission("uv", "user", "s") == "once"
    assert place.permission("uv", "other place", "s") == ""
    assert place.use_up("uv", "user")
    assert not place.use_up("uv", "user")
    place.allow("uv", "user", "s")
    assert place.permission("uv", "user", "s") == "session"
    assert place.permission("uv", "user", "other") == ""
    assert place.permission("uv", "user", "") == ""


def test_what_is_allowed_once_ends_after_an_hour(tmp_path: Path) -> None:
    state(tmp_path).allow("uv", "user")
    assert state(tmp_path, 1_000 + HOUR).permission("uv", "user", "s") == "once"
    assert state(tmp_path, 1_001 + HOUR).permission("uv", "user", "s") == ""
    assert state(tmp_path, 999).permission("uv", "user", "s") == "", "the clock was set back"


def test_the_last_refusal_is_known(tmp_path: Path) -> None:
    place = state(tmp_path)
    assert place.last("uv", "user", INTERVENTIONS) is None
    place.note(REFUSED, "uv", "user", session="a", call="pip install x")
    place.note(STOPPED, "uv", "user", session="b", call="pip install y")
    last = place.last("uv", "user", (REFUSED, STOPPED))
    assert last is not None
    assert (last.kind, last.session, last.call) == (STOPPED, "b", "pip install y")
    first = place.last("uv", "user", (REFUSED,))
    assert first is not None
    assert first.call == "pip install x"
    assert place.counts() == {("uv", "user"): {REFUSED: 1, STOPPED: 1}}
    assert place.held_since(1_000) == 2


def test_what_is_old_is_removed(tmp_path: Path) -> None:
    spend(tmp_path, 1)
    state(tmp_path).allow("uv", "user", "s")
    state(tmp_path).remove_before(1_000)
    assert state(tmp_path).has_session("s")
    state(tmp_path).remove_before(1_001)
    assert not state(tmp_path).has_session("s")
    assert state(tmp_path).permission("uv", "user", "s") == ""
