"""Rules on their way into a rules file: from Markdown, or from floop.

People who stay with CLAUDE.md need none of this: such files are read where they are.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from brim.errors import InputError
from brim.masking import masked
from brim.record import PlainData
from brim.rules.checks import check_for
from brim.rules.file import RulesFile, free_name
from brim.rules.native import KINDS, NativeFile, root_files
from brim.rules.native_reading import read_native
from brim.rules.paragraphs import paragraph_of, split_text
from brim.rules.reading import read_rules
from brim.rules.rule import PROPOSED, WrittenRule
from brim.rules.rulebook import Rulebook, name_for, same_words
from brim.rules.when import Condition


@dataclass(frozen=True)
class ImportedRule(PlainData):
    """A rule that was read elsewhere."""

    name: str
    fields: dict[str, Any]
    """The keys of its paragraph."""
    place: str
    """``user`` or ``project``."""
    origin: str = ""
    """The file that it comes from, with its line."""
    is_known: bool = False
    """Whether a rule of its file says the same."""

    @property
    def paragraph(self) -> str:
        """The rule as it will stand in the file."""
        return paragraph_of(self.name, self.fields)

    @property
    def rule(self) -> WrittenRule:
        """The rule as it will be read."""
        return read_rules(self.paragraph).rules[0]


@dataclass(frozen=True)
class RuleImport(PlainData):
    """What an import would do."""

    rules: tuple[ImportedRule, ...]
    problems: tuple[str, ...]
    secrets: int = 0
    """How many were masked."""

    @property
    def added(self) -> list[ImportedRule]:
        """The rules that aren't there yet."""
        return [rule for rule in self.rules if not rule.is_known]


def read_markdown_files(
    paths: Iterable[str], place: str, project: str | None
) -> list[ImportedRule]:
    """Return the rules of Markdown files: each bullet and each paragraph that says what to do.

    Without *paths* those in the root of *project*. A file keeps its scope: its folder, or the globs
    of its front matter.
    """
    root = project or os.getcwd()
    files = [_file_at(path, root) for path in paths]
    if not files and project is not None:
        files = root_files(project)
    rules: list[ImportedRule] = []
    names: set[str] = set()
    texts: set[str] = set()
    for file in files:
        native = read_native(file, os.path.dirname(file.path) if not file.folder else root)
        if native.problem:
            raise InputError(native.problem)
        for rule in native.rules:
            if same_words(rule.text) in texts:
                continue
            texts.add(same_words(rule.text))
            name = free_name(name_for(rule.text), names)
            names.add(name)
            fields = {
                "text": rule.text,
                "section": rule.section,
                "when": written_condition(rule.when),
                "checks": proposed_state(rule.text),
            }
            origin = f"{os.path.relpath(file.path, root)}, line {rule.line}"
            rules.append(ImportedRule(name, fields, place, origin))
    return rules


def proposed_state(text: str) -> str:
    """Return what an imported rule says about its check: it waits for a person if there is one."""
    if check_for(text) is None:
        return ""
    return PROPOSED


def _file_at(path: str, root: str) -> NativeFile:
    if not os.path.isfile(path):
        raise InputError(f"{path}: no such file")
    real = os.path.realpath(path)
    folder = os.path.relpath(os.path.dirname(real), os.path.realpath(root)).replace(os.sep, "/")
    name = os.path.basename(path)
    is_nested = name in KINDS and folder != "." and not folder.startswith("..")
    return NativeFile(real, name, folder if is_nested else "")


def written_condition(condition: Condition) -> object:
    """Return *condition* as a rules file declares it; empty if there is none."""
    cases: list[object] = []
    for case in condition.cases:
        cases.append({clause.key: list(clause.values) for clause in case})
    if len(cases) == 1:
        return cases[0]
    return cases


def plan_import(
    book: Rulebook, rules: Iterable[ImportedRule], problems: Iterable[str] = ()
) -> RuleImport:
    """Return what becomes of *rules*: those that are there already stay as they are. Secrets are
    masked, names that are taken get a number."""
    texts: dict[str, set[str]] = {}
    names: dict[str, set[str]] = {}
    left_out = list(problems)
    for place, file in book.files:
        read = file.read()
        texts[place] = {same_words(rule.text) for rule in read.rules}
        names[place] = set(read.split.names)
    planned: list[ImportedRule] = []
    secrets = 0
    for rule in rules:
        fields = dict(rule.fields)
        for key in ("text", "summary", "instead_of"):
            if key in fields:
                fields[key], count = masked(fields[key])
                secrets += count
        is_known = same_words(fields["text"]) in texts[rule.place]
        name = rule.name
        if not is_known:
            name = free_name(name, names[rule.place])
            names[rule.place].add(name)
        new = ImportedRule(name, fields, rule.place, rule.origin, is_known)
        mistakes = read_rules(new.paragraph).mistakes
        if mistakes:
            left_out.append(f"{rule.origin}: {mistakes[0].message}")
        else:
            planned.append(new)
    return RuleImport(tuple(planned), tuple(left_out), secrets)


def store_import(book: Rulebook, plan: RuleImport) -> None:
    """Write the rules that *plan* adds; ``InputError`` if one of them has come meanwhile."""
    for place, file in book.files:
        added = [rule for rule in plan.added if rule.place == place]
        if not added:
            continue
        _refuse_taken_names(file, added)
        file.append([rule.paragraph for rule in added])
        book.agree(place, [rule.name for rule in added])


def _refuse_taken_names(file: RulesFile, rules: list[ImportedRule]) -> None:
    names_there = set(split_text(file.content().text).names)
    if not names_there.isdisjoint([rule.name for rule in rules]):
        raise InputError("the rules changed in the meantime; nothing was imported: try again")
