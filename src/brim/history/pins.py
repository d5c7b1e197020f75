"""What stays because it must, or because the caller says so."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from brim.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brim.history.reading.entry import Entry
    from brim.history.types import Pin, Provider
    from brim.history.units import Unit


def pinned(units: Sequence[Unit], pin: Pin | None, provider: Provider) -> frozenset[int]:
    """Return the places of the units that stay: system messages, and those with a message that *pin* names.

    *pin* is a predicate over messages, or a collection of places in the list (numbers), of message ids, or of ids of
    calls (texts). System messages in the middle of a conversation with Claude belong to their turn, and go with it.
    """
    if pin is not None and not callable(pin):
        pin = _names(pin)
    return frozenset(
        at
        for at, unit in enumerate(units)
        if (provider != "anthropic" and any(entry.role == "system" for entry in unit.entries))
        or (pin is not None and any(_matches(entry, pin) for entry in unit.entries))
    )


def unmatched(entries: Sequence[Entry], pin: Pin | None) -> tuple[str, ...]:
    """Return a note for each place or id in *pin* that names no message."""
    if pin is None or callable(pin):
        return ()
    known = {name for entry in entries for name in (entry.index, *_ids(entry))}
    return tuple(f"pin {name!r} names no message" for name in pin if name not in known)


def _names(pin: object) -> frozenset[int | str]:
    """Return the places and ids in *pin*; ``InputError`` for anything else."""
    if isinstance(pin, (str, bytes)) or not isinstance(pin, Collection):
        raise InputError(f"pin must be a predicate or a collection of places and ids, not {type(pin).__name__}")
    for name in pin:
        if not isinstance(name, (int, str)) or isinstance(name, bool) or (isinstance(name, int) and name < 0):
            raise InputError(f"pin must hold places from 0 on, or ids, not {name!r}")
    return frozenset(pin)


def _matches(entry: Entry, pin: Pin) -> bool:
    if callable(pin):
        return bool(pin(entry.message))
    return entry.index in pin or any(each in pin for each in _ids(entry))


def _ids(entry: Entry) -> set[str]:
    return {entry.id, *(call.id for call in (*entry.calls, *entry.results))} - {""}
