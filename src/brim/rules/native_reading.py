"""Reads native files, such as CLAUDE.md: their rules, each with its scope."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from brim.errors import InputError
from brim.files import sha256_hex
from brim.record import PlainData
from brim.rules.file import FileContent, read_content
from brim.rules.globs import alternatives
from brim.rules.markdown import front_matter_of, imports_of, read_markdown
from brim.rules.native import NativeFile
from brim.rules.reading import is_invisible
from brim.rules.rule import WrittenRule
from brim.rules.when import ALWAYS, PATH, Clause, Condition, path_pattern

_GLOB_FIELDS = ("globs", "paths", "applyTo")
_EVERYTHING = frozenset(("*", "**", "**/*", "*.*", "**/*.*", "/**"))
DEEPEST_IMPORT = 4
_LARGEST = 2_000_000
"""Characters of a native file. More isn't instructions."""


@dataclass(frozen=True)
class NativeRules(PlainData):
    """What a native file says."""

    file: NativeFile
    rules: tuple[WrittenRule, ...]
    problem: str = ""


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
