"""Times as files hold them: ISO 8601 in UTC, to the last digit, so that what is read is what was written."""

from __future__ import annotations

_DIGITS = 400
"""Enough for every number that a float can be, so that nothing is rounded on the way."""


def iso(seconds: float) -> str:
    """Return *seconds* since 1970 as a date and time in UTC.

    >>> iso(1700000000.25), iso(0)
    ('2023-11-14T22:13:20.25Z', '1970-01-01T00:00:00Z')
    """
    from datetime import UTC, datetime, timedelta
    from decimal import Context, Decimal

    exact = Decimal(repr(float(seconds)))
    whole = exact.to_integral_value("ROUND_FLOOR")
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=int(whole))
    fraction = format(Context(_DIGITS).subtract(exact, whole), "f").partition(".")[2].rstrip("0")
    return f"{moment:%Y-%m-%dT%H:%M:%S}".rjust(19, "0") + (f".{fraction}Z" if fraction else "Z")


def seconds_of(text: str) -> float:
    """Return the seconds since 1970 that *text* means, with any offset and any number of digits; else ``ValueError``.

    A time without an offset is UTC: a file must not mean something else on another machine.

    >>> seconds_of("2023-11-14T22:13:20.25Z"), seconds_of("2023-11-14 23:13:20+01:00")
    (1700000000.25, 1700000000.0)
    """
    from datetime import UTC, datetime, timedelta
    from decimal import Context, Decimal

    clock, point, rest = text.strip().partition(".")
    digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
    moment = datetime.fromisoformat(clock + rest[len(digits) :])
    if point and not (digits and digits.isascii()):
        raise ValueError(f"no time: {text!r}")
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    whole = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1)
    return float(Context(_DIGITS).add(Decimal(whole), Decimal(f"0.{digits or 0}")))
