"""What waits to be sent: one slot per purpose, and a person's words are never lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.errors import InputError
from brim.sessions.window.compaction import PURPOSES, Pending, Turn


def test_a_compact_request_overwrites_no_human_message_and_goes_before_it() -> None:
    pending = Pending()
    pending.add("human", "one")
    pending.add("human", "two")
    pending.add("compact", "/compact", session="s1")
    taken = [pending.take("s1") for _ in range(4)]
    assert taken == [Turn("compact", "/compact"), Turn("human", "one"), Turn("human", "two"), None]


def test_where_the_money_ends_the_wrap_up_goes_first() -> None:
    pending = Pending()
    for purpose in ("human", "compact", "wrap_up"):
        pending.add(purpose, purpose)
    assert [turn.purpose for turn in pending.waiting] == ["wrap_up", "compact", "human"]
    assert len(pending) == 3


def test_a_request_for_another_session_is_dropped_with_the_reason() -> None:
    pending = Pending()
    pending.add("compact", "/compact", session="s1")
    pending.add("human", "hello")
    assert pending.take("s2") == Turn("human", "hello")
    (dropped,) = pending.dropped
    assert dropped.turn.text == "/compact"
    assert dropped.reason == "it was for the session s1, and this is s2"


def test_a_newer_request_takes_the_place_of_an_older_one() -> None:
    pending = Pending()
    pending.add("compact", "old", session="s1")
    pending.add("compact", "new", session="s1")
    assert pending.take("s1") == Turn("compact", "new")
    assert pending.take("s1") is None
    assert [one.turn.text for one in pending.dropped] == ["old"]


def test_a_request_can_be_cancelled_and_a_persons_words_cannot() -> None:
    pending = Pending()
    pending.add("compact", "/compact")
    pending.add("human", "hello")
    pending.cancel("compact", "the agent compacted by itself")
    pending.cancel("human", "never")
    assert pending.take() == Turn("human", "hello")
    assert pending.dropped[0].reason == "the agent compacted by itself"


def test_what_cannot_be_sent_is_refused() -> None:
    with pytest.raises(InputError, match="unknown purpose 'x'"):
        Pending().add("x", "text")
    with pytest.raises(InputError, match="needs a text"):
        Pending().add("human", " \n")


@given(
    st.lists(
        st.tuples(st.sampled_from((*PURPOSES, "take")), st.sampled_from(("s1", "s2"))), max_size=40
    )
)
def test_every_human_message_is_taken_once_and_in_order(steps: list[tuple[str, str]]) -> None:
    pending, said, taken = Pending(), [], []
    for number, (step, session) in enumerate(steps):
        if step == "take":
            taken.append(pending.take(session))
        else:
            pending.add(step, f"text {number}", session=session if step == "compact" else "")
            said += [f"text {number}"] if step == "human" else []
    while turn := pending.take("s1"):
        taken.append(turn)
    assert [turn.text for turn in taken if turn and turn.purpose == "human"] == said
