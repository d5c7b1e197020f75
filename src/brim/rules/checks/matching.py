"""Command patterns: ``git push --force|-f`` is a push with one of two options.

A pattern is a program and then, in the order of the call, its arguments; options stand anywhere.
The elements of a pattern:

    word|other   the next argument, one of these; * and [...] as in file names
    -f|--force   one of these options
    -m=*x*       an option with such a value
    !-g|--global none of these options
    !word        none of the arguments is such a word
    ...          any arguments
    $            no further arguments
    @main        on such a branch
    <curl|wget   given the output of one of these programs
    !^uv         not started by this program
    A=*          with such a setting
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from brim.record import PlainData
from brim.rules.blocks import pattern_words
from brim.rules.checks.invocation import ALIASES, Invocation, program_name
from brim.rules.globs import fits


@dataclass(frozen=True)
class CommandPattern(PlainData):
    """A pattern, split into what it says about options, arguments and the rest."""

    programs: tuple[str, ...]
    arguments: tuple[tuple[str, ...], ...]
    conditions: tuple[str, ...]
    """The other elements as they are written."""


@lru_cache(1024)
def read_pattern(pattern: str) -> CommandPattern:
    """Return the parts of *pattern*."""
    words = pattern_words(pattern)
    names = tuple([program_name(name) for name in words[0].split("|")])
    arguments: list[tuple[str, ...]] = []
    conditions: list[str] = []
    for word in words[1:]:
        is_option = word[0] == "-" and len(word) > 1
        if is_option or word[0] in "!@<" or "=" in word:
            conditions.append(word)
        else:
            arguments.append(tuple(word.split("|")))
    if arguments:
        arguments[0] = _with_usual_names(names, arguments[0])
    return CommandPattern(names, tuple(arguments), tuple(conditions))


def _with_usual_names(names: tuple[str, ...], words: tuple[str, ...]) -> tuple[str, ...]:
    """Return *words* and the subcommands' usual names: what a person wrote may be an alias."""
    plain = list(words)
    for name in names:
        aliases = ALIASES.get(name, {})
        plain += [aliases[word] for word in words if word in aliases]
    return tuple(dict.fromkeys(plain))


def is_called(pattern: str, invocation: Invocation, branch: str = "") -> bool:
    """Whether *invocation* is one that *pattern* means.

    >>> from brim.rules.checks.invocation import invocations
    >>> is_called("git push --force|-f", invocations("git -C web push -fu origin x")[0])
    True
    >>> is_called("npm install", invocations("npm i left-pad")[0])
    True
    """
    parts = read_pattern(pattern)
    if not any(fits(invocation.program, name) for name in parts.programs):
        return False
    for condition in parts.conditions:
        if not _is_met(condition, invocation, branch):
            return False
    return _are_arguments(parts.arguments, invocation.arguments)


def _is_met(condition: str, invocation: Invocation, branch: str) -> bool:
    """Whether one element that isn't an argument is true."""
    sign = condition[0]
    if sign == "!":
        return not _has_excluded(condition[1:], invocation)
    if sign == "@":
        return bool(branch) and _is_one(branch, condition[1:])
    if sign == "<":
        return any(_is_one(feeder, condition[1:]) for feeder in invocation.ran.feeders)
    if sign == "-":
        return _has_option(condition, invocation)
    return any(_is_one(setting, condition) for setting in invocation.ran.settings)


def _has_excluded(condition: str, invocation: Invocation) -> bool:
    """Whether what follows a ``!`` is there: an option, an argument, or after ``^`` a wrapper."""
    if condition[0] == "^":
        return condition[1:] in invocation.ran.wrappers
    if condition[0] == "-":
        return _has_option(condition, invocation)
    return _has_argument(condition, invocation)


def _is_one(word: str, patterns: str) -> bool:
    return any(fits(word, pattern) for pattern in patterns.split("|"))


def _has_argument(patterns: str, invocation: Invocation) -> bool:
    return any(_is_one(argument, patterns) for argument in invocation.arguments)


def _has_option(options: str, invocation: Invocation) -> bool:
    """Whether one of *options* is there, with its value if it has one."""
    for option in options.split("|"):
        name, sign, value = option.partition("=")
        if sign:
            texts = invocation.values.get(name, ())
            if any(fits(text, value) for text in texts):
                return True
        elif _is_given(name, invocation.options):
            return True
    return False


def _is_given(name: str, options: tuple[str, ...]) -> bool:
    """Whether *name* is among *options*; the letters of ``-rf`` may stand apart."""
    if any(fits(option, name) for option in options):
        return True
    letters = name[1:]
    is_cluster = name[1:2] != "-" and len(letters) > 1 and letters.isalpha()
    return is_cluster and all(f"-{letter}" in options for letter in letters)


def _are_arguments(patterns: tuple[tuple[str, ...], ...], arguments: tuple[str, ...]) -> bool:
    """Whether *patterns* match *arguments* from the first on."""
    if not patterns:
        return True
    first = patterns[0]
    if first == ("...",):
        tails = [arguments[start:] for start in range(len(arguments) + 1)]
        return any(_are_arguments(patterns[1:], tail) for tail in tails)
    if first == ("$",):
        return not arguments
    if not arguments or not any(fits(arguments[0], word) for word in first):
        return False
    return _are_arguments(patterns[1:], arguments[1:])
