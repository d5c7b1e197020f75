"""Native files: CLAUDE.md, AGENTS.md and their like, read in place, each with its scope.

An agent that loads a file by itself isn't told its rules again; an agent that doesn't is told them.
A nested file applies in its folder only, and one with globs in its front matter to these files. A
hook never walks through a project: it looks for files in the root, and in the folders above the
paths that a call names. ``native_reading`` reads them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from brim.record import PlainData

CLAUDE = "CLAUDE.md"
CLAUDE_LOCAL = "CLAUDE.local.md"
CLAUDE_INNER = ".claude/CLAUDE.md"
AGENTS = "AGENTS.md"
AGENTS_OVERRIDE = "AGENTS.override.md"
GEMINI = "GEMINI.md"
QWEN = "QWEN.md"
CURSOR_FILE = ".cursorrules"
COPILOT = ".github/copilot-instructions.md"
CLAUDE_RULES = ".claude/rules"
CURSOR_RULES = ".cursor/rules"
COPILOT_RULES = ".github/instructions"

IN_FOLDERS = (CLAUDE, CLAUDE_LOCAL, AGENTS, AGENTS_OVERRIDE, GEMINI, QWEN)
"""Files that apply in their folder and below."""
IN_ROOT = ((CURSOR_FILE, CURSOR_FILE), (COPILOT, COPILOT), (CLAUDE_INNER, CLAUDE_INNER))
"""Other files of the root, and the kind that each is of."""
RULE_FOLDERS = {
    CLAUDE_RULES: ".md",
    CURSOR_RULES: ".mdc",
    COPILOT_RULES: ".instructions.md",
}
"""Folders of the root with a file for each subject, and how these end."""
KINDS = (*IN_FOLDERS, CURSOR_FILE, COPILOT, CLAUDE_INNER, *RULE_FOLDERS)

_SKIPPED = frozenset(
    (
        "node_modules",
        "__pycache__",
        "vendor",
        "third_party",
        "site-packages",
        "venv",
        "dist",
        "build",
        "target",
    )
)
MOST_FOLDERS = 5_000
"""Folders that are looked into when all of a project is."""
MOST_FILES = 200
"""Files in one folder of rules."""


class LoadsFiles(Protocol):
    """An agent at work, as far as native files care."""

    def loads(self, path: str, kind: str, folder: str, /) -> bool:
        """Whether it loads a file of this kind (one of ``KINDS``) by itself."""


@dataclass(frozen=True)
class NativeFile(PlainData):
    """A file that agents read on their own."""

    path: str
    kind: str
    folder: str = ""
    """The folder in the project that it applies to; empty for all of it."""

    def is_loaded_by(self, agent: LoadsFiles) -> bool:
        """Whether *agent* loads it by itself."""
        return agent.loads(self.path, self.kind, self.folder)


# Finding files ------------------------------------------------------------------------------------


def root_files(project: str) -> list[NativeFile]:
    """Return the native files in the root of *project*."""
    files = [NativeFile(os.path.join(project, name), name) for name in IN_FOLDERS]
    files += [NativeFile(os.path.join(project, path), kind) for path, kind in IN_ROOT]
    for folder, ending in RULE_FOLDERS.items():
        for path in _files_below(os.path.join(project, folder), ending):
            files.append(NativeFile(path, folder))
    return _existing(files, project)


def nested_files(project: str, paths: Iterable[str]) -> list[NativeFile]:
    """Return the native files in the folders of *project* that lead to *paths*, the root not
    included."""
    folders: list[str] = []
    for path in paths:
        full_path = os.path.normpath(os.path.join(project, path))
        inside = os.path.relpath(os.path.dirname(full_path), project)
        parts = inside.split(os.sep)
        if inside == "." or parts[0] == ".." or os.path.isabs(inside):
            continue
        folders += ["/".join(parts[:depth]) for depth in range(1, len(parts) + 1)]
    files: list[NativeFile] = []
    for folder in dict.fromkeys(folders):
        files += _in_folder(project, folder)
    return _existing(files, project)


def all_files(project: str) -> list[NativeFile]:
    """Return every native file of *project*, for people. Hooks don't call this."""
    files = root_files(project)
    for number, (folder, subfolders, _) in enumerate(os.walk(project)):
        subfolders[:] = sorted([name for name in subfolders if _is_looked_into(folder, name)])
        if number >= MOST_FOLDERS:
            break
        inside = os.path.relpath(folder, project).replace(os.sep, "/")
        if inside != ".":
            files += _existing(_in_folder(project, inside), project)
    return files


def _is_looked_into(folder: str, name: str) -> bool:
    is_hidden = name.startswith(".") or name in _SKIPPED
    return not is_hidden and not os.path.lexists(os.path.join(folder, name, ".git"))


def _in_folder(project: str, folder: str) -> list[NativeFile]:
    return [NativeFile(os.path.join(project, folder, name), name, folder) for name in IN_FOLDERS]


def _existing(files: Iterable[NativeFile], project: str) -> list[NativeFile]:
    """Return those of *files* that are there, inside of *project*.

    CLAUDE.md is often a link to AGENTS.md. Both stay: an agent that loads one has read the other.
    """
    top = os.path.realpath(project) + os.sep
    existing = []
    for file in files:
        if os.path.isfile(file.path) and os.path.realpath(file.path).startswith(top):
            existing.append(file)
    return existing


def _files_below(folder: str, ending: str) -> list[str]:
    paths: list[str] = []
    for inner, subfolders, names in os.walk(folder):
        subfolders.sort()
        paths += [os.path.join(inner, name) for name in sorted(names) if name.endswith(ending)]
        if len(paths) > MOST_FILES:
            break
    return paths[:MOST_FILES]
