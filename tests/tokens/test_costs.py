"""What each message costs: the costs add up to the count, and to the count of any of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.tokens import (
    AnchoredTokenCounter,
    ApiTokenCounter,
    ApproximateTokenCounter,
    Count,
    TokenCounter,
    counter_for,
)
from brim.tokens.costs import message_costs

PICTURE = {"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}}
CALL = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "What is this?"}, PICTURE]},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "notes.md"},
    {"role": "assistant", "content": "A cat.", "reasoning_content": "It has whiskers."},
    {"role": "user", "content": "Thanks!"},
]
TOOLS = [
    {
        "type": "function",
        "function": {"name": "ls", "parameters": {"type": "object", "properties": {}}},
    }
]


class Plain:
    """A counter that can do only what the protocol asks."""

    model = None

    def count(self, text: str, /) -> Count:
        return Count(len(text))

    def count_messages(self, messages: Sequence[Any], tools: Sequence[Any] | None = None) -> Count:
        low = sum(len(str(message)) for message in messages)
        return Count(
            5 + low + 10 * len(tools or ()), "estimated", low, 2 * low + 5 + 10 * len(tools or ())
        )


COUNTERS: dict[str, TokenCounter] = {
    "exact": counter_for("gpt-4o"),
    "calibrated": counter_for("claude-sonnet-4-5"),
    "unknown": counter_for("nobody-knows-it"),
    "approximate": ApproximateTokenCounter(),
    "anchored": AnchoredTokenCounter(counter_for("gpt-4o")),
    "plain": Plain(),
}


@pytest.mark.parametrize("name", COUNTERS)
@pytest.mark.parametrize("tools", [None, TOOLS])
@settings(max_examples=30)
@given(kept=st.sets(st.integers(0, len(MESSAGES) - 2)))
def test_the_costs_of_some_messages_are_their_count(
    name: str, tools: list[Any] | None, kept: set[int]
) -> None:
    counter = COUNTERS[name]
    # The last prompt decides which reasoning counts; tools stand in the system message, which
    # always stays.
    places = [*sorted(kept | {0}), len(MESSAGES) - 1]
    costs = message_costs(counter, MESSAGES, tools)
    counted = counter.count_messages([MESSAGES[at] for at in places], tools)
    found = costs.count(places)
    assert costs.fixed + sum(costs.each[at] for at in places) == int(found) == int(counted)
    assert (found.basis, found.low, found.high, found.note) == (
        counted.basis,
        counted.low,
        counted.high,
        counted.note,
    )


@pytest.mark.parametrize("name", COUNTERS)
def test_costs_alone_leave_out_what_belongs_to_no_message(name: str) -> None:
    costs = message_costs(COUNTERS[name], MESSAGES, TOOLS)
    alone = costs.alone(range(len(MESSAGES)))
    assert int(alone) == sum(costs.each) == int(costs.count(range(len(MESSAGES)))) - costs.fixed
    assert alone.low <= alone <= alone.high


@pytest.mark.parametrize("name", COUNTERS)
def test_costs_can_be_replaced(name: str) -> None:
    counter = COUNTERS[name]
    other = [
        {"role": "user", "content": "Something else."},
        {"role": "tool", "tool_call_id": "c1", "content": "x"},
    ]
    costs = message_costs(counter, MESSAGES).replaced([1, 3], message_costs(counter, other))
    changed = [MESSAGES[0], other[0], MESSAGES[2], other[1], *MESSAGES[4:]]
    assert int(costs.count(range(6))) == int(counter.count_messages(changed))
    assert costs.each == message_costs(counter, changed).each


def test_an_endpoint_is_not_asked_what_a_single_message_costs() -> None:
    counter = ApiTokenCounter(
        "claude-sonnet-4-5", fallback=counter_for("claude-sonnet-4-5"), client=object()
    )
    assert (
        message_costs(counter, MESSAGES).each
        == message_costs(counter_for("claude-sonnet-4-5"), MESSAGES).each
    )
    assert counter.last_error is None


def test_a_tally_can_be_divided_before_and_after_it_is_scaled() -> None:
    from brim.tokens.messages import measure

    tally = measure(MESSAGES, count_text=len)
    one, other = tally.scaled(1.5, 1.2, 1.7).only([0, 2]), tally.only([0, 2]).scaled(1.5, 1.2, 1.7)
    assert one == other
    assert one.per_message == tuple(tally.scaled(1.5).per_message[at] for at in (0, 2))
