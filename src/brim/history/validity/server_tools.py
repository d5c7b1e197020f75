"""Anthropic's own tools: a search or a run of code is called and answered in the assistant's turn.

Such a call may wait while the user answers other calls of the same turn, so the turn goes on over messages that hold
only results. Anything else that the user says ends it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim.history.reading.anthropic import SERVER_CALLS, is_server_result
from brim.history.types import Violation
from brim.history.validity.turns import turns_of
from brim.tokens.messages.fields import get, string

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from brim.history.reading.entry import Entry
    from brim.history.validity.turns import Turn


def long_turns(history: Sequence[Entry]) -> Iterator[tuple[list[Turn], bool]]:
    """Yield the assistant's turns that go on over bare results, and whether something has ended them."""
    going_on: list[Turn] = []
    for turn in turns_of(history):
        if turn.role == "assistant":
            going_on.append(turn)
        elif turn.role != "system" and any(block.kind != "tool_result" for block in turn.blocks):
            yield going_on, True
            going_on = []
    yield going_on, False


def server_result_has_call(history: Sequence[Entry]) -> Iterator[Violation]:
    """A result of the provider's own tool stands after its call, in the same turn."""
    for turns, _ in long_turns(history):
        called = set()
        for block in (block for turn in turns for block in turn.blocks):
            if block.kind in SERVER_CALLS:
                called.add(string(get(block.value, "id")))
            elif is_server_result(block.kind) and string(get(block.value, "tool_use_id")) not in called:
                text = f"a {block.kind} stands without its call before it in the same turn"
                yield Violation(block.entry.index, "server-result-has-call", text)


def server_call_has_result(history: Sequence[Entry]) -> Iterator[Violation]:
    """A call of the provider's own tool has its result when the turn is over."""
    for turns, is_over in long_turns(history):
        blocks = [block for turn in turns for block in turn.blocks]
        answered = {string(get(block.value, "tool_use_id")) for block in blocks if is_server_result(block.kind)}
        for block in blocks if is_over else ():
            if block.kind in SERVER_CALLS and string(get(block.value, "id")) not in answered:
                text = f"a {block.kind} of {string(get(block.value, 'name')) or 'a tool'} has no result in its turn"
                yield Violation(block.entry.index, "server-call-has-result", text)
