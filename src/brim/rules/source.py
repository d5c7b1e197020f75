"""Where rules come from: the user's file, a project's file, a native file.

This says which files count. ``source_reading`` reads them, which a hook seldom does.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from brim.config.trust import CHECKS, DIGESTS, accepted_folder
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
    is_loaded: bool = False
    """Whether the agent loads it by itself, so that it isn't told again."""

    @cached_property
    def accepted_folder(self) -> str:
        """The folder with what the user has accepted of it."""
        if self.kind == USER:
            return accepted_folder(self.home, None)
        return accepted_folder(self.home, self.project)

    @property
    def place(self) -> str:
        """What names it among the places of rules: a project is the same in all its worktrees."""
        if self.kind != PROJECT:
            return self.kind
        return os.path.basename(self.accepted_folder)

    @cached_property
    def watched(self) -> tuple[str, ...]:
        """The files whose changes change its rules."""
        if self.kind == PROJECT:
            folder = self.accepted_folder
            return (self.path, os.path.join(folder, NAME), os.path.join(folder, DIGESTS))
        if self.kind == NATIVE:
            return (self.path, os.path.join(self.accepted_folder, CHECKS))
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
    loaded_files: Iterable[str] = (),
) -> list[RuleSource]:
    """Return the sources that count in *project*: native files, nested ones for the paths that are
    *touched*.

    What *agent* loads by itself counts only if a person wants its rules to be checked.
    *user_files* are native files in the user's home, and *loaded_files* those that the agent loads.
    A project that the user hasn't accepted has no sources: its files aren't even read.
    """
    sources = [RuleSource(USER, os.path.join(home, NAME), home)]
    for path in user_files:
        sources.append(user_native(path, home))
    if has_checks(home, None):
        for path in loaded_files:
            sources.append(replace(user_native(path, home), is_loaded=True))
    if project is None:
        return sources
    shared = RuleSource(PROJECT, os.path.join(project, ".brim", NAME), home, project)
    if not shared.is_accepted:
        return sources
    sources.append(shared)
    files = [*root_files(project), *nested_files(project, touched)]
    loaded_paths = _loaded_paths(files, agent)
    is_checked = has_checks(home, project)
    seen_paths: set[str] = set()
    for file in files:
        real_path = os.path.realpath(file.path)
        is_loaded = real_path in loaded_paths
        if real_path in seen_paths or (is_loaded and not is_checked):
            continue
        seen_paths.add(real_path)
        sources.append(RuleSource(NATIVE, file.path, home, project, file, is_loaded=is_loaded))
    return sources


def user_native(path: str, home: str) -> RuleSource:
    """Return the source for the native file *path* in the user's home."""
    return RuleSource(NATIVE, path, home, None, NativeFile(path, os.path.basename(path)))


def has_checks(home: str, project: str | None) -> bool:
    """Whether a person has decided about the checks of native files: of *project*, or their own."""
    return os.path.exists(os.path.join(accepted_folder(home, project), CHECKS))


def _loaded_paths(files: Collection[NativeFile], agent: LoadsFiles | None) -> set[str]:
    """Return the real paths of the files that *agent* loads by itself."""
    if agent is None:
        return set()
    return {os.path.realpath(file.path) for file in files if file.is_loaded_by(agent)}
