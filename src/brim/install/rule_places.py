"""Where files with rules are, and which agent loads which.

All of it was tried with the real agents; each one's facts are in its ``Instructions``. All of them
have these files in their window again after a compaction. Claude Code's ``InstructionsLoaded``
names them too, but only while a hook at the session's start already answers, and with a process for
each file: brim doesn't use it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress

from brim.agents.fields import items, mapping, text
from brim.agents.settings import Instructions, json_settings, settings_for
from brim.behaviors.floop import floop_folder
from brim.config.places import home_folder
from brim.errors import BrimError
from brim.install.agents import agent_folder, agent_names, project_hook_files, user_target
from brim.store.loaded import RuleLoader
from brim.tokens.inputs import SKIPPED_FOLDERS
from brim.workspace import Workspace

MOST_FOLDERS = 5_000
"""Folders of a project that are looked into for files of their own."""
OTHER_FILES = (".cursorrules", ".github/copilot-instructions.md")
"""Files of tools that brim doesn't install into; they count only at the top of a project."""
OTHER_FOLDERS = {".cursor/rules": ".mdc", ".github/instructions": ".instructions.md"}
"""Folders of rule files of such tools, and how these end."""
NOT_THEIRS = SKIPPED_FOLDERS | {
    "vendor",
    "third_party",
    "site-packages",
    "venv",
    "dist",
    "build",
    "target",
}
_FLOOP = re.compile(r"(?:^|[\s/\"'])floop(?:[\s\"']|$|-[a-z-]+\.sh)")
"""How a command calls floop, or a script of its."""


def instructions_of(agent: str) -> Instructions:
    """Return which files with rules *agent* loads."""
    return settings_for(agent).instructions


def known_files() -> list[str]:
    """Return the names of the files that count in their folder and below, for any agent."""
    names: list[str] = []
    for agent in agent_names():
        names += instructions_of(agent).files
    return list(dict.fromkeys(names))


def known_root_files() -> list[str]:
    """Return the files that count at the top of a project, for any tool."""
    paths: list[str] = []
    for agent in agent_names():
        paths += instructions_of(agent).root_files
    return [*paths, *OTHER_FILES]


def known_folders() -> dict[str, str]:
    """Return the folders of rule files of any tool, and how these end."""
    folders: dict[str, str] = {}
    for agent in agent_names():
        folders.update(instructions_of(agent).folders)
    return folders | OTHER_FOLDERS


def examples() -> list[str]:
    """Return the names that a person may know such files by."""
    names = [instructions_of(agent).files[:1] for agent in agent_names()]
    return [*dict.fromkeys(name for first in names for name in first), *known_folders()]


# Who loads a file ---------------------------------------------------------------------------------


def loaders_of(path: str, workspace: Workspace, *, scoped: bool) -> Iterator[RuleLoader]:
    """Yield the agents that load the file *path* at the start; none if it is *scoped* to some
    files."""
    if scoped or is_note(path):
        return
    folder = os.path.realpath(os.path.dirname(os.path.abspath(path)))
    path = os.path.join(folder, os.path.basename(path))
    for agent in agent_names():
        most_bytes = instructions_of(agent).most_bytes
        if most_bytes is not None and stamp_of(path)[1] > most_bytes:
            continue
        loader = _own_loader(agent, path, workspace) or _project_loader(agent, path, workspace)
        if loader is not None:
            yield loader


def _own_loader(agent: str, path: str, workspace: Workspace) -> RuleLoader | None:
    """Return how *agent* loads *path* from its own folder, in every project."""
    folder = os.path.realpath(agent_folder(agent, workspace.environ))
    hiding = _hiding_files(agent, path, folder, instructions_of(agent).own_folders, workspace)
    if hiding is None:
        return None
    return RuleLoader(agent, "", False, hiding)


def _project_loader(agent: str, path: str, workspace: Workspace) -> RuleLoader | None:
    """Return how *agent* loads *path* from the project, or from the working folder."""
    own = instructions_of(agent)
    root = os.path.realpath(workspace.project or workspace.cwd or os.sep)
    hiding = _hiding_files(agent, path, root, own.folders, workspace)
    if hiding is None:
        return None
    is_repository = os.path.exists(os.path.join(root, ".git"))
    return RuleLoader(agent, root, not (own.reaches_above or is_repository), hiding)


def _hiding_files(
    agent: str, path: str, base: str, folders: Mapping[str, str], workspace: Workspace
) -> tuple[str, ...] | None:
    """Return the files that keep *agent* from loading *path* in *base*; None if it never does."""
    own = instructions_of(agent)
    if own.leaves_out(workspace.environ):
        return None
    name = os.path.relpath(path, base).replace(os.sep, "/")
    names = (*own.names(workspace.environ, workspace.project), *own.root_files)
    hiding = own.hiding_files(name, names, folders)
    if hiding is None:
        return None
    return tuple(os.path.join(base, other) for other in hiding)


def imported_loaders(importer: str, workspace: Workspace) -> tuple[RuleLoader, ...]:
    """Return the agents that load what the file *importer* imports: only from its own folder."""
    loaders = []
    for loader in loaders_of(importer, workspace, scoped=False):
        if instructions_of(loader.agent).follows_imports:
            exact = bool(loader.folder)
            loaders.append(RuleLoader(loader.agent, loader.folder, exact, loader.unless))
    return tuple(loaders)


def stamp_of(path: str) -> tuple[int, int]:
    """Return by what the file *path* is known again: when it was changed, and its size."""
    try:
        status = os.stat(path)
    except OSError:
        return (0, 0)
    return (status.st_mtime_ns, status.st_size)


# Where they are -----------------------------------------------------------------------------------


def find_rule_files(workspace: Workspace, folder: str) -> list[str]:
    """Return the rule files in *folder* and below, with agents' notes on corrections there."""
    names = known_files()
    root_files = known_root_files()
    rule_folders = known_folders()
    paths: list[str] = []
    for number, (place, folders, files) in enumerate(os.walk(folder)):
        paths += [os.path.join(place, name) for name in names if name in files]
        for path in root_files:
            if os.path.isfile(os.path.join(place, path)):
                paths.append(os.path.join(place, path))
        for inner, ending in rule_folders.items():
            paths += _files_in(os.path.join(place, *inner.split("/")), ending)
        folders[:] = sorted(name for name in folders if _is_theirs(place, name))
        if number >= MOST_FOLDERS:
            break
    for agent in agent_names():
        notes = instructions_of(agent).notes_folder(workspace.environ, folder)
        if notes:
            paths += _files_in(notes, ".md")
    return paths


def _is_theirs(place: str, name: str) -> bool:
    """Whether the folder *name* in *place* is written by the project's people: no other repository,
    nothing installed or built."""
    if name in NOT_THEIRS or name.startswith("."):
        return False
    return not os.path.lexists(os.path.join(place, name, ".git"))


def user_rule_files(workspace: Workspace) -> list[str]:
    """Return the rule files that agents load in every project."""
    paths: list[str] = []
    folder_paths: list[str] = []
    for agent in agent_names():
        own = instructions_of(agent)
        folder = agent_folder(agent, workspace.environ)
        for name in own.user_files(workspace.environ, workspace.project):
            if os.path.isfile(os.path.join(folder, name)):
                paths.append(os.path.join(folder, name))
        for inner, ending in own.own_folders.items():
            folder_paths += _files_in(os.path.join(folder, inner), ending)
    return paths + folder_paths


def is_note(path: str) -> bool:
    """Whether *path* is a note that Claude Code took itself, below ``projects``."""
    folder = os.path.dirname(os.path.abspath(path))
    return os.path.basename(folder) == "memory" and f"{os.sep}projects{os.sep}" in path


def _files_in(folder: str, ending: str) -> list[str]:
    """Return the files in *folder* and below that end in *ending*."""
    paths: list[str] = []
    for place, _, names in os.walk(folder):
        paths += [os.path.join(place, name) for name in names if name.endswith(ending)]
    return sorted(paths)


# floop --------------------------------------------------------------------------------------------


def floop_traces(workspace: Workspace) -> list[tuple[str, str]]:
    """Return where floop is still in use, each place with what to do: folders not yet imported, and
    its hooks."""
    traces = []
    for folder in _floop_folders(workspace):
        text = f"floop's rules aren't imported yet: brim rules import {folder}"
        traces.append((folder, text))
    for path in _settings_files(workspace):
        if any(_FLOOP.search(command) for command in _hook_commands(path)):
            text = "has floop's hooks too, so agents are told rules twice: take them out of it"
            traces.append((path, text))
    return traces


def _floop_folders(workspace: Workspace) -> list[str]:
    """Return the folders of floop whose rules aren't imported yet."""
    folders = []
    for place in dict.fromkeys((workspace.project, home_folder(workspace.environ))):
        if place and floop_folder(os.path.join(place, ".floop")):
            folders.append(os.path.join(place, ".floop"))
    if folders:
        with suppress(BrimError), workspace.open(create=False) as scopes:
            if any(rule.provenance.source == "floop" for rule in scopes.behaviors()):
                return []
    return folders


def _settings_files(workspace: Workspace) -> list[str]:
    """Return the files in which agents may call floop: the user's, and the project's."""
    paths = [user_target(agent, workspace.environ).path for agent in agent_names()]
    if workspace.project:
        for agent in agent_names():
            paths += project_hook_files(agent, workspace.project)
    return [path for path in paths if path.endswith(".json")]


def _hook_commands(path: str) -> Iterator[str]:
    """Yield the command of each hook in the settings file *path*."""
    settings = json_settings(path)
    for event in mapping(settings, "hooks"):
        for group in items(settings, "hooks", event):
            for hook in items(group, "hooks"):
                yield text(hook, "command")
