"""The words for what a behavior is, where it stands in its life, and how two of them are related."""

from __future__ import annotations

from brim._light import StrEnum


class BehaviorKind(StrEnum):
    """What sort of thing was learned. Constraints are protected: they are never cut below a summary."""

    CONSTRAINT = "constraint"
    """Never do this, or only so."""
    DIRECTIVE = "directive"
    """Do this."""
    PROCEDURE = "procedure"
    """Do this in these steps."""
    PREFERENCE = "preference"
    """Rather this than that."""
    WORKFLOW = "workflow"
    """What follows on what, and what to do when it fails."""
    EPISODIC = "episodic"
    """What happened once, and how it ended."""


class Status(StrEnum):
    """Where a behavior stands. Only active and pending ones are ever injected or spread to."""

    ACTIVE = "active"
    PENDING = "pending"
    """An agent's own note: at most a summary, under *Unconfirmed notes*, until a person accepts it."""
    SUPERSEDED = "superseded"
    """Another behavior took its place."""
    FORGOTTEN = "forgotten"
    """Put away by a person; it can come back."""


class EdgeKind(StrEnum):
    """How one behavior is related to another."""

    REQUIRES = "requires"
    OVERRIDES = "overrides"
    """The source weakens the target."""
    CONFLICTS = "conflicts"
    """Each weakens the other."""
    SIMILAR_TO = "similar-to"
    LEARNED_FROM = "learned-from"
    CO_ACTIVATED = "co-activated"
    """They came up together, again and again."""


LIVE = frozenset({Status.ACTIVE, Status.PENDING})
"""The states in which a behavior takes part in anything."""

POSITIVE = frozenset({EdgeKind.REQUIRES, EdgeKind.SIMILAR_TO, EdgeKind.LEARNED_FROM, EdgeKind.CO_ACTIVATED})
"""Edges that carry activation, both ways. The others take it away."""
