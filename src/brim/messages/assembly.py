"""An assembled request: the messages to send, and where the tokens went."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from brim.figures import counted
from brim.messages.entries import Provider
from brim.messages.receipt import Receipt
from brim.record import PlainData
from brim.tokens.count import Count

SECTIONS = (
    "system_prompt",
    "procedure",
    "knowledge",
    "episodes",
    "history",
    "current_message",
    "framing",
)
"""The parts of a request in the order of the account. ``framing`` is what belongs to no section:
roles, tags, tools."""

SHOWN = 40
"""How many characters of a text are printed."""


@dataclass(frozen=True, slots=True, repr=False)
class DroppedItem(PlainData):
    """Something that was given and is not in the request."""

    index: int
    """Its place in what was given; for history, of the first message that left with it."""
    text: str
    """What it was: its text, or for history which messages."""
    tokens: int
    """What it would have taken."""
    reason: str
    """Why it is not there."""

    def __repr__(self) -> str:
        text = " ".join(self.text.split())
        if len(text) > SHOWN:
            text = f"{text[: SHOWN - 1]}…"

        return f"DroppedItem({self.index}, {text!r}, {self.tokens:,} tokens: {self.reason})"


@dataclass(frozen=True, slots=True)
class WindowSection(PlainData):
    """One part of the request."""

    name: str
    """One of ``SECTIONS``."""
    tokens: Count
    """What it takes. The tokens of all sections add up to those of the request."""
    share: float
    """How much of the budget that is: 1.0 is all of it."""
    source: str
    """Where it comes from: the sources of its items if they name any; empty if there is nothing in
    it."""
    items: int
    """How many items of it, or messages, are in the request."""
    dropped: tuple[DroppedItem, ...] = ()
    """What is not, and why."""

    @property
    def contents(self) -> str:
        """What is in it, in words: ``2 items, 1 dropped``.

        Empty for the framing.
        """
        if not self.items and not self.dropped:
            return ""

        kind = "message" if self.name in ("history", "current_message") else "item"
        words = counted(self.items, kind)
        if not self.dropped:
            return words

        gone = f"{len(self.dropped):,}"
        if self.name == "history":
            gone = counted(len(self.dropped), "unit")

        return f"{words}, {gone} dropped"


@dataclass(frozen=True, slots=True, repr=False)
class Assembly(PlainData):
    """A request that is ready to send, with its account."""

    messages: list[Any]
    """The messages in the provider's shape. Those of the history are the caller's own objects."""
    system: str
    """System prompt and procedure. In OpenAI's formats it is the first message too; elsewhere it
    has its own field."""
    sections: tuple[WindowSection, ...]
    """The parts of the request, in the order of ``SECTIONS``."""
    tokens: Count
    """What the whole request takes, system text and tools included, by the counter that decided."""
    budget: int
    """What the request may take: the working memory or the window, whichever is smaller, less the
    response."""
    history_budget: int
    """What the texts of the other sections leave of the budget for history; never negative."""
    fits: bool
    """Whether the provider accepts it: the window holds it and the response, even if the count is
    at its highest."""
    reason: str
    """Why it does not fit, is over the budget, or holds less history than the minimum; empty if all
    is well."""
    receipt: Receipt
    """What the pruner did. It saw history and current message together."""
    provider: Provider
    """Whose shape the messages have."""
    context_window: int | None
    """The window that was kept to; None if it is not known."""

    @property
    def over_by(self) -> int:
        """How many tokens it is over the budget.

        0 if it is not.
        """
        return max(0, int(self.tokens) - self.budget)

    @property
    def over_budget(self) -> bool:
        """Whether it takes more than the budget."""
        return self.over_by > 0

    def section(self, name: str) -> WindowSection:
        """Return the section *name*."""
        return self.sections[SECTIONS.index(name)]

    def __repr__(self) -> str:
        return f"Assembly({len(self.messages)} messages, {self._size})"

    def __str__(self) -> str:
        lines = [self._size]
        for section in self.sections:
            figures = f"{section.tokens:>9,} {section.share:>7.1%}"
            line = f"  {section.name:<15} {figures}  {section.contents}"
            lines.append(line.rstrip())

        if self.reason:
            lines.append(self.reason)

        return "\n".join(lines)

    @property
    def _size(self) -> str:
        """The size in words, and whether it fits."""
        size = f"{self.tokens:,} of {self.budget:,} tokens"
        if not self.fits:
            return f"{size}, does not fit"

        if self.over_budget:
            return f"{size}, over budget by {self.over_by:,}"

        return f"{size}, fits"
