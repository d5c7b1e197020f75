"""The account of a request: which section every token belongs to, what left, what is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from brim.messages.assembly import SECTIONS, Assembly, DroppedItem, WindowSection
from brim.messages.formats import read
from brim.messages.parts import Chosen, Parts, Tail
from brim.messages.receipt import Receipt
from brim.tokens.costs import message_costs
from brim.tokens.count import Count
from brim.tokens.protocol import TokenCounter

TAKING_ORDER = ("current_message", "system_prompt", "procedure", "knowledge", "episodes", "history")
"""Which section gets its tokens first where there are fewer than were counted."""
NOTHING = Count(0)


@dataclass(frozen=True, slots=True)
class SectionRow:
    """What is known about a section before the tokens are shared out."""

    tokens: Count = NOTHING
    items: int = 0
    source: str = ""
    dropped: tuple[DroppedItem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestAccount:
    """A request, and everything that its account needs."""

    counter: TokenCounter
    tools: Sequence[Any] | None
    tail: Tail
    parts: Parts
    messages: list[Any]
    """History and current message, as far as they stay."""
    tokens: Count
    """The size of the whole request."""
    receipt: Receipt
    budget: int
    window: int | None
    largest: int | None
    """What the provider takes; None if unknown."""
    has_minimum: bool
    """Whether a part of the history shall stay."""
    below_minimum: bool
    """Whether something of that part had to leave."""

    @property
    def fits(self) -> bool:
        """Whether the provider takes the request, even at the top of its interval."""
        return self.largest is None or self.tokens.high <= self.largest

    def assembly(self) -> Assembly:
        """Return the request as a result."""
        rows = self._rows()
        counts = {name: row.tokens for name, row in rows.items()}
        other_tokens = sum(int(count) for name, count in counts.items() if name != "history")
        framing = "roles, tags, priming, tools" if self.tools else "roles, tags, priming"
        rows["framing"] = SectionRow(source=framing)
        sections = []
        for name, count in _shared_out(counts, self.tokens).items():
            row = rows[name]
            share = int(count) / self.budget if self.budget else 0.0
            source = row.source if row.items or name == "framing" else ""
            sections.append(
                WindowSection(
                    name,
                    count,
                    share,
                    source,
                    row.items,
                    row.dropped,
                )
            )

        tokens = {section.name: int(section.tokens) for section in sections}
        return Assembly(
            messages=[*self.parts.sent, *self.messages],
            system=self.parts.system,
            sections=tuple(sections),
            tokens=self.tokens,
            budget=self.budget,
            history_budget=max(0, self.budget - other_tokens),
            fits=self.fits,
            reason="; ".join(self._problems(tokens)),
            receipt=self.receipt,
            provider=self.parts.provider,
            context_window=self.window,
        )

    def _rows(self) -> dict[str, SectionRow]:
        """Return what each section takes on its own, but for the framing."""
        parts = self.parts
        before = parts.counted
        costs = message_costs(self.counter, [*before, *self.messages], self.tools)
        history = list(range(len(before), len(before) + len(self.messages)))
        current = SectionRow()
        if self.tail.current is not None:
            place = self._place_of_current(len(before))
            history.remove(place)
            if self.tail.text is None:
                current = SectionRow(costs.alone([place]), 1, "message")
            else:
                current = SectionRow(self.counter.count(self.tail.text), 1, "text")

        history_tokens = costs.alone(history) if history else NOTHING
        dropped = tuple(self._dropped_history())
        return {
            "system_prompt": self._text_row(parts.system_prompt),
            "procedure": self._text_row(parts.procedure, parts.dropped_procedure),
            "knowledge": _items_row(parts.knowledge),
            "episodes": _items_row(parts.episodes),
            "history": SectionRow(
                history_tokens,
                len(history),
                "messages",
                dropped,
            ),
            "current_message": current,
        }

    def _place_of_current(self, offset: int) -> int:
        """Return the place of the current message, after *offset* others: the last if it is there
        twice."""
        place = 0
        for at, message in enumerate(self.messages):
            if message is self.tail.current:
                place = at

        return offset + place

    def _text_row(self, text: str, dropped: tuple[DroppedItem, ...] = ()) -> SectionRow:
        if not text:
            return SectionRow(dropped=dropped)

        return SectionRow(
            self.counter.count(text),
            1,
            "text",
            dropped,
        )

    def _dropped_history(self) -> Iterator[DroppedItem]:
        for unit in self.receipt.dropped:
            if not self.tail.pins.issuperset(unit.indices):
                text = f"{unit.kind}: {_places(unit.indices)}"
                yield DroppedItem(
                    unit.indices[0],
                    text,
                    unit.tokens,
                    unit.reason,
                )

    # What is wrong

    def _problems(self, tokens: dict[str, int]) -> Iterator[str]:
        """Yield what is wrong, in words; *tokens* are those of the sections."""
        if not self.fits:
            yield self._too_large(tokens)
        elif int(self.tokens) > self.budget:
            yield self._over_budget(tokens)

        if self.below_minimum and self.fits:
            remaining = f"{tokens['history']:,} tokens of history are left"
            yield f"the window has no room for min_history_tokens: {remaining}"

        for unit in self.receipt.dropped:
            if self.tail.pins.issuperset(unit.indices):
                yield f"current_message: {unit.reason}"

    def _too_large(self, tokens: dict[str, int]) -> str:
        """Return why the provider refuses the request."""
        size = f"{self.tokens:,} tokens"
        if self.tokens.high != self.tokens:
            size = f"{size}, perhaps {self.tokens.high:,}"

        room = max(0, self.largest or 0)
        window = f"the window of {self.window:,} leaves {room:,} after the response"
        return f"it takes {size}, and {window}; {_largest_part(tokens)}"

    def _over_budget(self, tokens: dict[str, int]) -> str:
        """Return why the request is over the budget."""
        over = int(self.tokens) - self.budget
        problem = f"it is {over:,} tokens over the budget of {self.budget:,}"
        if not self.has_minimum or self._has_only_system():
            return f"{problem}: nothing else can leave; {_largest_part(tokens)}"

        problem = (
            f"{problem}: the newest {tokens['history']:,} tokens of history stay, "
            "because of min_history_tokens"
        )
        if int(self.tokens) - tokens["history"] <= self.budget:
            return problem

        return f"{problem}; it would be over without them too; {_largest_part(tokens)}"

    def _has_only_system(self) -> bool:
        """Whether only system messages are left of the history."""
        history = [message for message in self.messages if message is not self.tail.current]
        return all(entry.role == "system" for entry in read(history, self.tail.provider))


def _items_row(chosen: Chosen) -> SectionRow:
    return SectionRow(
        chosen.tokens,
        len(chosen.items),
        chosen.sources,
        chosen.dropped,
    )


def _largest_part(tokens: dict[str, int]) -> str:
    name = max(tokens, key=lambda section: tokens[section])
    return f"the largest part is {name} with {tokens[name]:,}"


def _shared_out(counts: dict[str, Count], whole: Count) -> dict[str, Count]:
    """Return the tokens of each section so that they add up to *whole*; what is left belongs to the
    framing.

    Texts can take a token less together than apart, and a provider may have reported less than was
    counted here: then a section has no more than there is.
    """
    remaining = int(whole)
    shared = {}
    for name in TAKING_ORDER:
        count = counts[name]
        if int(count) > remaining:
            count = Count(remaining, count.basis)

        shared[name] = count
        remaining -= int(count)

    shared["framing"] = Count(remaining, whole.basis)
    return {name: shared[name] for name in SECTIONS}


def _places(indices: tuple[int, ...]) -> str:
    first = indices[0]
    last = indices[-1]
    if first == last:
        return f"message {first}"

    return f"messages {first} to {last}"
