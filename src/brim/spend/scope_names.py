"""Who spends: ``project/job/agent``. A child's spend counts against every scope above it."""

from __future__ import annotations

from brim.errors import InputError

DEEPEST = 8
"""So many segments a scope may have."""

LONGEST = 80
"""So many characters a segment may have."""

_SIGNS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")


def lineage(scope: str) -> list[str]:
    """Return the scopes that a spend in *scope* counts against: the outermost first, itself last.

    >>> lineage("shop/job-7/agent-2")
    ['shop', 'shop/job-7', 'shop/job-7/agent-2']
    """
    segments = scope.split("/") if isinstance(scope, str) else []
    if not 0 < len(segments) <= DEEPEST or not all(_is_name(segment) for segment in segments):
        raise InputError(
            f"{repr(scope)[:60]} is no scope: write names of at most {LONGEST} letters, digits, '.', '_' or '-' "
            f"with '/' between them, at most {DEEPEST} deep, as in shop/job-7/agent-2"
        )
    return ["/".join(segments[: depth + 1]) for depth in range(len(segments))]


def _is_name(segment: str) -> bool:
    return 0 < len(segment) <= LONGEST and _SIGNS.issuperset(segment) and segment.strip(".") != ""
