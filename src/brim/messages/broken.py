"""Messages that a pruner must drop: they can't be sent.

One function per format returns their index and the reason. It shares only the reading with
``check``, which it is tested against. A message that leaves can break others;
``formats.find_broken`` asks again until nothing is broken.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby, takewhile

from brim.messages.anthropic import blocks_of, is_directive, is_server_kind, is_summary, kind_of
from brim.messages.entries import Entry, named
from brim.messages.responses import runs
from brim.tokens.messages.fields import get


def _unpaired(
    callers: Sequence[Entry], answers: Sequence[Entry], before: str
) -> tuple[dict[int, str], str]:
    """Return the *answers* that belong to none of the *callers*, and why the callers can't stay;
    else an empty text."""
    called = {call.key: call.id for entry in callers for call in entry.calls}
    answered = set()
    broken: dict[int, str] = {}
    for entry in answers:
        for result in entry.results:
            if result.key not in called:
                broken[entry.index] = f"it answers no call of the {before} before it"
            elif result.key in answered:
                broken[entry.index] = "its call was answered before"
            answered.add(result.key)
    missing = [id_ for key, id_ in called.items() if key not in answered]
    return broken, f"{named(missing)} has no result" if missing else ""


# OpenAI's chat


def broken_chat(entries: Sequence[Entry]) -> dict[int, str]:
    """Return what no step can hold: results stand right after the message with their calls, one for
    each."""
    broken: dict[int, str] = {}
    callers: list[Entry] = []
    answers: list[Entry] = []
    for entry in (*entries, None):
        if entry is not None and entry.results:
            answers.append(entry)
            continue
        found, reason = _unpaired(callers, answers, "message")
        broken.update(found)
        if reason:
            broken.update(dict.fromkeys((each.index for each in (*callers, *answers)), reason))
        callers, answers = [entry] if entry else [], []
    return broken


# OpenAI's Responses


def broken_items(entries: Sequence[Entry]) -> dict[int, str]:
    """Return the items that can't be sent next to the others: index and reason."""
    broken: dict[int, str] = {}
    seen: set[str] = set()
    for entry in entries:
        if entry.id and entry.id in seen:
            broken[entry.index] = f"an item with the id {entry.id} stands before it"
        seen.add(entry.id)
    broken.update(_unpaired_items(entries))
    leads_on = False
    for entry in reversed(entries):
        if entry.reasons and not leads_on:
            broken[entry.index] = "the reasoning leads to nothing"
        leads_on = leads_on if entry.reasons else entry.role == "assistant"
    return broken


def _unpaired_items(entries: Sequence[Entry]) -> dict[int, str]:
    waiting: dict[tuple[str, str], list[int]] = defaultdict(list)
    broken = {}
    for at, entry in enumerate(entries):
        for call in entry.calls:
            if call.required:
                waiting[call.key].append(at)
            else:
                waiting[call.key].insert(0, -1)
        for result in entry.results:
            if waiting[result.key]:
                waiting[result.key].pop()
            else:
                broken[entry.index] = "it answers no call before it"
    unanswered = {at for places in waiting.values() for at in places if at >= 0}
    for run in _led_by_reasoning(entries) if unanswered else ():
        missing = [entries[at].calls[0].id for at in run if at in unanswered]
        for at in run if missing else ():
            if entries[at].calls or entries[at].reasons:
                broken[entries[at].index] = f"{named(missing)} has no result"
    return broken


def _led_by_reasoning(entries: Sequence[Entry]) -> Iterator[range]:
    """Yield the runs, divided before each reasoning that follows something else: it led to what
    comes after it."""
    for run in runs(entries):
        start = run.start
        for at in run[1:]:
            if entries[at].reasons and not entries[at - 1].reasons:
                yield range(start, at)
                start = at
        yield range(start, run.stop)


# Anthropic's Messages


def broken_messages(entries: Sequence[Entry]) -> dict[int, str]:
    """Return the messages of Anthropic's that can't be sent: index and reason."""
    entries = [entry for entry in entries if not is_directive(entry.wire)]
    turns = [list(turn) for _, turn in groupby(entries, key=lambda entry: entry.role)]
    thoughts = takewhile(lambda entry: entry.ends_in_reasoning, reversed(entries))
    broken = _out_of_order(turns) | _reused_ids(entries) | _misplaced_notes(turns)
    broken |= {entry.index: "the last message cannot end in thinking" for entry in thoughts}
    broken |= {
        entry.index: "its compaction is signed and must come first"
        for entry in entries
        if _is_misplaced(entry)
    }
    for before, turn in zip([[], *turns], [*turns, []], strict=True):
        callers = [entry for entry in before if entry.calls]
        found, reason = _unpaired(callers, turn, "turn")
        broken.update(found)
        broken.update({entry.index: reason for entry in callers if reason})
    return {**broken, **_unpaired_server_tools(turns)}


def _is_misplaced(entry: Entry) -> bool:
    """Whether a signed summary stands behind something else of its own message."""
    summaries = [(at, block) for at, block in enumerate(blocks_of(entry.wire)) if is_summary(block)]
    return (
        any(get(block, "signature") is not None for _, block in summaries) and summaries[-1][0] > 0
    )


def _out_of_order(turns: list[list[Entry]]) -> dict[int, str]:
    """Within a turn results come first, and nothing is said after a call."""
    broken = {}
    for turn in turns:
        said = called = False
        for entry in turn:
            if not entry.in_order:
                broken[entry.index] = "a result stands after text, or text after a call"
            elif entry.results and said:
                broken[entry.index] = "the result stands after other text of the same turn"
            elif called and any(kind_of(block) == "text" for block in blocks_of(entry.wire)):
                broken[entry.index] = "it stands between a call and its result"
            said, called = said or entry.says, called or bool(entry.calls)
    return broken


def _reused_ids(entries: Sequence[Entry]) -> dict[int, str]:
    """A call's id may be used once in a history; the newest use stays."""
    broken: dict[int, str] = {}
    seen: set[str] = set()
    for entry in reversed(entries):
        for call in entry.calls:
            if call.id in seen:
                broken[entry.index] = f"the id {named([call.id])} is used again later"
        seen.update(call.id for call in entry.calls)
    return broken


def _misplaced_notes(turns: list[list[Entry]]) -> dict[int, str]:
    """A system message stands after a user's turn and before an assistant's, or at the end, and
    never two in a row."""
    broken = {}
    for at, turn in enumerate(turns):
        if turn[0].role == "system":
            after = turns[at + 1][0].role if at + 1 < len(turns) else "assistant"
            fits = at > 0 and _may_precede_note(turns[at - 1]) and after == "assistant"
            for entry in turn if not fits else turn[1:]:
                broken[entry.index] = (
                    "a system message must stand between a user's turn and the assistant's"
                )
    return broken


def _may_precede_note(turn: list[Entry]) -> bool:
    last = kind_of((blocks_of(turn[-1].wire) or [""])[-1])
    ends_in_server_tool = is_server_kind(last) and not any(entry.calls for entry in turn)
    return turn[-1].role == "user" or (turn[-1].role == "assistant" and ends_in_server_tool)


def _unpaired_server_tools(turns: list[list[Entry]]) -> dict[int, str]:
    """The provider's own calls have their results in the same turn, which goes on over bare results
    of other calls."""
    broken: dict[int, str] = {}
    waiting: dict[str, int] = {}
    for turn in turns:
        if turn[0].role == "user" and any(entry.says or entry.reasons for entry in turn):
            broken.update(
                dict.fromkeys(waiting.values(), "a call of the provider's own tool has no result")
            )
            waiting = {}
        for entry in turn if turn[0].role == "assistant" else ():
            if any(waiting.pop(call, None) is None for call in entry.closes):
                broken[entry.index] = "a result of the provider's own tool has no call"
            waiting.update(dict.fromkeys(entry.opens, entry.index))
    return broken


# Gemini


def broken_contents(entries: Sequence[Entry]) -> dict[int, str]:
    """Return the contents that can't be sent next to the others: index and reason."""
    broken = {}
    for at, entry in enumerate(entries):
        before = entries[at - 1] if at else None
        after = entries[at + 1] if at + 1 < len(entries) else None
        if entry.calls:
            results = len(after.results) if after is not None else 0
            if results != len(entry.calls):
                broken[entry.index] = (
                    f"{results} of its {len(entry.calls)} calls have results right after it"
                )
            elif before is None:
                broken[entry.index] = "a call cannot come first"
            else:
                earlier = (entries[place] for place in range(at - 1, -1, -1))
                for text in takewhile(
                    lambda each: each.role == "assistant" and not each.calls, earlier
                ):
                    broken[text.index] = "a call follows, which must come right after the user"
        if entry.results and (before is None or not before.calls):
            broken[entry.index] = "it answers no call of the content before it"
    return broken
