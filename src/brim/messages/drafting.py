"""Makes a draft of a history: reads it, divides it into units and counts each message once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from brim.errors import InputError
from brim.messages.anthropic.reading import is_directive
from brim.messages.arguments import TOKENS, as_list, whole_number
from brim.messages.cuts import Unit, units_of
from brim.messages.draft import Draft, Pin
from brim.messages.entries import Entry, Provider
from brim.messages.formats import find_broken, read, refuse_unreadable
from brim.messages.layouts import layout_of
from brim.messages.receipt import Dropped
from brim.tokens.costs import message_costs
from brim.tokens.count import Count
from brim.tokens.counters import counter_for
from brim.tokens.messages.fields import get, string
from brim.tokens.messages.request import compacted
from brim.tokens.protocol import TokenCounter, require_counter

COMPACTED = "the provider's own summary stands in its place"
SYSTEM_FIELDS: dict[Provider, str] = {"anthropic": "system", "gemini": "systemInstruction"}
"""Where a provider takes the system prompt, if not in a message."""


def draft(
    messages: Sequence[Any],
    target: int,
    *,
    model: str | None = None,
    tools: Sequence[Any] | None = None,
    provider: Provider | Literal["auto"] = "auto",
    counter: TokenCounter | None = None,
    pin: Pin | None = None,
    only: Sequence[int] | None = None,
) -> Draft:
    """Return *messages*, or those at the places *only*, read, divided and priced.

    Each is counted once.
    """
    whole_number("target", target, 0, TOKENS)
    history = as_list(messages)
    if counter is None:
        counter = counter_for(model)
    else:
        require_counter(counter)

    model = model or counter.model
    layout = layout_of(history, provider, model)
    entries = read(history, layout, only)
    _refuse_leading_system(entries, layout.rules)
    refuse_unreadable(entries, layout)
    division = Division.of(entries, layout.rules)
    units = units_of(division.sound, layout.rules)
    pins = _pinned(units, pin, layout.rules)
    costs = message_costs(counter, [entry.message for entry in division.sound], tools)
    broken, broken_tokens = division.dropped(history, counter)
    before = costs.count(range(len(division.sound)))
    if division.problems:
        before += broken_tokens

    notes = []
    if pin is not None and not callable(pin):
        notes += _notes_about_pins(pin, entries if only is None else read(history, layout))

    if entries and not division.sound:
        notes.append(
            f"not one message can be sent as it is: are they in the format of {layout.rules}?"
        )

    about: Any = {"broken": broken, "before": before, "only": only, "notes": tuple(notes)}
    return Draft(
        history,
        target,
        layout,
        counter,
        model,
        units,
        costs,
        pins,
        **about,
    )


@dataclass(frozen=True, slots=True)
class Division:
    """The messages that can be sent, and the others."""

    sound: list[Entry]
    problems: dict[int, str]
    """Why a message can't be sent, by its place."""
    compacted: list[Entry]
    """Messages that the provider's own summary replaces."""

    @classmethod
    def of(cls, entries: list[Entry], provider: Provider) -> Division:
        """Return *entries*, divided."""
        places = compacted([entry.wire for entry in entries])
        newest = [entry for at, entry in enumerate(entries) if at not in places]
        problems = find_broken(newest, provider)
        sound = [entry for entry in newest if entry.index not in problems]
        return cls(sound, problems, [entries[at] for at in places])

    def dropped(
        self, history: list[Any], counter: TokenCounter
    ) -> tuple[tuple[Dropped, ...], Count]:
        """Return what can't be sent, and its size."""
        dropped = []
        tokens = Count(0)
        if self.problems:
            places = sorted(self.problems)
            costs = message_costs(counter, [history[at] for at in places])
            tokens = costs.alone(range(len(places)))
            for at, size in zip(places, costs.each, strict=True):
                reason = f"{self.problems[at]}: the provider refuses it, and repair can fix it"
                dropped.append(Dropped((at,), "broken", size, reason))

        for entry in self.compacted:
            dropped.append(Dropped((entry.index,), "compacted", 0, COMPACTED))

        return tuple(dropped), tokens


def _refuse_leading_system(entries: Sequence[Entry], provider: Provider) -> None:
    """Refuse a system prompt that would otherwise be dropped with all else that the provider
    doesn't take."""
    field = SYSTEM_FIELDS.get(provider)
    if not field or not entries or entries[0].index != 0 or entries[0].aside:
        return

    message = entries[0].message
    if string(get(message, "role")) == "system" and not is_directive(message):
        raise InputError(
            "messages: message 0 is a system message, which this provider takes separately, "
            f"as {field!r}: take it out and prune the rest"
        )


# Pins


def _pinned(units: Sequence[Unit], pin: Pin | None, provider: Provider) -> frozenset[int]:
    """Return the units that stay: system messages, a provider's summary, and those with a message
    that *pin* names."""
    is_pinned = _predicate(pin)
    pinned = set()
    for at, unit in enumerate(units):
        for entry in unit.entries:
            if _stays_anyway(entry, provider) or is_pinned(entry):
                pinned.add(at)

    return frozenset(pinned)


def _predicate(pin: Pin | None) -> Callable[[Entry], bool]:
    """Return what tells whether *pin* names a message."""
    if pin is None:
        return lambda _: False

    if callable(pin):
        return lambda entry: bool(pin(entry.message))

    names = _names(pin)
    return lambda entry: not names.isdisjoint((entry.index, *entry.ids))


def _stays_anyway(entry: Entry, provider: Provider) -> bool:
    """Whether a message stays without a pin.

    System messages in the middle of a conversation with Claude belong to their turn, and go with
    it.
    """
    if entry.role == "system" and provider != "anthropic":
        return True

    return entry.aside or entry.instructs or entry.compacts


def _names(pin: Collection[int | str]) -> frozenset[int | str]:
    """Return the places and ids in *pin*."""
    if isinstance(pin, (str, bytes)) or not isinstance(pin, Collection):
        kind = type(pin).__name__
        raise InputError(f"pin must be a predicate or a collection of places and ids, not {kind}")

    for name in pin:
        is_place = isinstance(name, int) and not isinstance(name, bool) and name >= 0
        if not is_place and not isinstance(name, str):
            raise InputError(f"pin must hold places from 0 on, or ids, not {name!r}")

    return frozenset(pin)


def _notes_about_pins(pin: Collection[int | str], entries: Sequence[Entry]) -> list[str]:
    """Return a note for each name in *pin* that no message has."""
    names: set[int | str] = set()
    for entry in entries:
        names.add(entry.index)
        names.update(entry.ids)

    return [f"pin {name!r} names no message" for name in pin if name not in names]
