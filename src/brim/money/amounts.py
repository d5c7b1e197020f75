"""Money in whole micro-dollars: how amounts are read, checked and said.

There is one rounding for everybody who shows money. Dollars have two decimals. What is above
nothing and below a cent is ``<$0.01``, never ``$0.00``.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, InvalidOperation

from brim.errors import InputError
from brim.figures import DOLLAR

USD = "usd"
TOKENS = "tokens"
PERCENT = "percent"
UNITS = (USD, TOKENS, PERCENT)
CENT = DOLLAR // 100
MOST = 10**15
"""The largest amount: a billion dollars. Sums of many of them still fit into what SQLite can
store."""


def micro_dollars(amount: str | float | Decimal, *, up: bool = True) -> int:
    """Return the micro-dollars that *amount*, a text or a number of dollars, means: ``0.25``,
    ``$0.25``, ``1,000``, ``2e-3``.

    A comma stands between thousands only: ``0,25`` is an error, because it would be 25 dollars.

    More than six decimal places are rounded *up*, so that nothing counts as less than it is; a
    limit is rounded down.

    >>> micro_dollars("$0.25"), micro_dollars("0.0000001"), micro_dollars("0.0000001", up=False)
    (250000, 1, 0)
    """
    text = amount
    if isinstance(amount, (int, float, Decimal)) and not isinstance(amount, bool):
        text = str(amount)  # the shortest decimal: 0.1 is a tenth
    if not isinstance(text, str):
        raise InputError(
            "an amount in US dollars must be a number or a text such as $0.25,"
            f" not {repr(text)[:40]}"
        )
    plain = text.strip().removeprefix("$").replace("_", "")
    try:
        return _exact_micro_dollars(plain, up)
    except InvalidOperation:
        raise InputError(
            f"{text[:40]!r} isn't an amount in US dollars: use 0.25 or $0.25, at most 1e9"
        ) from None


def _exact_micro_dollars(plain: str, up: bool) -> int:
    """Return the micro-dollars of *plain*; ``InvalidOperation`` if it isn't an amount."""
    whole, _, decimals = plain.partition(".")
    if "," in decimals or not _has_thousands(whole):
        raise InvalidOperation
    amount = Decimal(plain.replace(",", ""))
    if not amount.is_finite() or amount < 0 or amount > MOST // DOLLAR:
        raise InvalidOperation
    rounding = ROUND_CEILING if up else ROUND_FLOOR
    context = Context(prec=len(plain) + 20, rounding=rounding)
    return int(context.to_integral_value(context.multiply(amount, Decimal(DOLLAR))))


def _has_thousands(whole: str) -> bool:
    """Whether the commas in *whole*, if there are any, stand between thousands."""
    first, *groups = whole.split(",")
    if not groups:
        return True
    return 0 < len(first) < 4 and all(len(group) == 3 for group in groups)


def limit_in(dollars: float | None) -> int | None:
    """Return a limit of the settings in micro-dollars, rounded down; None means no limit."""
    if dollars is None:
        return None
    return micro_dollars(dollars, up=False)


def checked_amount(amount: object, name: str = "the amount", unit: str = "micro-dollars") -> int:
    """Return *amount* if it can be stored, else raise an ``InputError`` that *name* begins."""
    if type(amount) is not int or not 0 <= amount <= MOST:
        raise InputError(
            f"{name} must be a whole number of {unit} from 0 to {MOST:,}, not {repr(amount)[:40]}"
        )
    return amount


def dollars(amount: int) -> str:
    """Return *amount*, in micro-dollars, as dollars with two decimals.

    >>> dollars(5_020_000), dollars(10_019), dollars(4_999), dollars(0), dollars(1_234_567_804_999)
    ('$5.02', '$0.01', '<$0.01', '$0.00', '$1,234,567.80')
    """
    cents = (amount + CENT // 2) // CENT
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
    return f"${amount // DOLLAR:,}.{amount % DOLLAR:06}".rstrip("0")
