"""How usage looks: a table for people, one JSON object for scripts. docs/usage.md describes the object."""

from __future__ import annotations

from brim.cli.output import heading, listed, note, paint, say, table
from brim.tracking.usage.groups import Sum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from brim.cli.usage_reading import Reading
    from brim.tracking.usage.unattributed import Unattributed

SCHEMA = 1
"""Raised when a key of the JSON object changes its meaning or goes; a new key does not raise it."""


class Answer:
    """What ``brim usage`` found: sums by *by*, what the clients' totals have beyond them, and how it was read."""

    def __init__(
        self,
        by: str,
        sums: list[Sum],
        unpriced: Mapping[str, int],
        rest: list[Unattributed],
        reading: Reading,
        *,
        filters: Mapping[str, str | None],
        utc: bool,
    ) -> None:
        self.by, self.sums, self.unpriced, self.rest = by, sums, unpriced, rest
        self.reading, self.filters, self.utc = reading, filters, utc
        self.total = _total(sums)
        self.unattributed = _unattributed(rest)

    def as_dict(self) -> dict[str, Any]:
        """Return the answer as JSON can hold it."""
        reading = self.reading
        return {
            "schema": SCHEMA,
            "by": self.by,
            "utc": self.utc,
            **self.filters,
            "rows": [self._row(sum_) for sum_ in self.sums],
            "total": _fields(self.total),
            "unattributed": self.unattributed,
            "unpriced": dict(self.unpriced),
            "read": {
                "files": reading.files,
                "bytes": reading.bytes,
                "new_bytes": reading.bytes_read,
                "broken_lines": reading.broken,
                "failed": reading.failed,
                "index": reading.index,
            },
        }

    def _row(self, sum_: Sum) -> dict[str, Any]:
        fields = {self.by: sum_.name or None, **_fields(sum_)}
        if self.by == "session":
            fields |= {"project": sum_.project or None, "first": _iso(sum_.first), "last": _iso(sum_.last)}
        return fields


def say_answer(answer: Answer) -> None:
    """Print the table, and what should be known about it."""
    reading = answer.reading
    if not answer.sums and not answer.rest:
        asked = " ".join(f"--{name} {value}" for name, value in answer.filters.items() if value)
        where = f"matches {asked}" if asked else "there"
        where = where if reading.files else "yet: name a file or a folder, or run an agent first"
        note(f"no usage {where} ({reading.files:,} file{'' if reading.files == 1 else 's'} read)")
        return
    has_project = answer.by == "session"
    head = [answer.by, "requests", "input", "output", "cache write", "cache read", "cost"]
    rows = [_cells(sum_, sum_.name or _NAMELESS[answer.by]) for sum_ in answer.sums]
    if has_project:
        head.append("project")
        rows = [[*row, sum_.project or "unknown"] for row, sum_ in zip(rows, answer.sums, strict=True)]
    rows, more = _newest(rows) if answer.by == "day" else listed(rows)
    last = [_cells(answer.total, "total")]
    if answer.rest:
        last.append(_rest_cells(answer.unattributed))
    rows += [[*row, ""] for row in last] if has_project else last
    say(heading(table([head, *rows], right=frozenset(range(1, 7)))))
    if more:
        say(paint(more, "faint"))
    if answer.rest:
        say(paint("unattributed: in the client's own totals but in no line of a request, as compactions are", "faint"))
    for model, requests in answer.unpriced.items():
        many = f"{requests:,} request{'' if requests == 1 else 's'}"
        note(f"no price for {model or 'an unnamed model'} ({many}): 'models' in the configuration can give one")
    if reading.broken:
        note(f"{reading.broken:,} broken line{'' if reading.broken == 1 else 's'} left out")


_NAMELESS = {"day": "no date", "model": "unknown", "session": "unknown", "project": "unknown"}


def _newest(days: list[list[str]], most: int = 100) -> tuple[list[list[str]], str]:
    """Return the last of *days*, and a line that says how many come before them; empty if none does."""
    more = len(days) - most
    return days[-most:], f"and {more:,} earlier day{'' if more == 1 else 's'}: --json lists all" if more > 0 else ""


def dollars(cost: int) -> str:
    """Return *cost*, in micro-dollars, as a person reads it: cents, or more digits where it is less than one."""
    return f"${cost / 1e6:,.2f}" if cost >= 10_000 or cost == 0 else f"${cost / 1e6:.6f}".rstrip("0")


def _cells(sum_: Sum, name: str) -> list[str]:
    counts = (
        sum_.requests,
        sum_.input_tokens,
        sum_.output_tokens,
        sum_.cache_creation_tokens,
        sum_.cache_read_tokens,
    )
    return [name, *[f"{count:,}" for count in counts], _cost(sum_)]


def _cost(sum_: Sum) -> str:
    if not sum_.unpriced:
        return dollars(sum_.cost)
    return "unknown" if sum_.unpriced == sum_.requests else f"> {dollars(sum_.cost)}"


def _rest_cells(rest: Mapping[str, Any]) -> list[str]:
    counts = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    cost = "unknown" if rest["cost"] is None else f"{'> ' if rest['unpriced_sessions'] else ''}{dollars(rest['cost'])}"
    return ["unattributed", "", *[f"{rest[count]:,}" for count in counts], cost]


def _fields(sum_: Sum) -> dict[str, Any]:
    return {
        "requests": sum_.requests,
        "input_tokens": sum_.input_tokens,
        "output_tokens": sum_.output_tokens,
        "cache_creation_input_tokens": sum_.cache_creation_tokens,
        "cache_read_input_tokens": sum_.cache_read_tokens,
        "total_tokens": sum_.tokens,
        "cost": None if sum_.requests and sum_.unpriced == sum_.requests else sum_.cost,
        "unpriced_requests": sum_.unpriced,
        "models": sorted(model for model in sum_.models if model),
        "agents": sorted(sum_.agents),
    }


def _total(sums: list[Sum]) -> Sum:
    total = Sum()
    for sum_ in sums:
        for name in ("requests", "unpriced", "cost", "input_tokens", "output_tokens"):
            setattr(total, name, getattr(total, name) + getattr(sum_, name))
        total.cache_creation_tokens += sum_.cache_creation_tokens
        total.cache_read_tokens += sum_.cache_read_tokens
        total.models |= sum_.models
        total.agents |= sum_.agents
    return total


def _unattributed(rest: list[Unattributed]) -> dict[str, Any]:
    input, output, read, written, written_1h = [sum(each.tokens[at] for each in rest) for at in range(5)]
    costs = [each.cost for each in rest if each.cost is not None]
    return {
        "sessions": len(rest),
        "input_tokens": input,
        "output_tokens": output,
        "cache_creation_input_tokens": written + written_1h,
        "cache_read_input_tokens": read,
        "cost": sum(costs) if costs or not rest else None,
        "unpriced_sessions": len(rest) - len(costs),
    }


def _iso(time: float | None) -> str | None:
    from time import gmtime, strftime

    if time is None:
        return None
    try:
        return strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(time))
    except (OverflowError, ValueError, OSError):
        return None
