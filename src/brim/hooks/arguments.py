"""The words after a program: its operands, its options and their values, as most programs read
them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise


def operands(arguments: Sequence[str]) -> list[str]:
    """Return the words that are no options.

    >>> operands(["-r", "a", "-", "b"])
    ['a', '-', 'b']
    """
    return [word for word in arguments if not word.startswith("-") or word == "-"]


def has_option(pattern: str, arguments: Sequence[str]) -> bool:
    """Whether a word begins as *pattern* says."""
    return any(re.match(pattern, word) for word in arguments)


def option_values(pattern: str, arguments: Sequence[str]) -> list[str]:
    """Return the values of the options that *pattern* means: behind them or glued to them.

    >>> option_values("-o|--output", ["-o", "a", "--output=b", "-o~/c", "d"])
    ['a', 'b', '~/c']
    """
    values: list[str] = []
    for word, next_word in pairwise([*arguments, ""]):
        option, sign, value = word.partition("=")
        if not re.fullmatch(pattern, option):
            value = _glued_value(pattern, word)
        elif not sign:
            value = next_word
        if value:
            values.append(value)
    return values


def _glued_value(pattern: str, word: str) -> str:
    if not re.match("-[^-]", word):
        return ""
    glued = re.match(rf"(?:{pattern})(?P<value>[~/$.].*)", word)
    if glued is None:
        return ""
    return glued["value"]


def without_options(pattern: str, arguments: Sequence[str]) -> list[str]:
    """Return *arguments* without the options that *pattern* means and their values.

    >>> without_options("-m|--message", ["-m", "a text", "--message=b", "file"])
    ['file']
    """
    words: list[str] = []
    is_value = False
    for word in arguments:
        is_option = re.fullmatch(pattern, word.partition("=")[0]) is not None
        if not is_option and not is_value:
            words.append(word)
        is_value = is_option and "=" not in word
    return words


def tar_letters(arguments: Sequence[str]) -> str:
    """Return the letters of the options of ``tar``, whose first word needs no hyphen."""
    words = [word for word in arguments[1:] if re.fullmatch(r"-[a-zA-Z]+", word)]
    return "".join([*arguments[:1], *words]).replace("-", "")
