"""Patterns for paths, matched without regular expressions: a hook would have to compile each of them anew.

``*`` is any characters but ``/``, ``?`` is one, ``[abc]``, ``[a-z]`` and ``[!a]`` are one of a set, and ``**`` as a
whole part crosses ``/``: any number of folders, none too. A pattern without a leading ``/`` matches the tail of a path.
``{a,b}`` is either: ``alternatives`` writes such a pattern out.
"""

from __future__ import annotations


def matches(path: str, pattern: str) -> bool:
    """Whether *path* is one that *pattern* means.

    >>> matches("/home/me/shop/src/app.py", "src/*.py"), matches("src/a/b.py", "src/*.py")
    (True, False)
    >>> matches("src/a/b.py", "src/**/*.py"), matches("app.py", "**/*.py"), matches("docs/x", "docs/**")
    (True, True, True)
    """
    path, pattern = path.replace("\\", "/"), pattern.replace("\\", "/")
    steps = [step for step in path.split("/") if step not in ("", ".")]
    if pattern.startswith("/"):
        return path.startswith("/") and _parts(steps, pattern[1:].split("/"))
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    return _parts(steps, ["**", *parts]) if parts else False


MOST_ALTERNATIVES = 64
"""How many patterns one with braces may stand for. More is taken as it is written."""


def alternatives(pattern: str) -> list[str]:
    """Return the patterns that one with braces stands for.

    >>> alternatives("src/*.{ts,tsx}"), alternatives("{a,b{c,d}}"), alternatives("a{b"), alternatives("{x}")
    (['src/*.ts', 'src/*.tsx'], ['a', 'bc', 'bd'], ['a{b'], ['{x}'])
    """
    waiting = [pattern]
    found: list[str] = []
    while waiting:
        if len(waiting) + len(found) > MOST_ALTERNATIVES:
            return [pattern]
        first = waiting.pop(0)
        parts = _innermost(first)
        if parts is None:
            found.append(first)
        else:
            before, choices, after = parts
            waiting[:0] = [before + choice + after for choice in choices]
    return list(dict.fromkeys(found))


def _innermost(pattern: str) -> tuple[str, list[str], str] | None:
    """Return what stands before, in and after the first braces with a choice and no braces in them; None without."""
    end = pattern.find("}")
    while end >= 0:
        start = pattern.rfind("{", 0, end)
        if start >= 0 and "," in pattern[start:end]:
            return pattern[:start], pattern[start + 1 : end].split(","), pattern[end + 1 :]
        end = pattern.find("}", end + 1)
    return None


def _parts(steps: list[str], parts: list[str]) -> bool:
    """Whether *parts* match all of *steps*: the usual two pointers, going back to the last ``**``."""
    at = step = 0
    back = -1
    retry = 0
    while step < len(steps):
        if at < len(parts) and parts[at] == "**":
            back, retry = at, step
            at += 1
        elif at < len(parts) and _part(steps[step], parts[at]):
            at, step = at + 1, step + 1
        elif back >= 0:
            retry += 1
            at, step = back + 1, retry
        else:
            return False
    while at < len(parts) and parts[at] == "**":
        at += 1
    return at == len(parts)


def _part(text: str, pattern: str) -> bool:
    """Whether *pattern* matches all of *text*, which has no ``/``."""
    if pattern == "*":
        return True
    here = at = retry = 0
    back = -1
    while here < len(text):
        length, fits = _one(text[here], pattern, at)
        if at < len(pattern) and pattern[at] == "*":
            back, retry = at, here
            at += 1
        elif fits:
            at, here = at + length, here + 1
        elif back >= 0:
            retry += 1
            at, here = back + 1, retry
        else:
            return False
    while at < len(pattern) and pattern[at] == "*":
        at += 1
    return at == len(pattern)


def _one(character: str, pattern: str, at: int) -> tuple[int, bool]:
    """Return how long the part of *pattern* at *at* is that stands for one character, and whether it is this one."""
    if at >= len(pattern):
        return 0, False
    if pattern[at] == "?":
        return 1, True
    end = pattern.find("]", at + 2) if pattern[at] == "[" else -1
    if end < 0:
        return 1, pattern[at] == character
    inside = pattern[at + 1 : end]
    negated = inside[:1] in ("!", "^")
    return end + 1 - at, _in_set(character, inside[1:] if negated else inside) is not negated


def _in_set(character: str, inside: str) -> bool:
    at = 0
    while at < len(inside):
        if inside[at + 1 : at + 2] == "-" and at + 2 < len(inside):
            if inside[at] <= character <= inside[at + 2]:
                return True
            at += 3
        else:
            if inside[at] == character:
                return True
            at += 1
    return False
