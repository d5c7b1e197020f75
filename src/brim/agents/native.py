"""Which files with rules, such as CLAUDE.md, does an agent load by itself?

Every fact was tried with the real agent. brim doesn't tell an agent the rules of a file that it
loads, and tells them to agents that don't.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from brim.files import read_safely
from brim.record import PlainData

Environ = Mapping[str, str]
_LARGEST_SETTINGS = 1 << 20


def json_file(path: str) -> Any:
    """Return what the settings file *path* says; None if it isn't there, or isn't plain JSON."""
    try:
        return json.loads(read_safely(os.path.realpath(path), at_most=_LARGEST_SETTINGS))
    except (OSError, ValueError, RecursionError):
        return None


def same_kinds(_: Environ, __: str, kinds: tuple[str, ...]) -> tuple[str, ...]:
    """Return *kinds*: the agent has no setting about such files."""
    return kinds


@dataclass(frozen=True)
class NativeFiles(PlainData):
    """The files with rules that an agent loads."""

    kinds: tuple[str, ...] = ()
    """Their names, and folders that hold them."""
    hidden_by: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For a file that isn't always loaded, those in the same folder that keep the agent from it."""
    largest: int | None = None
    """Bytes of a file of which it loads all. It cuts off what is longer."""
    follows_work: bool = True
    """Whether it loads the files of a folder once it works there. Otherwise it loads those of the
    working folder and the folders above."""
    users_of: tuple[str, ...] = ()
    """The agents whose file in the user's home it loads, by their names: the first that is
    there."""
    kinds_by_settings: Callable[[Environ, str, tuple[str, ...]], tuple[str, ...]] = same_kinds
    """Returns the kinds that its settings leave and add in a project."""


@dataclass(frozen=True)
class FileLoading(PlainData):
    """What an agent loads that works in the folder *cwd* of *project*."""

    facts: NativeFiles
    environ: Environ
    project: str
    cwd: str

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of files that it loads here."""
        return self.facts.kinds_by_settings(self.environ, self.project, self.facts.kinds)

    def loads(self, path: str, kind: str, folder: str) -> bool:
        """Whether the agent loads the file *path* of this *kind*, which applies in *folder* of the
        project."""
        if kind not in self.kinds:
            return False
        beside = os.path.dirname(path)
        for name in self.facts.hidden_by.get(kind, ()):
            if os.path.isfile(os.path.join(beside, name)):
                return False
        if folder and not self.facts.follows_work and not self._is_above(folder):
            return False
        return self.facts.largest is None or _size(path) <= self.facts.largest

    def _is_above(self, folder: str) -> bool:
        """Whether the working folder is *folder* or below it."""
        above = os.path.realpath(os.path.join(self.project, folder))
        return os.path.join(os.path.realpath(self.cwd), "").startswith(os.path.join(above, ""))


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0
