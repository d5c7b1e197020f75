"""``Tier``: in how much detail a behavior goes in."""

from __future__ import annotations

from brim._light import IntEnum


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
