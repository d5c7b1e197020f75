"""One measurement on its way: what it adds to, for which model, at which message, and how deep inside it.

A count of plain chat needs no more than this: the readers of other parts are imported when such a part comes.
"""

from __future__ import annotations

from brim.tokens.messages.fields import DEEPEST, REPEATS, compact, is_sequence
from brim.tokens.messages.rules import width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.tokens.messages.rules import Family
    from brim.tokens.messages.tally import Ledger

__all__ = ["Walk"]


class Walk:
    """Where one measurement stands: what it adds to, for which model, at which message."""

    __slots__ = (
        "_depth",
        "_keeps",
        "_last_prompt",
        "_left",
        "_seen",
        "family",
        "index",
        "ledger",
        "messages",
        "names",
        "provider",
    )

    def __init__(self, ledger: Ledger, family: Family, names: tuple[str, ...], messages: list[object]) -> None:
        self.ledger, self.family, self.names, self.messages = ledger, family, names, messages
        self.provider = family.provider
        self.index = 0
        self._left, self._seen = REPEATS, set[int]()
        self._depth = 0
        self._keeps: bool | None = None
        self._last_prompt: int | None = None

    def begin(self, index: int) -> None:
        """Begin to read the message at *index*."""
        self.index = index
        if self._seen:
            self._left, self._seen = REPEATS, set()

    def text(self, value: object) -> None:
        """Add *value* if it is text; other things are read as parts."""
        if isinstance(value, str):
            self.ledger.text(value)
        elif value is not None:
            self.part(value)

    def text_or_json(self, value: object) -> None:
        """Add *value* as it is if it is text, else as compact JSON."""
        if isinstance(value, str):
            self.ledger.text(value)
        elif value is not None:
            size = width("json")
            self.ledger.text(compact(value), size.text_low, size.text_high)
            self.ledger.because(size.reason)

    def unknown(self, text: str) -> None:
        """Add *text* that stands for something nobody knows."""
        size = width("unknown")
        self.ledger.text(text, size.text_low, size.text_high)
        self.ledger.width(size)

    def part(self, value: object) -> None:
        """Add one part, or a list of parts."""
        if isinstance(value, str):
            self.ledger.text(value)
        elif is_sequence(value):
            self.parts(value)
        elif value is not None:
            self._read(value)

    def parts(self, value: object) -> None:
        """Add each part of a list; anything else is read as one part."""
        if not is_sequence(value):
            self.part(value)
            return
        several: list[object] = list(value)  # type: ignore[call-overload]
        if len(several) > 1:
            self.ledger.width(width("join"), len(several) - 1)
        if id(value) in self._seen:
            self._left -= len(several)
        self._seen.add(id(value))
        if self._depth >= DEEPEST or self._left < 0:
            self.unknown(compact(value) if self._left >= 0 else "")
            return
        self._depth += 1
        for inner in several:
            self.part(inner)
        self._depth -= 1

    def in_earlier_turn(self) -> bool:
        """Whether a person spoke after this message: what the model reasoned before that is an earlier turn's."""
        if self._last_prompt is None:
            from brim.tokens.messages.parts import is_prompt

            at = len(self.messages) - 1
            while at >= 0 and not is_prompt(self.messages[at]):
                at -= 1
            self._last_prompt = at
        return self.index < self._last_prompt

    @property
    def keeps_reasoning(self) -> bool:
        """Whether the model keeps the reasoning of earlier turns."""
        if self._keeps is None:
            from brim.tokens.messages.reasoning import keeps_all_turns

            self._keeps = keeps_all_turns(self.names)
        return self._keeps

    def _read(self, value: object) -> None:
        if isinstance(value, (bool, int, float, bytes)) or self._depth >= DEEPEST:
            self.unknown(compact(value))
            return
        from brim.tokens.messages.parts import reader_of

        self._depth += 1
        reader = reader_of(value)
        if reader is not None:
            reader(value, self)
        else:
            self.unknown(compact(value))
        self._depth -= 1
