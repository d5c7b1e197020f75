"""How the parts of a request add up to what was billed.

Three kinds of parts: what is recorded exactly (reasoning that the client reports, pictures by a
published rule); texts, whose count is scaled to what remains of the bill; and what the client
doesn't record. Together they are the billed number, always. If the texts would have to be scaled by
more than a quarter, something was in the request that no part shows: then the estimate failed, and
brim says so instead of naming parts.
"""

from __future__ import annotations

from dataclasses import dataclass

from brim.record import PlainData

MOST_OFF = 0.25
"""The share by which texts may be scaled; beyond it the estimate failed."""


@dataclass(frozen=True, slots=True)
class Balance(PlainData):
    """How one request's bill is shared out."""

    exact: int
    """Tokens that are recorded exactly."""
    texts: int
    """Tokens of all texts together."""
    not_recorded: int
    """Tokens of what the client doesn't record."""
    unexplained: int
    """Tokens of a bill whose estimate failed."""
    scale: float
    """What the count of each text is multiplied by."""

    @property
    def failed(self) -> bool:
        """Whether the estimate failed: no parts are named."""
        return self.unexplained > 0


def balance(billed: int, *, exact: int, texts: float, has_unrecorded: bool) -> Balance:
    """Share out *billed* tokens: *exact* ones, and *texts* as they were estimated.

    *has_unrecorded* is whether the request had parts that no line records.
    """
    if billed <= 0:
        return Balance(exact, int(texts), 0, 0, 1.0)
    remaining = billed - exact
    if remaining < 0:
        return Balance(0, 0, 0, billed, 1.0)
    if has_unrecorded and texts <= remaining:
        return Balance(exact, int(texts), remaining - int(texts), 0, 1.0)
    if texts <= 0:
        return Balance(exact, 0, remaining, 0, 1.0)
    scale = remaining / texts
    if abs(scale - 1) > MOST_OFF:
        return Balance(0, 0, 0, billed, scale)
    return Balance(exact, remaining, 0, 0, scale)
