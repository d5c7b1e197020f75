"""Money in whole micro-dollars: how amounts are read, checked and said.

There is one rounding for everybody who shows money. Dollars have two decimals. What is above
nothing and below a cent is ``<$0.01``, never ``$0.00``.
"""

from __future__ import annotations

from brim.errors import InputError
from brim.figures import DOLLAR
from brim.usd import MOST, Money, micro_dollars, read_money

USD = "usd"
TOKENS = "tokens"
PERCENT = "percent"
UNITS = (USD, TOKENS, PERCENT)
CENT = DOLLAR // 100


def limit_in(dollars: float | None) -> Money | None:
    """Return a limit of the settings, rounded down; None means no limit."""
    if dollars is None:
        return None
    return Money(micro_dollars(dollars, up=False))


def checked_amount(amount: object, name: str = "the amount", unit: str = "micro-dollars") -> int:
    """Return *amount* if it can be stored, else raise an ``InputError`` that *name* begins."""
    if type(amount) is not int or not 0 <= amount <= MOST:
        raise InputError(
            f"{name} must be a whole number of {unit} from 0 to {MOST:,}, not {repr(amount)[:40]}"
        )
    return amount


def read_amount(amount: object, unit: str, name: str) -> int:
    """Return an *amount* of a *unit* that a caller gave: money, or a whole number of anything
    else."""
    if unit == USD:
        return read_money(amount, name, up=False)
    return checked_amount(amount, name, unit)


def as_money(amount: int, unit: str) -> int:
    """Return *amount* as ``Money`` if *unit* is that."""
    if unit != USD:
        return amount
    return Money(amount)


def as_limit(amount: int | None, unit: str) -> int | None:
    """Return *amount* as ``Money`` if *unit* is that; None without a limit."""
    if amount is None:
        return None
    return as_money(amount, unit)


def dollars(amount: int) -> str:
    """Return *amount*, in micro-dollars, as dollars with two decimals.

    >>> dollars(5_020_000), dollars(10_019), dollars(4_999), dollars(0), dollars(1_234_567_804_999)
    ('$5.02', '$0.01', '<$0.01', '$0.00', '$1,234,567.80')
    """
    cents = (int(amount) + CENT // 2) // CENT
    if cents == 0 and amount > 0:
        return "<$0.01"
    return f"${cents // 100:,}.{cents % 100:02}"


def tokens(amount: int) -> str:
    """Return a number of tokens in thousands or millions, without the word.

    >>> tokens(1_900_000), tokens(200_000), tokens(950)
    ('1.9M', '200k', '950')
    """
    for sign, factor in (("M", 10**6), ("k", 10**3)):
        if amount >= factor:
            return f"{amount / factor:,.2f}".rstrip("0").rstrip(".") + sign
    return f"{amount:,}"


def in_unit(amount: int, unit: str) -> str:
    """Return *amount* of a *unit* for a person.

    >>> in_unit(1_250_000, "usd"), in_unit(1_250_000, "tokens"), in_unit(90, "percent")
    ('$1.25', '1.25M tokens', '90%')
    """
    if unit == USD:
        return dollars(amount)
    if unit == PERCENT:
        return f"{amount}%"
    return f"{tokens(amount)} tokens"


def out_of(spent: int, amount: int, unit: str) -> str:
    """Return how much of a limit is spent.

    >>> out_of(4_100_000, 5_000_000, "usd"), out_of(1_900_000, 2_000_000, "tokens")
    ('$4.10 of $5.00', '1.9M of 2M tokens')
    """
    if unit == TOKENS:
        return f"{tokens(spent)} of {in_unit(amount, unit)}"
    return f"{in_unit(spent, unit)} of {as_written(amount, unit)}"


def as_written(amount: int, unit: str) -> str:
    """Return the *amount* of a limit as it was written, not rounded.

    >>> as_written(138_000, "usd"), as_written(5_000_000, "usd")
    ('$0.138', '$5.00')
    """
    if unit != USD or amount % CENT == 0:
        return in_unit(amount, unit)
    micro_dollars = int(amount)
    return f"${micro_dollars // DOLLAR:,}.{micro_dollars % DOLLAR:06}".rstrip("0")
