"""Money is whole micro-dollars. This is how people write it, and how it is written for them."""

from __future__ import annotations

from brim.errors import InputError

DOLLAR = 1_000_000
"""Micro-dollars in a dollar."""

MOST = 10**15
"""The largest amount: a billion dollars. Sums of many of them still fit into what SQLite can store."""


def micro_dollars(text: str, *, up: bool = True) -> int:
    """Return the micro-dollars that *text* means: ``0.25``, ``$0.25``, ``1,000``, ``2e-3``.

    A comma stands between thousands only: ``0,25`` is an error, because it would be 25 dollars.

    More than six decimal places are rounded *up*, so that nothing counts as less than it is; a limit is rounded down.

    >>> micro_dollars("$0.25"), micro_dollars("0.0000001"), micro_dollars("0.0000001", up=False)
    (250000, 1, 0)
    """
    from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, InvalidOperation

    plain = text.strip().removeprefix("$").replace("_", "")
    first, *groups = plain.partition(".")[0].split(",")
    try:
        if "," in plain.partition(".")[2] or (groups and (not 0 < len(first) < 4 or any(len(g) != 3 for g in groups))):
            raise InvalidOperation
        amount = Decimal(plain.replace(",", ""))
        if not amount.is_finite() or amount < 0 or amount > MOST // DOLLAR:
            raise InvalidOperation
        exact = Context(prec=len(plain) + 20, rounding=ROUND_CEILING if up else ROUND_FLOOR)
        return int(exact.to_integral_value(exact.multiply(amount, Decimal(DOLLAR))))
    except InvalidOperation:
        raise InputError(f"{text[:40]!r} is no amount in US dollars: write 0.25 or $0.25, at most 1e9") from None


def in_dollars(amount: int) -> str:
    """Return *amount*, in micro-dollars, for a person: to the cent, and what is not whole cents exactly.

    >>> in_dollars(1_250_000), in_dollars(1_234_567_800_000), in_dollars(1_005), in_dollars(-20_000)
    ('$1.25', '$1,234,567.80', '$0.001005', '-$0.02')
    """
    whole, rest = divmod(abs(amount), DOLLAR)
    places = f"{rest:06}".rstrip("0").ljust(2, "0")
    return f"{'-' if amount < 0 else ''}${whole:,}.{places}"


def checked_amount(amount: object, what: str = "the amount") -> int:
    """Return *amount* if it is one that can be kept, else raise an ``InputError`` that says *what* is not."""
    if type(amount) is not int or not 0 <= amount <= MOST:
        raise InputError(f"{what} must be a whole number of micro-dollars from 0 to {MOST:,}, not {repr(amount)[:40]}")
    return amount
