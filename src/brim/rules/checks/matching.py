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

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from brim.record import PlainData
from brim.rules.blocks import pattern_words
from brim.rules.checks.invocation import ALIASES, Invocation, program_name
from brim.rules.globs import fits

_SIGNS = ("!", "@", "<")
_OTHER_NAMES = {
    "git push": "-f=--force -u=--set-upstream -d=--delete",
    "git commit": "-n=--no-verify -a=--all",
    "git rebase": "-i=--interactive",
    "git add": "-A=--all -p=--patch -f=--force",
    "git checkout": "-f=--force",
    "git clean": "-f=--force",
    "git branch": "-d=--delete",
    "npm": "-g=--global -f=--force",
    "docker": "-v=--volumes -f=--force -a=--all",
    "rm": "-r=--recursive -f=--force",
    "chmod": "-R=--recursive",
    "kubectl": "-f=--filename",
    "cargo": "-r=--release",
    "pytest": "-x=--exitfirst",
    "curl": "-k=--insecure",
}
"""Short options and their long names, by program or subcommand."""


@dataclass(frozen=True)
class CommandPattern(PlainData):
    """A pattern, split into what it says about options, arguments and the rest."""

    programs: tuple[str, ...]
    arguments: tuple[tuple[str, ...], ...]
    conditions: tuple[str, ...]
    """The other elements as they are written."""


@lru_cache(1024)
def read_pattern(pattern: str) -> CommandPattern:
    """Return the parts of *pattern*.

    >>> read_pattern("npm i|ci !-g")
    CommandPattern(programs=('npm',), arguments=(('i', 'ci', 'install'),), conditions=('!-g',))
    """
    words = pattern_words(pattern)
    names = tuple([program_name(name) for name in words[0].split("|")])
    arguments: list[tuple[str, ...]] = []
    conditions: list[str] = []
    subcommand = "".join(words[1:2])
    for word in words[1:]:
        if _is_condition(word):
            conditions.append(_with_long_names(word, f"{names[0]} {subcommand}"))
        elif arguments:
            arguments.append(tuple(word.split("|")))
        else:
            arguments.append(_with_usual_names(names, word.split("|")))
    return CommandPattern(names, tuple(arguments), tuple(conditions))


def _is_condition(word: str) -> bool:
    """Whether *word* of a pattern isn't an argument."""
    is_option = word.startswith("-") and word != "-"
    return is_option or word.startswith(_SIGNS) or "=" in word


def _with_long_names(condition: str, command: str) -> str:
    """Return *condition*, where an option has its other name too: ``-v|--volumes``."""
    if condition.startswith("--") and "=" in condition:
        return condition
    options = condition.split("|")
    for program_names in (command.split(maxsplit=1)[0], command):
        for pair in _OTHER_NAMES.get(program_names, "").split():
            short, long = pair.split("=")
            if (short in options) != (long in options):
                options.append(long if short in options else short)
    return "|".join(options)


def _with_usual_names(names: tuple[str, ...], words: list[str]) -> tuple[str, ...]:
    """Return *words* and the subcommands' usual names: what a person wrote may be an alias."""
    usual_names = list(words)
    for name in names:
        aliases = ALIASES.get(name, {})
        usual_names += [aliases[word] for word in words if word in aliases]
    return tuple(dict.fromkeys(usual_names))


def is_called(pattern: str, invocation: Invocation, branch: str = "") -> bool:
    """Whether *invocation* is one that *pattern* means.

    >>> from brim.rules.checks.invocation import invocations
    >>> is_called("git push --force|-f", invocations("git -C web push -fu origin x")[0])
    True
    >>> is_called("npm install", invocations("npm i left-pad")[0])
    True
    """
    parts = read_pattern(pattern)
    if not _is_one(invocation.program, parts.programs):
        return False
    for condition in parts.conditions:
        if not _is_met(condition, invocation, branch):
            return False
    return _are_arguments(parts.arguments, invocation.arguments)


def _is_one(word: str, patterns: Iterable[str]) -> bool:
    """Whether *word* fits one of *patterns*."""
    return any(fits(word, pattern) for pattern in patterns)


def _is_any_of(words: Iterable[str], patterns: Iterable[str]) -> bool:
    """Whether one of *words* fits one of *patterns*."""
    return any(_is_one(word, patterns) for word in words)


# Conditions ---------------------------------------------------------------------------------------


def _is_met(condition: str, invocation: Invocation, branch: str) -> bool:
    """Whether one element that isn't an argument is true."""
    if condition.startswith("!"):
        return not _has(condition[1:], invocation)
    if condition.startswith("@"):
        return bool(branch) and _is_one(branch, condition[1:].split("|"))
    if condition.startswith("<"):
        return _is_any_of(invocation.ran.feeders, condition[1:].split("|"))
    if condition.startswith("-"):
        return _has_option(condition, invocation)
    return _is_any_of(invocation.ran.settings, condition.split("|"))


def _has(element: str, invocation: Invocation) -> bool:
    """Whether what follows a ``!`` is there: an option, an argument, or after ``^`` a wrapper."""
    if element.startswith("^"):
        return element[1:] in invocation.ran.wrappers
    if element.startswith("-"):
        return _has_option(element, invocation)
    return _is_any_of(invocation.arguments, element.split("|"))


def _has_option(options: str, invocation: Invocation) -> bool:
    """Whether one of *options* is there, with its value if it has one."""
    for option in options.split("|"):
        name, sign, value = option.partition("=")
        if sign:
            is_there = _is_any_of(invocation.values.get(name, ()), (value,))
        else:
            is_there = _has_plain_option(name, invocation.options)
        if is_there:
            return True
    return False


def _has_plain_option(name: str, options: tuple[str, ...]) -> bool:
    """Whether *name* is among *options*; the letters of ``-rf`` may stand apart."""
    if _is_any_of(options, (name,)):
        return True
    letters = name.removeprefix("-")
    if len(letters) < 2 or not letters.isalpha():
        return False
    return all(f"-{letter}" in options for letter in letters)


# Arguments ----------------------------------------------------------------------------------------


def _are_arguments(patterns: tuple[tuple[str, ...], ...], arguments: tuple[str, ...]) -> bool:
    """Whether *patterns* match *arguments* from the first on."""
    if not patterns:
        return True
    first = patterns[0]
    if first == ("$",):
        return not arguments
    if first == ("...",):
        return _follow_somewhere(patterns[1:], arguments)
    if not arguments or not _is_one(arguments[0], first):
        return False
    return _are_arguments(patterns[1:], arguments[1:])


def _follow_somewhere(patterns: tuple[tuple[str, ...], ...], arguments: tuple[str, ...]) -> bool:
    """Whether *patterns* match *arguments* from any of them on."""
    starts = range(len(arguments) + 1)
    return any(_are_arguments(patterns, arguments[start:]) for start in starts)
