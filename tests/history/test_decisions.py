"""What a pruner has decided, stored beside a transcript and known again."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.errors import InputError
from brim.history import Decisions
from tests.history.samples import talk, user

MESSAGES = talk("openai", 5)


@st.composite
def any_decisions(draw: st.DrawFn) -> Decisions:
    cut = draw(st.integers(0, 50))
    kept = draw(st.sets(st.integers(0, 49)))
    return Decisions(
        cut, tuple(sorted(at for at in kept if at < cut)), draw(st.text(max_size=40)), draw(st.integers(0))
    )


@settings(max_examples=50)
@given(decisions=any_decisions())
def test_decisions_come_back_from_json(decisions: Decisions) -> None:
    text = decisions.to_json()
    assert Decisions.from_json(text) == decisions
    assert "\n" not in text


def test_new_decisions_keep_everything() -> None:
    assert Decisions().view(MESSAGES) == list(range(10))
    assert Decisions().view([]) == []


def test_what_was_kept_and_all_after_the_cut_are_seen() -> None:
    decided = Decisions().cut_again(MESSAGES, [0, 3, 7, 8, 9], ())
    assert (decided.cut, decided.kept, decided.cuts) == (7, (0, 3), 1)
    assert decided.view(MESSAGES) == [0, 3, 7, 8, 9]
    assert decided.view([*MESSAGES, user("openai", "More")]) == [0, 3, 7, 8, 9, 10]


def test_cuts_are_counted_on() -> None:
    assert Decisions(cuts=4).cut_again(MESSAGES, [9], ()).cuts == 5


def test_broken_messages_do_not_end_the_run() -> None:
    decided = Decisions().cut_again(MESSAGES, [0, 7, 9], [8])
    assert (decided.cut, decided.kept) == (7, (0,))
    assert Decisions().cut_again(MESSAGES, [0], [8, 9]).view(MESSAGES) == [0, 8, 9]


def test_what_stays_when_the_newest_left_too() -> None:
    decided = Decisions().cut_again(MESSAGES, [0, 4], ())
    assert (decided.cut, decided.kept) == (10, (0, 4))
    assert decided.view([*MESSAGES, user("openai", "More")]) == [0, 4, 10]


def test_another_transcript_is_not_seen() -> None:
    decided = Decisions().cut_again(MESSAGES, [7, 8, 9], ())
    assert decided.view(MESSAGES[:6]) is None
    assert decided.view([user("openai", "Other"), *MESSAGES[1:]]) is None
    assert decided.view([]) is None


def test_what_changes_after_the_cut_is_the_same_transcript() -> None:
    decided = Decisions().cut_again(MESSAGES, [7, 8, 9], ())
    assert decided.view([*MESSAGES[:7], user("openai", "Other")]) == [7]


def test_objects_and_dicts_with_the_same_fields_are_the_same_transcript() -> None:
    decided = Decisions().cut_again(MESSAGES, [7, 8, 9], ())
    assert decided.view([SimpleNamespace(**message) for message in MESSAGES]) == [7, 8, 9]


@pytest.mark.parametrize("strange", [object(), {1, 2}])
def test_what_cannot_be_written_down_matches_nothing(strange: object) -> None:
    first = {"role": "user", "content": [strange]}
    decided = Decisions().cut_again([first, *MESSAGES], [8, 9, 10], ())
    assert decided.view([first, *talk("openai", 5, each=3)]) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "5",
        '"text"',
        "[]",
        "{}",
        "NaN",
        '{"version": 1}',
        '{"version": 1, "kept": 5}',
        '{"version": 1, "kept": "ab", "cut": 3}',
        '{"version": 1, "kept": [[1]], "cut": 3}',
        '{"version": 1, "kept": [], "cut": "3"}',
        '{"version": 1, "kept": [], "cut": -1}',
        '{"version": 1, "kept": [], "cut": 1.5}',
        '{"version": 1, "kept": [], "cut": true}',
        '{"version": 1, "kept": [], "cuts": null}',
        '{"version": 1, "kept": [], "digest": 5}',
        '{"version": 1, "kept": [], "other": 5}',
        '{"version": 1, "kept": [3], "cut": 3}',
        '{"version": 1, "kept": [2, 1], "cut": 3}',
        '{"version": 1, "kept": [1, 1], "cut": 3}',
        '{"version": 2, "kept": [], "cut": 0, "digest": "", "cuts": 0}',
        '{"version": null, "kept": []}',
        "[" * 100_000,
        None,
        5,
    ],
)
def test_garbage_is_an_input_error(text: Any) -> None:
    with pytest.raises(InputError, match="decisions: "):
        Decisions.from_json(text)


@settings(max_examples=50)
@given(text=st.one_of(st.text(), st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists)))
def test_any_other_text_is_an_input_error(text: Any) -> None:
    with pytest.raises(InputError):
        Decisions.from_json(text if isinstance(text, str) else json.dumps(text))


def test_a_place_beyond_the_transcript_is_another_transcript() -> None:
    assert Decisions(cut=10**9, digest="x").view(MESSAGES) is None
