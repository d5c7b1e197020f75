"""``brim rules import``: rules from files."""

from __future__ import annotations

import os
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from brim.behaviors.floop import floop_folder
from brim.behaviors.jsonl import LineProblem, as_object, edge_object, load
from brim.cli.asking import add_yes, need_person, says_yes
from brim.cli.options import add_json, command, here, option
from brim.cli.output import (
    block,
    counted,
    cut,
    emit,
    lines,
    note,
    paint,
    printable,
    say_paged,
    symbols,
)
from brim.cli.progress import Progress
from brim.cli.rule_options import add_scope, scope_of, tell_trust
from brim.cli.rule_views import kind_of, whole
from brim.cli.tables import heading, listed, table
from brim.errors import InputError
from brim.install.rule_files import read_rule_files
from brim.store.floop import FloopRules, read_floop_rules
from brim.store.imports import (
    EdgeChange,
    ImportOutcome,
    Plan,
    RuleChange,
    RulesReader,
    plan_of,
)
from brim.store.scopes import Scopes
from brim.tokens.inputs import read_text
from brim.workspace import Workspace, working_folder

PROGRESS_FROM = 500
"""Rules from which a bar is shown: each takes about a millisecond, most of it to count its
lines."""
WIDTH = 100
"""Columns of a text."""
COLOURS = {"added": "green", "known": "faint", "left out": "faint"}


@command(
    option("files", nargs="*", metavar="FILE", help="what to read, or - for standard input"),
    add_scope,
    add_yes,
    add_json,
)
def import_(options: Namespace) -> int:
    """Read rules from files, show what is new, ask, and store it.

    FILE is a Markdown file with rules (CLAUDE.md, AGENTS.md, .cursorrules), a folder of them, a
    .floop folder, or a file with one rule per line in JSON (.jsonl). Without FILE, brim reads the
    project's .brim/behaviors.jsonl or, if there is none, its CLAUDE.md, AGENTS.md and the like;
    with --user, those that your agents load everywhere. Your stored rules stay.

    In Markdown, each bullet is a rule, with its sub-bullets, and with the line above if that
    changes its meaning; so is a paragraph that says what to do. Rules for some files only
    ('globs:', 'paths:', 'applyTo:', a folder's own CLAUDE.md) stay so. Of Claude Code's own notes,
    corrections are read. Known and removed rules stay as they are.

    From floop come rules, their conditions and connections. brim lists what it couldn't bring over
    unchanged. Ids and counters are kept.

    Exits with 1 if you say no, or if a line was left out.

    Examples:
      brim rules import
      brim rules import CLAUDE.md AGENTS.md
      brim rules import ~/.floop --dry-run
    """
    first = ""
    if options.files:
        first = options.files[0]
    if os.path.isdir(first):
        floop = floop_folder(first)
        if floop:
            return _import_floop(options, floop)
    if not _is_export(first, options):
        return _import_rules(options)
    if len(options.files) > 1:
        raise InputError("one .jsonl file at a time: brim rules import FILE")
    return _import_lines(options, first)


def _is_export(first: str, options: Namespace) -> bool:
    """Whether rules are read from a file with one rule per line."""
    if first:
        return first == "-" or first.endswith(".jsonl")
    workspace = here()
    if workspace.project is None or scope_of(options, workspace) != "project":
        return False
    return os.path.lexists(_usual_file(workspace.project))


def _usual_file(project: str) -> str:
    """Return the file that the rules of *project* are committed as.

    It's relative to this folder if that is shorter.
    """
    path = os.path.join(project, ".brim", "behaviors.jsonl")
    folder = working_folder()
    if folder is None:
        return path
    return min(path, os.path.relpath(path, os.path.realpath(folder)), key=len)


@dataclass(frozen=True)
class _Import:
    """One import: how its plan is made, shown and described."""

    make: Callable[[Scopes], Plan]
    show: Callable[[Plan], None]
    describe: Callable[[Plan], dict[str, Any]]
    """Returns the plan for ``--json``."""
    nothing: Callable[[], str]
    """Says that there is nothing to store, once the plan is made."""
    source: str
    event: str = "imported"


def _import_lines(options: Namespace, file: str) -> int:
    workspace = here()
    scope = scope_of(options, workspace)
    path = file or _usual_file(workspace.project or "")
    source = path
    name = os.path.basename(path)
    if path == "-":
        source = "standard input"
        name = ""
    loaded = load(read_text(path), source)
    # Summaries are made again: an agent must not be told another text than the one that is shown
    # here.
    rules = [replace(rule, scope=scope, summary="") for rule in loaded.behaviors]
    edges = [(scope, edge) for edge in loaded.edges]

    def show(plan: Plan) -> None:
        if not options.as_json:
            show_plan(plan, source)
        tell_problems(loaded.problems)

    def describe(plan: Plan) -> dict[str, Any]:
        problems = [_problem_object(problem) for problem in loaded.problems]
        return {"file": source, "scope": scope, **plan_object(plan), "problems": problems}

    def nothing() -> str:
        if rules or edges:
            return "there is nothing to store"
        return "the file holds no rules"

    job = _Import(
        lambda scopes: plan_of(scopes, rules, edges, source=name, now=workspace.now),
        show,
        describe,
        nothing,
        source=name,
    )
    plan, code = _carry_out(options, workspace, job)
    if loaded.problems or plan.dangling:
        return 1
    return code


def _problem_object(problem: LineProblem) -> dict[str, Any]:
    return {"line": problem.line, "why": problem.why, "text": problem.text}


def _carry_out(options: Namespace, workspace: Workspace, job: _Import) -> tuple[Plan, int]:
    """Show the plan, ask, store it and say so; return it, and the exit code."""
    with workspace.open() as scopes:
        plan = job.make(scopes)
        job.show(plan)
        is_stored = False
        if plan.is_empty:
            if not options.dry_run:
                plan.note_files(scopes)
        elif not options.dry_run:
            is_stored = says_yes("Store this?", yes=options.yes)
        if is_stored:
            plan = _store(plan, scopes, workspace, job, yes=options.yes)
    view = ""
    if is_stored:
        view = f"stored: {_stored_parts(plan)}"
    elif plan.is_empty:
        view = job.nothing()
    emit({**job.describe(plan), "stored": is_stored}, view, options.as_json)
    if is_stored and "project" in plan.scopes:
        tell_trust(workspace)
    return plan, int(not (is_stored or plan.is_empty or options.dry_run))


def _store(plan: Plan, scopes: Scopes, workspace: Workspace, job: _Import, *, yes: bool) -> Plan:
    """Store what was agreed to.

    If the store was changed meanwhile and the plan would differ, nothing is stored.
    """
    if plan.loosens:
        need_person("changes a constraint")
    if "project" in plan.scopes:
        workspace.begin_project()
    # The user's file says that they agreed to it.
    with scopes.writing("user", *plan.scopes):
        current = job.make(scopes)
        if current != plan and not yes:
            raise InputError(
                "the stored rules changed in the meantime; nothing was imported: try again"
            )
        size = len(current.changes)
        with Progress(size, shown_from=PROGRESS_FROM, doing="storing") as progress:
            current.store(
                scopes,
                now=workspace.now,
                source=job.source,
                event=job.event,
                progress=progress.advance,
            )
    return current


def _stored_parts(plan: Plan) -> str:
    parts = []
    if plan.added:
        parts.append(f"{counted(len(plan.added), 'rule')} added")
    if plan.altered:
        parts.append(f"{counted(len(plan.altered), 'rule')} changed")
    if plan.edges:
        parts.append(counted(len(plan.edges), "connection"))
    return ", ".join(parts)


def _import_rules(options: Namespace) -> int:
    workspace = here()
    scope = scope_of(options, workspace)
    reader = RulesReader(scope, workspace.now)
    sources = read_rule_files(workspace, options.files, reader)

    def show(_: Plan) -> None:
        if not options.as_json and reader.outcomes:
            say_paged(_outcomes_view(reader.outcomes))
        note(*sources.problems)

    def describe(plan: Plan) -> dict[str, Any]:
        return {
            "files": reader.files,
            "scope": scope,
            "rules": [outcome.to_dict() for outcome in reader.outcomes],
            "problems": sources.problems,
            **plan_object(plan),
        }

    def nothing() -> str:
        if reader.outcomes:
            return "there is nothing new to store"
        return "no rules were found"

    files = ", ".join(reader.files)
    job = _Import(reader.plan, show, describe, nothing, source=files, event="learned")
    plan, code = _carry_out(options, workspace, job)
    note(*plan.notes)
    if sources.secrets:
        note(f"{counted(sources.secrets, 'secret')} in the text masked: others may read your rules")
    return code


def _outcomes_view(outcomes: list[ImportOutcome]) -> str:
    kinds = Counter(outcome.what for outcome in outcomes)
    numbers = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())
    parts = [f"{counted(len(outcomes), 'rule')}: {numbers}"]
    rows = []
    for outcome in outcomes:
        kind = paint(outcome.what, COLOURS[outcome.what])
        if outcome.behavior is None or outcome.what == "known":
            rows.append([kind, outcome.place, outcome.why, cut(outcome.text, WIDTH)])
        else:
            title, _, text = whole(outcome.behavior).partition("\n")
            parts.append(f"{kind}  {title}  {printable(outcome.place)}\n{text}")
    if rows:
        parts.append(table(rows))
    return "\n\n".join(parts) + "\n"


def _import_floop(options: Namespace, folder: str) -> int:
    workspace = here()
    floop = read_floop_rules(folder, workspace.project)

    def show(plan: Plan) -> None:
        if not options.as_json:
            _show_floop(floop, plan, folder)
        tell_problems(floop.unmapped)

    def describe(plan: Plan) -> dict[str, Any]:
        unmapped = [asdict(problem) for problem in floop.unmapped]
        return {"folder": folder, **plan_object(plan), "unmapped": unmapped}

    def nothing() -> str:
        if floop.rules and not floop.unmapped:
            return "there is nothing to store: all of it is here already"
        return "there is nothing new to store"

    job = _Import(
        lambda scopes: plan_of(
            scopes, floop.rules, floop.scoped_edges, source=".floop", now=workspace.now
        ),
        show,
        describe,
        nothing,
        source=".floop",
    )
    _, code = _carry_out(options, workspace, job)
    return code


def _show_floop(floop: FloopRules, plan: Plan, folder: str) -> None:
    """Print what a floop folder holds, and what would be stored of it."""
    size = f"{counted(len(floop.rules), 'rule')}, {counted(floop.edges, 'connection')}"
    kinds = Counter((kind_of(rule), rule.status.value, rule.scope) for rule in floop.rules)
    view = printable(f"{folder} holds {size}")
    if kinds:
        rows = [[*key, f"{count:,}"] for key, count in sorted(kinds.items())]
        view += "\n" + heading(table([["kind", "status", "scope", "count"], *rows], right=(3,)))
    print(view)
    if floop.has_homeless_rules:
        note("not in a project, so project rules go to your own rules too")
    print()
    show_plan(plan, folder)
    twice = floop.edges - len(plan.edges) - plan.same_edges - len(plan.dangling)
    if twice:
        note(
            f"{counted(twice, 'connection')} in floop's files twice,"
            " once each way: kept as one each"
        )


# What an import would do --------------------------------------------------------------------------

MOST_PROBLEMS = 100
"""So many problems are listed."""


def show_plan(plan: Plan, source: str) -> None:
    """Print what would be added and changed, whole: agents are told it."""
    new_edges = sum(change.old is None for change in plan.edges)
    numbers = _numbers(len(plan.added), len(plan.altered), len(plan.same)) or "no rules"
    edges = _numbers(new_edges, len(plan.edges) - new_edges, plan.same_edges)
    if edges:
        numbers += f"; connections: {edges}"
    parts = [printable(f"{source}: {numbers}"), *map(_change, plan.changes)]
    if plan.edges:
        parts.append(table([_edge_row(change) for change in plan.edges]))
    view = "\n\n".join(parts)
    if not plan.is_empty:
        view += "\n"
    say_paged(view)
    reason = "one of its ends is neither here nor in the file"
    note(*plan.notes)
    note(*(f"left out: the connection {edge}: {reason}" for edge in plan.dangling))


def _edge_row(change: EdgeChange) -> list[str]:
    if change.old is None:
        return [paint("added", "green"), str(change.edge)]
    arrow = symbols("→", "->")
    return [paint("changed", "yellow"), f"{change.old} {arrow} {change.edge.weight:g}"]


def _numbers(added: int, changed: int, same: int) -> str:
    counts = {"added": added, "changed": changed, "the same": same}
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)


def plan_object(plan: Plan) -> dict[str, Any]:
    """Return *plan* for a script."""
    new_edges = [edge_object(change.edge) for change in plan.edges if change.old is None]
    old_edges = [edge_object(change.edge) for change in plan.edges if change.old is not None]
    changed = []
    for change in plan.altered:
        rule = change.behavior
        changed.append({"id": rule.id, "name": rule.name, "fields": _differences(change)})
    return {
        "added": [as_object(change.behavior) for change in plan.added],
        "changed": changed,
        "same": list(plan.same),
        "edges": {
            "added": new_edges,
            "changed": old_edges,
            "same": plan.same_edges,
            "left_out": [edge_object(edge) for edge in plan.dangling],
        },
        "notes": list(plan.notes),
    }


def tell_problems(problems: Iterable[object]) -> None:
    """Print each of *problems*, which say themselves where they are, to standard error."""
    rows, hidden = listed([[str(problem)] for problem in problems], MOST_PROBLEMS)
    for row in rows:
        note(row[0])
    note(hidden)


def _change(change: RuleChange) -> str:
    rule = change.behavior
    title, _, text = whole(rule).partition("\n")
    if change.old is None:
        if not rule.live:
            title += f"  ({rule.status})"
        return f"{paint('added', 'green')}  {title}\n{text}"
    arrow = symbols("→", "->")
    view = [f"{paint('changed', 'yellow')}  {title}", text]
    for field, values in _differences(change).items():
        if field not in ("variants", "canonical"):
            before = _text(values["old"])
            view.append(printable(f"  {field}: {before} {arrow} {_text(values['new'])}"))
    if change.old.canonical != rule.canonical:
        view.append(f"  before, it said:\n{block(block(change.old.canonical))}")
    variants = len(change.old.variants)
    if len(rule.variants) > variants:
        view.append(f"  wordings kept: {variants:,} {arrow} {len(rule.variants):,}")
    return lines(*view)


def _differences(change: RuleChange) -> dict[str, dict[str, Any]]:
    if change.old is None:
        return {}
    old = as_object(change.old)
    new = as_object(change.behavior)
    fields = [field for field in change.fields if field != "updated_at"]
    return {field: {"old": old[field], "new": new[field]} for field in fields}


def _text(value: Any) -> str:
    """Return the value of a field in words."""
    if value in (None, "", [], {}):
        return "none"
    if isinstance(value, dict):
        parts = [
            f"{key} {_text(part)}" for key, part in value.items() if part not in (None, "", [])
        ]
        return ", ".join(parts) or "none"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)
