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
OTHER_NAMES = {"human": "user", "ai": "assistant", "model": "assistant"}
"""Other programs' names for user and assistant."""
ROLE_NAMES: dict[Provider, tuple[str, ...]] = {
    "openai": ("system", "developer", "user", "assistant", "tool", "function"),
    "responses": ("system", "developer", "user", "assistant"),
    "anthropic": ("system", "user", "assistant"),
    "gemini": ("user", "model"),
}
"""The roles of each provider, as it writes them."""


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
    history_ids: set[str] = field(default_factory=set)
    """Ids that are taken; empty until one is needed."""
    last_id: int = 0
    """The number of the last id that was made."""

    def read(self) -> list[tuple[RepairSlot, Entry]]:
        """Return every slot with what its message holds.

        An unchanged message is read once.
        """
        slots = []
        for slot in self.slots:
            if slot.entry is None or slot.entry.message is not slot.message:
                slot.entry = self.reader(slot.index, slot.message)

            slots.append((slot, slot.entry))

        return slots

    def note(
        self,
        slot: RepairSlot,
        rule: str,
        action: str,
        text: str = "",
    ) -> None:
        """Record one change."""
        self.changes.append(
            Change(
                slot.index,
                rule,
                action,
                text,
            )
        )

    def change(self, slot: RepairSlot, rule: str, text: str, **fields: Any) -> None:
        """Set *fields* of a message, and record it."""
        self.note(
            slot,
            rule,
            "changed",
            text,
        )
        slot.message = with_fields(slot.message, **fields)

    def drop(self, slot: RepairSlot, rule: str) -> None:
        """Remove a message, and record what it said."""
        self.note(
            slot,
            rule,
            "removed",
            words(slot.message),
        )
        self.slots.remove(slot)

    def insert_after(self, slot: RepairSlot, new: RepairSlot) -> None:
        """Put *new* right after *slot*."""
        self.slots.insert(self.slots.index(slot) + 1, new)

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

        other_words = words(without_field(slot.message, self.body))
        if other_words:
            self.note(
                slot,
                "has-content",
                "removed",
                other_words,
            )

        self.slots.remove(slot)

    def fresh_id(self, prefix: str) -> str:
        """Return an id that nothing in the history has."""
        if not self.history_ids:
            self.history_ids.add("")
            for _, entry in self.read():
                self.history_ids.update(entry.ids, entry.opens, entry.closes)

        self.last_id += 1
        while f"{prefix}{self.last_id}" in self.history_ids:
            self.last_id += 1

        return f"{prefix}{self.last_id}"


Pass = Callable[[Repair], None]
"""Repairs one kind of fault, and does nothing where there is none."""


# Roles and contents


def give_roles(repair: Repair) -> None:
    """Give every message a role that the provider knows."""
    for slot, entry in repair.read():
        if entry.role:
            continue

        message = slot.message
        text = words(message)
        if not text.strip() and not _has_calls(message):
            repair.drop(slot, "known-role")
            continue

        role = _role_for(message, repair.provider)
        repair.note(
            slot,
            "known-role",
            "changed",
            f"role {get(message, 'role')!r} to {role!r}",
        )
        if _has_body(message, repair.body, role):
            slot.message = with_fields(message, role=role)
        else:  # it has no content of its format: what it says becomes one
            slot.message = {"role": role, repair.body: text}
            if repair.provider == "gemini":
                slot.message["parts"] = [{"text": text}]


def _has_body(message: Any, body: str, role: str) -> bool:
    """Whether *message* can stay as it is in the *role*, with what its field *body* holds."""
    if not is_structured(message):
        return False

    if filled(get(message, body)):
        return True

    return role == "assistant" and _has_calls(message)


def _role_for(message: Any, provider: Provider) -> str:
    """Return the most probable role of *message*: by the name of its role, else by what it
    holds."""
    name = string(get(message, "role")) or langchain_type(message)
    name = OTHER_NAMES.get(name.lower(), name.lower())
    if name == "assistant" and provider == "gemini":
        name = "model"

    if name in ROLE_NAMES[provider]:
        return name

    if provider == "openai" and string(get(message, "tool_call_id")):
        return "tool"

    if provider != "gemini" and _has_calls(message):
        return "assistant"

    return "user"


def _has_calls(message: Any) -> bool:
    """Whether *message* calls something, as a message of OpenAI's or of Anthropic's does."""
    if listed(get(message, "tool_calls")):
        return True

    blocks = listed(get(message, "content"))
    return any(string(get(block, "type")) == "tool_use" for block in blocks)


def fill_content(repair: Repair) -> None:
    """Make content an empty text where it must not be null."""
    for slot, entry in repair.read():
        if entry.rule == "has-content":
            repair.change(
                slot,
                "has-content",
                "content is an empty text",
                content="",
            )


def begin_with_user(repair: Repair) -> None:
    """Let the user begin."""
    for slot, entry in repair.read():
        if entry.role == "system":
            continue

        if entry.role == "assistant" and not entry.compacts:
            repair.note(
                slot,
                "first-is-user",
                "added",
                NO_BEGINNING,
            )
            beginning = user_message(repair.provider, NO_BEGINNING)
            repair.slots.insert(0, RepairSlot(slot.index, beginning))

        return


# Sides: what only the assistant or only the user may say


@dataclass(frozen=True, slots=True)
class Sides:
    """How a provider says which side may hold a part of a message."""

    parts_of: Callable[[object], list[Any]]
    """Returns the parts of a message."""
    side_of: Callable[[object], str]
    """Returns which side alone may say a part; empty if both may."""
    assistant: str
    """What the provider calls the assistant."""

    def split(self, repair: Repair) -> None:
        """Give calls to messages of the assistant's and results to messages of the user's, in the
        order they stand."""
        for slot, entry in repair.read():
            pieces = self._pieces(slot.message, entry.role)
            if all(side == entry.role for side, _ in pieces):
                continue

            self._note(
                repair,
                slot,
                entry,
                [side for side, _ in pieces],
            )
            place = repair.slots.index(slot)
            repair.slots[place : place + 1] = self._slots(
                repair,
                slot,
                entry,
                pieces,
            )

    def _pieces(self, message: object, role: str) -> list[tuple[str, list[Any]]]:
        """Return the parts of *message* in runs of the same side."""

        def side(part: object) -> str:
            return self.side_of(part) or role

        return [(name, list(parts)) for name, parts in groupby(self.parts_of(message), key=side)]

    def _note(
        self,
        repair: Repair,
        slot: RepairSlot,
        entry: Entry,
        sides: list[str],
    ) -> None:
        side, rule = "user", "result-by-user"
        if entry.role != "assistant" and "assistant" in sides:
            side, rule = "assistant", "call-by-assistant"

        action = "changed" if len(sides) == 1 else "moved"
        repair.note(
            slot,
            rule,
            action,
            f"from a message of {entry.role} to one of {side}",
        )

    def _slots(
        self, repair: Repair, slot: RepairSlot, entry: Entry, pieces: list[tuple[str, list[Any]]]
    ) -> list[RepairSlot]:
        """Return a slot for each of the *pieces* of a message; the first keeps its other fields."""
        slots = []
        message = slot.message
        for side, parts in pieces:
            role = self.assistant if side == "assistant" else side
            if message is None:
                message = {"role": role}

            fields: dict[str, Any] = {repair.body: parts}
            if side != entry.role:
                fields["role"] = role

            slots.append(RepairSlot(slot.index, with_fields(message, **fields)))
            message = None

        return slots


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
        if self.repeated:
            return "one-result-per-call"

        if self.call.id:
            return "result-has-call"

        return "result-has-id"

    def answer(self, calls: Iterable[Half]) -> None:
        """Let a result without a call answer the first of *calls* that has no answer."""
        if self.other is not None:
            return

        for call in calls:
            if call.other is None:
                self.other = call
                call.other = self
                return

    def answer_at(self, calls: Iterable[Half], place: int | None) -> None:
        """Let a result without a call answer the first open call at *place*."""
        self.answer(call for call in calls if call.place == place)

    def answer_before(self, calls: Sequence[Half]) -> None:
        """Let a result without a call answer the nearest open call before it."""
        self.answer(call for call in reversed(calls) if call.place < self.place)


def pair(calls: Sequence[Half], results: Sequence[Half]) -> None:
    """Give every result its call: by id and place first, then by id alone, then by place alone."""
    by_key: dict[tuple[str, str], list[Half]] = defaultdict(list)
    by_kind: dict[str, list[Half]] = defaultdict(list)
    for call in calls:
        by_kind[call.call.kind].append(call)
        if call.call.id:
            by_key[call.call.key].append(call)

    with_id = [result for result in results if result.call.id]
    for result in with_id:
        result.answer_at(by_key[result.call.key], result.home)

    for result in with_id:
        result.answer_before(by_key[result.call.key])

    for result in with_id:
        same_id = by_key[result.call.key]
        result.answer_at(same_id, result.ahead)
        if result.other is None:
            result.repeated = any(call.place < result.place for call in same_id)

    for result in results:
        if not result.call.id:
            same_kind = by_kind[result.call.kind]
            result.answer_at(same_kind, result.home)
            result.answer_before(same_kind)


@dataclass(frozen=True, slots=True)
class Pairs:
    """How a provider writes the two halves of a pair, to complete those that lack one."""

    noun: str
    """What it calls a result: ``result`` or ``output``."""
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
        earlier_ids: set[str],
        used_ids: set[str],
    ) -> None:
        """Give each of *calls* an id that isn't among *earlier_ids*, and the same one to its
        result.

        One of the *results* whose id isn't among *used_ids* has one to give to a call without an
        id.
        """
        own_ids: set[str] = set()
        for call in calls:
            id_ = string(get(call.message, "id"))
            if not id_ or id_ in earlier_ids:
                is_second = id_ in own_ids
                id_ = self._give_id(
                    repair,
                    call,
                    results,
                    used_ids,
                    is_second=is_second,
                )

            earlier_ids.add(id_)
            own_ids.add(id_)

    def _give_id(
        self,
        repair: Repair,
        call: RepairSlot,
        results: Sequence[RepairSlot],
        used_ids: set[str],
        *,
        is_second: bool,
    ) -> str:
        """Give *call* and its result a new id, and return it."""
        id_ = string(get(call.message, "id"))
        offered = ""
        if not id_:
            offered = self._offered_id(results, used_ids)

        new_id = offered or repair.fresh_id(self.prefix)
        rule = "call-ids-unique" if id_ else "call-has-id"
        repair.note(
            call,
            rule,
            "changed",
            f"id {id_!r} to {new_id!r}",
        )
        if id_:
            same_id = [result for result in results if self._id_of(result) == id_]
            # If the id was used before in the same message, the first result is the other call's.
            for result in same_id[is_second:][:1]:
                result.message = with_fields(result.message, **{self.id_field: new_id})

        call.message = with_fields(call.message, id=new_id)
        used_ids.add(new_id)
        return new_id

    def _id_of(self, result: RepairSlot) -> str:
        return string(get(result.message, self.id_field))

    def _offered_id(self, results: Sequence[RepairSlot], used_ids: set[str]) -> str:
        """Return the first id of a result that no call has."""
        for result in results:
            id_ = self._id_of(result)
            if id_ not in used_ids:
                return id_

        return ""

    def result_of(self, repair: Repair, call: Half) -> list[RepairSlot]:
        """Return what must be put behind *call*: nothing if its result is there."""
        id_ = call.call.id
        result = call.other
        if result is None:
            article = "an" if self.noun == "output" else "a"
            text = f"{article} {self.noun} for {id_}"
            repair.note(
                call.slot,
                "call-has-result",
                "added",
                text,
            )
            return [RepairSlot(call.slot.index, self.stub_result(call.call))]

        if not result.is_home:
            text = f"the {self.noun} of {id_}, to its call"
            repair.note(
                result.slot,
                "result-has-call",
                "moved",
                text,
            )

        if not result.call.id:
            name = self.other_fields.get(result.call.kind, self.id_field)
            repair.change(
                result.slot,
                "result-has-id",
                f"{name} is {id_}",
                **{name: id_},
            )

        return [] if result.is_home else [result.slot]

    def leftover(
        self, repair: Repair, result: Half, *, restore: bool = True, used_ids: Collection[str] = ()
    ) -> list[RepairSlot]:
        """Return what becomes of a result that answers nothing: nothing, or itself behind a stub of
        its call.

        It gets another id if its own is among *used_ids*.
        """
        slot = result.slot
        if result.repeated or not repair.restore_calls or not restore:
            repair.note(
                slot,
                result.broken_rule,
                "removed",
                words(slot.message),
            )
            return []

        call = result.call
        if not call.id or call.id in used_ids:
            name = self.other_fields.get(call.kind, self.id_field)
            id_ = UNKNOWN_TOOL if name == "name" else repair.fresh_id(self.prefix)
            call = replace(call, id=id_)
            slot.message = with_fields(slot.message, **{name: id_})

        repair.note(
            slot,
            result.broken_rule,
            "added",
            f"a call for the {self.noun} of {call.id}",
        )
        return [RepairSlot(slot.index, self.stub_call(call)), slot]
