"""Where rules come from: the user's file, a project's file, a native file."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property

from brim.record import PlainData
from brim.rules.accepted import (
    AcceptedRules,
    RulesDecision,
    decide_own,
    decide_project,
    write_removed,
)
from brim.rules.file import NAME, FileContent, read_content
from brim.rules.native import LoadsFiles, NativeFile, nested_files, read_native, root_files
from brim.rules.paragraphs import split_text
from brim.rules.rule import WrittenRule

USER = "user"
PROJECT = "project"
NATIVE = "native"


@dataclass(frozen=True)
class SourceState(PlainData):
    """What a source says now."""

    rules: tuple[WrittenRule, ...]
    waiting: int = 0
    """Rules that wait for the person's consent."""
    news: tuple[str, ...] = ()


@dataclass(frozen=True)
class RuleSource(PlainData):
    """One file of rules, and how to decide which of them apply."""

    kind: str
    path: str
    home: str
    project: str | None = None
    native: NativeFile | None = None

    @cached_property
    def accepted(self) -> AcceptedRules:
        """What the user has accepted of it."""
        return AcceptedRules(self.home, self.project if self.kind == PROJECT else None)

    @property
    def is_project(self) -> bool:
        """Whether it's the project's own file."""
        return self.kind == PROJECT

    @property
    def place(self) -> str:
        """What names it among the places of rules: a project is the same in all its worktrees."""
        if self.kind != PROJECT:
            return self.kind
        return os.path.basename(self.accepted.folder)

    @property
    def watched(self) -> tuple[str, ...]:
        """The files whose changes change its rules."""
        if self.kind == PROJECT:
            return (self.path, self.accepted.path, self.accepted.digests_path)
        return (self.path,)

    def content(self) -> FileContent:
        """Return the text of the file, or why it can't be used."""
        return read_content(self.path, follow_links=self.kind != PROJECT)

    def estimated_count(self) -> int:
        """Return about how many rules it has, without reading each."""
        content = self.content()
        if content.problem and self.native is None:
            content = read_content(self.accepted.path)
        return len(re.findall(r"^[ \t]*[\[-]", content.text, re.MULTILINE))

    def read(self) -> SourceState:
        """Return the rules that apply; what the user's own file lost is kept."""
        if self.native is not None:
            rules = read_native(self.native, self.project or os.path.dirname(self.path))
            news = (rules.problem,) if rules.problem else ()
            return SourceState(rules.rules, news=news)
        return self._state(self._decision(self.content()))

    def read_blocks(self) -> SourceState:
        """Return only the rules that block something, quickly."""
        if self.native is not None:
            return SourceState(())
        content = self.content()
        if content.problem:
            return self._state(self._decision(content))
        blocking = []
        for paragraph in split_text(content.text).paragraphs:
            if "block" in paragraph.text:
                blocking.append(paragraph.text)
        # The other rules are missing from this text, so nothing is concluded from that.
        decision = self._decision(FileContent("".join(blocking)), is_whole=False)
        rules = [rule for rule in decision.rules if rule.block and not rule.off]
        return SourceState(tuple(rules))

    def _decision(self, content: FileContent, *, is_whole: bool = True) -> RulesDecision:
        name = _name_for_people(self.path)
        if self.kind == PROJECT:
            return decide_project(content, name, self.accepted.load())
        decision = decide_own(content, name, self.accepted.load())
        if is_whole:
            self._keep(decision)
        return decision

    def _keep(self, decision: RulesDecision) -> None:
        """Keep the last good copy of the user's own file, and what vanished from it."""
        try:
            if decision.vanished:
                write_removed(self.home, decision.vanished, time.strftime("%Y-%m-%d"))
            if decision.good_text:
                self.accepted.keep_copy(decision.good_text)
        except OSError:
            return  # a full or read-only disk: the rules apply without a copy

    def _state(self, decision: RulesDecision) -> SourceState:
        rules = [rule for rule in decision.rules if not rule.off]
        return SourceState(tuple(rules), len(decision.proposals), decision.news)


def _name_for_people(path: str) -> str:
    home = os.path.expanduser("~")
    if path.startswith(home + os.sep):
        return f"~{path[len(home) :]}"
    return path


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
    if not shared.accepted.exists:
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
