"""Native files: CLAUDE.md, AGENTS.md and their like, read in place, each with its scope.

An agent that loads a file by itself isn't told its rules again; an agent that doesn't is told them.
A nested file applies in its folder only, and one with globs in its front matter to these files. A
hook never walks through a project: it looks for files in the root, and in the folders above the
paths that a call names.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from brim.errors import InputError
from brim.files import sha256_hex
from brim.record import PlainData
from brim.rules.file import FileContent, read_content
from brim.rules.globs import alternatives
from brim.rules.markdown import front_matter_of, imports_of, read_markdown
from brim.rules.reading import is_invisible
from brim.rules.rule import WrittenRule
from brim.rules.when import ALWAYS, PATH, Clause, Condition, path_pattern

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

_GLOB_FIELDS = ("globs", "paths", "applyTo")
_EVERYTHING = frozenset(("*", "**", "**/*", "*.*", "**/*.*", "/**"))
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
DEEPEST_IMPORT = 4
_LARGEST = 2_000_000
"""Characters of a native file. More isn't instructions."""


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


@dataclass(frozen=True)
class NativeRules(PlainData):
    """What a native file says."""

    file: NativeFile
    rules: tuple[WrittenRule, ...]
    problem: str = ""


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


# Reading files ------------------------------------------------------------------------------------


def read_native(file: NativeFile, project: str) -> NativeRules:
    """Return the rules of a native file, and of what it imports."""
    content = _content(file.path)
    if content.problem:
        return NativeRules(file, (), f"{_inside(file.path, project)} {content.problem}")
    rules: dict[str, WrittenRule] = {}
    for path, text in _with_imports(file.path, content.text, project):
        scope = _scope(file, text) if path == file.path else _folder_scope(file)
        for rule in _rules_in(text, path, project, scope):
            rules.setdefault(rule.name, rule)
    return NativeRules(file, tuple(rules.values()))


def _content(path: str) -> FileContent:
    content = read_content(path, follow_links=True)
    if len(content.text) > _LARGEST:
        return FileContent(problem="is too large to be instructions, so brim doesn't read it")
    return content


def _with_imports(path: str, text: str, project: str) -> Iterator[tuple[str, str]]:
    """Yield the file *path* and the files that it imports, each once."""
    read_paths = {os.path.realpath(path)}
    waiting = [(path, text, 0)]
    while waiting:
        path, text, depth = waiting.pop(0)
        yield path, text
        if depth == DEEPEST_IMPORT:
            continue
        for name in imports_of(text):
            imported = os.path.realpath(os.path.join(os.path.dirname(path), name))
            is_inside = imported.startswith(os.path.realpath(project) + os.sep)
            if not is_inside or imported in read_paths or not os.path.isfile(imported):
                continue
            read_paths.add(imported)
            waiting.append((imported, _content(imported).text, depth + 1))


def _rules_in(text: str, path: str, project: str, scope: Condition) -> Iterator[WrittenRule]:
    for item in read_markdown(text):
        visible = _visible(item.text)
        # An edit elsewhere in the file leaves the name as it is.
        name = f"{_inside(path, project)}:{sha256_hex(visible.encode('utf-8', 'replace'))[:8]}"
        yield WrittenRule(name, visible, scope, section=item.heading, line=item.line)


def _visible(text: str) -> str:
    """Return *text* without characters that a person can't see: they can't be agreed to."""
    return "".join([sign for sign in text if not is_invisible(ord(sign)) or sign == "\u200d"])


def _inside(path: str, project: str) -> str:
    return os.path.relpath(path, project).replace(os.sep, "/")


def _scope(file: NativeFile, text: str) -> Condition:
    """Return when the rules of a file are for: its folder, or the globs of its front matter."""
    globs: list[str] = []
    fields = front_matter_of(text)
    for field in _GLOB_FIELDS:
        globs += fields.get(field, [])
    if fields.get("alwaysApply") == ["true"] or not _EVERYTHING.isdisjoint(globs):
        return _folder_scope(file)
    patterns: list[str] = []
    for glob in globs:
        with suppress(InputError):
            patterns += [path_pattern(pattern) for pattern in alternatives(glob)]
    if not patterns:
        return _folder_scope(file)
    return Condition(((Clause(PATH, tuple(dict.fromkeys(patterns))),),))


def _folder_scope(file: NativeFile) -> Condition:
    if not file.folder:
        return ALWAYS
    return Condition(((Clause(PATH, (f"{file.folder}/**",)),),))
