"""Whoever subscribes is told, each notice once, whatever another subscriber does."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from brim.notices import COST_WARNING, KINDS, Notice, Subscribers


@dataclass(frozen=True)
class Spoken(Notice):
    """A notice with a sentence."""

    kind = COST_WARNING
    text: str


def test_every_subscriber_is_told_of_every_notice_in_order() -> None:
    subscribers = Subscribers()
    first: list[Notice] = []
    second: list[Notice] = []
    subscribers.add(first.append)
    subscribers.add(second.append)
    notices = [Spoken(text="a"), Spoken(text="b")]
    subscribers.tell(notices)
    assert first == second == notices


def test_a_subscriber_that_left_is_not_told() -> None:
    subscribers = Subscribers()
    told: list[Notice] = []
    leave = subscribers.add(told.append)
    leave()
    leave()
    subscribers.tell([Spoken(text="a")])
    assert told == []


def test_a_subscriber_that_fails_keeps_no_other_from_being_told() -> None:
    def fail(_: Notice) -> None:
        raise RuntimeError("mine")

    subscribers = Subscribers()
    told: list[Notice] = []
    subscribers.add(fail)
    subscribers.add(told.append)
    with pytest.raises(RuntimeError, match="mine"):
        subscribers.tell([Spoken(text="a"), Spoken(text="b")])
    assert len(told) == 2


def test_the_kinds_are_the_five_that_subscribers_know() -> None:
    assert KINDS == (
        "CONTEXT_WARNING",
        "COMPACT_DUE",
        "COST_WARNING",
        "COST_LIMIT",
        "INPUT_REQUESTED",
    )
