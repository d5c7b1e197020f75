"""The vocabulary of an injected text: tiers of detail, and the lines around the rules.

One line above them says whose rules these are. A last line counts what didn't fit.
"""

from __future__ import annotations

from enum import IntEnum


class Tier(IntEnum):
    """How much of a behavior is told; more detail is greater."""

    OMITTED = 0
    NAME_ONLY = 1
    SUMMARY = 2
    FULL = 3

    def __str__(self) -> str:
        return self.name.lower().replace("_", "-")


FIDELITY = {Tier.FULL: 1.0, Tier.SUMMARY: 0.6, Tier.NAME_ONLY: 0.2, Tier.OMITTED: 0.0}
"""How much of its value a behavior keeps at each tier."""


INTRODUCTION = "Rules your user set, kept by brim:\n"
"""The line above the rules that the user set or agreed to."""


FRAME_TOKENS = {"o200k_base": (9, 9, 8), "cl100k_base": (10, 11, 10)}
"""What that line takes, the line below the rules if one didn't fit, and if several didn't, without
their number."""


def frame_tokens(uncounted: int, encoding: str) -> int:
    """Return what the line above the rules takes, and the one below that counts the others."""
    introduction, one_more, several_more = FRAME_TOKENS[encoding]
    if not uncounted:
        return introduction
    if uncounted == 1:
        return introduction + one_more
    # A vocabulary takes numbers apart into three digits at a time.
    return introduction + several_more - (-len(str(uncounted)) // 3)


def left_out(count: int) -> str:
    """Return the line below all sections, which counts the rules that didn't fit; nothing if all
    did."""
    if not count:
        return ""
    rules = "rule" if count == 1 else "rules"
    return f"{count} more {rules} didn't fit: brim rules\n"
