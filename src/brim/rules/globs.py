"""Patterns for paths and words: which files does ``src/**/*.py`` mean?

In a pattern ``*`` is any characters but ``/``, ``?`` is one, ``[abc]``, ``[a-z]`` and ``[!a]`` are
one of a set, and ``**`` as a whole part crosses ``/``: any number of folders, even none. A pattern
without a leading ``/`` matches the tail of a path. ``{a,b}`` is either: ``alternatives`` writes
such a pattern out.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import lru_cache

_WILD = frozenset("*?[")

MOST_ALTERNATIVES = 64
"""How many patterns one with braces may stand for. More is taken as it is written."""


def matches(path: str, pattern: str) -> bool:
    """Whether *path* is one that *pattern* means.

    >>> matches("/home/me/shop/src/app.py", "src/*.py"), matches("src/a/b.py", "src/*.py")
    (True, False)
    >>> matches("src/a/b.py", "src/**/*.py"), matches("app.py", "**/*.py")
    (True, True)
    """
    path = path.replace("\\", "/")
    pattern = pattern.replace("\\", "/")
    steps = [step for step in path.split("/") if step not in ("", ".")]
    if pattern.startswith("/"):
        return path.startswith("/") and _match_all(steps, pattern[1:].split("/"))
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    if parts:
        return _match_all(steps, ["**", *parts])
    return False


def alternatives(pattern: str) -> list[str]:
    """Return the patterns that one with braces stands for.

    >>> alternatives("src/*.{ts,tsx}"), alternatives("{a,b{c,d}}"), alternatives("a{b")
    (['src/*.ts', 'src/*.tsx'], ['a', 'bc', 'bd'], ['a{b'])
    """
    waiting = [pattern]
    plain: list[str] = []
    while waiting:
        if len(waiting) + len(plain) > MOST_ALTERNATIVES:
            return [pattern]
        first = waiting.pop(0)
        braces = re.search(r"\{([^{}]*,[^{}]*)\}", first)
        if braces is None:
            plain.append(first)
            continue
        before = first[: braces.start()]
        after = first[braces.end() :]
        waiting[:0] = [before + choice + after for choice in braces[1].split(",")]
    return list(dict.fromkeys(plain))


def _match_all(steps: list[str], parts: list[str]) -> bool:
    """Whether *parts* match all of *steps*."""
    # How many of the steps the parts so far can have matched.
    matched = [0]
    for part in parts:
        if part == "**":
            matched = list(range(matched[0], len(steps) + 1)) if matched else []
            continue
        matched = [
            number + 1 for number in matched if number < len(steps) and fits(steps[number], part)
        ]
    return len(steps) in matched


@lru_cache(4096)
def fits(word: str, pattern: str) -> bool:
    """Whether *pattern*, with ``*``, ``?`` and ``[...]``, matches all of *word*; ``/`` is a letter
    like others."""
    if pattern in ("*", word):
        return True
    if _WILD.isdisjoint(pattern):
        return False
    return fnmatchcase(word, pattern.replace("[^", "[!"))
