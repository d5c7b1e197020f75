"""A request is news once, and again only with other numbers."""

from __future__ import annotations

from brim.agents.lines import Told
from brim.models.usage import Tokens


def test_a_request_is_new_once() -> None:
    requests = Told()
    assert requests.is_new("a", Tokens(input=1), final=True)
    assert not requests.is_new("a", Tokens(input=1), final=True)
    assert requests.is_new("a", Tokens(input=2), final=True)


def test_what_is_final_is_not_replaced_by_a_placeholder() -> None:
    requests = Told()
    assert requests.is_new("a", Tokens(input=1, output=1), final=False)
    assert requests.is_new("a", Tokens(input=1, output=40), final=True)
    assert not requests.is_new("a", Tokens(input=1, output=1), final=False)


def test_a_placeholder_that_turns_out_right_is_new_once_it_is_final() -> None:
    requests = Told()
    assert requests.is_new("a", Tokens(output=1), final=False)
    assert requests.is_new("a", Tokens(output=1), final=True)


def test_without_a_key_everything_is_new() -> None:
    requests = Told()
    assert requests.is_new("", Tokens(input=1), final=True)
    assert requests.is_new("", Tokens(input=1), final=True)


def test_the_oldest_is_forgotten_first() -> None:
    requests = Told(size=2)
    for key in "abc":
        requests.is_new(key, Tokens(input=1), final=True)
    assert not requests.is_new("c", Tokens(input=1), final=True)
    assert not requests.is_new("b", Tokens(input=1), final=True)
    assert requests.is_new("a", Tokens(input=1), final=True)


def test_the_last_half_is_never_forgotten() -> None:
    requests = Told(size=100)
    for number in range(1_000):
        assert requests.is_new(str(number), Tokens(input=1), final=True)
        last = range(max(0, number - 49), number + 1)
        assert not any(
            requests.is_new(str(key), Tokens(input=1), final=True) for key in (last[0], number)
        )


def test_what_was_told_is_bounded_and_an_empty_key_is_always_new() -> None:
    told = Told(size=2)
    assert all(told.is_new(key) for key in ("", "", "a", "b", "c"))
    assert [key in told for key in ("", "a", "b", "c")] == [False, False, True, True]
    assert not told.is_new("c")
    assert told.is_new("c", "another")
