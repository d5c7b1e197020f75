"""Files with rules that agents read on their own: where they are, when they count, and which agent
loads which.

All of it was tried with the real agents. Claude Code loads its files from the working folder
upwards; AGENTS.md only if no CLAUDE.md stands next to it; what a file imports only if the session
began in that file's folder. Codex loads AGENTS.md from git's top level down, without imports, 32
KiB at most. Gemini CLI loads GEMINI.md with its imports. All three have these files in their window
again after a compaction. Claude Code's ``InstructionsLoaded`` names them too, but only while a hook
at the session's start already answers, and with a process for each file: brim doesn't use it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from brim.agents.fields import items, mapping, text, value
from brim.behaviors.floop import floop_folder
from brim.behaviors.jsonl import load
from brim.behaviors.markdown import Import, SkippedRule, front_matter, read_note, read_rules
from brim.behaviors.when import When
from brim.config.places import home_folder
from brim.errors import BrimError, InputError
from brim.figures import counted
from brim.install.agents import settings_of, user_target
from brim.masking import masked
from brim.store.imports import FoundRule, RulesReader, plan_of
from brim.store.loaded import RuleLoader
from brim.store.scopes import Scopes
from brim.tokens.inputs import SKIPPED_FOLDERS, read_text
from brim.tracking.sessions import slug_of
from brim.workspace import Workspace

LARGEST, LARGEST_EXPORT = 2_000_000, 16_000_000
"""Bytes of a file of rules that is written by hand, and of one that brim wrote."""
MOST_FOLDERS = 5_000
"""Folders of a project that are looked into for files of their own."""
DEEPEST = 4
"""Files that import each other, one after another."""
CODEX_BYTES = 32_768
"""Codex cuts what it loads off here."""

SHARED = ".brim/behaviors.jsonl"
"""The file of a project through which its rules are shared."""
CLAUDE, LOCAL, AGENTS, OVERRIDE = "CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "AGENTS.override.md"
ANYWHERE = (CLAUDE, LOCAL, AGENTS, OVERRIDE, "GEMINI.md")
"""Files that count in their folder and below."""
IN_ROOT = (f".claude/{CLAUDE}", ".cursorrules", ".github/copilot-instructions.md")
FOLDERS = {
    ".claude/rules": ".md",
    ".cursor/rules": ".mdc",
    ".github/instructions": ".instructions.md",
}
"""Folders of rule files, and how these end."""
NOT_THEIRS = SKIPPED_FOLDERS | {
    "vendor",
    "third_party",
    "site-packages",
    "venv",
    "dist",
    "build",
    "target",
}
GLOBS = ("globs", "paths", "applyTo")
"""Fields of front matter that say for which files the rules are: Cursor's, Claude Code's and
Copilot's."""
_PLACE = re.compile(
    rf"(?:(.+?)/)??(?:{'|'.join(map(re.escape, (*ANYWHERE, *IN_ROOT)))}|(?:{'|'.join(FOLDERS)})/.+)"
)
_FLOOP = re.compile(r"(?:^|[\s/\"'])floop(?:[\s\"']|$|-[a-z-]+\.sh)")
"""How a command calls floop, or a script of its."""
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
        written, loaded = (
            os.stat(path).st_mtime,
            load(read_text(path, at_most=LARGEST_EXPORT), path),
        )
    except (BrimError, OSError):
        return f"{SHARED} can't be read"
    rules = [replace(each, scope="project", summary="") for each in loaded.behaviors]
    changes = plan_of(scopes, rules, [], source=path, now=workspace.now).changes
    news = sum(each.old is None or (each.old.updated_at or 0) < written for each in changes)
    if news:
        return f"{counted(news, 'rule')} in {SHARED} {'is' if news == 1 else 'are'} new or changed"
    return f"{SHARED} has lines that can't be read" if loaded.problems else ""


def read_rule_files(workspace: Workspace, paths: list[str], reader: RulesReader) -> RuleSources:
    """Give *reader* the rules in *paths*, and in what they import; return what was read.

    A folder stands for the rule files in it; no path for those of the project, or of the user if
    *reader* is for them.
    """
    sources = RuleSources(workspace)
    found: list[str] = []
    if not paths:
        is_user = reader.scope == "user"
        here = workspace.project or workspace.cwd
        found = user_rule_files(workspace) if is_user else find_rule_files(workspace, here)
    for path in dict.fromkeys(paths):
        if os.path.isdir(path):
            found += find_rule_files(workspace, path)
        else:
            sources.add(path)
    for path in found:
        sources.add(path, named=False)
    if not sources.found and not sources.problems:
        known = ", ".join((*ANYWHERE[:1], AGENTS, "GEMINI.md", *FOLDERS))
        raise InputError(
            f"no file with rules is here (such as {known}): name one: brim rules import FILE"
        )
    for each in sources.found:
        reader.add(each)
    return sources


@dataclass
class RuleSources:
    """Rule files on their way into a scope, each read once."""

    workspace: Workspace
    found: list[FoundRule] = field(default_factory=list)
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
        real = os.path.realpath(path)
        loaders: tuple[RuleLoader, ...] = ()
        if importers:  # who loads the first one loads this one too, except Codex
            first = loaders_of(importers[0], self.workspace, scoped=False)
            loaders = tuple(
                replace(each, exact=bool(each.folder)) for each in first if each.agent != "codex"
            )
        known = next(
            (at for at, each in enumerate(self.found) if os.path.realpath(each.path) == real), None
        )
        if known is None:
            self._read(path, importers, loaders)
            return
        more = loaders or tuple(
            loaders_of(path, self.workspace, scoped=bool(self.found[known].when))
        )
        both = tuple(dict.fromkeys((*self.found[known].loaders, *more)))
        self.found[known] = replace(self.found[known], loaders=both)

    def _read(
        self, path: str, importers: tuple[str, ...], imported: tuple[RuleLoader, ...]
    ) -> None:
        name = "standard input" if path == "-" else self._name(path)
        content = read_text(path, at_most=LARGEST)
        if _is_json(content):
            raise InputError(
                f"{name}: JSON, not a file with rules: name a Markdown file, or JSON lines (.jsonl)"
            )
        text, secrets = masked(content)
        self.secrets += secrets
        fields = front_matter(text)
        if _is_memory(path):
            self.found.append(
                FoundRule(name, path, read_note(text, fields, name), stamp=stamp_of(path))
            )
            return
        when, skipped = when_of(fields, self._folder(path))
        rules = read_rules(text, name)
        loaders = imported or tuple(loaders_of(path, self.workspace, scoped=bool(when)))
        rules = replace(rules, skipped=(*skipped, *rules.skipped))
        about = " ".join(fields.get("description", ()))
        at = len(self.found)
        self.found.append(FoundRule(name, path, rules, when, loaders, about, stamp=stamp_of(path)))
        left = [self._follow(each, path, importers) for each in rules.imports]
        rules = replace(rules, skipped=(*rules.skipped, *filter(None, left)))
        self.found[at] = replace(self.found[at], rules=rules)

    def _follow(
        self, found: Import, importer: str, importers: tuple[str, ...]
    ) -> SkippedRule | None:
        """Read the file that *importer* imports, or return why not."""
        folder = os.path.dirname(os.path.realpath(importer))
        path = os.path.normpath(os.path.join(folder, os.path.expanduser(found.path)))
        chain = (*importers, os.path.realpath(importer))
        real = os.path.realpath(
            importer
        )  # imports must not lead out of the project, or out of the importer's folder
        base = self.root if real.startswith(os.path.join(self.root, "")) else os.path.dirname(real)
        inside = os.path.realpath(path).startswith(os.path.join(base, ""))
        why = ""
        if not os.path.isfile(path):
            why = "imports a file that is not there"
        elif not inside:
            why = "imports a file outside of the project: name it to read it too"
        elif not found.alone or os.path.basename(path).upper().startswith("README"):
            why = "only mentions a file: name it to read it too"
        elif len(chain) > DEEPEST:
            why = "imports too deeply"
        elif os.path.realpath(path) not in chain:
            try:
                self._add(path, chain)
            except InputError as error:
                why = str(error)
        return SkippedRule(f"@{found.path}", found.line, why) if why else None

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
        found = _PLACE.fullmatch(inside)
        return found[1] or "" if found and not inside.startswith(os.pardir) else ""


def stamp_of(path: str) -> tuple[int, int]:
    """Return by what the file *path* is known again: when it was changed, and its size."""
    try:
        found = os.stat(path)
    except OSError:
        return (0, 0)
    return (found.st_mtime_ns, found.st_size)


def when_of(fields: Mapping[str, list[str]], folder: str) -> tuple[When, list[SkippedRule]]:
    """Return for which files front matter says that the rules are, in *folder*, and what of it brim
    can't follow."""
    globs = [each for name in GLOBS for each in fields.get(name, ())]
    skipped = [
        SkippedRule(
            each,
            1,
            "excludes files, which brim can't" if each[0] == "!" else "not a pattern for files",
        )
        for each in globs
        if not _is_pattern(each)
    ]
    kept = [each for each in globs if _is_pattern(each)]
    if "true" in [
        each.lower() for each in fields.get("alwaysApply", ())
    ] or not EVERYTHING.isdisjoint(kept):
        kept = []
    if folder:
        kept = [f"{folder}/{each.lstrip('/')}" for each in kept] or [f"{folder}/**"]
    return When(file=kept), skipped


def _is_pattern(text: str) -> bool:
    """Whether *text* can be a pattern for files: a bracket that isn't closed is torn YAML, and
    would match nothing."""
    is_closed = all(text.count(left) == text.count(right) for left, right in ("[]", "{}"))
    return bool(_GLOB.match(text)) and is_closed and ": " not in text


def loaders_of(path: str, workspace: Workspace, *, scoped: bool) -> Iterator[RuleLoader]:
    """Yield the agents that load the file *path* at the start; none if it is *scoped* to some
    files."""
    if scoped or _is_memory(path):
        return
    path = os.path.join(
        os.path.realpath(os.path.dirname(os.path.abspath(path))), os.path.basename(path)
    )
    environ, root = (
        workspace.environ,
        os.path.realpath(workspace.project or workspace.cwd or os.sep),
    )
    for agent in ("claude", "codex", "gemini"):
        own = os.path.realpath(os.path.dirname(user_target(agent, environ).path))
        for folder, base in (("", own), (root, root)):
            name = os.path.relpath(path, base).replace(os.sep, "/")
            unless = _unless(agent, name, workspace)
            if unless is not None and not (agent == "codex" and stamp_of(path)[1] > CODEX_BYTES):
                exact = (
                    bool(folder)
                    and agent != "claude"
                    and not os.path.exists(os.path.join(root, ".git"))
                )
                yield RuleLoader(
                    agent, folder, exact, tuple(os.path.join(base, each) for each in unless)
                )
                break


def _unless(agent: str, name: str, workspace: Workspace) -> tuple[str, ...] | None:
    """Return the files that keep *agent* from loading the file *name* of its folder; None if it
    never does."""
    others = (CLAUDE, f".claude/{CLAUDE}", LOCAL)
    if agent == "claude":
        excluded = value(
            settings_of(user_target("claude", workspace.environ).path), "claudeMdExcludes"
        )
        is_rule = name.endswith(".md") and name.startswith((".claude/rules/", "rules/"))
        return (
            None
            if excluded
            else others
            if name == AGENTS
            else ()
            if name in others or is_rule
            else None
        )
    if agent == "codex":
        return (OVERRIDE,) if name == AGENTS else () if name == OVERRIDE else None
    return () if name in gemini_names(workspace) else None


def gemini_names(workspace: Workspace) -> list[str]:
    """Return what Gemini CLI's files are called here."""
    places = [user_target("gemini", workspace.environ).path]
    if workspace.project:
        places.append(os.path.join(workspace.project, ".gemini", "settings.json"))
    found = ["GEMINI.md"]
    for path in places:
        names = value(settings_of(path), "context", "fileName")
        found += [
            each
            for each in (names if isinstance(names, list) else [names])
            if isinstance(each, str)
        ]
    return found


# Where they are -----------------------------------------------------------------------------------


def find_rule_files(workspace: Workspace, folder: str) -> list[str]:
    """Return the rule files in *folder* and below, with Claude Code's notes on corrections
    there."""
    found = []
    for number, (place, folders, files) in enumerate(os.walk(folder)):
        found += [os.path.join(place, name) for name in ANYWHERE if name in files]
        found += [path for each in IN_ROOT if os.path.isfile(path := os.path.join(place, each))]
        for inner, ending in FOLDERS.items():
            found += _files_in(os.path.join(place, *inner.split("/")), ending)
        folders[:] = sorted(
            each
            for each in folders
            if each not in NOT_THEIRS
            and each[0] != "."
            and not os.path.lexists(os.path.join(place, each, ".git"))
        )
        if number >= MOST_FOLDERS:
            break
    return found + _files_in(memory_folder(workspace, folder), ".md")


def user_rule_files(workspace: Workspace) -> list[str]:
    """Return the rule files that agents load in every project."""
    agents = ("claude", "codex", "gemini")
    claude, codex, gemini = (
        os.path.dirname(user_target(agent, workspace.environ).path) for agent in agents
    )
    named = [os.path.join(claude, CLAUDE), os.path.join(codex, AGENTS)]
    named += [os.path.join(gemini, name) for name in gemini_names(workspace)]
    return [path for path in named if os.path.isfile(path)] + _files_in(
        os.path.join(claude, "rules"), ".md"
    )


def memory_folder(workspace: Workspace, project: str) -> str:
    """Return the folder in which Claude Code keeps its own notes about *project*."""
    own = os.path.dirname(user_target("claude", workspace.environ).path)
    return os.path.join(own, "projects", slug_of(os.path.realpath(project)), "memory")


def _is_memory(path: str) -> bool:
    return (
        os.path.basename(os.path.dirname(os.path.abspath(path))) == "memory"
        and f"{os.sep}projects{os.sep}" in path
    )


def _files_in(folder: str, ending: str) -> list[str]:
    """Return the files in *folder* and below that end in *ending*."""
    return sorted(
        os.path.join(place, name)
        for place, _, names in os.walk(folder)
        for name in names
        if name.endswith(ending)
    )


# floop --------------------------------------------------------------------------------------------


def floop_traces(workspace: Workspace) -> list[tuple[str, str]]:
    """Return where floop is still in use, each place with what to do: folders not yet imported, and
    its hooks."""
    home = home_folder(workspace.environ)
    folders = [os.path.join(folder, ".floop") for folder in (workspace.project, home) if folder]
    found = [folder for folder in dict.fromkeys(folders) if floop_folder(folder)]
    if found:
        with suppress(BrimError), workspace.open(create=False) as scopes:
            if any(rule.provenance.source == "floop" for rule in scopes.behaviors()):
                found = []
    traces = [
        (folder, f"floop's rules aren't imported yet: brim rules import {folder}")
        for folder in found
    ]
    places = [user_target("claude", workspace.environ).path]
    for name in ("settings.json", "settings.local.json") if workspace.project else ():
        places.append(os.path.join(workspace.project or "", ".claude", name))
    for path in places:
        settings = settings_of(path)
        commands = [
            text(hook, "command")
            for event in mapping(settings, "hooks")
            for group in items(settings, "hooks", event)
            for hook in items(group, "hooks")
        ]
        if any(_FLOOP.search(command) for command in commands):
            traces.append(
                (path, "has floop's hooks too, so agents are told rules twice: take them out of it")
            )
    return traces


def _is_json(content: str) -> bool:
    """Whether *content* is a JSON object or array, and so not prose."""
    if not content.lstrip().startswith(("{", "[")):
        return False
    with suppress(ValueError, RecursionError):
        json.loads(content)
        return True
    return False
