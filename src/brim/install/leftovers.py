"""What brim leaves on a machine once it's in no agent any more, and how that is removed.

A project's rules may be a team's: what git tracks always stays.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from glob import escape, glob

from brim.config.git import is_tracked
from brim.config.places import home_folder
from brim.config.trust import SECRET, trusted_projects, user_secret
from brim.errors import BrimError
from brim.install.agents import Target
from brim.install.installation import Installation
from brim.memory.folder import NAME as MEMORY
from brim.memory.folder import check_folder
from brim.record import PlainData
from brim.sessions.index import SessionIndex, index_path
from brim.sessions.storage import is_stored

OWN = ".brim"
"""The name of brim's folder, in the home folder and in a project."""


@dataclass(frozen=True)
class Leftovers(PlainData):
    """Files and folders that stay after ``brim uninstall``."""

    home: str
    """The user's folder; empty if it isn't there."""
    projects: tuple[str, ...]
    """What is in projects: folders, or files of a folder in which git tracks others."""
    backups: tuple[str, ...]
    """Copies of agents' settings."""
    shared: tuple[str, ...]
    """Projects' folders in which git tracks files: those always stay."""
    foreign_home: str = ""
    """A ``BRIM_HOME`` with another name than ``.brim``: it may hold other things, so it stays."""

    @property
    def paths(self) -> list[str]:
        """Everything that can be removed; the user's folder, which knows of the rest, is last."""
        paths = [*self.backups, *self.projects]
        if self.home:
            paths.append(self.home)
        return paths

    def after(self, new_backups: Iterable[str]) -> Leftovers:
        """Return what is left of it once the agents' settings were changed, with *new_backups*."""
        home = ""
        if os.path.isdir(self.home):
            home = self.home
        backups = sorted({*self.backups, *new_backups})
        existing = tuple(path for path in backups if os.path.isfile(path))
        return replace(self, home=home, backups=existing)

    def remove(self) -> list[str]:
        """Remove it all, and return why some of it couldn't be."""
        problems = []
        for path in self.paths:
            try:
                _remove(path)
            except FileNotFoundError:
                continue
            except OSError as error:
                problems.append(f"{path}: cannot be removed: {error.strerror or error}")
        return problems


NOTHING_LEFT = Leftovers("", (), (), ())


def find_leftovers(installation: Installation, backups: Sequence[str]) -> Leftovers:
    """Return what is left of *installation* apart from agents' settings; *backups* are the copies
    of those that brim made."""
    home = ""
    foreign_home = ""
    if os.path.isdir(installation.home) and not os.path.islink(installation.home):
        home = installation.home
    if home and os.path.basename(home) != OWN:
        foreign_home = home
        home = ""
    secret = ""
    if os.path.exists(os.path.join(installation.home, SECRET)):
        secret = user_secret(installation.home)
    in_projects: list[str] = []
    shared: list[str] = []
    for project in _projects(installation):
        folder = os.path.join(project, OWN)
        if _is_own_folder(folder):
            untracked = _untracked(folder)
            in_projects += untracked
            if untracked != [folder]:
                shared.append(folder)
        memory = os.path.join(project, MEMORY)
        with suppress(BrimError):
            if check_folder(memory, secret) and _untracked(memory) == [memory]:
                in_projects.append(memory)
    existing = tuple(sorted(path for path in set(backups) if os.path.isfile(path)))
    return Leftovers(home, tuple(in_projects), existing, tuple(shared), foreign_home)


def _projects(installation: Installation) -> list[str]:
    """Return the projects that brim has seen on this machine, without the home folder."""
    seen = {installation.project, installation.limits_project}
    seen.update(trusted_projects(installation.home))
    for path, record in installation.records.items():
        if record.scope == "project":
            seen.add(Target(record.agent, record.scope, path).project)
    # Not the workspace's index, which needs settings without a mistake.
    stored = index_path(installation.environ)
    home = home_folder(installation.environ)
    if is_stored(stored):
        with suppress(BrimError), SessionIndex(stored, home=home) as index:
            seen.update(project for _, project in index.owners().values())
    folders = set()
    for project in filter(None, seen):
        folders.add(os.path.realpath(project))
        folders.update(_worktrees(project))
    folders.discard(os.path.realpath(home))
    folders.discard(os.path.dirname(os.path.realpath(installation.home)))
    return sorted(folders)


def _worktrees(project: str) -> Iterator[str]:
    """Yield the worktrees of the repository *project*: each may have a memory of its own."""
    for note in glob(os.path.join(escape(project), ".git", "worktrees", "*", "gitdir")):
        with suppress(OSError, ValueError), open(note, encoding="utf-8") as file:
            yield os.path.realpath(os.path.dirname(file.readline().strip()))


def _is_own_folder(path: str) -> bool:
    """Whether *path* is a folder of this user: a link may lead anywhere."""
    if os.path.islink(path) or not os.path.isdir(path):
        return False
    return not hasattr(os, "getuid") or os.stat(path).st_uid == os.getuid()


def _untracked(folder: str) -> list[str]:
    """Return *folder* if git tracks no file in it; else its files that git doesn't track."""
    paths = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    try:
        untracked = [path for path in paths if not is_tracked(path)]
    except BrimError:  # git's index is too large to know
        return []
    if untracked == paths:
        return [folder]
    return untracked


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)
