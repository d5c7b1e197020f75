"""What is remembered between two calls of a hook: nothing lost, nothing told twice, nothing that
fails loudly."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from brim.config.places import file_id
from brim.hooks.state import SessionState
from brim.sessions.window.windows import UsageSeen


@pytest.fixture
def home(tmp_path: Path) -> str:
    return str(tmp_path)


def test_what_was_kept_is_there_again(home: str) -> None:
    state = SessionState.load(home, "s1")
    state.usage = UsageSeen(41_000, 200_000, "claude-sonnet-4-5", 12.5, "statusline", 3_000)
    state.lost = "src/app.py"
    state.keep("meter", {"a": [1, 2]})
    state.save()
    again = SessionState.load(home, "s1")
    assert again.usage == UsageSeen(41_000, 200_000, "claude-sonnet-4-5", 12.5, "statusline", 3_000)
    assert (again.lost, again.kept("meter")) == ("src/app.py", {"a": [1, 2]})


def test_nothing_changed_writes_nothing(home: str) -> None:
    SessionState.load(home, "s1").save()
    assert not os.path.exists(os.path.join(home, "state"))


def test_files_are_for_their_owner_alone(home: str) -> None:
    state = SessionState.load(home, "s1")
    state.keep("a", 1)
    state.save()
    assert os.stat(state.path).st_mode & 0o777 == 0o600
    assert os.stat(os.path.dirname(state.path)).st_mode & 0o777 == 0o700


def test_a_latch_is_told_once_until_it_is_opened(home: str) -> None:
    state = SessionState.load(home, "s1")
    assert state.tell_once("context")
    assert not state.tell_once("context")
    assert not SessionState.load(home, "s1").tell_once("context")
    assert state.tell_once("cost")
    state.open_latch("context")
    assert SessionState.load(home, "s1").tell_once("context")


def test_of_many_at_once_one_is_told(home: str) -> None:
    told: list[bool] = []
    barrier = threading.Barrier(8)

    def claim() -> None:
        state = SessionState.load(home, "s1")
        barrier.wait()
        told.append(state.tell_once("context"))

    threads = [threading.Thread(target=claim) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert told.count(True) == 1


def test_what_was_lost_is_given_once(home: str) -> None:
    state = SessionState.load(home, "s1")
    state.lost = "src/app.py"
    state.save()
    one, other = SessionState.load(home, "s1"), SessionState.load(home, "s1")
    assert [one.take_lost(), other.take_lost(), SessionState.load(home, "s1").take_lost()] == [
        "src/app.py",
        "",
        "",
    ]


def test_two_that_change_different_things_keep_both(home: str) -> None:
    one, other = SessionState.load(home, "s1"), SessionState.load(home, "s1")
    one.keep("a", 5)
    other.usage = UsageSeen(7)
    one.save()
    other.save()
    again = SessionState.load(home, "s1")
    assert again.kept("a") == 5
    assert again.usage == UsageSeen(7)


def test_a_window_that_was_emptied_has_no_reading(home: str) -> None:
    state = SessionState.load(home, "s1")
    state.usage = UsageSeen(7)
    state.save()
    state.usage = None
    state.save()
    assert SessionState.load(home, "s1").usage is None


@pytest.mark.parametrize(
    "text", ["", "{", "[1]", '{"usage": 7, "told": [], "lost": 3}', "\x00" * 10]
)
def test_a_broken_file_is_as_none(home: str, text: str) -> None:
    state = SessionState.load(home, "s1")
    os.makedirs(os.path.dirname(state.path))
    Path(state.path).write_text(text, encoding="utf-8")
    state = SessionState.load(home, "s1")
    assert (state.usage, state.lost) == (None, "")
    assert state.tell_once("context")


def test_a_link_is_not_followed(home: str, tmp_path: Path) -> None:
    state = SessionState.load(home, "s1")
    os.makedirs(os.path.dirname(state.path))
    (tmp_path / "other").write_text('{"lost": "secret"}', encoding="utf-8")
    os.symlink(tmp_path / "other", state.path)
    assert SessionState.load(home, "s1").lost == ""


def test_where_nothing_can_be_written_nothing_is_told(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file, not a folder", encoding="utf-8")
    state = SessionState.load(str(tmp_path / "home"), "s1")
    state.keep("a", 3)
    state.save()
    assert not state.tell_once("context")
    assert state.kept("a") == 3


def test_an_id_is_a_name_only_if_it_is_harmless() -> None:
    assert file_id("8eeb040d-b0c0_X") == "8eeb040d-b0c0_X"
    for bad in ("", "../x", "a/b", "a.b", "é", "x" * 65, "a\x00", "\ud800"):
        assert len(file_id(bad)) == 64
        assert file_id(bad).isalnum()
