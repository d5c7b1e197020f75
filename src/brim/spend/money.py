"""Money in whole micro-dollars, and what requests cost.

Prices are those of the day of the request.
"""

from __future__ import annotations

from datetime import date
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, InvalidOperation

from brim.errors import InputError
from brim.figures import DOLLAR
from brim.models.usage import Tokens

USD = "usd"
TOKENS = "tokens"
PERCENT = "percent"
UNITS = (USD, TOKENS, PERCENT)

MOST = 10**15
"""The largest amount: a billion dollars. Sums of many of them still fit into what SQLite can
store."""


def micro_dollars(text: str | float | Decimal, *, up: bool = True) -> int:
    """Return the micro-dollars that *text*, or a number of dollars, means: ``0.25``, ``$0.25``,
    ``1,000``, ``2e-3``.

    A comma stands between thousands only: ``0,25`` is an error, because it would be 25 dollars.

    More than six decimal places are rounded *up*, so that nothing counts as less than it is; a
    limit is rounded down.

    >>> micro_dollars("$0.25"), micro_dollars("0.0000001"), micro_dollars("0.0000001", up=False)
    (250000, 1, 0)
    """

    if isinstance(text, (int, float, Decimal)) and not isinstance(text, bool):
        text = str(text)  # the shortest decimal: 0.1 is a tenth
    if not isinstance(text, str):
        raise InputError(
            f"an amount in US dollars must be a number or a text such as $0.25, not {repr(text)[:40]}"
        )
    plain = text.strip().removeprefix("$").replace("_", "")
    first, *groups = plain.partition(".")[0].split(",")
    try:
        if "," in plain.partition(".")[2] or (
            groups and (not 0 < len(first) < 4 or any(len(g) != 3 for g in groups))
        ):
            raise InvalidOperation
        amount = Decimal(plain.replace(",", ""))
        if not amount.is_finite() or amount < 0 or amount > MOST // DOLLAR:
            raise InvalidOperation
        exact = Context(prec=len(plain) + 20, rounding=ROUND_CEILING if up else ROUND_FLOOR)
        return int(exact.to_integral_value(exact.multiply(amount, Decimal(DOLLAR))))
    except InvalidOperation:
        raise InputError(
            f"{text[:40]!r} isn't an amount in US dollars: use 0.25 or $0.25, at most 1e9"
        ) from None


def limit_in(dollars: float | None) -> int | None:
    """Return a limit of the settings in micro-dollars, rounded down; None means no limit."""
    return None if dollars is None else micro_dollars(dollars, up=False)


def in_dollars(amount: int) -> str:
    """Return *amount*, in micro-dollars, for a person.

    Ten cents and more are rounded to the cent, less is shown exactly.

    >>> in_dollars(1_250_000), in_dollars(1_234_567_804_999), in_dollars(1_005), in_dollars(-20_000)
    ('$1.25', '$1,234,567.80', '$0.001005', '-$0.02')
    """
    cent = DOLLAR // 100
    shown = abs(amount) if abs(amount) < 10 * cent else (abs(amount) + cent // 2) // cent * cent
    whole, rest = divmod(shown, DOLLAR)
    places = f"{rest:06}".rstrip("0").ljust(2, "0")
    return f"{'-' if amount < 0 else ''}${whole:,}.{places}"


def checked_amount(amount: object, what: str = "the amount", unit: str = "micro-dollars") -> int:
    """Return *amount* if it is one that can be kept, else raise an ``InputError`` that says *what*
    is not."""
    if type(amount) is not int or not 0 <= amount <= MOST:
        raise InputError(
            f"{what} must be a whole number of {unit} from 0 to {MOST:,}, not {repr(amount)[:40]}"
        )
    return amount


def estimate_cost(
    model: str,
    *,
    input_tokens: int = 0,
    output_tokens: int = 0,
    cache_read_tokens: int = 0,
    cache_write_tokens: int = 0,
    on: date | None = None,
) -> int:
    """Return the micro-dollars to reserve for a request.

    Raises ``UnknownPrice`` if no price is known.

    A ``Count`` is taken at its ``high`` end: a reservation has to be large enough. *output_tokens*
    is the most that may come back.

    >>> estimate_cost("claude-sonnet-4-5", input_tokens=10_000, output_tokens=2_000)
    60000
    """
    from brim.models.catalog import cost, unknown_price

    given = (input_tokens, output_tokens, cache_read_tokens, cache_write_tokens)
    counts = [getattr(each, "high", each) for each in given]
    if not all(isinstance(each, int) and each >= 0 for each in counts):
        raise InputError("tokens must be whole numbers, 0 or more")
    tokens = Tokens(
        input=counts[0], output=counts[1], cache_read=counts[2], cache_write_5m=counts[3]
    )
    found = cost(tokens, model, on=on)
    if found is None:
        raise unknown_price(model)
    return found


def out_of(spent: int, limit: int | None, unit: str) -> str:
    """Return how much of a limit is spent, for a person.

    >>> out_of(4_100_000, 5_000_000, "usd"), out_of(1_900_000, 2_000_000, "tokens"), out_of(5, None, "tokens")
    ('$4.10 of $5.00', '1.9M of 2M tokens', '5 tokens')
    """
    said = in_unit(spent, unit)
    return said if limit is None else f"{said.removesuffix(' tokens')} of {in_unit(limit, unit)}"


def in_unit(amount: int, unit: str) -> str:
    """Return *amount* for a person.

    >>> in_unit(1_250_000, "usd"), in_unit(1_250_000, "tokens"), in_unit(90, "percent")
    ('$1.25', '1.25M tokens', '90%')
    """
    if unit == USD:
        return in_dollars(amount)
    if unit == PERCENT:
        return f"{amount}%"
    for sign, factor in (("M", 10**6), ("k", 10**3)):
        if amount >= factor:
            return f"{amount / factor:,.2f}".rstrip("0").rstrip(".") + f"{sign} tokens"
    return f"{amount:,} tokens"
