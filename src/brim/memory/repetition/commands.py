"""A shell command in its parts: what it looks at, waits for and writes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from re import Pattern

from brim.files import data_lines
from brim.record import PlainData
from brim.rules.programs import launched, program
from brim.rules.shell import pieces

_FILTERS = frozenset(
    [
        "tail",
        "head",
        "cat",
        "less",
        "more",
        "tee",
        "sort",
        "uniq",
        "cut",
        "wc",
        "sed",
        "awk",
        "grep",
        "rg",
        "tr",
    ],
)
_EDITORS = ("sed", "gsed", "perl", "ruby")
_IN_PLACE = r"-\w*i|--in-place"
_SUFFIX = r"\.\w{1,8}$"
_NO_FILE = re.compile(r"/dev/(?!shm/)|[&$]")
"""What a word opens with that names a device, another output or a variable. Files in ``/dev/shm``
are kept in memory, and are files all the same."""


@cache
def any_of(name: str) -> Pattern[str]:
    """Return one pattern that finds any of those in the list ``data/<name>``, in any case."""
    patterns = [f"(?:{line})" for line in data_lines(__file__, name)]
    return re.compile("|".join(patterns), re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True)
class CommandPart(PlainData):
    """One command of several, without launchers and settings."""

    words: tuple[str, ...]
    filters: bool
    """Whether it only filters what came before."""
    redirects: tuple[str, ...] = ()
    """The files that its output is redirected to."""

    @property
    def named(self) -> list[str]:
        """The words with the bare name of the program: ``./node_modules/.bin/jest`` is ``jest``."""
        return with_bare_program(list(self.words))


def with_bare_program(words: list[str]) -> list[str]:
    """Return *words* with the first one as the bare name of a program."""
    return [program(words[0]), *words[1:]] if words else words


def parts(command: str) -> list[CommandPart]:
    """Return the commands in *command*, in order, without the text of here-documents.

    >>> [part.words for part in parts("cd app && FOO=1 npx jest 'a b' | tail -5")]
    [('cd', 'app'), ('jest', 'a b'), ('tail', '-5')]
    """
    command_parts = []
    for piece in pieces(command):
        words = launched(piece.words)
        if words:
            filters = piece.piped and words[0] in _FILTERS
            command_parts.append(CommandPart(tuple(words), filters, tuple(piece.writes)))
    return command_parts


def unfiltered(command: list[CommandPart]) -> str:
    """Return *command* as one line, without what only cuts its output."""
    return " ; ".join([" ".join(part.words) for part in command if not part.filters])


def polls(command: list[CommandPart]) -> bool:
    """Whether *command* looks if something is ready yet: ``data/polls.txt``."""
    poll = any_of("polls.txt")
    lines = [" ".join(part.words)[:500] for part in command if not part.filters]
    return any(poll.match(line) for line in lines)


def looks(command: list[CommandPart], also: tuple[str, ...] = ()) -> bool:
    """Whether *command* only looks at what is there, or calls the programs *also*.

    ``data/looking.txt`` lists the programs that only look.
    """
    programs = (*data_lines(__file__, "looking.txt"), *also)
    return bool(command) and all(part.words[0] in programs for part in command)


def goes_to(command: list[CommandPart]) -> str:
    """Return the folder that *command* goes to and stays in; empty if it stays where it was."""
    folder = ""
    for part in command:
        if part.words[0] in ("cd", "pushd") and len(part.words) > 1:
            folder = part.words[1]
    return folder


def writes(command: list[CommandPart]) -> list[str]:
    """Return the files that *command* changes in place or rewrites, as far as its words say."""
    words: list[str] = []
    for part in command:
        words += _edited(part)
        words += part.redirects
    return [word for word in words if word and not _NO_FILE.match(word)]


def _edited(part: CommandPart) -> list[str]:
    """Return the arguments of *part* that name files which it changes."""
    name, *arguments = part.named
    if name == "tee":
        return [word for word in arguments if not word.startswith("-")]
    if name not in _EDITORS:
        return []
    if not any(re.match(_IN_PLACE, word) for word in arguments):
        return []
    return [word for word in arguments[1:] if _is_file_argument(word)]


def _is_file_argument(word: str) -> bool:
    return not word.startswith("-") and re.search(_SUFFIX, word) is not None
