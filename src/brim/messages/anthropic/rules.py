"""The rules of Anthropic's Messages API."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from brim.messages.anthropic.reading import (
    SERVER_CALLS,
    THINKING,
    blocks_of,
    is_directive,
    is_empty_text,
    is_open_end,
    is_summary,
)
from brim.messages.anthropic.turns import (
    NO_TURN,
    Block,
    MessageTurn,
    summaries_of,
    turns_of,
    unpaired_server_tools,
)
from brim.messages.entries import Entry
from brim.messages.markers import MOST_MARKERS, count_markers
from brim.messages.receipt import Violation
from brim.messages.rules import (
    calls_have_ids,
    known_roles,
    pairs_match,
    results_have_ids,
    sides_are_right,
    user_is_first,
)
from brim.tokens.messages.fields import get, string


def check(history: Sequence[Entry]) -> Iterator[Violation]:
    """Yield every place where *history* breaks a rule."""
    turns = turns_of(history)
    yield from known_roles(history)
    yield from _check_content(history)
    yield from _check_compaction(history)
    yield from _check_markers(history)
    yield from user_is_first(history)
    yield from _check_system(turns)
    yield from sides_are_right(history)
    yield from calls_have_ids(history)
    yield from results_have_ids(history)
    yield from _check_unique_ids(history)
    yield from _check_order(turns)
    yield from _check_pairs(turns)
    yield from _check_last_block(turns)
    for block in unpaired_server_tools(turns):
        yield _unpaired_server_tool(block)


def _check_content(history: Sequence[Entry]) -> Iterator[Violation]:
    """Every message holds something, and no text is empty."""
    for entry in history:
        if not entry.role:
            continue

        blocks = blocks_of(entry.wire)
        is_end = entry is history[-1] and is_open_end(entry.role, entry.wire)
        if not blocks and not is_end and not is_directive(entry.wire):
            yield Violation(entry.index, "has-content", "it has no content")

        for block in blocks:
            if is_empty_text(block) or (is_summary(block) and get(block, "content") == ""):
                yield Violation(entry.index, "text-not-empty", "it holds a text without a letter")


def _check_compaction(history: Sequence[Entry]) -> Iterator[Violation]:
    """A signed summary is the only one, and the first block of the conversation."""
    summaries = summaries_of(history)
    for entry, _ in summaries[:-1]:
        text = "a newer compaction follows: send only the last one"
        yield Violation(entry.index, "one-compaction", text)

    for entry, at in summaries[-1:]:
        if entry is not history[0] or at > 0 or entry.role == "system":
            text = "a signed compaction must be the first block"
            yield Violation(entry.index, "compaction-first", text)


def _check_markers(history: Sequence[Entry]) -> Iterator[Violation]:
    """The messages have at most as many cache markers as a request; the system prompt and the tools
    may have some."""
    markers = 0
    for entry in history:
        own = count_markers(entry.wire)
        if markers <= MOST_MARKERS < markers + own:
            text = f"with it, more than {MOST_MARKERS} blocks have a cache_control marker"
            yield Violation(entry.index, "few-markers", text)

        markers += own


def _check_system(turns: list[MessageTurn]) -> Iterator[Violation]:
    """A system message follows a user's turn or a call of the provider's own, and an assistant's
    turn follows it."""
    for at, turn in enumerate(turns):
        if turn.role != "system":
            continue

        text = _problem_of_place(turns, at)
        if text:
            for entry in turn.owners:
                yield Violation(entry.index, "system-placement", text)

            continue

        for entry in turn.owners[1:]:
            text = "two system messages follow each other"
            yield Violation(entry.index, "system-placement", text)


def _problem_of_place(turns: list[MessageTurn], at: int) -> str:
    """Return why system messages can't stand at the place *at*; empty if they can."""
    if at == 0:
        return "the first system text belongs in the request's own field, not in the messages"

    is_followed = at + 1 < len(turns) and turns[at + 1].role != "assistant"
    if is_followed or not turns[at - 1].may_precede_system:
        return "a system message stands between a user's turn and an assistant's, or at the end"

    return ""


def _check_unique_ids(history: Sequence[Entry]) -> Iterator[Violation]:
    earlier = set()
    for entry in history:
        for call in entry.calls:
            if call.id and call.id in earlier:
                text = f"an earlier call has the id {call.id}"
                yield Violation(entry.index, "call-ids-unique", text)

            earlier.add(call.id)


def _check_order(turns: list[MessageTurn]) -> Iterator[Violation]:
    """Results come first in the user's turn, and no text comes after a call in the assistant's."""
    for turn in turns:
        if turn.role == "user":
            yield from _check_results_first(turn)
        elif turn.role == "assistant":
            yield from _check_calls_last(turn)


def _check_results_first(turn: MessageTurn) -> Iterator[Violation]:
    has_other_content = False
    for block in turn.blocks:
        if block.kind != "tool_result":
            has_other_content = True
        elif has_other_content:
            text = "a result stands after other content of its turn"
            yield Violation(block.index, "results-first", text)


def _check_calls_last(turn: MessageTurn) -> Iterator[Violation]:
    has_call = False
    for block in turn.blocks:
        if block.kind == "tool_use":
            has_call = True
        elif block.kind == "text" and has_call:
            text = "a text stands after a call of the same turn"
            yield Violation(block.index, "calls-last", text)


def _check_pairs(turns: list[MessageTurn]) -> Iterator[Violation]:
    """The calls of a turn are answered in the next one."""
    for before, turn in zip([NO_TURN, *turns], [*turns, NO_TURN], strict=True):
        calls = before.pairable("tool_use")
        results = turn.pairable("tool_result")
        yield from pairs_match(
            calls,
            results,
            "turn",
            "in the next turn",
        )


def _check_last_block(turns: list[MessageTurn]) -> Iterator[Violation]:
    """The history doesn't end in the assistant's thinking."""
    if not turns or turns[-1].role != "assistant" or not turns[-1].blocks:
        return

    last = turns[-1].blocks[-1]
    if last.kind in THINKING:
        text = "the last message cannot end in thinking"
        yield Violation(last.index, "reasoning-not-last", text)


def _unpaired_server_tool(block: Block) -> Violation:
    if block.kind in SERVER_CALLS:
        tool = string(get(block.message, "name")) or "a tool"
        text = f"a {block.kind} of {tool} has no result in its turn"
        return Violation(block.index, "server-call-has-result", text)

    text = f"a {block.kind} stands without its call before it in the same turn"
    return Violation(block.index, "server-result-has-call", text)
