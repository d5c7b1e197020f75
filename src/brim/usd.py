"""``Money``: an amount in US dollars, and how one is read.

Inside it is a whole number of micro-dollars, so that sums are exact. Where a caller says an amount,
it's dollars: a text, a Decimal or another ``Money``. A bare number there is refused, because nobody
could tell dollars from micro-dollars.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal, InvalidOperation
from typing import Any, Self, TypeAlias, overload

from brim.errors import InputError
from brim.figures import DOLLAR

MOST = 10**15
"""The largest amount: a billion dollars. Sums of many of them still fit into what SQLite can
store."""


Dollars: TypeAlias = "str | Decimal | Money"
"""What a caller may give where an amount of money is meant."""


class Money(int):
    """An amount in US dollars: an ``int`` of micro-dollars.

    ``Money(29_100)`` takes micro-dollars, ``Money.from_usd("0.0291")`` takes dollars. Compared and
    added, it's the number of micro-dollars; a sum, a difference and a multiple of money are money.
    Money divided by money is a plain number, and by a number it's still money: dollars are ``usd``.
    It's printed and formatted in dollars.

    >>> Money(29_100), Money.from_usd("5"), Money.from_usd("0.25") * 3
    (Money($0.0291), Money($5.00), Money($0.75))
    >>> f"{Money(29_100):.2f}", str(Money(29_100)), Money(29_100).usd
    ('0.03', '$0.0291', Decimal('0.0291'))
    >>> sum([Money(1_500_000), Money(250_000)]) / 2
    Money($0.875)
    """

    __slots__ = ()

    def __new__(cls, micro_dollars: int = 0) -> Self:
        """Make an amount of so many *micro_dollars*."""
        if isinstance(micro_dollars, bool) or not isinstance(micro_dollars, int):
            raise InputError(
                f"Money({micro_dollars!r:.40}): Money takes whole micro-dollars; for dollars, write"
                f" Money.from_usd({str(micro_dollars)!r:.40})"
            )
        return super().__new__(cls, micro_dollars)

    @classmethod
    def from_usd(cls, amount: Dollars, *, up: bool = True) -> Self:
        """Return the money that *amount* of dollars is: ``"5"``, ``"$0.25"``, ``Decimal("0.25")``.

        What is below a micro-dollar is rounded *up*, so that nothing counts as less than it is.
        """
        return cls(read_money(amount, "the amount", up=up))

    @property
    def usd(self) -> Decimal:
        """The amount in dollars, exactly."""
        return Decimal(int(self)) / DOLLAR

    # Arithmetic

    def __add__(self, other: int, /) -> Money:
        return Money(int(self) + _micro_dollars(other))

    def __radd__(self, other: int, /) -> Money:
        return Money(_micro_dollars(other) + int(self))

    def __sub__(self, other: int, /) -> Money:
        return Money(int(self) - _micro_dollars(other))

    def __rsub__(self, other: int, /) -> Money:
        return Money(_micro_dollars(other) - int(self))

    def __mul__(self, factor: float | Decimal, /) -> Money:
        return _rounded(Decimal(int(self)) * _factor(factor))

    def __rmul__(self, factor: float | Decimal, /) -> Money:  # type: ignore[misc]
        return self * factor

    @overload  # type: ignore[override]
    def __truediv__(self, other: Money, /) -> float: ...
    @overload
    def __truediv__(self, other: float | Decimal, /) -> Money: ...
    def __truediv__(self, other: float | Decimal, /) -> Money | float:
        if isinstance(other, Money):
            return int(self) / int(other)
        return _rounded(Decimal(int(self)) / _factor(other))

    @overload
    def __floordiv__(self, other: Money, /) -> int: ...  # type: ignore[overload-overlap]
    @overload
    def __floordiv__(self, other: int, /) -> Money: ...
    def __floordiv__(self, other: int, /) -> int:
        if isinstance(other, Money):
            return int(self) // int(other)
        return Money(int(self) // other)

    def __mod__(self, other: int, /) -> Money:
        return Money(int(self) % int(other))

    def __neg__(self) -> Money:
        return Money(-int(self))

    def __pos__(self) -> Money:
        return self

    def __abs__(self) -> Money:
        return Money(abs(int(self)))

    # Text

    def __str__(self) -> str:
        """Return all of it: ``$5.00``, ``$0.0291``."""
        whole, fraction = divmod(abs(int(self)), DOLLAR)
        decimals = f"{fraction:06}".rstrip("0").ljust(2, "0")
        sign = "-" * (self < 0)
        return f"{sign}${whole:,}.{decimals}"

    def __repr__(self) -> str:
        return f"Money({self})"

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        return format(self.usd, spec)

    @classmethod
    def __get_pydantic_core_schema__(cls, _: object, __: object) -> Any:
        """Let a pydantic model have money as a field: it's given as money, as dollars in a text, or
        in micro-dollars, as it's written to JSON."""
        function = {"type": "no-info", "function": cls._of_field}
        return {"type": "function-plain", "function": function}

    @classmethod
    def _of_field(cls, value: object) -> Money:
        if isinstance(value, int) and not isinstance(value, bool):
            return Money(value)
        return read_money(value, "the amount")


def read_money(amount: object, name: str, *, up: bool = True) -> Money:
    """Return the money that a caller gave as *name*: a text or a Decimal of dollars, or ``Money``.

    Anything else raises an ``InputError`` that says what to write.

    >>> read_money("0.25", "limit"), read_money(Money(5), "limit")
    (Money($0.25), Money($0.000005))
    """
    if isinstance(amount, Money):
        if not 0 <= amount <= MOST:
            raise InputError(f"{name} must be from $0 to $1 billion, not {amount}")
        return amount
    if isinstance(amount, str | Decimal):
        return Money(micro_dollars(amount, up=up))
    advice = "write '5' or Money.from_usd('5') for $5.00"
    if isinstance(amount, int | float) and not isinstance(amount, bool):
        dollars = f"{amount:,}".replace(",", "")
        advice = f"write '{dollars}' for ${dollars}"
        if isinstance(amount, int):
            advice += f", or Money({amount:_}) for {amount:,} micro-dollars"
    raise InputError(
        f"{name} must be dollars in a text, a Decimal or Money, not {amount!r:.40}: {advice}"
    )


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


def _micro_dollars(amount: object) -> int:
    """Return what is added to money; a fraction of a micro-dollar is a mistake."""
    if not isinstance(amount, int):
        raise TypeError(f"money and {amount!r:.40} can't be added: write Money.from_usd('5')")
    return int(amount)


def _factor(factor: object) -> Decimal:
    if isinstance(factor, Money):
        raise TypeError("money can't be multiplied by money")
    return Decimal(str(factor))


def _rounded(amount: Decimal) -> Money:
    return Money(int(amount.to_integral_value(ROUND_HALF_EVEN)))
