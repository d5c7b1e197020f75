"""``Count``: a number of tokens that knows how sure it is.

A count is compared, sorted, formatted and added like any other whole number, so a budget never has
to care where it came from. Code that does care (a request that must fit, a reservation of money)
reads ``basis``, ``low`` and ``high``.

This file is imported by every hook, so it imports nothing.
"""

from __future__ import annotations

from typing import Any, Literal, NoReturn

Basis = Literal["exact", "anchored", "calibrated", "estimated"]

__all__ = ["BASES", "Count", "weakest"]

BASES: tuple[Basis, ...] = ("exact", "anchored", "calibrated", "estimated")
"""What a count can rest on, weakest last.

exact       the model's own vocabulary, or the provider's counting endpoint
anchored    usage the provider reported for a prefix, and a local count of what came after it
calibrated  another vocabulary, times a ratio learned from usage the provider reported for this model
estimated   another vocabulary times a prior, or a rule of thumb
"""

_RANK: dict[str, int] = {basis: rank for rank, basis in enumerate(BASES)}
_MILLION = 1_000_000

PREFIX_ERROR = 0.04
"""The share by which a reported prefix may be off when it is sent again: the 99th percentile on
real sessions.

The report itself is exact. But between two requests a client may drop old reasoning, shorten a
result or add a reminder, and none of that shows in the messages.
"""


def weakest(first: Basis, second: Basis) -> Basis:
    """Return the weaker of two bases: a sum is no better than its worst part."""
    if _RANK[first] >= _RANK[second]:
        return first
    return second


class Count(int):
    """A number of tokens with a basis and an interval.

    ``low`` and ``high`` default to the value itself. Raises ``ValueError`` unless ``0 <= low <=
    value <= high``. ``note`` says in words what the reader should know ("the endpoint did not
    answer"); it is empty otherwise.

    Adding counts, or a count and a whole number, adds the intervals, keeps the weakest basis and
    every note. Any other arithmetic gives a plain ``int``: the difference of two counts is not a
    count (and may be negative). Comparison and hash are those of ``int``, so two counts of
    different bases are equal when their values are.

    >>> Count(2)
    Count(2)
    >>> Count(120, "estimated", 96, 156) + Count(10)
    Count(130, estimated, 106 to 166)
    >>> f"{Count(120_000, 'calibrated', 110_000, 130_000):,}"
    '120,000'
    """

    basis: Basis
    """What the value rests on: one of ``BASES``."""
    low: int
    """The least it may be: decides only whether an irreversible step is forced."""
    high: int
    """The most it may be: decides only where exceeding is a provider's error, or money."""
    note: str
    """What the reader should know about this count, in words; empty if nothing."""

    def __new__(
        cls,
        value: int,
        basis: Basis = "exact",
        low: int | None = None,
        high: int | None = None,
        note: str = "",
    ) -> Count:
        """Make a count; *low* and *high* default to *value*."""
        self = super().__new__(cls, value)
        number = int(self)
        if low is None:
            low = number
        if high is None:
            high = number
        low = int(low)
        high = int(high)
        if not 0 <= low <= number <= high:
            raise ValueError(
                f"a count needs 0 <= low <= value <= high, not low {low}, value {number}, high {high}"
            )
        if basis not in _RANK:
            raise ValueError(f"unknown basis {basis!r}: use one of {', '.join(BASES)}")
        self.__dict__.update(basis=basis, low=low, high=high, note=note)
        return self

    @property
    def exact(self) -> bool:
        """Whether the value is exact rather than an estimate."""
        return self.basis == "exact"

    def scaled(self, ratio: float, low_ratio: float, high_ratio: float, basis: Basis) -> Count:
        """Return this count in another vocabulary's tokens, *ratio* times as many.

        The value is rounded up once, ``low`` down and ``high`` up. Ratios are taken to six
        decimals, in whole numbers, so that 100 x 1.1 is 110 and not, by a floating-point hair, 111.
        The basis is the weaker of the two.
        """
        return Count(
            -(-int(self) * round(ratio * _MILLION) // _MILLION),
            weakest(self.basis, basis),
            self.low * round(low_ratio * _MILLION) // _MILLION,
            -(-self.high * round(high_ratio * _MILLION) // _MILLION),
            self.note,
        )

    def __add__(self, other: int, /) -> Count:
        if not isinstance(other, int) or int(other) < 0:
            return NotImplemented  # Python then adds plain numbers: a negative number makes it a difference
        added = other
        if not isinstance(added, Count):
            added = Count(added)
        note = self.note
        if added.note not in ("", self.note):
            note = _join(self.note, added.note)
        return Count(
            int(self) + int(added),
            weakest(self.basis, added.basis),
            self.low + added.low,
            self.high + added.high,
            note,
        )

    def __radd__(self, other: int, /) -> Count:
        return self.__add__(other)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Count is immutable: cannot set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a Count is immutable: cannot delete {name!r}")

    def to_dict(self) -> dict[str, int | str]:
        """Return the value and what it rests on, as JSON has it."""
        return {
            "value": int(self),
            "basis": self.basis,
            "low": self.low,
            "high": self.high,
            "note": self.note,
        }

    def __replace__(self, **changes: Any) -> Count:
        """Return a copy with other values in the fields of *changes*, for ``copy.replace``."""
        return Count(**{**self.to_dict(), **changes})

    @classmethod
    def __get_pydantic_core_schema__(cls, _: object, __: object) -> Any:
        """Let a pydantic model have a count as a field: it's given as one, as a number, or as
        ``to_dict`` gives it."""
        from pydantic_core import core_schema as schema

        whole = schema.no_info_after_validator_function(cls, schema.int_schema(ge=0))
        fields = schema.no_info_after_validator_function(
            lambda values: cls(**values), schema.dict_schema()
        )
        return schema.union_schema(
            [schema.is_instance_schema(cls), whole, fields], mode="left_to_right"
        )

    def __reduce__(self) -> tuple[type[Count], tuple[int, Basis, int, int, str]]:
        return Count, (int(self), self.basis, self.low, self.high, self.note)

    def __repr__(self) -> str:
        if self.basis == "exact" and self.low == self.high:
            return f"Count({int(self)})"
        return f"Count({int(self)}, {self.basis}, {self.low} to {self.high})"

    def __str__(self) -> str:
        return int.__repr__(self)


def _join(first: str, second: str) -> str:
    """Join notes, each once: a sum of a hundred counts that all failed alike says so once."""
    return "; ".join(
        dict.fromkeys(note for note in (*first.split("; "), *second.split("; ")) if note)
    )
