"""``brim rules``: list, explain, remove, restore and allow what was learned."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import partial

from brim.behaviors.behavior import BehaviorKind, Rule, Status
from brim.behaviors.jsonl import as_object
from brim.behaviors.sentences import refused
from brim.cli import RULES
from brim.cli.asking import need_person
from brim.cli.options import add_json, command, here, one_of, option
from brim.cli.output import age, counted, cut, emit, home_path, note, printable
from brim.cli.rule_options import NO_RULES, complete_rule, rule_argument, tell_trust
from brim.cli.rule_views import kind_of
from brim.cli.tables import heading, table
from brim.errors import InputError
from brim.install.rule_files import shared_news
from brim.rules.text import summary_of
from brim.store.backup import restore_lost
from brim.store.rulebook import (
    RuleFilter,
    allow_rule,
    find_rules,
    named,
    remove_rules,
    restore_rules,
)
from brim.store.statistics import RuleOutcome, outcomes
from brim.workspace import DATABASE, Workspace

SORTS: dict[str, Callable[[Rule], float]] = {
    "name": lambda _: 0,
    "used": lambda rule: -rule.usage.count,
    "new": lambda rule: -(rule.created_at or 0),
    "confidence": lambda rule: -rule.confidence,
}
"""What each order goes by; then come name and id."""
NUMBERS = ("told", "held", "obeyed", "overridden")
"""What came of a rule, a column each; the last ones make room first."""
SORTED_BY = {"used": "told", "new": "learned"}
"""The column that an order goes by."""
LONGEST = 300
"""Characters of a text in a list where nothing else limits a line."""
SHORT = 30
"""Characters of what a rule refuses in a list."""
STATUSES = ("live", *(status.value for status in Status), "all")
KINDS = [kind.value for kind in BehaviorKind]


@command(
    option("patterns", nargs="*", metavar="PATTERN", help="what to look for"),
    option("--kind", choices=KINDS, help="only of this kind"),
    option(
        "--tag",
        action="append",
        default=[],
        metavar="TAG",
        help="only with this tag; may be repeated",
    ),
    option(
        "--status",
        choices=STATUSES,
        default="live",
        help="live is active and pending (default: live)",
    ),
    option("--scope", choices=("project", "user"), help="only from there (default: both)"),
    option("--sort", choices=list(SORTS), default="name", help="what comes first (default: name)"),
    add_json,
)
def listing(options: Namespace) -> int:
    """List the rules in force: this project's, and your own.

    For each rule, the columns show how often agents heard it (told), how many calls brim refused
    because of it (held), how many of those the agent gave up (obeyed), and how often it was ignored
    on purpose (overridden).

    A PATTERN is a part of an id, a name, a tag or the text, or a name with * and ?. A rule must
    match all patterns. Exits with 1 if none does. On a terminal, long lines are cut.

      list [PATTERN]       the rules, one line each (the default)
      why [RULE]           what an agent would be told here, and why; or everything about one rule
      edit RULE            change it in your editor
      remove RULE ...      remove rules; nothing is deleted
      restore [RULE ...]   bring them back
      review               decide about corrections that brim noticed, and rules that agents noted
      trust                let agents use this project's rules and settings
      allow RULE --once    let a call through that the rule refuses
      import [FILE]        read rules from CLAUDE.md and the like, or from a .floop folder
      audit                look for contradictions, duplicates and damage

    Examples:
      brim rules
      brim rules pytest --kind constraint
      brim rules list --status forgotten --sort new
    """
    workspace = here()
    wanted = RuleFilter(
        tuple(options.patterns), options.kind, tuple(options.tag), options.status, options.scope
    )
    with workspace.open() as scopes:
        stored = scopes.behaviors()
        outcome_of = outcomes(scopes, stored)
        news = ""
        if not options.as_json:
            news = shared_news(workspace, scopes)
    rules = [rule for rule in stored if wanted.matches(rule)]
    rules.sort(key=lambda rule: (SORTS[options.sort](rule), rule.name.casefold(), rule.id))
    objects = [{**as_object(rule), "outcome": outcome_of[rule.id].to_dict()} for rule in rules]
    view = ""
    if rules:
        view = rule_table(rules, outcome_of, workspace.now, options.sort)
    emit({"behaviors": objects}, view, options.as_json)
    if not rules and not options.as_json:
        _tell_nothing(len(stored), wanted, news)
    if news:
        note(f"{news}: brim rules import")
    return int(wanted.narrows and not rules)


def _tell_nothing(stored: int, wanted: RuleFilter, news: str) -> None:
    """Say why no rule is listed, and what may help."""
    if stored:
        reason = f"nothing is live; {counted(stored, 'rule')} removed or replaced"
        if wanted.narrows:
            reason = f"nothing matches; {counted(stored, 'rule')} in all"
        note(f"{reason}: brim rules list --status all")
    elif not news:
        note(NO_RULES)
    if wanted.patterns:
        for action in get_close_matches(wanted.patterns[0], RULES, 1):
            note(f"did you mean 'brim rules {action}'?")


def rule_table(
    rules: list[Rule], outcome_of: Mapping[str, RuleOutcome], now: float, sort: str
) -> str:
    """Return a line for each of *rules*.

    Where the terminal is narrow, numbers and age make room, unless it is sorted by them.
    """
    columns: dict[str, Callable[[Rule], str]] = {"kind": kind_of}
    if any(rule.status is not Status.ACTIVE for rule in rules):
        columns["status"] = lambda rule: rule.status.value
    if len({rule.scope for rule in rules}) > 1:
        columns["scope"] = lambda rule: rule.scope
    for name in NUMBERS:
        columns[name] = partial(_number, outcome_of, name)
    columns["learned"] = lambda rule: age(rule.created_at, now)
    if any(rule.blocks for rule in rules):
        columns["refuses"] = lambda rule: cut(refused(rule), SHORT)
    columns["text"] = lambda rule: cut(summary_of(rule), LONGEST)
    rows = [list(columns)]
    for rule in rules:
        rows.append([cell(rule) for cell in columns.values()])
    names = list(columns)
    spare = [name for name in ("learned", *NUMBERS[::-1]) if SORTED_BY.get(sort) != name]
    spare += [name for name in ("refuses", "scope") if name in columns]
    right = [names.index(name) for name in NUMBERS]
    return heading(table(rows, right=right, optional=[names.index(name) for name in spare]))


def _number(outcome_of: Mapping[str, RuleOutcome], name: str, rule: Rule) -> str:
    return f"{getattr(outcome_of[rule.id], name):,}"


# Away and back ------------------------------------------------------------------------------------


@command(
    rule_argument("ids", several=True),
    option("--reason", default="", metavar="TEXT", help="why; kept with it"),
    add_json,
)
def remove(options: Namespace) -> int:
    """Remove rules, so that agents no longer hear them.

    Nothing is deleted; 'brim rules restore' brings them back as they were. If you name several and
    one isn't found, none is removed.

    Examples:
      brim rules remove pathlib --reason 'ruff checks it now'
      brim rules remove b-3f2a b-91cc
    """
    need_person("removes rules")
    workspace = here()
    with workspace.open() as scopes, scopes.writing():
        removed, unchanged = remove_rules(
            scopes, find_rules(scopes, options.ids), now=workspace.now, reason=options.reason
        )
    view = [
        f"removed: {named(rule)}; 'brim rules restore {rule.id}' brings it back" for rule in removed
    ]
    view += [f"{named(rule)} was removed already" for rule in unchanged]
    result = {
        "forgotten": [as_object(rule) for rule in removed],
        "unchanged": [rule.id for rule in unchanged],
    }
    return emit(result, "\n".join(view), options.as_json)


@command(rule_argument("ids", several=True, optional=True), add_json)
def restore(options: Namespace) -> int:
    """Bring removed rules back, each as it was.

    An active rule is active again; an agent's note waits for 'brim rules review' again. If you name
    several and one isn't found, none comes back.

    Without RULE, brim brings back the rules that this project's store has lost, as after a pull,
    from the copy that it keeps in your own folder. A store that is damaged is replaced, and kept
    next to the new one.

    Examples:
      brim rules restore pathlib
      brim rules restore b-3f2a b-91cc
      brim rules restore
    """
    workspace = here()
    if not options.ids:
        return _restore_lost(options, workspace)
    with workspace.open() as scopes, scopes.writing():
        restored, unchanged = restore_rules(
            scopes, find_rules(scopes, options.ids), now=workspace.now
        )
    view = [f"back: {named(rule)}, {rule.status}" for rule in restored]
    view += [f"{named(rule)} is not removed: it is {rule.status}" for rule in unchanged]
    result = {
        "unforgotten": [as_object(rule) for rule in restored],
        "unchanged": [rule.id for rule in unchanged],
    }
    emit(result, "\n".join(view), options.as_json)
    for rule in restored:
        if rule.status is Status.SUPERSEDED and not options.as_json:
            note(f"{rule.superseded_by} has taken its place, so agents are still not told it")
    return 0


def _restore_lost(options: Namespace, workspace: Workspace) -> int:
    need_person("brings back rules from a copy")
    if workspace.project is None:
        raise InputError("not in a project: name the rules to bring back: brim rules restore RULE")
    workspace.begin_project()
    store_path = os.path.join(workspace.scope_folders["project"], DATABASE)
    restored = restore_lost(store_path, workspace.home, workspace.open, now=workspace.now)
    view = ""
    if restored.rules:
        view = f"back: {counted(restored.rules, 'rule')} from {home_path(restored.copy)}"
        if restored.kept:
            view += f"; what was there is kept in {home_path(restored.kept)}"
    emit(restored, view, options.as_json, empty="this project's store has lost no rule")
    if restored.rules:
        tell_trust(workspace)
    return 0


@command(
    option(
        "id",
        metavar="RULE",
        help="the rule that refused the call, or 'brim' if brim protected itself",
        completer=complete_rule,
    ),
    one_of(
        option("--once", action="store_true", help="the next such call, within an hour"),
        option(
            "--session",
            nargs="?",
            const="",
            metavar="ID",
            help="a session (default: the one that was refused)",
        ),
    ),
    add_json,
)
def allow(options: Namespace) -> int:
    """Let an agent do what a rule refuses, once or for a session.

    brim shows you this command when it refuses a call. An agent can't run it.

    Examples:
      brim rules allow use-pnpm --once
      brim rules allow use-pnpm --session
    """
    if not options.once and options.session is None:
        raise InputError(f"for how long? brim rules allow {options.id} --once, or --session")
    need_person("allows what a rule refuses")
    workspace = here()
    with workspace.open() as scopes, scopes.writing("user"):
        permission = allow_rule(scopes, options.id, session=options.session, now=workspace.now)
    until = f"in session {permission.session}"
    if options.once:
        until = "the next such call, within an hour"
    view = printable(f"allowed by {permission.name}: {until}")
    return emit(permission, view, options.as_json)
