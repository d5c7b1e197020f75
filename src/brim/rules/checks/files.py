"""What commands do with files: ``sed -i``, ``rm``, ``tee``, ``git add`` and the like."""

from __future__ import annotations

import os.path
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from brim.record import PlainData
from brim.rules.checks.invocation import Invocation

EDIT = "edit"
WRITE = "write"
OUTPUT = "output"
DELETE = "delete"
READ = "read"
COMMIT = "commit"

_ACT_OF_PROGRAM = {
    **dict.fromkeys(("cat", "less", "more", "head", "tail", "bat", "nl", "strings", "xxd"), READ),
    **dict.fromkeys(("source", "."), READ),
    **dict.fromkeys(("rm", "unlink", "rmdir", "shred"), DELETE),
    **dict.fromkeys(("tee", "touch", "truncate"), WRITE),
}
"""What programs do with all files that they name."""
_AUTHORS = ("echo", "printf", "cat")
"""Programs whose output is what was written in the call itself."""
_NOT_FILES = ("", "/dev/null", "/dev/stdout", "/dev/stderr", "-")
_SCRIPT_OPTIONS = frozenset(("-e", "-f", "--expression", "--file"))
"""Options with which ``sed`` has its script, which is its first argument otherwise."""

_PATTERN_OPTIONS = frozenset(("-e", "-f", "--regexp", "--file", "--files"))
"""Options with which ``grep`` and ``rg`` have their pattern, which is their first argument
otherwise."""


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


def acts_of(invocation: Invocation, folder: str) -> list[FileAct]:
    """Return what *invocation* does with files, in *folder*.

    >>> from brim.rules.checks.invocation import invocations
    >>> [(a.kind, a.path) for a in acts_of(invocations("sed -i s/a/b/ x.py > log")[0], "/w")]
    [('output', 'log'), ('edit', 'x.py')]
    """
    redirect = OUTPUT
    if invocation.program in _AUTHORS or invocation.ran.documents:
        redirect = WRITE
    acts = _all_as(redirect, invocation.ran.writes)
    acts += _acts_of_program(invocation)
    file_acts: list[FileAct] = []
    for kind, path in acts:
        if path not in _NOT_FILES and "$" not in path:
            file_acts.append(FileAct(kind, path, folder))
    return file_acts


def _all_as(kind: str, paths: Iterable[str]) -> list[tuple[str, str]]:
    """Return the same act for each of *paths*."""
    return [(kind, path) for path in paths]


def _acts_of_program(invocation: Invocation) -> list[tuple[str, str]]:
    """Return what the program itself does with files."""
    kind = _ACT_OF_PROGRAM.get(invocation.program)
    if kind is not None:
        return _all_as(kind, invocation.arguments)
    acts_of_program = _SPECIAL_PROGRAMS.get(invocation.program)
    if acts_of_program is None:
        return []
    return acts_of_program(invocation)


def _acts_of_mv(invocation: Invocation) -> list[tuple[str, str]]:
    sources = _all_as(DELETE, invocation.arguments[:-1])
    return sources + _all_as(WRITE, invocation.arguments[-1:])


def _acts_of_cp(invocation: Invocation) -> list[tuple[str, str]]:
    sources = _all_as(READ, invocation.arguments[:-1])
    return sources + _all_as(WRITE, invocation.arguments[-1:])


def _acts_of_sed(invocation: Invocation) -> list[tuple[str, str]]:
    files = invocation.arguments
    if _SCRIPT_OPTIONS.isdisjoint(invocation.options):
        files = files[1:]
    if any(option.startswith(("-i", "--in-place")) for option in invocation.options):
        return _all_as(EDIT, files)
    return _all_as(READ, files)


def _acts_of_perl(invocation: Invocation) -> list[tuple[str, str]]:
    if "-i" in invocation.options:
        return _all_as(EDIT, invocation.arguments)
    return []


def _acts_of_git(invocation: Invocation) -> list[tuple[str, str]]:
    subcommand = "".join(invocation.arguments[:1])
    paths = invocation.arguments[1:]
    if subcommand in ("add", "commit"):
        return _all_as(COMMIT, paths)
    if subcommand == "rm":
        return _all_as(DELETE, paths)
    if subcommand == "mv":
        return _all_as(DELETE, paths[:-1]) + _all_as(EDIT, paths[-1:])
    return []


def _acts_of_grep(invocation: Invocation) -> list[tuple[str, str]]:
    if _PATTERN_OPTIONS.isdisjoint(invocation.options):
        return _all_as(READ, invocation.arguments[1:])
    return _all_as(READ, invocation.arguments)


_SPECIAL_PROGRAMS: dict[str, Callable[[Invocation], list[tuple[str, str]]]] = {
    "git": _acts_of_git,
    "grep": _acts_of_grep,
    "rg": _acts_of_grep,
    "mv": _acts_of_mv,
    "cp": _acts_of_cp,
    "sed": _acts_of_sed,
    "perl": _acts_of_perl,
}
