"""Where rules come from: the user's file, a project's file, a native file.

This says which files count. ``source_reading`` reads them, which a hook seldom does.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from brim.config.trust import DIGESTS, accepted_folder
from brim.record import PlainData
from brim.rules.native import LoadsFiles, NativeFile, nested_files, root_files

NAME = "rules.toml"
USER = "user"
PROJECT = "project"
NATIVE = "native"


@dataclass(frozen=True)
class RuleSource(PlainData):
    """One file of rules."""

    kind: str
    path: str
    home: str
    project: str | None = None
    native: NativeFile | None = None

    @property
    def accepted_folder(self) -> str:
        """The folder with what the user has accepted of it."""
        if self.kind == PROJECT:
            return accepted_folder(self.home, self.project)
        return accepted_folder(self.home, None)

    @property
    def place(self) -> str:
        """What names it among the places of rules: a project is the same in all its worktrees."""
        if self.kind != PROJECT:
            return self.kind
        return os.path.basename(self.accepted_folder)

    @property
    def watched(self) -> tuple[str, ...]:
        """The files whose changes change its rules."""
        if self.kind == PROJECT:
            folder = self.accepted_folder
            return (self.path, os.path.join(folder, NAME), os.path.join(folder, DIGESTS))
        return (self.path,)

    @property
    def is_accepted(self) -> bool:
        """Whether the user has accepted anything of it."""
        return any(map(os.path.exists, self.watched[1:]))


def sources_for(
    home: str,
    project: str | None,
    *,
    agent: LoadsFiles | None = None,
    touched: Iterable[str] = (),
    user_files: Iterable[str] = (),
) -> list[RuleSource]:
    """Return the sources that count in *project*: native files that *agent* doesn't load by itself,
    nested ones for the paths that are *touched*.

    *user_files* are native files in the user's home. A project that the user hasn't accepted has
    no sources: its files aren't even read.
    """
    sources = [RuleSource(USER, os.path.join(home, NAME), home)]
    for path in user_files:
        file = NativeFile(path, os.path.basename(path))
        sources.append(RuleSource(NATIVE, path, home, os.path.dirname(path), file))
    if project is None:
        return sources
    shared = RuleSource(PROJECT, os.path.join(project, ".brim", NAME), home, project)
    if not shared.is_accepted:
        return sources
    sources.append(shared)
    files = [*root_files(project), *nested_files(project, touched)]
    loaded_paths = _loaded_paths(files, agent)
    for file in files:
        if os.path.realpath(file.path) not in loaded_paths:
            loaded_paths.add(os.path.realpath(file.path))
            sources.append(RuleSource(NATIVE, file.path, home, project, file))
    return sources


def _loaded_paths(files: Collection[NativeFile], agent: LoadsFiles | None) -> set[str]:
    """Return the real paths of the files that *agent* loads by itself."""
    if agent is None:
        return set()
    return {os.path.realpath(file.path) for file in files if file.is_loaded_by(agent)}
