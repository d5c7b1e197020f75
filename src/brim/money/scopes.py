"""The names of a ledger's scopes: paths such as ``project/job/agent``.

A request may belong to several, with ``+`` between them: ``acme/ann+acme/shop`` counts against
``acme``, ``acme/ann`` and ``acme/shop``, once each.
"""

from __future__ import annotations

import os

from brim.errors import InputError

DEEPEST = 8
"""The number of segments that a scope may have."""
LONGEST = 80
"""The number of characters that a segment may have."""
MOST_PATHS = 4
"""The number of scopes that one request may belong to."""
AND = "+"
"""The sign between them."""
SIGNS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
EVERYWHERE = "*"
"""The scope of everything in a ledger; no other scope can have this name."""
MAIN = "main"
"""The name of a session's main thread: not a sub-agent."""
NO_PROJECT = "no-project"
"""The scope of money that is spent outside of projects."""


def lineage(scope: str) -> list[str]:
    """Return the scopes that a spend in *scope* counts against, by name: the outer ones first.

    >>> lineage("shop/job-7/agent-2")
    ['shop', 'shop/job-7', 'shop/job-7/agent-2']
    >>> lineage("acme/shop+acme/ann")
    ['acme', 'acme/ann', 'acme/shop']
    """
    scopes: set[str] = set()
    for path in paths(scope):
        scopes.update(_prefixes(path))
    return sorted(scopes)


def paths(scope: str) -> list[str]:
    """Return the paths in *scope*, in its order; raise an ``InputError`` if they are too many."""
    names = scope.split(AND) if isinstance(scope, str) else []
    if len(names) > MOST_PATHS:
        raise InputError(f"{scope[:60]!r}: a request belongs to at most {MOST_PATHS} scopes")
    return names or [scope]


def one_scope(scope: str) -> str:
    """Return *scope* if it is a single one, else raise an ``InputError``."""
    return _prefixes(scope)[-1]


def _prefixes(scope: str) -> list[str]:
    """Return the single path *scope* and those above it."""
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
    return one_scope(scope)


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
