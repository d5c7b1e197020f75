"""Choices from a string of bytes: fast to draw, and a shorter or smaller string is a simpler
choice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")

TAPES = st.one_of(
    st.binary(max_size=40),
    st.binary(min_size=30, max_size=120),
    st.binary(min_size=120, max_size=360),
)


class Tape:
    """Answers every question from its bytes; when they are used up, with the first choice."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.made = 0

    @property
    def left(self) -> bool:
        """Whether there is something left to decide by."""
        return self.at < len(self.data)

    def number(self, below: int) -> int:
        """Return a number from 0 to *below* - 1."""
        self.at += 1
        return self.data[self.at - 1] % below if self.at <= len(self.data) else 0

    def pick(self, options: Sequence[T]) -> T:
        """Return one of *options*, simplest first."""
        return options[self.number(len(options))]

    def chance(self, out_of: int = 2) -> bool:
        """Return True once in *out_of* times."""
        return self.number(out_of) == out_of - 1 and self.left

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return *items* in some order."""
        rest, order = list(items), []
        while rest:
            order.append(rest.pop(self.number(len(rest))))
        return order

    def fresh(self, prefix: str) -> str:
        """Return an id that was not given before."""
        self.made += 1
        return f"{prefix}{self.made}"

    def text(self) -> str:
        """Return a text that no other text is equal to or part of."""
        self.made += 1
        return f"<{self.made}>" + " word" * self.pick((0, 3, 12, 40))

    def payload(self) -> dict[str, Any]:
        """Return arguments of a call, or what a function returned."""
        return {"path": self.text()}
