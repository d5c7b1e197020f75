"""What a guard has cut from a conversation, and what it sends in its place.

A cut stays the same until the next one is needed, so that the provider's cache stays warm. It names
messages by their place in the caller's transcript: what the caller changes about them without
changing what they say, such as their cache markers, is sent as it is now.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from brim.messages.draft import Pin
from brim.messages.fitting import WITHOUT_THINKING, Fitted
from brim.messages.markers import with_markers_of
from brim.messages.receipt import Dropped, Receipt, Step, digest_of
from brim.messages.thinking import has_thinking, without_thinking
from brim.usd import Money


@dataclass(frozen=True, slots=True)
class Piece:
    """A message that stays of the part of a transcript that was cut."""

    place: int | None
    """Its place in the transcript; None for a summary."""
    changed: Any = None
    """The message that is sent instead, such as one with its results cleared; None if it is sent as
    it is."""

    def message(self, transcript: Sequence[Any]) -> Any:
        """Return what is sent, with the cache markers that the caller sets now."""
        if self.place is None:
            return self.changed

        current = transcript[self.place]
        if self.changed is None:
            return current

        return with_markers_of(current, self.changed)


@dataclass(frozen=True, slots=True)
class Cut:
    """What stands in place of the beginning of a transcript."""

    count: int = 0
    """How many messages of the transcript it's about."""
    digest: str = ""
    """Identifies them; empty if they can't be written down."""
    pieces: tuple[Piece, ...] = ()
    """What stays of them."""
    left: tuple[Dropped, ...] = ()
    """What left."""
    steps: tuple[Step, ...] = ()
    """What was done."""
    without_thinking: bool = False
    """Whether the thinking in them is left out: the model accepts it only with what was sent before
    the cut."""

    @classmethod
    def of_thinking(cls, transcript: Sequence[Any]) -> Cut:
        """Return a cut that leaves out all thinking of *transcript* and nothing else."""
        pieces = tuple(Piece(place) for place in range(len(transcript)))
        thinking = []
        for place, message in enumerate(transcript):
            if has_thinking(message):
                thinking.append(place)

        steps: tuple[Step, ...] = ()
        if thinking:
            steps = (Step(WITHOUT_THINKING, tuple(thinking), 0, None),)

        return cls(
            count=len(transcript),
            digest=digest_of(transcript),
            pieces=pieces,
            steps=steps,
            without_thinking=True,
        )

    def for_transcript(self, transcript: Sequence[Any]) -> tuple[Cut, str]:
        """Return this cut if *transcript* begins as before, or an empty one and a note that says
        so."""
        if not self.count or (self.digest and self.digest == digest_of(transcript[: self.count])):
            return self, ""

        return Cut(), "the transcript is another one than before: started over"

    def sent(self, transcript: Sequence[Any]) -> list[tuple[Piece, Any]]:
        """Return every message of *transcript* that is sent, as it is sent."""
        messages = []
        for piece in self.pieces:
            message = piece.message(transcript)
            if self.without_thinking:
                message = without_thinking(message)

            if message is not None:  # None: there was only thinking in it
                messages.append((piece, message))

        for place in range(self.count, len(transcript)):
            messages.append((Piece(place), transcript[place]))

        return messages

    def view(self, transcript: Sequence[Any]) -> list[Any]:
        """Return *transcript* as it was cut."""
        return [message for _, message in self.sent(transcript)]

    def pinned(self, pin: Pin | None, transcript: Sequence[Any]) -> Pin | None:
        """Return *pin* with places in the view instead of places in the *transcript*."""
        if pin is None or callable(pin):
            return pin

        places = [piece.place for piece, _ in self.sent(transcript)]
        names: list[int | str] = []
        for name in pin:
            if isinstance(name, int) and name in places:
                names.append(places.index(name))
            else:
                names.append(name)

        return names

    def cut_again(
        self,
        transcript: Sequence[Any],
        pruned: Fitted[Any],
        receipt: Receipt,
        *,
        binds_thinking: bool,
    ) -> tuple[Cut, Receipt]:
        """Return the cut after the view was *pruned*, and its *receipt* in places of the
        *transcript*.

        If the model *binds_thinking*, a new cut leaves out all thinking that was made before it.
        """
        sent = self.sent(transcript)
        places = [piece.place for piece, _ in sent]
        dropped = list(self.left)
        left = list(self.left)
        for unit in receipt.dropped:
            indices = _mapped(unit.indices, places)
            if not indices:
                continue

            mapped_unit = replace(unit, indices=indices)
            dropped.append(mapped_unit)
            if unit.kind != "broken":
                left.append(mapped_unit)

        dropped.sort(key=lambda unit: unit.indices)
        steps = list(self.steps)
        for step in receipt.steps:
            steps.append(replace(step, indices=_mapped(step.indices, places)))

        receipt = replace(receipt, dropped=tuple(dropped), steps=_merged(steps))
        if not pruned.is_cut:
            return self, receipt

        cut = Cut(
            count=len(transcript),
            digest=digest_of(transcript),
            pieces=_pieces(sent, pruned),
            left=tuple(left),
            steps=receipt.steps,
            without_thinking=self.without_thinking or binds_thinking,
        )
        return cut, receipt


def _pieces(sent: Sequence[tuple[Piece, Any]], pruned: Fitted[Any]) -> tuple[Piece, ...]:
    """Return what stays of the messages that were *sent* after they were *pruned*."""
    gone: set[int] = set()
    broken: set[int] = set()
    for unit in pruned.receipt.dropped:
        places = broken if unit.kind == "broken" else gone
        places.update(unit.indices)

    stays = iter(pruned.messages)
    has_summary = len(pruned.messages) > len(sent) - len(gone) - len(broken)
    pieces = []
    for at, (piece, message) in enumerate(sent):
        if at in gone:
            if has_summary:
                pieces.append(Piece(None, next(stays)))
                has_summary = False
        elif at in broken:  # it may be whole in the next turn, when its result is there
            pieces.append(piece)
        else:
            staying = next(stays)
            is_same = staying is message
            pieces.append(piece if is_same else Piece(piece.place, staying))

    return tuple(pieces)


def _merged(steps: Iterable[Step]) -> tuple[Step, ...]:
    """Return one step for each action, in the order in which they were first done."""
    merged: dict[str, Step] = {}
    for step in steps:
        before = merged.get(step.action, Step(step.action, (), 0, Money(0)))
        saving = None
        if before.saving is not None and step.saving is not None:
            saving = before.saving + step.saving

        places = tuple(sorted({*before.indices, *step.indices}))
        merged[step.action] = Step(step.action, places, before.tokens + step.tokens, saving)

    return tuple(merged.values())


def _mapped(indices: Iterable[int], places: Sequence[int | None]) -> tuple[int, ...]:
    mapped = (places[index] for index in indices)
    return tuple(place for place in mapped if place is not None)
