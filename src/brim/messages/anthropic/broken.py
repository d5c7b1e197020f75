"""Messages of Anthropic's that a pruner must drop: they can't be sent.

This shares only the reading with ``rules``, which it is tested against.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, takewhile

from brim.messages.anthropic.reading import (
    blocks_of,
    is_directive,
    is_server_kind,
    is_summary,
    kind_of,
)
from brim.messages.entries import Entry, named, unpaired
from brim.tokens.messages.fields import get

MISPLACED_NOTE = "a system message must stand between a user's turn and the assistant's"
Turn = list[Entry]


def find_broken(entries: Sequence[Entry]) -> dict[int, str]:
    """Return the messages of Anthropic's that can't be sent: index and reason."""
    entries = [entry for entry in entries if not is_directive(entry.wire)]
    turns = [list(turn) for _, turn in groupby(entries, key=lambda entry: entry.role)]
    broken = _out_of_order(turns)
    broken.update(_reused_ids(entries))
    broken.update(_misplaced_notes(turns))
    for entry in takewhile(lambda entry: entry.ends_in_reasoning, reversed(entries)):
        broken[entry.index] = "the last message cannot end in thinking"

    for entry in entries:
        if _is_misplaced(entry):
            broken[entry.index] = "its compaction is signed and must come first"

    broken.update(_broken_pairs(turns))
    broken.update(_unpaired_server_tools(turns))
    return broken


def _broken_pairs(turns: list[Turn]) -> dict[int, str]:
    """Return results without calls, and messages whose calls have no results in the next turn."""
    broken: dict[int, str] = {}
    before: Turn = []
    for turn in (*turns, []):
        callers = [entry for entry in before if entry.calls]
        pairs = unpaired(callers, turn, "turn")
        broken.update(pairs.results)
        if pairs.problem:
            for entry in callers:
                broken[entry.index] = pairs.problem

        before = turn

    return broken


def _is_misplaced(entry: Entry) -> bool:
    """Whether a signed summary stands behind something else of its own message."""
    place = 0
    is_signed = False
    for at, block in enumerate(blocks_of(entry.wire)):
        if is_summary(block):
            place = at
            is_signed = is_signed or get(block, "signature") is not None

    return is_signed and place > 0


def _out_of_order(turns: list[Turn]) -> dict[int, str]:
    """Within a turn results come first, and nothing is said after a call."""
    broken: dict[int, str] = {}
    for turn in turns:
        has_text = False
        has_call = False
        for entry in turn:
            if not entry.in_order:
                broken[entry.index] = "a result stands after text, or text after a call"
            elif entry.results and has_text:
                broken[entry.index] = "the result stands after other text of the same turn"
            elif has_call and any(kind_of(block) == "text" for block in blocks_of(entry.wire)):
                broken[entry.index] = "it stands between a call and its result"

            has_text = has_text or entry.says
            has_call = has_call or bool(entry.calls)

    return broken


def _reused_ids(entries: Sequence[Entry]) -> dict[int, str]:
    """A call's id may be used once in a history; the newest use stays."""
    broken: dict[int, str] = {}
    later_ids: set[str] = set()
    for entry in reversed(entries):
        for call in entry.calls:
            if call.id in later_ids:
                broken[entry.index] = f"the id {named([call.id])} is used again later"

        later_ids.update(call.id for call in entry.calls)

    return broken


def _misplaced_notes(turns: list[Turn]) -> dict[int, str]:
    """A system message stands after a user's turn and before an assistant's, or at the end, and
    never two in a row."""
    broken: dict[int, str] = {}
    for at, turn in enumerate(turns):
        if turn[0].role != "system":
            continue

        is_last = at + 1 == len(turns)
        is_placed = at > 0 and _may_precede_note(turns[at - 1])
        if not is_last and turns[at + 1][0].role != "assistant":
            is_placed = False

        misplaced = turn[1:] if is_placed else turn
        for entry in misplaced:
            broken[entry.index] = MISPLACED_NOTE

    return broken


def _may_precede_note(turn: Turn) -> bool:
    if turn[-1].role == "user":
        return True

    blocks = blocks_of(turn[-1].wire)
    if turn[-1].role != "assistant" or not blocks:
        return False

    return is_server_kind(kind_of(blocks[-1])) and not any(entry.calls for entry in turn)


def _unpaired_server_tools(turns: list[Turn]) -> dict[int, str]:
    """The provider's own calls have their results in the same turn, which goes on over bare results
    of other calls."""
    broken: dict[int, str] = {}
    waiting: dict[str, int] = {}
    for turn in turns:
        if turn[0].role == "user" and any(entry.says or entry.reasons for entry in turn):
            for index in waiting.values():
                broken[index] = "a call of the provider's own tool has no result"

            waiting = {}

        if turn[0].role != "assistant":
            continue

        for entry in turn:
            for call in entry.closes:
                if waiting.pop(call, None) is None:
                    broken[entry.index] = "a result of the provider's own tool has no call"
                    break

            waiting.update(dict.fromkeys(entry.opens, entry.index))

    return broken
