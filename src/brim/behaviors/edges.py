"""``Edge``: how one behavior is related to another, and what can be wrong with a set of them."""

from __future__ import annotations

import math

from brim._frozen import Frozen
from brim.behaviors.kinds import EdgeKind
from brim.errors import InputError


class Edge(Frozen):
    """*source* stands to *target* in the relation *kind*. Times are seconds since 1970."""

    __slots__ = ("source", "target", "kind", "weight", "created_at", "last_activated")

    source: str
    target: str
    kind: EdgeKind
    weight: float
    """How strongly, from just above 0 to 1."""
    created_at: float | None
    last_activated: float | None
    """When energy last flowed over it; None if it never did, and then it does not fade."""

    def __init__(
        self,
        source: str,
        target: str,
        kind: EdgeKind | str,
        weight: float = 1.0,
        *,
        created_at: float | None = None,
        last_activated: float | None = None,
    ) -> None:
        try:
            kind = EdgeKind(kind)
        except ValueError:
            raise InputError(f"unknown edge kind {kind!r}: it is one of {', '.join(map(str, EdgeKind))}") from None
        if not (isinstance(weight, (int, float)) and math.isfinite(weight) and 0 < weight <= 1):
            raise InputError(f"the weight of an edge is above 0 and at most 1, not {weight!r}")
        if source == target:
            raise InputError(f"an edge leads from one behavior to another, not from {source!r} to itself")
        self._fill(
            source=source,
            target=target,
            kind=kind,
            weight=float(weight),
            created_at=created_at,
            last_activated=last_activated,
        )

    def __str__(self) -> str:
        return f"{self.source} {self.kind} {self.target} ({self.weight:g})"
