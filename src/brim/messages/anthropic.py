"""Anthropic's Messages format.

Messages of one role in a row are one turn; results begin the turn after their calls. This module
reads it, checks it (``check``) and repairs it (``PASSES``); ``broken`` finds what a pruner must
drop.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

from brim.messages.content import call_of, items_of, with_fields, words
from brim.messages.entries import NO_FAULT, Entry, EntryCall, Fault, Role, unknown_role
from brim.messages.markers import MOST_MARKERS, count_markers, within_limit
from brim.messages.receipt import Violation
from brim.messages.repairs import (
    NO_RESULT,
    UNKNOWN_TOOL,
    Half,
    Pairs,
    Pass,
    Repair,
    RepairSlot,
    begin_with_user,
    give_roles,
    pair,
    split_sides,
)
from brim.messages.rules import (
    Found,
    calls_have_ids,
    known_roles,
    pairs_match,
    results_have_ids,
    sides_are_right,
    user_is_first,
)
from brim.tokens.messages.fields import get, is_sequence, string

ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
"""Newer models take system messages too, but only after a user's; the first system text goes into
its own field."""
THINKING = frozenset(("thinking", "redacted_thinking"))
SERVER_CALLS = frozenset(("server_tool_use", "mcp_tool_use"))
"""Calls that the provider answers itself, in the same turn."""
SIDES = {"tool_use": "assistant", "tool_result": "user"}


# Reading


def blocks_of(message: object) -> list[Any]:
    """Return the blocks of *message*; a text is one block."""
    return items_of(get(message, "content"))


def kind_of(block: object) -> str:
    """Return the type of *block*."""
    return "text" if isinstance(block, str) else string(get(block, "type"))


def is_server_kind(kind: str) -> bool:
    """Whether a block of this type belongs to one of the provider's own tools: a call, or a
    result."""
    return kind in SERVER_CALLS or kind.endswith("_tool_result")


def is_directive(message: object) -> bool:
    """Whether *message* holds only settings: a system message that may stand anywhere."""
    content = get(message, "content")
    empty = is_sequence(content) and not content
    return (
        empty
        and string(get(message, "role")) == "system"
        and get(message, "output_config") is not None
    )


def has_letters(block: object) -> bool:
    """Whether a text block is more than white space."""
    return bool(string(block if isinstance(block, str) else get(block, "text")).strip())


def is_summary(block: object) -> bool:
    """Whether *block* is a compaction that has a summary; one without is of a compaction that
    failed, and ignored."""
    return kind_of(block) == "compaction" and get(block, "content") is not None


def is_open_end(role: str, message: object) -> bool:
    """Whether *message* may be empty at the end: an answer about to be written."""
    return role == "assistant" and get(message, "content") is not None


def read_message(index: int, message: object) -> Entry:
    """Return what *message* holds."""
    name, own_id = string(get(message, "role")), string(get(message, "id"))
    role = ROLES.get(name, "")
    if not role:
        shown = f"{name!r} is not a role" if name else "it has no role"
        return unknown_role(index, message, own_id, f"{shown} that the API knows")
    blocks = [(kind_of(block), block) for block in blocks_of(message)]
    kinds = [kind for kind, _ in blocks]
    calls = [call_of(block) for kind, block in blocks if kind == "tool_use"]
    begun = [string(get(block, "id")) for kind, block in blocks if kind in SERVER_CALLS]
    ended = [
        string(get(block, "tool_use_id")) for kind, block in blocks if kind.endswith("_tool_result")
    ]
    others = [kind for kind in kinds if kind not in THINKING and not is_server_kind(kind)]
    ranks = [0 if kind == "tool_result" else 2 if kind == "tool_use" else 1 for kind in others]
    return Entry(
        index,
        message,
        role,
        calls=tuple(calls),
        results=tuple(
            EntryCall(string(get(block, "tool_use_id")))
            for kind, block in blocks
            if kind == "tool_result"
        ),
        says=any(kind not in ("tool_use", "tool_result", *THINKING) for kind in kinds),
        in_order=ranks == sorted(ranks),
        reasons=not THINKING.isdisjoint(kinds),
        ends_in_reasoning=bool(kinds) and kinds[-1] in THINKING,
        opens=tuple(id_ for id_ in begun if id_ not in ended),
        closes=tuple(id_ for id_ in ended if id_ not in begun),
        id=own_id,
        fault=_fault(role, message, blocks, [call.id for call in calls]),
        compacts=role != "system" and any(is_summary(block) for _, block in blocks),
    )


def _fault(role: Role, message: object, blocks: list[tuple[str, Any]], ids: list[str]) -> Fault:
    if not blocks and not is_directive(message):
        return "has-content", "it has no content"
    for kind, block in blocks:
        if kind == "text" and not has_letters(block):
            return "text-not-empty", "it holds an empty text"
        if is_summary(block) and (get(block, "content") == "" or role == "system"):
            empty = ("text-not-empty", "it holds a compaction with an empty summary")
            return (
                ("compaction-first", "a system message can't hold a compaction")
                if role == "system"
                else empty
            )
        if kind == "tool_use" and (role != "assistant" or not string(get(block, "id"))):
            wrong_side = ("call-by-assistant", "only the assistant can call a tool")
            return (
                ("call-has-id", "a tool_use block has no id") if role == "assistant" else wrong_side
            )
        if kind == "tool_result" and (role != "user" or not string(get(block, "tool_use_id"))):
            wrong_side = ("result-by-user", "only the user can answer a call")
            return (
                ("result-has-id", "a tool_result has no tool_use_id")
                if role == "user"
                else wrong_side
            )
    return (
        ("call-ids-unique", "two tool calls have the same id")
        if len(set(ids)) < len(ids)
        else NO_FAULT
    )


# Turns, for checking and repairing


@dataclass(eq=False, slots=True, kw_only=True)
class Block(RepairSlot):
    """One block of a turn: a slot that holds a part of a message."""

    owner: Any
    """The entry or slot whose message holds it."""
    at: int
    """Its place in that message."""
    kind: str
    id: str
    """The id of the call that it is, or answers."""


@dataclass(frozen=True, slots=True)
class MessageTurn:
    """Messages of one role that follow each other, which Anthropic reads as one."""

    role: str
    owners: list[Any]
    """The entries or slots of its messages."""
    blocks: list[Block]

    def of(self, kind: str) -> list[Block]:
        """Return the calls of an assistant's turn, or the results of a user's."""
        return (
            [block for block in self.blocks if block.kind == kind]
            if self.role == SIDES[kind]
            else []
        )

    def pairable(self, kind: str) -> list[Found]:
        """Return the same for checking."""
        return [(block.index, EntryCall(block.id)) for block in self.of(kind)]

    @property
    def may_precede_system(self) -> bool:
        """Whether a system message may follow: after the user, or after one of the provider's own
        tools."""
        ends_in_server_tool = (
            bool(self.blocks) and is_server_kind(self.blocks[-1].kind) and not self.of("tool_use")
        )
        return self.role == "user" or (self.role == "assistant" and ends_in_server_tool)


NO_TURN = MessageTurn("", [], [])


def turns_of(owners: Iterable[Any]) -> list[MessageTurn]:
    """Return the turns of entries or slots.

    Settings without a text are in none.
    """
    turns = []
    said = (owner for owner in owners if not is_directive(owner.wire))
    for role, group in groupby(said, lambda owner: ROLES.get(string(get(owner.wire, "role")), "")):
        turn = MessageTurn(role, list(group), [])
        for owner in turn.owners:
            for at, value in enumerate(blocks_of(owner.wire)):
                kind = kind_of(value)
                id_ = string(get(value, "tool_use_id" if kind.endswith("tool_result") else "id"))
                turn.blocks.append(Block(owner.index, value, owner=owner, at=at, kind=kind, id=id_))
        turns.append(turn)
    return turns


def unpaired_server_tools(turns: Iterable[MessageTurn]) -> Iterator[Block]:
    """Yield calls of the provider's own tools without a result, and results without a call before
    them.

    They belong into one long turn of the assistant's: a call may wait while the user answers other
    calls, so the turn goes on over messages that hold only results. Anything else that the user
    says ends it; a call waits until then.
    """
    going_on: list[Block] = []
    for turn in (*turns, NO_TURN):
        if turn.role == "assistant":
            going_on += turn.blocks
        is_over = turn.role != "system" and any(
            block.kind != "tool_result" for block in turn.blocks
        )
        if turn.role == "assistant" or not (is_over or turn is NO_TURN):
            continue
        answered = {block.id for block in going_on if block.kind.endswith("_tool_result")}
        called: set[str] = set()
        for block in going_on:
            if block.kind in SERVER_CALLS:
                called.add(block.id)
                if is_over and block.id not in answered:
                    yield block
            elif block.kind.endswith("_tool_result") and block.id not in called:
                yield block
        going_on = []


# Checking


def check(history: Sequence[Entry]) -> Iterator[Violation]:  # noqa: C901 - one branch for each rule of the provider
    """Yield every place where *history* breaks a rule."""
    turns = turns_of(history)
    yield from known_roles(history)
    for entry in history:
        blocks, is_end = (
            blocks_of(entry.wire),
            entry is history[-1] and is_open_end(entry.role, entry.wire),
        )
        if entry.role and not blocks and not is_end and not is_directive(entry.wire):
            yield Violation(entry.index, "has-content", "it has no content")
        for each in blocks if entry.role else ():
            if (kind_of(each) == "text" and not has_letters(each)) or (
                is_summary(each) and get(each, "content") == ""
            ):
                yield Violation(entry.index, "text-not-empty", "it holds a text without a letter")
    yield from _check_compaction(history)
    yield from _check_markers(history)
    yield from user_is_first(history)
    yield from _check_system(turns)
    yield from sides_are_right(history)
    yield from calls_have_ids(history)
    yield from results_have_ids(history)
    seen = set()
    for entry in history:
        for call in entry.calls:
            if call.id and call.id in seen:
                yield Violation(
                    entry.index, "call-ids-unique", f"an earlier call has the id {call.id}"
                )
            seen.add(call.id)
    yield from _check_order(turns)
    for before, turn in zip([NO_TURN, *turns], [*turns, NO_TURN], strict=True):
        calls, results = before.pairable("tool_use"), turn.pairable("tool_result")
        yield from pairs_match(calls, results, "turn", "in the next turn")
    last = turns[-1].blocks if turns and turns[-1].role == "assistant" else []
    if last and last[-1].kind in THINKING:
        yield Violation(
            last[-1].index, "reasoning-not-last", "the last message cannot end in thinking"
        )
    for block in unpaired_server_tools(turns):
        rule, text = (
            "server-result-has-call",
            f"a {block.kind} stands without its call before it in the same turn",
        )
        if block.kind in SERVER_CALLS:
            rule = "server-call-has-result"
            text = f"a {block.kind} of {string(get(block.message, 'name')) or 'a tool'} has no result in its turn"
        yield Violation(block.index, rule, text)


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
        text = ""
        if at == 0:
            text = "the first system text belongs in the request's own field, not in the messages"
        elif not turns[at - 1].may_precede_system or (
            at + 1 < len(turns) and turns[at + 1].role != "assistant"
        ):
            text = "a system message stands between a user's turn and an assistant's, or at the end"
        for entry in turn.owners if text else turn.owners[1:]:
            yield Violation(
                entry.index, "system-placement", text or "two system messages follow each other"
            )


def _check_compaction(history: Sequence[Entry]) -> Iterator[Violation]:
    """A signed summary is the only one, and the first block of the conversation."""
    found = summaries_of(history)
    for entry, _ in found[:-1]:
        yield Violation(
            entry.index, "one-compaction", "a newer compaction follows: send only the last one"
        )
    for entry, at in found[-1:]:
        if entry is not history[0] or at > 0 or entry.role == "system":
            yield Violation(
                entry.index, "compaction-first", "a signed compaction must be the first block"
            )


def _check_order(turns: list[MessageTurn]) -> Iterator[Violation]:
    """Results come first in the user's turn, and no text comes after a call in the assistant's."""
    for turn in turns:
        said = called = False
        for block in turn.blocks:
            if turn.role == "user" and block.kind == "tool_result" and said:
                yield Violation(
                    block.index, "results-first", "a result stands after other content of its turn"
                )
            if turn.role == "assistant" and block.kind == "text" and called:
                yield Violation(
                    block.index, "calls-last", "a text stands after a call of the same turn"
                )
            said, called = said or block.kind != "tool_result", called or block.kind == "tool_use"


# Repairing


def summaries_of(owners: Iterable[Any]) -> list[tuple[Any, int]]:
    """Return the entries or slots that hold summaries, each with the place of the summary; none if
    none is signed."""
    blocks = [
        (owner, at, block) for owner in owners for at, block in enumerate(blocks_of(owner.wire))
    ]
    found = [(owner, at, block) for owner, at, block in blocks if is_summary(block)]
    is_signed = any(get(block, "signature") is not None for _, _, block in found)
    return [(owner, at) for owner, at, _ in found] if is_signed else []


def drop_compacted(repair: Repair) -> None:
    """Remove what stands before the last signed summary, which must come first."""
    found = summaries_of(repair.slots)
    if not found:
        return
    last, at = found[-1]
    for slot in repair.slots[: repair.slots.index(last)]:
        repair.drop(slot, "compaction-first")
    if at > 0:
        before, kept = blocks_in(last)[:at], blocks_in(last)[at:]
        repair.note(last, "compaction-first", "removed", words(before))
        repair.set_body(last, kept)


def kinds_in(slot: RepairSlot) -> list[str]:
    """Return the types of the blocks in a message."""
    return [kind_of(block) for block in blocks_of(slot.message)]


def as_blocks(values: Iterable[Any]) -> list[Any]:
    """Return *values* with each text as a block."""
    return [
        {"type": "text", "text": value} if isinstance(value, str) else value for value in values
    ]


def blocks_in(slot: RepairSlot) -> list[Any]:
    """Return the blocks of a message, texts among them as blocks."""
    return as_blocks(blocks_of(slot.message))


def drop_empty(repair: Repair) -> None:
    """Remove texts without a letter, and messages without content except an open end."""
    for slot, entry in repair.read():
        blocks = blocks_of(slot.message)
        kept = [block for block in blocks if kind_of(block) != "text" or has_letters(block)]
        is_end = slot is repair.slots[-1] and is_open_end(entry.role, slot.message)
        if not blocks and not is_end and not is_directive(slot.message):
            repair.drop(slot, "has-content")
        elif len(kept) < len(blocks):
            gone = [
                block for block in blocks if kind_of(block) == "text" and not has_letters(block)
            ]
            repair.note(slot, "text-not-empty", "removed", words(gone))
            repair.set_body(slot, kept)


split_messages = partial(
    split_sides,
    parts_of=blocks_of,
    side_of=lambda block: SIDES.get(kind_of(block), ""),
    assistant="assistant",
)


def place_system(repair: Repair) -> None:
    """Move system messages to between a user's turn and an assistant's, or to the end.

    The first system text belongs into the request, which a repair can't change: it becomes a tagged
    text of the user's, and so does one without a legal place nearby.
    """
    turns = turns_of(repair.slots)
    for at, turn in enumerate(turns):
        if turn.role != "system":
            continue
        after = turns[at + 1] if at + 1 < len(turns) else None
        if at == 0:
            for slot in reversed(turn.owners):
                _into_user(repair, slot, after)
            continue
        for slot in turn.owners[:-1]:
            _as_user(repair, slot)
        last, follows = turn.owners[-1], len(turn.owners) > 1 or turns[at - 1].may_precede_system
        if (
            after is not None
            and after.role == "user"
            and (at + 2 >= len(turns) or turns[at + 2].role == "assistant")
        ):
            repair.note(last, "system-placement", "moved", "behind the user's turn")
            repair.slots.remove(last)
            repair.slots.insert(repair.slots.index(after.owners[-1]) + 1, last)
        elif not follows or (after is not None and after.role == "user"):
            _as_user(repair, last)


def _as_user(repair: Repair, slot: RepairSlot) -> None:
    """Let the user say it, tagged."""
    text = "a text of the user's, tagged as system"
    repair.change(slot, "system-placement", text, role="user", content=_tagged(slot))


def _into_user(repair: Repair, slot: RepairSlot, turn: MessageTurn | None) -> None:
    """Put the first system text into the first message of the user's, or make it that."""
    if turn is None or turn.role != "user":
        _as_user(repair, slot)
        return
    repair.note(
        slot, "system-placement", "moved", "into the first message of the user's, tagged as system"
    )
    first, tagged = turn.owners[0], _tagged(slot)
    content = get(first.message, "content")
    if isinstance(content, str) and isinstance(get(slot.message, "content"), str):
        first.message = with_fields(first.message, content=f"{tagged[0]['text']}\n\n{content}")
    else:
        results = kinds_in(first).count("tool_result")
        repair.set_body(first, [*blocks_in(first)[:results], *tagged, *blocks_in(first)[results:]])
    repair.slots.remove(slot)


def _tagged(slot: RepairSlot) -> list[Any]:
    """Return what a system message says, between tags."""
    blocks = blocks_in(slot)
    if len(blocks) == 1 and kinds_in(slot) == ["text"] and isinstance(blocks[0], dict):
        return [with_fields(blocks[0], text=f"<system>\n{blocks[0]['text']}\n</system>")]
    start, end = ({"type": "text", "text": tag} for tag in ("<system>", "</system>"))
    return [start, *blocks, end]


class Edits(defaultdict[RepairSlot, dict[int, tuple[Any, ...]]]):
    """Blocks to put in place of others, by message and place."""

    def set(self, old: Any, *new: Any) -> None:
        """Put *new* in the place of the block *old*; nothing removes it."""
        if len(new) != 1 or new[0] is not blocks_of(old.owner.message)[old.at]:
            self[old.owner][old.at] = new

    def apply(self, repair: Repair) -> None:
        """Change the messages."""
        for slot, edits in self.items():
            blocks = enumerate(blocks_in(slot))
            repair.set_body(slot, [new for at, block in blocks for new in edits.get(at, (block,))])


def give_ids(repair: Repair) -> None:
    """Give every call its own id, and the same one to its result."""
    turns = turns_of(repair.slots)
    taken = {call.id for turn in turns for call in turn.of("tool_use")}
    seen: set[str] = set()
    edits = Edits(dict)
    for turn, after in zip(turns, [*turns[1:], NO_TURN], strict=False):
        calls, results = turn.of("tool_use"), after.of("tool_result")
        PAIRS.give_ids(repair, calls, results, seen, taken)
        for block in (*calls, *results):
            edits.set(block, block.message)
    edits.apply(repair)


def pair_results(repair: Repair) -> None:
    """Move results to their calls, answer calls without one, and remove what answers nothing."""
    turns = turns_of(repair.slots)
    sides = [at if turn.role == "assistant" else None for at, turn in enumerate(turns)]
    calls = [
        Half(EntryCall(block.id), at, block)
        for at, turn in enumerate(turns)
        for block in turn.of("tool_use")
    ]
    results = [
        Half(EntryCall(block.id), at, block, before, after)
        for at, (before, turn, after) in enumerate(
            zip([None, *sides], turns, [*sides[1:], None], strict=False)
        )
        for block in turn.of("tool_result")
    ]
    pair(calls, results)
    edits = Edits(dict)
    answers: dict[int, list[Any]] = defaultdict(list)
    stubs: dict[int, list[Any]] = defaultdict(list)
    for call in calls:
        answers[call.place] += [slot.message for slot in PAIRS.result_of(repair, call)]
    taken = {call.call.id for call in calls}
    restored: set[str] = set()
    for result in results:
        kept = [result.slot] if result.is_home else []
        if result.other is None:
            result.repeated = result.repeated or result.call.id in restored
            made = PAIRS.leftover(repair, result, taken=taken)
            stubs[result.place] += [slot.message for slot in made[:1]]
            restored.update(slot.message["id"] for slot in made[:1])
            kept = made[1:]
        edits.set(result.slot, *(slot.message for slot in kept))
    edits.apply(repair)
    for at, blocks in answers.items():
        if blocks:
            _add_results(repair, turns[at], blocks)
    for at, blocks in stubs.items():
        if not blocks:
            continue
        # To the assistant's turn before the results, or as one.
        before = turns[at - 1] if at and turns[at - 1].role == "assistant" else None
        near = (
            before.owners[-1]
            if before
            else next(slot for slot in turns[at].owners if slot in repair.slots)
        )
        place = repair.slots.index(near) + (before is not None)
        repair.slots.insert(place, RepairSlot(near.index, {"role": "assistant", "content": blocks}))


def _stub_result(call: EntryCall) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call.id, "is_error": True, "content": NO_RESULT}


def _stub_call(result: EntryCall) -> dict[str, Any]:
    return {"type": "tool_use", "id": result.id, "name": UNKNOWN_TOOL, "input": {}}


PAIRS = Pairs(("a result", "result"), "tool_use_id", "toolu_", _stub_result, _stub_call)


def _add_results(repair: Repair, turn: MessageTurn, blocks: list[Any]) -> None:
    """Add results behind the calls of *turn*: to the results that are there, or as a message before
    what is said."""
    last = turn.owners[-1]
    at = repair.slots.index(last) + 1
    following = repair.slots[at] if at < len(repair.slots) else None
    kinds = (
        kinds_in(following)
        if following and string(get(following.message, "role")) == "user"
        else []
    )
    if following and kinds[:1] == ["tool_result"]:
        own = blocks_in(following)
        end = next((n for n, kind in enumerate(kinds) if kind != "tool_result"), len(own))
        repair.set_body(following, [*own[:end], *blocks, *own[end:]])
    else:
        repair.slots.insert(at, RepairSlot(last.index, {"role": "user", "content": blocks}))


def results_first(repair: Repair) -> None:
    """Put results first in the user's turns: whole messages where that is enough, otherwise
    blocks."""
    for turn in turns_of(repair.slots):
        is_result = [block.kind == "tool_result" for block in turn.blocks]
        if turn.role == "user" and is_result != sorted(is_result, reverse=True):
            start = repair.slots.index(turn.owners[0])
            ordered = _ordered(repair, turn)
            others = [slot for slot in repair.slots[start:] if slot not in turn.owners]
            repair.slots[start:] = [*ordered, *others]


def _ordered(repair: Repair, turn: MessageTurn) -> list[RepairSlot]:
    front: list[RepairSlot] = []
    rest: list[RepairSlot] = []
    for slot in turn.owners:
        results = [block for block in blocks_in(slot) if kind_of(block) == "tool_result"]
        others = [block for block in blocks_in(slot) if kind_of(block) != "tool_result"]
        is_late = bool(results) and (
            bool(rest) or kinds_in(slot)[: len(results)] != ["tool_result"] * len(results)
        )
        if is_late:
            repair.note(
                slot, "results-first", "moved", "the results, before everything else in the turn"
            )
        if not others:
            front.append(slot)
            continue
        if rest and results:
            front.append(RepairSlot(slot.index, {"role": "user", "content": results}))
            repair.set_body(slot, others)
        elif is_late:
            repair.set_body(slot, [*results, *others])
        rest.append(slot)
    return front + rest


def calls_last(repair: Repair) -> None:
    """Move a text that stands after a call to before the first call of its turn."""
    edits = Edits(dict)
    for turn in turns_of(repair.slots):
        calls = turn.of("tool_use")
        late = (
            [block for block in turn.blocks[turn.blocks.index(calls[0]) :] if block.kind == "text"]
            if calls
            else []
        )
        for owner in dict.fromkeys(block.owner for block in late):
            repair.note(owner, "calls-last", "moved", "the text, before the calls of its turn")
        for block in late:
            edits.set(block)
        if late:
            edits.set(calls[0], *as_blocks(block.message for block in late), calls[0].message)
    edits.apply(repair)


def pair_server_tools(repair: Repair) -> None:
    """Remove results of the provider's tools without calls, and give an error to calls whose turn
    is over."""
    edits = Edits(dict)
    restored: set[str] = set()
    for block in unpaired_server_tools(turns_of(repair.slots)):
        if block.kind in SERVER_CALLS:
            edits.set(block, *_with_error(repair, block))
        elif block.id not in restored:
            new = _with_call(repair, block)
            edits.set(block, *new)
            restored.update([block.id] if new else [])
    edits.apply(repair)


def _with_error(repair: Repair, call: Block) -> list[Any]:
    """Return *call* with an error as its result, or nothing if it can't have one."""
    name = string(get(call.message, "name"))
    if not call.id or not name:
        repair.note(call, "server-call-has-result", "removed", words(call.message))
        return []
    repair.note(call, "server-call-has-result", "added", f"an error as the result of {call.id}")
    if call.kind == "mcp_tool_use":
        text = [{"type": "text", "text": NO_RESULT}]
        return [
            call.message,
            {"type": "mcp_tool_result", "tool_use_id": call.id, "is_error": True, "content": text},
        ]
    error = {"type": f"{name}_tool_result_error", "error_code": "unavailable"}
    return [call.message, {"type": f"{name}_tool_result", "tool_use_id": call.id, "content": error}]


def _with_call(repair: Repair, result: Block) -> list[Any]:
    """Return what becomes of a result without its call: nothing, or itself behind a stub of it."""
    if not repair.restore_calls or not result.id:
        repair.note(result, "server-result-has-call", "removed", words(result.message))
        return []
    repair.note(result, "server-result-has-call", "added", f"a call for the result of {result.id}")
    name = result.kind.removesuffix("_tool_result")
    stub = {"type": "server_tool_use", "id": result.id, "name": name, "input": {}}
    if name == "mcp":
        stub = {**stub, "type": "mcp_tool_use", "name": UNKNOWN_TOOL, "server_name": "unknown"}
    return [stub, result.message]


def drop_last_thinking(repair: Repair) -> None:
    """Remove thinking that leads to nothing, at the end of the history."""
    turns = turns_of(repair.slots)
    for slot in reversed(turns[-1].owners) if turns and turns[-1].role == "assistant" else ():
        kinds = kinds_in(slot)
        kept = len(kinds)
        while kept and kinds[kept - 1] in THINKING:
            kept -= 1
        if kept < len(kinds):
            repair.note(slot, "reasoning-not-last", "removed", words(blocks_in(slot)[kept:]))
            repair.set_body(slot, blocks_in(slot)[:kept])
        if kept:
            break


def remove_markers(repair: Repair) -> None:
    """Remove the oldest cache markers if there are more than the API accepts."""
    messages = [slot.message for slot in repair.slots]
    for slot, message in zip(repair.slots, within_limit(messages, 0)[0], strict=True):
        if message is not slot.message:
            repair.note(
                slot, "few-markers", "changed", "a cache marker that is one too many was removed"
            )
            slot.message = message


PASSES: tuple[Pass, ...] = (
    *(give_roles, drop_compacted, drop_empty, split_messages, place_system, give_ids, pair_results),
    *(
        results_first,
        calls_last,
        pair_server_tools,
        drop_last_thinking,
        begin_with_user,
        remove_markers,
    ),
)
