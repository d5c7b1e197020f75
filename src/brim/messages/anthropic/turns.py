"""Turns, blocks and summaries, for checking and repairing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from brim.messages.anthropic.reading import (
    ROLES,
    SERVER_CALLS,
    blocks_of,
    is_directive,
    is_server_kind,
    is_server_result,
    is_summary,
    kind_of,
)
from brim.messages.entries import EntryCall
from brim.messages.repairs import RepairSlot
from brim.messages.rules import PlacedCall
from brim.tokens.messages.fields import get, string

SIDES = {"tool_use": "assistant", "tool_result": "user"}
"""Who alone may say a block of a type."""


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

    def blocks_of_kind(self, kind: str) -> list[Block]:
        """Return the calls of an assistant's turn, or the results of a user's."""
        if self.role != SIDES[kind]:
            return []

        return [block for block in self.blocks if block.kind == kind]

    def pairable(self, kind: str) -> list[PlacedCall]:
        """Return the same for checking."""
        blocks = self.blocks_of_kind(kind)
        return [PlacedCall(block.index, EntryCall(block.id)) for block in blocks]

    @property
    def may_precede_system(self) -> bool:
        """Whether a system message may follow: after the user, or after one of the provider's own
        tools."""
        if self.role == "user":
            return True

        if self.role != "assistant" or not self.blocks:
            return False

        return is_server_kind(self.blocks[-1].kind) and not self.blocks_of_kind("tool_use")


NO_TURN = MessageTurn("", [], [])


def turns_of(owners: Iterable[Any]) -> list[MessageTurn]:
    """Return the turns of entries or slots.

    Settings without a text are in none.
    """
    turns = []
    messages = (owner for owner in owners if not is_directive(owner.wire))
    for role, group in groupby(messages, key=_role_of):
        members = list(group)
        blocks: list[Block] = []
        for owner in members:
            blocks += _blocks_of_owner(owner)

        turns.append(MessageTurn(role, members, blocks))

    return turns


def _role_of(owner: Any) -> str:
    return ROLES.get(string(get(owner.wire, "role")), "")


def _blocks_of_owner(owner: Any) -> Iterator[Block]:
    for at, value in enumerate(blocks_of(owner.wire)):
        kind = kind_of(value)
        field = "tool_use_id" if kind.endswith("tool_result") else "id"
        id_ = string(get(value, field))
        yield Block(
            owner.index,
            value,
            owner=owner,
            at=at,
            kind=kind,
            id=id_,
        )


def summaries_of(owners: Iterable[Any]) -> list[tuple[Any, int]]:
    """Return the entries or slots that hold summaries, each with the place of the summary; none if
    none is signed."""
    summaries = []
    is_signed = False
    for owner in owners:
        for at, block in enumerate(blocks_of(owner.wire)):
            if is_summary(block):
                summaries.append((owner, at))
                is_signed = is_signed or get(block, "signature") is not None

    return summaries if is_signed else []


def unpaired_server_tools(turns: Iterable[MessageTurn]) -> Iterator[Block]:
    """Yield calls of the provider's own tools without a result, and results without a call before
    them.

    They belong into one long turn of the assistant's: a call may wait while the user answers other
    calls, so the turn goes on over messages that hold only results. Anything else that the user
    says ends it; a call waits until then.
    """
    long_turn: list[Block] = []
    for turn in turns:
        if turn.role == "assistant":
            long_turn += turn.blocks
        elif turn.role != "system" and any(block.kind != "tool_result" for block in turn.blocks):
            yield from _unpaired_in(long_turn, is_over=True)
            long_turn = []

    yield from _unpaired_in(long_turn, is_over=False)


def _unpaired_in(blocks: list[Block], *, is_over: bool) -> Iterator[Block]:
    """Yield what has no other half in one long turn; until it is over, calls may wait."""
    answered = {block.id for block in blocks if is_server_result(block.kind)}
    called: set[str] = set()
    for block in blocks:
        if block.kind in SERVER_CALLS:
            called.add(block.id)
            if is_over and block.id not in answered:
                yield block
        elif is_server_result(block.kind) and block.id not in called:
            yield block
