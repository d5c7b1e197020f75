"""What holds for every history, however broken."""

from __future__ import annotations

import copy
import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.history import PROVIDERS, Provider, repair, validate
from tests.history.histories import any_histories, valid_histories
from tests.history.junk import JUNK


def dumped(messages: Any) -> str:
    return json.dumps(
        messages, ensure_ascii=False, default=lambda value: getattr(value, "__dict__", None) or str(value)
    )


def lost(before: list[Any], after: list[Any], noted: list[str]) -> set[str]:
    """Return the texts of *before* that are neither in *after* nor in a note."""
    remains = "\n".join((dumped(after), *noted))
    # Without quotes in it: else two texts of which one ends and the next begins with a sign would be one mark.
    return {mark for mark in re.findall(r"<[^<>\"']+>", dumped(before)) if mark not in remains}


def check(messages: list[Any], provider: Provider, restore_calls: bool) -> None:
    given_objects = list(messages)
    snapshot = copy.deepcopy(messages)
    repaired = repair(messages, provider, restore_calls=restore_calls)
    assert validate(repaired.messages, provider) == []
    assert repair(repaired.messages, provider, restore_calls=restore_calls).changes == ()
    assert repair(messages, provider, restore_calls=restore_calls) == repaired
    assert dumped(messages) == dumped(snapshot)
    assert all(a is b for a, b in zip(messages, given_objects, strict=True))
    assert lost(messages, repaired.messages, [change.text for change in repaired.changes]) == set()
    assert all(0 <= change.index < max(1, len(messages)) for change in repaired.changes)
    if validate(messages, provider) == []:
        assert repaired.changes == ()
    else:
        assert repaired.changes != ()
    if not repaired.changes:
        assert len(repaired.messages) == len(messages)
        assert all(a is b for a, b in zip(repaired.messages, messages, strict=True))


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_valid_history_stays_as_it_is(provider: Provider) -> None:
    @settings(max_examples=60)
    @given(valid_histories(provider))
    def holds(messages: list[Any]) -> None:
        assert validate(messages, provider) == []
        repaired = repair(messages, provider)
        assert repaired.changes == ()
        assert all(a is b for a, b in zip(repaired.messages, messages, strict=True))

    holds()


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("restore_calls", [False, True])
def test_a_broken_history_becomes_valid_and_loses_nothing(provider: Provider, restore_calls: bool) -> None:
    @settings(max_examples=80)
    @given(any_histories(provider))
    def holds(messages: list[Any]) -> None:
        check(messages, provider, restore_calls)

    holds()


@pytest.mark.parametrize("provider", PROVIDERS)
def test_anything_at_all_becomes_a_history(provider: Provider) -> None:
    @settings(max_examples=60)
    @given(st.lists(JUNK, max_size=6), st.booleans())
    def holds(messages: list[Any], restore_calls: bool) -> None:
        check(messages, provider, restore_calls)

    holds()
