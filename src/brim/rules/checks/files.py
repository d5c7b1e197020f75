"""What commands do with files: ``sed -i``, ``rm``, ``tee``, ``git add`` and the like.

``data/file_programs.tsv`` says it for each program.
"""

from __future__ import annotations

import os.path
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from brim.files import data_rows
from brim.record import PlainData
from brim.rules.checks.invocation import Invocation

EDIT = "edit"
WRITE = "write"
OUTPUT = "output"
DELETE = "delete"
READ = "read"
COMMIT = "commit"

_AUTHORS = ("echo", "printf", "cat")
"""Programs whose output is what was written in the call itself."""
_NOT_FILES = ("", "/dev/null", "/dev/stdout", "/dev/stderr", "-")
_WITH_SUBCOMMANDS = ("git", "ruff")
_PLACES = {
    "all": slice(None),
    "but-first": slice(1, None),
    "first": slice(1),
    "last": slice(-1, None),
    "but-last": slice(None, -1),
}
_LISTING = ("ls", "find", "fd")
PASSING_ON = ("xargs", "parallel")
GIVING = frozenset((*PASSING_ON, "find"))
"""Programs that give other programs files to work on."""
_GIVEN_FILE = "{}"
"""What stands for a file that another program finds."""


@dataclass(frozen=True)
class FileAct(PlainData):
    """One thing that a call does with one file."""

    kind: str
    """``edit``, ``write``, ``output`` (of a program, to a file), ``delete``, ``read`` or
    ``commit``."""
    path: str
    folder: str
    """The folder that the path starts from."""

    @property
    def full_path(self) -> str:
        """The path from the root."""
        return os.path.normpath(os.path.join(self.folder, os.path.expanduser(self.path)))


@dataclass(frozen=True)
class FileUse(PlainData):
    """One thing that a program does with files."""

    kind: str
    words: str
    """Which of its words are the files."""
    options: tuple[tuple[str, ...], ...]
    """Options of which it needs one of each group; after a ``!``, none."""

    def is_made_by(self, invocation: Invocation) -> bool:
        """Whether *invocation* has the options for it."""
        return all(_has_one_of(group, invocation.options) for group in self.options)

    def files_of(self, invocation: Invocation, arguments: tuple[str, ...]) -> tuple[str, ...]:
        """Return the files among the words of *invocation*, whose arguments are *arguments*."""
        if self.words in _PLACES:
            return arguments[_PLACES[self.words]]
        if self.words == "--":
            return _after_dashes(invocation.ran.words)
        if self.words.endswith("="):
            given = [word for word in arguments if word.startswith(self.words)]
            return tuple([word.removeprefix(self.words) for word in given])
        return invocation.values.get(self.words, ())


def _has_one_of(group: tuple[str, ...], options: tuple[str, ...]) -> bool:
    """Whether *options* have one of *group*, or none of them if they have a ``!``."""
    if group[0].startswith("!"):
        return not any(f"!{option}" in group for option in options)
    return any(option.startswith(group) for option in options)


def _after_dashes(words: list[str]) -> tuple[str, ...]:
    if "--" not in words:
        return ()
    return tuple(words[words.index("--") + 1 :])


@cache
def _uses() -> dict[str, tuple[FileUse, ...]]:
    """Return what each program does with files."""
    uses: dict[str, tuple[FileUse, ...]] = {}
    for programs, kind, words, *options in data_rows(__file__, "file_programs.tsv"):
        groups: list[tuple[str, ...]] = []
        for group in " ".join(options).split("&"):
            if group.strip():
                groups.append(tuple(group.split()))
        for program in programs.split(" "):
            uses[program] = (*uses.get(program, ()), FileUse(kind, words, tuple(groups)))
    return uses


def acts_of(
    invocation: Invocation, folder: str, found_paths: tuple[str, ...] = ()
) -> list[FileAct]:
    """Return what *invocation* does with files, in *folder*.

    *found_paths* are where a program before it looked for files that it's given.

    >>> from brim.rules.checks.invocation import invocations
    >>> [(a.kind, a.path) for a in acts_of(invocations("sed -i s/a/b/ x.py > log")[0], "/w")]
    [('output', 'log'), ('edit', 'x.py')]
    """
    redirect = OUTPUT
    if invocation.program in _AUTHORS or invocation.ran.documents:
        redirect = WRITE
    file_acts = _all_as(redirect, invocation.ran.writes, folder)
    program = invocation.program
    arguments = invocation.arguments
    if program in _WITH_SUBCOMMANDS and f"{program}-{''.join(arguments[:1])}" in _uses():
        program = f"{program}-{arguments[0]}"
        arguments = arguments[1:]
    if found_paths:
        arguments = tuple([word for word in arguments if word != _GIVEN_FILE]) + found_paths
    for use in _uses().get(program, ()):
        if use.is_made_by(invocation):
            file_acts += _all_as(use.kind, use.files_of(invocation, arguments), folder)
    return file_acts


def _all_as(kind: str, paths: Iterable[str], folder: str) -> list[FileAct]:
    """Return the same act for each of *paths*."""
    file_acts: list[FileAct] = []
    for path in paths:
        if path not in _NOT_FILES and "$" not in path:
            file_acts.append(FileAct(kind, path, folder))
    return file_acts


def paths_given_by(invocation: Invocation) -> tuple[str, ...]:
    """Return where *invocation* looks for files that it gives to others: ``find src``."""
    if invocation.program in _LISTING:
        return invocation.arguments[:1]
    return tuple([act.path for act in acts_of(invocation, "") if act.kind == READ])
