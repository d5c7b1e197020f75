"""What commands do with files: ``sed -i``, ``rm``, ``tee``, ``git add`` and the like."""

from __future__ import annotations

import os.path
from dataclasses import dataclass

from brim.record import PlainData
from brim.rules.checks.invocation import Invocation

_EDIT = "edit"
_WRITE = "write"
_OUTPUT = "output"
_DELETE = "delete"
_READ = "read"
_COMMIT = "commit"

_READERS = frozenset(
    (
        "cat",
        "less",
        "more",
        "head",
        "tail",
        "bat",
        "grep",
        "rg",
        "source",
        ".",
        "nl",
        "strings",
        "xxd",
    )
)
_DELETERS = frozenset(("rm", "unlink", "rmdir", "shred"))
_WRITERS = frozenset(("tee", "touch", "truncate"))
_AUTHORS = ("echo", "printf", "cat")
"""Programs whose output is what was written in the call itself."""
_NOT_FILES = ("/dev/null", "/dev/stdout", "/dev/stderr", "-")


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
    kind = _OUTPUT
    if invocation.program in _AUTHORS or invocation.ran.documents:
        kind = _WRITE
    acts = [(kind, path) for path in invocation.ran.writes]
    acts += _acts_of_program(invocation)
    real_acts = []
    for kind, path in acts:
        if path and path not in _NOT_FILES and "$" not in path:
            real_acts.append(FileAct(kind, path, folder))
    return real_acts


def _acts_of_program(invocation: Invocation) -> list[tuple[str, str]]:
    name = invocation.program
    arguments = invocation.arguments
    if name == "git":
        return _acts_of_git(invocation)
    if name in _WRITERS:
        return [(_WRITE, path) for path in arguments]
    if name in _DELETERS:
        return [(_DELETE, path) for path in arguments]
    if name in _READERS:
        return [(_READ, path) for path in arguments]
    return _acts_of_editor(invocation)


def _acts_of_editor(invocation: Invocation) -> list[tuple[str, str]]:
    """Return what programs do that read some files and change others."""
    name = invocation.program
    arguments = invocation.arguments
    if name == "mv":
        deleted = [(_DELETE, path) for path in arguments[:-1]]
        return [*deleted, *[(_WRITE, path) for path in arguments[-1:]]]
    if name == "cp":
        read = [(_READ, path) for path in arguments[:-1]]
        return [*read, *[(_WRITE, path) for path in arguments[-1:]]]
    if name == "sed":
        return _acts_of_sed(invocation)
    if name == "perl" and "-i" in invocation.options:
        return [(_EDIT, path) for path in arguments]
    return []


def _acts_of_sed(invocation: Invocation) -> list[tuple[str, str]]:
    """``sed`` has its script first, unless ``-e`` or ``-f`` gives it."""
    files = invocation.arguments
    if not {"-e", "-f", "--expression", "--file"} & set(invocation.options):
        files = files[1:]
    kind = _READ
    if any(option.startswith(("-i", "--in-place")) for option in invocation.options):
        kind = _EDIT
    return [(kind, path) for path in files]


def _acts_of_git(invocation: Invocation) -> list[tuple[str, str]]:
    subcommand = invocation.arguments[:1]
    paths = invocation.arguments[1:]
    if subcommand in (("add",), ("commit",)):
        return [(_COMMIT, path) for path in paths]
    if subcommand == ("rm",):
        return [(_DELETE, path) for path in paths]
    if subcommand == ("mv",):
        return [(_DELETE, path) for path in paths[:-1]] + [(_EDIT, path) for path in paths[-1:]]
    return []
