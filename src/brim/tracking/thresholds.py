"""When is it too full? Two flags that stay set until somebody clears them, and the notices that say so once."""

from __future__ import annotations

from brim._frozen import Frozen
from brim.tracking.notices import COMPACT_DUE, CONTEXT_WARNING, Notice

WARN = 0.70
COMPACT = 0.78

OVERHEAD = "overhead"
"""The reason of a ``ContextWarning`` that compacting does not help: what stays is over the threshold already."""


class _Fullness(Notice):
    """What a notice about a window tells."""

    used_tokens: int
    window: int
    """Tokens that the window holds."""
    utilization: float
    session: str = ""
    """The session that it was measured on: a request to compact is for that one only."""


class ContextWarning(_Fullness):
    """The window is filling up; or, with the reason ``overhead``, compacting it does not help."""

    kind = CONTEXT_WARNING
    reason: str = ""
    """Empty, or ``overhead``: then ``used_tokens`` is what no compaction removes."""

    def __str__(self) -> str:
        if self.reason == OVERHEAD:
            return (
                f"Compacting does not help: what stays (system, tools, pinned text) takes {_full(self)}."
                " Remove tools or pinned text, or use a model with a larger window."
            )
        return f"The context window is filling up: {_full(self)}."


class CompactDue(_Fullness):
    """The window should be compacted at the next turn boundary."""

    kind = COMPACT_DUE

    def __str__(self) -> str:
        return f"It is time to compact: {_full(self)}."


def _full(notice: _Fullness) -> str:
    return f"{notice.used_tokens:,} of {notice.window:,} tokens, {100 * notice.utilization:.0f} %"


class Crossing(Frozen):
    """Which of the two flags were set just now."""

    __slots__ = ("compact", "warn")

    warn: bool
    compact: bool

    def __init__(self, *, warn: bool, compact: bool) -> None:
        self._fill(warn=warn, compact=compact)


class Latches:
    """The two flags. Each is set by a report at or over its threshold and stays set until it is cleared.

    Once cleared, it takes a newer report to set it again: the same one has been dealt with.
    """

    def __init__(self, warn: float = WARN, compact: float = COMPACT) -> None:
        self.warn, self.compact = warn, compact
        self.should_warn = self.should_compact = False
        self._warned_until = self._compacted_until = 0

    def judge(self, utilization: float, report: int, *, asked: bool = False, compacting: bool = True) -> Crossing:
        """Set what the *report* (its number, from 1 on) asks for.

        Nothing is set while the agent is *asked* to compact already. Without *compacting* that is not asked for.
        """
        over = utilization >= self.compact and not asked
        compact = over and compacting and not self.should_compact and report > self._compacted_until
        near = (utilization >= self.warn or over) and not asked and report > self._warned_until
        warn = not self.should_warn and (compact or near)
        self.should_compact |= compact
        self.should_warn |= warn
        return Crossing(warn=warn, compact=compact)

    def clear_warning(self, report: int) -> None:
        """Clear the warning; *report* is the number of the last report, which cannot set it again."""
        self.should_warn, self._warned_until = False, report

    def clear_compact(self, report: int) -> None:
        """Clear both: compacting answers the warning too."""
        self.should_compact, self._compacted_until = False, report
        self.clear_warning(report)
