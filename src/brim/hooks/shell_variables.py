"""What the variables of a shell command are, as far as its own text says."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping

QUOTED = r"""'[^']*'|"(?:\\.|[^"\\])*\""""
WORD = rf"""(?:{QUOTED}|\\.|[^\s;&|<>()'"\\])+"""
_VALUE = rf"""(?:\$\([^()]*\)|`[^`]*`|{QUOTED}|\\.|[^\s;&|<>()'"\\`])+"""
_BEFORE = r"(?:^|[\s;&|(])"
_ASSIGNMENT = rf"{_BEFORE}(?P<name>[A-Za-z_]\w*)=(?:\((?P<array>[^()]*)\)|(?P<value>{_VALUE}))"
_PRINTED = rf"{_BEFORE}printf[ \t]+-v[ \t]*(?P<name>\w+)[ \t]+(?P<words>[^;&|\n]*)"
_READ = rf"{_BEFORE}read[ \t]+(?:-\w+[ \t]+)*(?P<name>\w+)[ \t]*<<<[ \t]*(?P<value>{WORD})"
_ARGUMENTS = rf"{_BEFORE}set[ \t]+--?[ \t]+(?P<words>[^;&|\n]*)"
_SUBSTITUTION = r"(?:\$\(|`)\s*(?P<program>echo|printf|realpath|readlink|ls)\s(?P<words>.*)[)`]"
_TEMPORARY = r"(?:\$\(|`)\s*mktemp\b"
NEW_PATH = "/var/empty/mktemp"
"""What stands for a file or folder that ``mktemp`` has made."""
_VARIABLE = r"\$(?:(\w+)|\{(\w+)(?:\[[@*\d]+\])?(?::?[-?+=][^{}]*)?\})"
_PLACEHOLDER = r"%[sbq]"
_MOST_DEEP = 3


class ShellVariables:
    """The variables that a *text* sets to one value each, and those of the hook."""

    def __init__(self, text: str, values: Mapping[str, str]) -> None:
        self._values = dict(values)
        unclear: set[str] = set()
        for name, value in _assignments(text):
            if self._values.get(name, value) != value:
                unclear.add(name)
            self._values[name] = value
        for name in unclear:
            del self._values[name]

    def spelled_out(self, word: str) -> str:
        """Return *word* with the values of its variables, as far as they are known."""
        for _ in range(_MOST_DEEP):
            if "$" not in word:
                break
            word = re.sub(_VARIABLE, self._value, word)
        return word

    def _value(self, match: re.Match[str]) -> str:
        return self._values.get(match[1] or match[2], match[0])


def unquoted(word: str) -> str:
    """Return a shell's *word* without quotes and backslashes."""
    return re.sub(r"\\(.)|['\"]", r"\1", word)


def _assignments(text: str) -> Iterator[tuple[str, str]]:
    """Yield each name and value that *text* sets; of an array, all words."""
    for match in re.finditer(_ASSIGNMENT, text):
        if match["array"] is not None:
            yield match["name"], " ".join(_words(match["array"]))
        else:
            yield match["name"], _assigned(match["value"])
    for match in re.finditer(_READ, text):
        yield match["name"], unquoted(match["value"])
    for match in re.finditer(_PRINTED, text):
        yield match["name"], _printed(_words(match["words"]))
    for match in re.finditer(_ARGUMENTS, text):
        for number, word in enumerate(_words(match["words"]), start=1):
            yield str(number), word


def _assigned(value: str) -> str:
    """Return the *value* of an assignment; of ``$(echo …)`` and the like, what is printed."""
    if re.match(_TEMPORARY, value.strip('"')):
        return NEW_PATH
    substitution = re.fullmatch(_SUBSTITUTION, value.strip('"'), re.DOTALL)
    if substitution is None:
        return unquoted(value)
    words = _words(substitution["words"])
    if substitution["program"] == "printf":
        return _printed(words)
    return " ".join([word for word in words if not word.startswith("-")])


def _printed(words: list[str]) -> str:
    """Return what ``printf`` prints for *words*, a format and what is put into it."""
    text = "".join(words[:1])
    for word in words[1:]:
        text = re.sub(_PLACEHOLDER, word.replace("\\", r"\\"), text, count=1)
    return text


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # a quote is open
        return text.split()
