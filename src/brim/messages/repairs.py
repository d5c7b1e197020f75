"""A history while it is repaired, and repairs that providers share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from brim.messages.content import (
    filled,
    is_structured,
    listed,
    user_message,
    with_fields,
    without_field,
    words,
)
from brim.messages.entries import Entry, EntryCall, Provider
from brim.messages.receipt import Change
from brim.tokens.messages.fields import get, string
from brim.tokens.messages.frameworks import langchain_type

NO_RESULT = "[no result: the call was interrupted before it returned]"
NO_BEGINNING = "[the beginning of this conversation is missing]"
UNKNOWN_TOOL = "unknown_tool"
"""The name in a restored call whose result doesn't name the tool."""
NAMES = {"human": "user", "ai": "assistant", "model": "assistant"}
"""Other programs' names for user and assistant."""
KNOWN: dict[Provider, tuple[str, ...]] = {
    "openai": ("system", "developer", "user", "assistant", "tool", "function"),
    "responses": ("system", "developer", "user", "assistant"),
    "anthropic": ("system", "user", "assistant"),
    "gemini": ("user", "model"),
}


@dataclass(eq=False, slots=True)
class RepairSlot:
    """A place in the history."""

    index: int
    """The message of the given list that stands here, or next to which this one was added."""
    message: Any
    """The message that stands here now."""
    entry: Entry | None = None
    """What was read in it."""

    @property
    def wire(self) -> Any:
        """The message as its provider gets it."""
        return self.message


@dataclass
class Repair:
    """The messages as they are now, and the changes so far."""

    slots: list[RepairSlot]
    provider: Provider
    reader: Callable[[int, object], Entry]
    restore_calls: bool = False
    changes: list[Change] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    """Ids that are taken; empty until one is needed."""
    made: int = 0
    """The number of the last id that was made."""

    def read(self) -> list[tuple[RepairSlot, Entry]]:
        """Return every slot with what its message holds.

        An unchanged message is read once.
        """
        read = []
        for slot in self.slots:
            if slot.entry is None or slot.entry.message is not slot.message:
                slot.entry = self.reader(slot.index, slot.message)
            read.append((slot, slot.entry))
        return read

    def note(self, slot: RepairSlot, rule: str, action: str, text: str = "") -> None:
        """Record one change."""
        self.changes.append(Change(slot.index, rule, action, text))

    def change(self, slot: RepairSlot, rule: str, text: str, **fields: Any) -> None:
        """Set *fields* of a message, and record it."""
        self.note(slot, rule, "changed", text)
        slot.message = with_fields(slot.message, **fields)

    def drop(self, slot: RepairSlot, rule: str) -> None:
        """Remove a message, and record what it said."""
        self.note(slot, rule, "removed", words(slot.message))
        self.slots.remove(slot)

    @property
    def body(self) -> str:
        """The field that holds what a message says."""
        return "parts" if self.provider == "gemini" else "content"

    def set_body(self, slot: RepairSlot, parts: list[Any]) -> None:
        """Let a message hold *parts*.

        Without any it is removed, and what else it holds is recorded.
        """
        if parts:
            slot.message = with_fields(slot.message, **{self.body: parts})
            return
        left = words(without_field(slot.message, self.body))
        if left:
            self.note(slot, "has-content", "removed", left)
        self.slots.remove(slot)

    def fresh_id(self, prefix: str) -> str:
        """Return an id that nothing in the history has."""
        if not self.used:
            self.used = {
                id_
                for _, entry in self.read()
                for id_ in (*entry.ids, "", *entry.opens, *entry.closes)
            }
        self.made += 1
        while f"{prefix}{self.made}" in self.used:
            self.made += 1
        return f"{prefix}{self.made}"


Pass = Callable[[Repair], None]
"""Repairs one kind of fault, and does nothing where there is none."""


# Roles and contents


def give_roles(repair: Repair) -> None:
    """Give every message a role that the provider knows."""
    for slot, entry in repair.read():
        if entry.role:
            continue
        message, text, body = slot.message, words(slot.message), repair.body
        if not text.strip() and not _calls(message):
            repair.drop(slot, "known-role")
            continue
        role = _role_for(message, repair.provider)
        repair.note(slot, "known-role", "changed", f"role {get(message, 'role')!r} to {role!r}")
        if is_structured(message) and (
            filled(get(message, body)) or (_calls(message) and role == "assistant")
        ):
            slot.message = with_fields(message, role=role)
        else:  # it has no content of its format: what it says becomes one
            slot.message = {
                "role": role,
                body: [{"text": text}] if repair.provider == "gemini" else text,
            }


def _role_for(message: Any, provider: Provider) -> str:
    """Return the most probable role of *message*: by the name of its role, else by what it
    holds."""
    name = (string(get(message, "role")) or langchain_type(message)).lower()
    name = NAMES.get(name, name)
    if name == "assistant" and provider == "gemini":
        name = "model"
    if name in KNOWN[provider]:
        return name
    if provider == "openai" and string(get(message, "tool_call_id")):
        return "tool"
    return "assistant" if _calls(message) and provider != "gemini" else "user"


def _calls(message: Any) -> bool:
    """Whether *message* calls something, as a message of OpenAI's or of Anthropic's does."""
    blocks = listed(get(message, "content"))
    return any(string(get(block, "type")) == "tool_use" for block in blocks) or bool(
        listed(get(message, "tool_calls"))
    )


def fill_content(repair: Repair) -> None:
    """Make content an empty text where it must not be null."""
    for slot, entry in repair.read():
        if entry.rule == "has-content":
            repair.change(slot, "has-content", "content is an empty text", content="")


def begin_with_user(repair: Repair) -> None:
    """Let the user begin."""
    slot, entry = next(
        ((slot, entry) for slot, entry in repair.read() if entry.role != "system"), (None, None)
    )
    if slot and entry and entry.role == "assistant" and not entry.compacts:
        repair.note(slot, "first-is-user", "added", NO_BEGINNING)
        repair.slots.insert(0, RepairSlot(slot.index, user_message(repair.provider, NO_BEGINNING)))


def split_sides(
    repair: Repair,
    parts_of: Callable[[object], list[object]],
    side_of: Callable[[object], str],
    assistant: str,
) -> None:
    """Give calls to messages of the assistant's and results to messages of the user's, in the order
    they stand.

    *side_of* says which side alone may say a part, or nothing; *assistant* is the provider's name
    of the assistant.
    """
    names = {"assistant": assistant, "user": "user"}
    for slot, entry in repair.read():
        sides = [(side_of(part) or entry.role, part) for part in parts_of(slot.message)]
        pieces = [
            (side, [part for _, part in parts])
            for side, parts in groupby(sides, key=lambda pair: pair[0])
        ]
        if all(side == entry.role for side, _ in pieces):
            continue
        is_call = any(side == "assistant" != entry.role for side, _ in pieces)
        rule, side = ("call-by-assistant", "assistant") if is_call else ("result-by-user", "user")
        action = "changed" if len(pieces) == 1 else "moved"
        repair.note(slot, rule, action, f"from a message of {entry.role} to one of {side}")
        split = []
        for at, (side, parts) in enumerate(pieces):
            role = {} if side == entry.role else {"role": names[side]}
            old = slot.message if at == 0 else {"role": names.get(side, side)}
            split.append(RepairSlot(slot.index, with_fields(old, **{repair.body: parts, **role})))
        where = repair.slots.index(slot)
        repair.slots[where : where + 1] = split


# Pairing: which result belongs to which call?


@dataclass(eq=False, slots=True)
class Half:
    """A call or a result, where it stands, and the other half of the pair."""

    call: EntryCall
    place: int
    """The place of its message, or of its turn."""
    slot: RepairSlot
    """Holds the message, or the part of one, that is the call or the result."""
    home: int | None = None
    """Of a result: the place of the calls that it would answer where it stands."""
    ahead: int | None = None
    """Of a result: the place of the message right after it, in case the two were swapped."""
    other: Half | None = None
    """The result of this call, or the call of this result."""
    repeated: bool = False
    """Of a result: whether its call, which stands before it, has another answer."""

    @property
    def is_home(self) -> bool:
        """Whether a result stands where its call wants it."""
        return self.other is not None and self.other.place == self.home

    @property
    def broken_rule(self) -> str:
        """The rule that a result breaks if it has no call."""
        return (
            "one-result-per-call"
            if self.repeated
            else "result-has-call"
            if self.call.id
            else "result-has-id"
        )

    def answer(self, calls: Iterable[Half]) -> None:
        """Let a result without a call answer the first of *calls* that has no answer."""
        if self.other is None:
            self.other = next((call for call in calls if call.other is None), None)
            if self.other is not None:
                self.other.other = self


def pair(calls: Sequence[Half], results: Sequence[Half]) -> None:
    """Give every result its call: by id and place first, then by id alone, then by place alone."""
    by_key: dict[tuple[str, str], list[Half]] = defaultdict(list)
    by_kind: dict[str, list[Half]] = defaultdict(list)
    for call in calls:
        by_kind[call.call.kind].append(call)
        if call.call.id:
            by_key[call.call.key].append(call)
    named = [(result, by_key[result.call.key]) for result in results if result.call.id]
    for result, same in named:
        result.answer(call for call in same if call.place == result.home)
    for result, same in named:
        result.answer(call for call in reversed(same) if call.place < result.place)
    for result, same in named:
        result.answer(call for call in same if call.place == result.ahead)
        result.repeated = result.other is None and any(call.place < result.place for call in same)
    for result in results:
        if not result.call.id:
            same_kind = by_kind[result.call.kind]
            result.answer(call for call in same_kind if call.place == result.home)
            result.answer(call for call in reversed(same_kind) if call.place < result.place)


@dataclass(frozen=True, slots=True)
class Pairs:
    """How a provider writes the two halves of a pair, to complete those that lack one."""

    noun: tuple[str, str]
    """What it calls a result, with and without an article."""
    id_field: str
    """The field of a result that names its call."""
    prefix: str
    """What a new id begins with."""
    stub_result: Callable[[EntryCall], dict[str, Any]]
    """Makes the result of a call that has none."""
    stub_call: Callable[[EntryCall], dict[str, Any]]
    """Makes the call of a result that has none."""
    other_fields: Mapping[str, str] = field(default_factory=dict)
    """The fields that some kinds of results have in place of ``id_field``."""

    def give_ids(
        self,
        repair: Repair,
        calls: Sequence[RepairSlot],
        results: Sequence[RepairSlot],
        seen: set[str],
        taken: set[str],
    ) -> None:
        """Give each of *calls* an id that isn't *seen*, and the same one to its result.

        One of the *results* whose id isn't *taken* has one to give to a call without an id.
        """
        mine: set[str] = set()
        for call in calls:
            id_ = string(get(call.message, "id"))
            if not id_ or id_ in seen:
                answers = [
                    (string(get(result.message, self.id_field)), result) for result in results
                ]
                offered = (
                    "" if id_ else next((other for other, _ in answers if other not in taken), "")
                )
                new = offered or repair.fresh_id(self.prefix)
                repair.note(
                    call,
                    "call-ids-unique" if id_ else "call-has-id",
                    "changed",
                    f"id {id_!r} to {new!r}",
                )
                same = [result for other, result in answers if id_ and other == id_]
                for result in same[id_ in mine :][:1]:
                    result.message = with_fields(result.message, **{self.id_field: new})
                call.message, id_ = with_fields(call.message, id=new), new
                taken.add(new)
            seen.add(id_)
            mine.add(id_)

    def result_of(self, repair: Repair, call: Half) -> list[RepairSlot]:
        """Return what must be put behind *call*: nothing if its result is there."""
        id_, result = call.call.id, call.other
        if result is None:
            repair.note(call.slot, "call-has-result", "added", f"{self.noun[0]} for {id_}")
            return [RepairSlot(call.slot.index, self.stub_result(call.call))]
        if not result.is_home:
            repair.note(
                result.slot, "result-has-call", "moved", f"the {self.noun[1]} of {id_}, to its call"
            )
        if not result.call.id:
            name = self.other_fields.get(result.call.kind, self.id_field)
            repair.change(result.slot, "result-has-id", f"{name} is {id_}", **{name: id_})
        return [] if result.is_home else [result.slot]

    def leftover(
        self, repair: Repair, result: Half, *, restore: bool = True, taken: Collection[str] = ()
    ) -> list[RepairSlot]:
        """Return what becomes of a result that answers nothing: nothing, or itself behind a stub of
        its call.

        It gets another id if its own is *taken*.
        """
        if result.repeated or not repair.restore_calls or not restore:
            repair.note(result.slot, result.broken_rule, "removed", words(result.slot.message))
            return []
        call = result.call
        if not call.id or call.id in taken:
            name = self.other_fields.get(call.kind, self.id_field)
            call = replace(
                call, id=UNKNOWN_TOOL if name == "name" else repair.fresh_id(self.prefix)
            )
            result.slot.message = with_fields(result.slot.message, **{name: call.id})
        repair.note(
            result.slot, result.broken_rule, "added", f"a call for the {self.noun[1]} of {call.id}"
        )
        return [RepairSlot(result.slot.index, self.stub_call(call)), result.slot]
