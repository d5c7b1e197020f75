"""``brim rules import``: move rules from other files into yours."""

from __future__ import annotations

import os
from argparse import Namespace

from brim.cli.asking import add_yes, need_person, says_yes
from brim.cli.options import add_json, command, here, option
from brim.cli.output import counted, emit, home_path, note, paint, printable, say_paged
from brim.cli.rule_options import add_scope, scope_of, tell_trust
from brim.cli.rule_views import paragraph_view
from brim.errors import InputError
from brim.rules.floop import find_floop, read_floop
from brim.rules.imports import (
    ImportedRule,
    RuleImport,
    plan_import,
    read_markdown_files,
    store_import,
)
from brim.rules.outlook import moment_words
from brim.rules.rulebook import RuleEntry
from brim.rules.source import PROJECT
from brim.workspace import Workspace

_OTHER_FORMATS = (".json", ".jsonl", ".toml", ".yaml", ".yml")
"""Endings of files that would become one long rule."""


@command(
    option("files", nargs="*", metavar="FILE", help="a Markdown file, or a .floop folder"),
    add_scope,
    add_yes,
    add_json,
)
def import_(options: Namespace) -> int:
    """Move rules from Markdown or from floop into your rules file.

    You don't need this to keep CLAUDE.md, AGENTS.md and the like: your agent reads them, and brim
    tells them to agents that don't. Import if you want brim to keep the rules instead, and then
    take them out of the other file.

    Each bullet of a Markdown file is a rule, and so is each paragraph that says what to do. A file
    for some folder or some files keeps that as the rule's 'when'. Without FILE, brim reads the
    project's own. From floop come rules, their conditions and edges; brim lists what it can't bring
    over. brim shows each rule, when it will be told, and asks.

    Exits with 1 if you say no.

    Examples:
      brim rules import CLAUDE.md
      brim rules import ~/.floop --dry-run
    """
    if not options.dry_run:
        need_person("imports rules")
    workspace = here()
    plan = _plan(options, workspace)
    if not options.as_json:
        say_paged(_plan_view(plan))
        note(*plan.problems)
    is_stored = False
    if plan.added and not options.dry_run:
        is_stored = says_yes("Write this?", yes=options.yes)
    if is_stored:
        if any(rule.place == PROJECT for rule in plan.added):
            workspace.begin_project()
        store_import(workspace.rulebook, plan)
        workspace.rulebook.open_index().close()
    view = ""
    if is_stored:
        view = f"Wrote {counted(len(plan.added), 'rule')}."
    result = {
        "added": [_rule_object(rule) for rule in plan.added],
        "known": [rule.name for rule in plan.rules if rule.is_known],
        "problems": list(plan.problems),
        "stored": is_stored,
    }
    emit(result, view, options.as_json)
    if plan.secrets:
        note(f"{counted(plan.secrets, 'secret')} masked: others may read your rules")
    if is_stored:
        tell_trust(workspace)
    return int(bool(plan.added) and not is_stored and not options.dry_run)


def _plan(options: Namespace, workspace: Workspace) -> RuleImport:
    """Return what the files that the options name would bring."""
    book = workspace.rulebook
    if len(options.files) == 1 and os.path.isdir(options.files[0]):
        folder = find_floop(options.files[0])
        if folder:
            floop = read_floop(folder, workspace.project)
            return plan_import(book, floop.rules, floop.problems)
    for path in options.files:
        if path.lower().endswith(_OTHER_FORMATS):
            raise InputError(f"{path}: not Markdown; name a Markdown file or a .floop folder")
    place = scope_of(options, workspace)
    rules = read_markdown_files(options.files, place, workspace.project)
    return plan_import(book, rules)


def _plan_view(plan: RuleImport) -> str:
    stored_texts = len(plan.rules) - len(plan.added)
    title = f"{counted(len(plan.added), 'new rule')}"
    if stored_texts:
        title += f", {stored_texts:,} known"
    return "\n\n".join([title, *[_rule_view(rule) for rule in plan.added]]) + "\n"


def _rule_view(rule: ImportedRule) -> str:
    origin = paint(printable(f"{home_path(rule.origin)} → {rule.place}"), "faint")
    return f"{origin}\n{paragraph_view(rule.paragraph)}\n  {printable(_moment(rule))}"


def _moment(rule: ImportedRule) -> str:
    entry = RuleEntry(rule.rule, rule.place, "")
    if entry.condition:
        return f"told at the start while all rules fit, else {moment_words(entry.condition)}"
    return "told at the start of every session"


def _rule_object(rule: ImportedRule) -> dict[str, object]:
    return {**rule.fields, "name": rule.name, "place": rule.place, "told": _moment(rule)}
