"""Commands that are one thing in different words: the latest is the one to remember."""

from __future__ import annotations

import re

from brim.memory.comparison import longest_part

_NUMBER = re.compile(r"\d+")
_VALUE = re.compile(r"[-=/.\"'$]|\d")
"""What a word has that is a flag, a path, a number or a quoted value, and no name of a step."""


def without_numbers(command: str) -> str:
    """Return what commands have in common that differ in numbers only.

    >>> without_numbers("pytest --count 30") == without_numbers("pytest  --count 60")
    True
    """
    return _NUMBER.sub("0", " ".join(command.split()))


def replaces(later: str, earlier: str) -> bool:
    """Whether *later* does what the *earlier* command was to do.

    It has that inside, or is inside it, or it calls the same program for the same steps with other
    flags.

    >>> replaces("stack --resolver lts-21 test", "stack test")
    True
    >>> replaces("npm run test", "npm run lint")
    False
    """
    if f" {later} " in f" {earlier} " or f" {earlier} " in f" {later} ":
        return True
    later_words = longest_part(later).split()
    earlier_words = longest_part(earlier).split()
    if not later_words or not earlier_words or later_words[0] != earlier_words[0]:
        return False
    steps = {word for word in earlier_words[1:] if not _VALUE.search(word)}
    return bool(steps) and steps <= set(later_words)
