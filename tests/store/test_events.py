"""Secrets in events are masked; what is too short to be one is not looked at."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.behaviors import Edge
from brim.behaviors.behavior import EdgeKind
from brim.masking import mask
from brim.store import RuleEvent, open_store
from brim.store.events import SHORT, is_short_word, note_injection
from brim.store.scopes import Scopes, open_scopes
from tests.store.making import behavior

SECRET = "xoxb-" + "1234567890"
"""The shortest shape there is, put together here so that no scanner takes it for a real one."""


@given(st.text("abekxosyAEIKSGJ_-0129", max_size=SHORT + 2))
def test_no_secret_is_as_short_as_what_is_not_looked_at(text: str) -> None:
    assert not is_short_word(text) or mask(text) == text


@pytest.mark.parametrize("text", ["", "a b", "key=abc", "é", "a.b", SECRET])
def test_only_a_plain_word_is_not_looked_at(text: str) -> None:
    assert not is_short_word(text)


def test_a_secret_among_ids_is_masked(tmp_path: Path) -> None:
    kept = ["b-0123456789", "a-behavior-with-a-long-id", 7, ["x", "a longer text"]]
    with open_store(str(tmp_path / "brim.db")) as store:
        store.record(
            RuleEvent(
                "injected", 1.0, detail={"ids": [*kept, SECRET], "event": "prompt", "why": [SECRET]}
            )
        )
        (event,) = store.events()
    masked = mask(SECRET)
    assert masked != SECRET
    assert event.detail == {"ids": [*kept, masked], "event": "prompt", "why": [masked]}


NOW = 1_700_000_000.0
WHEN = {"language": "python"}


def opened(tmp_path: Path) -> Scopes:
    return open_scopes(str(tmp_path / "shop"), str(tmp_path / "home"), trusted=True)


def both(tmp_path: Path, *, user: tuple[str, ...] = (), project: tuple[str, ...] = ()) -> Scopes:
    scopes = opened(tmp_path)
    for scope, ids in (("user", user), ("project", project)):
        scopes.store(scope).put_many(
            [behavior(id, scope=scope, when=WHEN) for id in ids], event="learned", now=NOW
        )
    return scopes


def told(
    scopes: Scopes, *ids: str, now: float = NOW, active: tuple[str, ...] | None = None
) -> None:
    found = scopes.get_many(ids)
    with scopes.writing():
        note_injection(scopes, [found[id] for id in ids], active or ids, now=now, session="s")


def ties(scopes: Scopes) -> dict[tuple[str, str], float]:
    return {
        (edge.source, edge.target): edge.weight
        for edge in scopes.all_edges()
        if edge.kind is EdgeKind.CO_ACTIVATED
    }


def test_each_is_used_in_the_file_whose_it_is(tmp_path: Path) -> None:
    with both(tmp_path, user=("a",), project=("b",)) as scopes:
        told(scopes, "b", "a")
        assert scopes.store("user").behaviors()[0].usage.injected == 1
        assert scopes.store("project").behaviors()[0].usage.injected == 1
        for scope, id in (("user", "a"), ("project", "b")):
            (event,) = scopes.store(scope).events(kind="injected")
            assert (event.detail["ids"], event.detail["together"], event.session) == (
                [id],
                ["b", "a"],
                "s",
            )


def test_a_pair_is_tied_when_it_has_come_up_three_times(tmp_path: Path) -> None:
    with both(tmp_path, user=("a", "b", "c")) as scopes:
        for at in range(2):
            told(scopes, "a", "b", now=NOW + at)
        assert ties(scopes) == {}
        told(scopes, "c", "a", now=NOW + 2)
        assert ties(scopes) == {}
        told(scopes, "b", "a", now=NOW + 3)
        assert set(ties(scopes)) == {("a", "b")}
        light = ties(scopes)["a", "b"]
        told(scopes, "b", "a", now=NOW + 4)
        assert light < ties(scopes)["a", "b"] < 1


def test_what_always_matters_is_tied_to_nothing(tmp_path: Path) -> None:
    with both(tmp_path, user=("a",)) as scopes:
        scopes.store("user").put(behavior("always", scope="user"), event="learned", now=NOW)
        for at in range(5):
            told(scopes, "a", "always", now=NOW + at)
        assert ties(scopes) == {}


def test_a_pair_of_both_files_is_tied_once_and_in_the_projects(tmp_path: Path) -> None:
    with both(tmp_path, user=("a", "c"), project=("b",)) as scopes:
        for at in range(3):
            told(scopes, "a", "b", now=NOW + at)
        assert [edge.target for edge in scopes.store("project").all_edges()] == ["b"]
        assert scopes.store("user").all_edges() == []
        for at in range(3, 6):
            told(scopes, "a", "c", now=NOW + at)
        assert [edge.target for edge in scopes.store("user").all_edges()] == ["c"]


def test_one_injection_from_both_files_counts_once(tmp_path: Path) -> None:
    with both(tmp_path, user=("a", "b"), project=("c",)) as scopes:
        for at in range(2):
            told(scopes, "a", "b", "c", now=NOW + at)
        assert ties(scopes) == {}


def test_an_edge_that_carried_something_is_fresh_again(tmp_path: Path) -> None:
    with both(tmp_path, user=("a", "b", "c", "d")) as scopes:
        old = [
            Edge("a", "b", "requires", 0.5, last_activated=NOW - 9),
            Edge("a", "c", "similar-to", last_activated=1.0),
        ]
        scopes.store("user").put_edges(old)
        told(scopes, "a", "d", active=("a", "d", "b"))
        found = {edge.target: edge.last_activated for edge in scopes.all_edges()}
        assert found == {"b": NOW, "c": 1.0}


def test_an_edge_that_is_not_followed_is_left_as_it_is(tmp_path: Path) -> None:
    with both(tmp_path, project=("theirs",)) as scopes:
        scopes.store("user").put(
            behavior("mine", kind="constraint", scope="user"), event="learned", now=NOW
        )
        edge = Edge("theirs", "mine", "overrides", last_activated=1.0)
        scopes.store("project").put_edges([edge])
        told(scopes, "mine", "theirs")
        assert scopes.store("project").all_edges() == [edge]


def test_nothing_is_kept_if_the_whole_is_not(tmp_path: Path) -> None:
    def fail(scopes: Scopes) -> None:
        with scopes.writing():
            note_injection(scopes, list(scopes.get_many(["a"]).values()), ["a"], now=NOW)
            raise RuntimeError

    with both(tmp_path, user=("a",)) as scopes:
        with pytest.raises(RuntimeError):
            fail(scopes)
        assert scopes.store("user").events(kind="injected") == []


@pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() == 0, reason="nothing is read-only for root"
)
def test_a_file_that_cannot_be_written_is_left_as_it_is(tmp_path: Path) -> None:
    both(tmp_path, user=("a",), project=("b",)).close()
    (tmp_path / "shop" / ".brim" / "brim.db").chmod(0o400)
    with opened(tmp_path) as scopes:
        told(scopes, "a", "b")
        used = {id: each.usage.injected for id, each in scopes.get_many(("a", "b")).items()}
        assert used == {"a": 1, "b": 0}
