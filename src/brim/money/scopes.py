"""The names of a ledger's scopes: paths such as ``project/job/agent``."""

from __future__ import annotations

import os

from brim.errors import InputError

DEEPEST = 8
"""The number of segments that a scope may have."""
LONGEST = 80
"""The number of characters that a segment may have."""
SIGNS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
EVERYWHERE = "*"
"""The scope of everything in a ledger; no other scope can have this name."""
MAIN = "main"
"""The name of a session's main thread: not a sub-agent."""
NO_PROJECT = "no-project"
"""The scope of money that is spent outside of projects."""


def lineage(scope: str) -> list[str]:
    """Return the scopes that a spend in *scope* counts against, the outermost first.

    >>> lineage("shop/job-7/agent-2")
    ['shop', 'shop/job-7', 'shop/job-7/agent-2']
    """
    segments = scope.split("/") if isinstance(scope, str) else []
    if not 0 < len(segments) <= DEEPEST or not all(map(_is_segment, segments)):
        raise InputError(
            f"{repr(scope)[:60]} isn't a scope: use names of at most {LONGEST} letters, digits,"
            f" '.', '_' or '-' with '/' between them, at most {DEEPEST} deep, as in"
            " shop/job-7/agent-2"
        )
    return ["/".join(segments[:depth]) for depth in range(1, len(segments) + 1)]


def _is_segment(name: str) -> bool:
    return 0 < len(name) <= LONGEST and SIGNS.issuperset(name) and bool(name.strip("."))


def checked_scope(scope: str) -> str:
    """Return *scope* if it's ``*`` or a scope, else raise an ``InputError``."""
    if scope == EVERYWHERE:
        return scope
    return lineage(scope)[-1]


def segment(text: str) -> str:
    """Return *text* as a segment of a scope, with ``-`` for characters that aren't allowed."""
    letters = [sign if sign in SIGNS else "-" for sign in text[:LONGEST]]
    name = "".join(letters)
    if name.strip("."):
        return name
    return f"-{name}"[:LONGEST]


def name_of(place: str) -> str:
    """Return the scope of the project in the folder *place*."""
    return segment(os.path.basename(place) or NO_PROJECT)
