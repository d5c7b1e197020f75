"""Reading files with rules that agents load on their own, and the shared rules of a project."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache

from brim.behaviors.jsonl import load
from brim.behaviors.markdown import Import, SkippedRule, front_matter, read_note, read_rules
from brim.behaviors.when import When
from brim.errors import BrimError, InputError
from brim.figures import counted
from brim.install.rule_places import (
    examples,
    find_rule_files,
    imported_loaders,
    is_note,
    known_files,
    known_folders,
    known_root_files,
    loaders_of,
    stamp_of,
    user_rule_files,
)
from brim.masking import masked
from brim.store.imports import FoundRule, RulesReader, plan_of
from brim.store.loaded import RuleLoader
from brim.store.scopes import Scopes
from brim.tokens.inputs import read_text
from brim.workspace import Workspace

LARGEST, LARGEST_EXPORT = 2_000_000, 16_000_000
"""Bytes of a file of rules that is written by hand, and of one that brim wrote."""
DEEPEST = 4
"""Files that import each other, one after another."""
SHARED = ".brim/behaviors.jsonl"
"""The file of a project through which its rules are shared."""
GLOBS = ("globs", "paths", "applyTo")
"""Fields of front matter that say for which files the rules are: Cursor's, Claude Code's and
Copilot's."""
_GLOB = re.compile(r"(?!!).*[\w*]")
EVERYTHING = frozenset({"*", "**", "**/*", "*.*", "**/*.*", "/**"})


def shared_news(workspace: Workspace, scopes: Scopes) -> str:
    """Say what in ``.brim/behaviors.jsonl`` isn't stored here, as after a clone or a pull; empty if
    all of it is.

    A rule that was changed here after the file was written isn't news.
    """
    path = os.path.join(workspace.project or "", SHARED)
    if workspace.project is None or not os.path.isfile(path):
        return ""
    try:
        written = os.stat(path).st_mtime
        loaded = load(read_text(path, at_most=LARGEST_EXPORT), path)
    except (BrimError, OSError):
        return f"{SHARED} can't be read"
    rules = [replace(rule, scope="project", summary="") for rule in loaded.behaviors]
    changes = plan_of(scopes, rules, [], source=path, now=workspace.now).changes
    news = 0
    for change in changes:
        if change.old is None or (change.old.updated_at or 0) < written:
            news += 1
    if news:
        verb = "is" if news == 1 else "are"
        return f"{counted(news, 'rule')} in {SHARED} {verb} new or changed"
    if loaded.problems:
        return f"{SHARED} has lines that can't be read"
    return ""


def read_rule_files(workspace: Workspace, paths: list[str], reader: RulesReader) -> RuleSources:
    """Give *reader* the rules in *paths*, and in what they import; return what was read.

    A folder stands for the rule files in it; no path for those of the project, or of the user if
    *reader* is for them.
    """
    sources = RuleSources(workspace)
    unnamed: list[str] = []
    if not paths and reader.scope == "user":
        unnamed = user_rule_files(workspace)
    elif not paths:
        unnamed = find_rule_files(workspace, workspace.project or workspace.cwd)
    for path in dict.fromkeys(paths):
        if os.path.isdir(path):
            unnamed += find_rule_files(workspace, path)
        else:
            sources.add(path)
    for path in unnamed:
        sources.add(path, named=False)
    if not sources.files and not sources.problems:
        raise InputError(
            f"no file with rules is here (such as {', '.join(examples())}): "
            "name one: brim rules import FILE"
        )
    for rule_file in sources.files:
        reader.add(rule_file)
    return sources


@dataclass
class RuleSources:
    """Rule files on their way into a scope, each read once."""

    workspace: Workspace
    files: list[FoundRule] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    """Files that could not be read."""
    secrets: int = 0
    """How many were masked."""

    @property
    def root(self) -> str:
        """The project's folder, else the working folder: what the files' names are relative to."""
        return os.path.realpath(self.workspace.project or self.workspace.cwd or os.sep)

    def add(self, path: str, *, named: bool = True) -> None:
        """Read the file *path* and what it imports; one that a person *named* must be readable."""
        try:
            self._add(path, importers=())
        except InputError as error:
            if named:
                raise
            self.problems.append(str(error))

    def _add(self, path: str, importers: tuple[str, ...]) -> None:
        """Read *path*, or note that it is loaded in another way too if it was read before."""
        imported: tuple[RuleLoader, ...] = ()
        if importers:
            imported = imported_loaders(importers[0], self.workspace)
        number = self._number_of(path)
        if number is None:
            self._read(path, importers, imported)
            return
        rule_file = self.files[number]
        loaders = imported or tuple(loaders_of(path, self.workspace, scoped=bool(rule_file.when)))
        both = tuple(dict.fromkeys((*rule_file.loaders, *loaders)))
        self.files[number] = replace(rule_file, loaders=both)

    def _number_of(self, path: str) -> int | None:
        """Return which of the files *path* is; None if it wasn't read before."""
        real = os.path.realpath(path)
        for number, rule_file in enumerate(self.files):
            if os.path.realpath(rule_file.path) == real:
                return number
        return None

    def _read(
        self, path: str, importers: tuple[str, ...], imported: tuple[RuleLoader, ...]
    ) -> None:
        """Read *path*, and then what it imports; *imported* are the agents that load it so."""
        name = "standard input" if path == "-" else self._name(path)
        content = read_text(path, at_most=LARGEST)
        if _is_json(content):
            raise InputError(
                f"{name}: JSON, not a file with rules: name a Markdown file, or JSON lines (.jsonl)"
            )
        text, secrets = masked(content)
        self.secrets += secrets
        fields = front_matter(text)
        if is_note(path):
            rules = read_note(text, fields, name)
            self.files.append(FoundRule(name, path, rules, stamp=stamp_of(path)))
            return
        when, skipped = when_of(fields, self._folder(path))
        rules = read_rules(text, name)
        loaders = imported or tuple(loaders_of(path, self.workspace, scoped=bool(when)))
        rules = replace(rules, skipped=(*skipped, *rules.skipped))
        about = " ".join(fields.get("description", ()))
        number = len(self.files)
        self.files.append(FoundRule(name, path, rules, when, loaders, about, stamp=stamp_of(path)))
        not_followed = []
        for rule_import in rules.imports:
            why_not = self._follow(rule_import, path, importers)
            if why_not:
                skip = SkippedRule(f"@{rule_import.path}", rule_import.line, why_not)
                not_followed.append(skip)
        rules = replace(rules, skipped=(*rules.skipped, *not_followed))
        self.files[number] = replace(self.files[number], rules=rules)

    def _follow(self, rule_import: Import, importer: str, importers: tuple[str, ...]) -> str:
        """Read the file that *importer* imports, or return why not."""
        real = os.path.realpath(importer)
        folder = os.path.dirname(real)
        path = os.path.normpath(os.path.join(folder, os.path.expanduser(rule_import.path)))
        chain = (*importers, real)
        # Imports must not lead out of the project, or out of the importer's folder.
        base = folder
        if real.startswith(os.path.join(self.root, "")):
            base = self.root
        is_readme = os.path.basename(path).upper().startswith("README")
        if not os.path.isfile(path):
            return "imports a file that is not there"
        if not os.path.realpath(path).startswith(os.path.join(base, "")):
            return "imports a file outside of the project: name it to read it too"
        if not rule_import.alone or is_readme:
            return "only mentions a file: name it to read it too"
        if len(chain) > DEEPEST:
            return "imports too deeply"
        if os.path.realpath(path) not in chain:
            try:
                self._add(path, chain)
            except InputError as error:
                return str(error)
        return ""

    def _name(self, path: str) -> str:
        """Return *path* as it may be written into a file that others read: relative to the project,
        or its name."""
        if self.workspace.project is not None:
            inside = os.path.relpath(os.path.realpath(path), self.root)
            if not inside.startswith(os.pardir):
                return inside.replace(os.sep, "/")
        return os.path.basename(path)

    def _folder(self, path: str) -> str:
        """Return the folder of the project that the file *path* is for, relative to it; empty for
        all of it."""
        inside = os.path.relpath(os.path.realpath(path), self.root).replace(os.sep, "/")
        match = _place_pattern().fullmatch(inside)
        if match is None or inside.startswith(os.pardir):
            return ""
        return match[1] or ""


@cache
def _place_pattern() -> re.Pattern[str]:
    """Return the pattern of a rule file in a project; its group is the folder that it is for."""
    files = [re.escape(name) for name in (*known_files(), *known_root_files())]
    return re.compile(rf"(?:(.+?)/)??(?:{'|'.join(files)}|(?:{'|'.join(known_folders())})/.+)")


def when_of(fields: Mapping[str, list[str]], folder: str) -> tuple[When, list[SkippedRule]]:
    """Return for which files front matter says that the rules are, in *folder*, and what of it brim
    can't follow."""
    globs: list[str] = []
    skipped = []
    for name in GLOBS:
        for glob in fields.get(name, ()):
            if _is_pattern(glob):
                globs.append(glob)
            else:
                why = "not a pattern for files"
                if glob[0] == "!":
                    why = "excludes files, which brim can't"
                skipped.append(SkippedRule(glob, 1, why))
    is_always = "true" in [word.lower() for word in fields.get("alwaysApply", ())]
    if is_always or not EVERYTHING.isdisjoint(globs):
        globs = []
    if folder:
        globs = [f"{folder}/{glob.lstrip('/')}" for glob in globs] or [f"{folder}/**"]
    return When(file=globs), skipped


def _is_pattern(text: str) -> bool:
    """Whether *text* can be a pattern for files: a bracket that isn't closed is torn YAML, and
    would match nothing."""
    for opening, closing in ("[]", "{}"):
        if text.count(opening) != text.count(closing):
            return False
    return bool(_GLOB.match(text)) and ": " not in text


def _is_json(content: str) -> bool:
    """Whether *content* is a JSON object or array, and so not prose."""
    if not content.lstrip().startswith(("{", "[")):
        return False
    with suppress(ValueError, RecursionError):
        json.loads(content)
        return True
    return False
