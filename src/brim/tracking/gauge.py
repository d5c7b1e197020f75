"""When is it too full? The bar, the thresholds, and the notices that say so once."""

from __future__ import annotations

from brim.tracking.notices import COMPACT_DUE, CONTEXT_WARNING, Notice

WARN = 0.70
COMPACT = 0.78

OVERHEAD = "overhead"
"""The reason of a ``ContextWarning`` that compacting does not help: what stays is over the threshold already."""

_EIGHTHS = " ▏▎▍▌▋▊▉"


def bar(share: float, width: int, *, marks: tuple[float, ...] = (), nice: bool = True) -> tuple[str, str]:
    """Return the filled and the empty part of a bar of *width* columns, with a line at each of *marks*.

    *nice* draws eighths of a column; without it the bar is plain ASCII.

    >>> "".join(bar(0.43, 20, marks=(0.7,), nice=False))
    '########------|-----'
    """
    filled, part = divmod(min(8 * width, max(0, round(share * 8 * width))), 8)
    full = "█" * filled + _EIGHTHS[part].strip() if nice else "#" * filled
    rest = ["░" if nice else "-"] * (width - len(full))
    for mark in marks:
        at = column(mark, width) - len(full)
        if 0 <= at < len(rest):
            rest[at] = "│" if nice else "|"
    return full, "".join(rest)


def percent(share: float) -> str:
    """Return *share* in whole per cent, half up as Claude Code rounds: the one rounding of a window's gauge.

    >>> percent(0.785), percent(0.002), percent(0.0), percent(1.5)
    ('79%', '<1%', '0%', '150%')
    """
    whole = int(100 * share + 0.5)
    return "<1%" if share > 0 and whole == 0 else f"{whole:,}%"


def column(share: float, width: int) -> int:
    """Return the column of a bar of *width* columns that *share* falls on."""
    return min(width - 1, max(0, round(share * width)))


class ContextNotice(Notice):
    """What a notice about a window tells."""

    used_tokens: int
    window: int
    """Tokens that the window holds."""
    utilization: float
    session: str = ""
    """The session that it was measured on: a request to compact is for that one only."""

    @property
    def _full(self) -> str:
        return f"{self.used_tokens:,} of {self.window:,} tokens, {percent(self.utilization)}"


class ContextWarning(ContextNotice):
    """The window is filling up; or, with the reason ``overhead``, compacting it doesn't help."""

    kind = CONTEXT_WARNING
    reason: str = ""
    """Empty, or ``overhead``: then ``used_tokens`` is what no compaction removes."""

    def __str__(self) -> str:
        if self.reason == OVERHEAD:
            return (
                f"Compacting does not help: what stays (system, tools, pinned text) takes {self._full}."
                " Remove tools or pinned text, or use a model with a larger window."
            )
        return f"The context window is filling up: {self._full}."


class CompactDue(ContextNotice):
    """The window should be compacted at the next turn boundary."""

    kind = COMPACT_DUE

    def __str__(self) -> str:
        return f"It is time to compact: {self._full}."
