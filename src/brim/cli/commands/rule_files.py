"""``brim rules import``: rules from files."""

from __future__ import annotations

import os
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from typing import Any

from brim.behaviors.floop import floop_folder, project_names, read_floop_folder
from brim.behaviors.jsonl import as_object, edge_object, load
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
from brim.store.imports import ImportOutcome, Plan, RuleChange, RulesReader, plan_of
from brim.store.scopes import Scopes
from brim.tokens.inputs import read_text
from brim.workspace import Workspace, working_folder

PROGRESS_FROM = 500
"""Rules from which a bar is shown: each takes about a millisecond, most of it to count its
lines."""
WIDTH = 100
"""Columns of a text."""
COLOURS = {"added": "green", "known": "faint", "left out": "faint"}


def _usual_file(project: str) -> str:
    """Return the file that the rules of *project* are committed as, relative to this folder if that
    is shorter."""
    path = os.path.join(project, ".brim", "behaviors.jsonl")
    folder = working_folder()
    return (
        min(path, os.path.relpath(path, os.path.realpath(folder)), key=len)
        if folder is not None
        else path
    )


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
    first = options.files[0] if options.files else ""
    if os.path.isdir(first) and (floop := floop_folder(first)):
        return _import_floop(options, floop)
    is_export = first == "-" or first.endswith(".jsonl")
    if not first:
        workspace = here()
        project = workspace.project if scope_of(options, workspace) == "project" else None
        is_export = project is not None and os.path.lexists(_usual_file(project))
    if not is_export:
        return _import_rules(options)
    if len(options.files) > 1:
        raise InputError("one .jsonl file at a time: brim rules import FILE")
    return _import_lines(options, first)


def _import_lines(options: Namespace, file: str) -> int:
    workspace = here()
    scope = scope_of(options, workspace)
    path = file or _usual_file(workspace.project or "")
    source = "standard input" if path == "-" else path
    loaded = load(read_text(path), source)
    # Summaries are made again: an agent must not be told another text than the one that is shown
    # here.
    behaviors = [replace(each, scope=scope, summary="") for each in loaded.behaviors]
    edges = [(scope, edge) for edge in loaded.edges]
    name = "" if path == "-" else os.path.basename(path)

    def show(plan: Plan) -> None:
        if not options.as_json:
            show_plan(plan, source)
        tell_problems(loaded.problems)

    def about(plan: Plan) -> dict[str, Any]:
        problems = [
            {"line": each.line, "why": each.why, "text": each.text} for each in loaded.problems
        ]
        return {"file": source, "scope": scope, **plan_object(plan), "problems": problems}

    plan, code = _carry_out(
        options,
        workspace,
        lambda scopes: plan_of(scopes, behaviors, edges, source=name, now=workspace.now),
        show,
        about,
        nothing=lambda: (
            "there is nothing to store" if behaviors or edges else "the file holds no rules"
        ),
        source=name,
    )
    return 1 if loaded.problems or plan.dangling else code


def _carry_out(
    options: Namespace,
    workspace: Workspace,
    make: Callable[[Scopes], Plan],
    show: Callable[[Plan], None],
    about: Callable[[Plan], dict[str, Any]],
    *,
    nothing: Callable[[], str],
    source: str,
    event: str = "imported",
) -> tuple[Plan, int]:
    """Show the plan, ask, store it and say so; return it, and the exit code. *about* is told with
    it as JSON.

    What was agreed to is what is stored: if the store was changed meanwhile and the plan would
    differ, nothing is.
    """
    with workspace.open() as scopes:
        plan = make(scopes)
        show(plan)
        stored = not (plan.is_empty or options.dry_run) and says_yes("Store this?", yes=options.yes)
        if stored:
            if plan.loosens:
                need_person("changes a constraint")
            if "project" in plan.scopes:
                workspace.begin_project()
            with scopes.writing(
                "user", *plan.scopes
            ):  # the user's file says that they agreed to it
                agreed, plan = plan, make(scopes)
                if plan != agreed and not options.yes:
                    raise InputError(
                        "the stored rules changed in the meantime; nothing was imported: try again"
                    )
                with Progress(
                    len(plan.changes), shown_from=PROGRESS_FROM, doing="storing"
                ) as progress:
                    plan.store(
                        scopes,
                        now=workspace.now,
                        source=source,
                        event=event,
                        progress=progress.advance,
                    )
        elif plan.is_empty and not options.dry_run:
            plan.note_files(scopes)
    parts = [
        ("rule", " added", plan.added),
        ("rule", " changed", plan.altered),
        ("connection", "", plan.edges),
    ]
    done = f"stored: {', '.join(counted(len(of), what) + how for what, how, of in parts if of)}"
    said = done if stored else nothing() if plan.is_empty else ""
    emit({**about(plan), "stored": stored}, said, options.as_json)
    if stored and "project" in plan.scopes:
        tell_trust(workspace)
    return plan, 0 if stored or plan.is_empty or options.dry_run else 1


def _import_rules(options: Namespace) -> int:
    workspace = here()
    scope = scope_of(options, workspace)
    reader = RulesReader(scope, workspace.now)
    sources = read_rule_files(workspace, options.files, reader)

    def show(_: Plan) -> None:
        if not options.as_json and reader.outcomes:
            say_paged(_outcomes_view(reader.outcomes))
        note(*sources.problems)

    def about(plan: Plan) -> dict[str, Any]:
        found = {
            "files": reader.files,
            "scope": scope,
            "rules": [each.to_dict() for each in reader.outcomes],
        }
        return {**found, "problems": sources.problems, **plan_object(plan)}

    plan, code = _carry_out(
        options,
        workspace,
        reader.plan,
        show,
        about,
        nothing=lambda: (
            "there is nothing new to store" if reader.outcomes else "no rules were found"
        ),
        source=", ".join(reader.files),
        event="learned",
    )
    note(*plan.notes)
    if sources.secrets:
        note(f"{counted(sources.secrets, 'secret')} in the text masked: others may read your rules")
    return code


def _outcomes_view(outcomes: list[ImportOutcome]) -> str:
    numbers = ", ".join(
        f"{count:,} {what}" for what, count in Counter(each.what for each in outcomes).items()
    )
    told, rows = [], []
    for each in outcomes:
        what, known = paint(each.what, COLOURS[each.what]), each.behavior
        if known is None or each.what == "known":
            rows.append([what, each.place, each.why, cut(each.text, WIDTH)])
        else:
            about, _, text = whole(known).partition("\n")
            told.append(f"{what}  {about}  {printable(each.place)}\n{text}")
    parts = [f"{counted(len(outcomes), 'rule')}: {numbers}", *told, table(rows) if rows else ""]
    return "\n\n".join(filter(None, parts)) + "\n"


def _import_floop(options: Namespace, folder: str) -> int:
    workspace = here()
    at_home = os.path.dirname(os.path.realpath(folder)) == os.path.realpath(os.path.expanduser("~"))
    scope = "project" if workspace.project is not None and not at_home else "user"
    projects = (
        None if workspace.project is None or not at_home else project_names(workspace.project)
    )
    floop = read_floop_folder(folder, scope=scope, projects=projects)
    behaviors = [
        each if at_home else replace(each, summary="") for each in floop.behaviors.values()
    ]
    if workspace.project is None:
        behaviors = [replace(each, scope="user") for each in behaviors]
    ours = {each.id for each in behaviors if each.scope == "project"}
    edges = [
        ("project" if {edge.source, edge.target} & ours else "user", edge)
        for edge in floop.edges.values()
    ]

    def show(plan: Plan) -> None:
        if not options.as_json:
            counts = Counter((kind_of(each), each.status.value, each.scope) for each in behaviors)
            rows = [[*key, f"{count:,}"] for key, count in sorted(counts.items())]
            held = f"{counted(len(behaviors), 'rule')}, {counted(len(floop.edges), 'connection')}"
            by_kind = (
                heading(table([["kind", "status", "scope", "count"], *rows], right=(3,)))
                if rows
                else ""
            )
            print(lines(printable(f"{folder} holds {held}"), by_kind))
            if workspace.project is None and any(
                each.scope == "project" for each in floop.behaviors.values()
            ):
                note("not in a project, so project rules go to your own rules too")
            print()
            show_plan(plan, folder)
            if twice := len(floop.edges) - len(plan.edges) - plan.same_edges - len(plan.dangling):
                note(
                    f"{counted(twice, 'connection')} in floop's files twice, once each way: kept as one each"
                )
        tell_problems(floop.unmapped)

    known = behaviors and not floop.unmapped
    _, code = _carry_out(
        options,
        workspace,
        lambda scopes: plan_of(scopes, behaviors, edges, source=".floop", now=workspace.now),
        show,
        lambda plan: {
            "folder": folder,
            **plan_object(plan),
            "unmapped": [asdict(each) for each in floop.unmapped],
        },
        nothing=lambda: (
            f"there is nothing {'to store: all of it is here already' if known else 'new to store'}"
        ),
        source=".floop",
    )
    return code


# What an import would do --------------------------------------------------------------------------

SHOWN = 100
"""So many problems are listed."""


def show_plan(plan: Plan, source: str) -> None:
    """Print what would be added and changed, whole: agents are told it."""
    rows = []
    for each in plan.edges:
        changed = f"{each.old} {symbols('→', '->')} {each.edge.weight:g}"
        is_new = each.old is None
        rows.append(
            [paint("added", "green"), str(each.edge)]
            if is_new
            else [paint("changed", "yellow"), changed]
        )
    added = sum(change.old is None for change in plan.edges)
    numbers = _numbers(len(plan.added), len(plan.altered), len(plan.same)) or "no rules"
    if edges := _numbers(added, len(plan.edges) - added, plan.same_edges):
        numbers += f"; connections: {edges}"
    parts = [
        printable(f"{source}: {numbers}"),
        *map(_change, plan.changes),
        table(rows) if rows else "",
    ]
    say_paged("\n\n".join(filter(None, parts)) + ("" if plan.is_empty else "\n"))
    why = "one of its ends is neither here nor in the file"
    note(*plan.notes, *(f"left out: the connection {edge}: {why}" for edge in plan.dangling))


def _numbers(*counts: int) -> str:
    parts = zip(counts, ("added", "changed", "the same"), strict=True)
    return ", ".join(f"{count:,} {what}" for count, what in parts if count)


def plan_object(plan: Plan) -> dict[str, Any]:
    """Return *plan* for a script."""
    return {
        "added": [as_object(change.behavior) for change in plan.added],
        "changed": [
            {"id": change.behavior.id, "name": change.behavior.name, "fields": _differences(change)}
            for change in plan.altered
        ],
        "same": list(plan.same),
        "edges": {
            "added": [edge_object(change.edge) for change in plan.edges if change.old is None],
            "changed": [
                edge_object(change.edge) for change in plan.edges if change.old is not None
            ],
            "same": plan.same_edges,
            "left_out": [edge_object(edge) for edge in plan.dangling],
        },
        "notes": list(plan.notes),
    }


def tell_problems(problems: Iterable[object]) -> None:
    """Print each of *problems*, which say themselves where they are, to standard error."""
    shown, more = listed([[str(problem)] for problem in problems], SHOWN)
    note(*(text for (text,) in shown), more)


def _change(change: RuleChange) -> str:
    behavior, old = change.behavior, change.old
    about, _, text = whole(behavior).partition("\n")
    if old is None:
        return f"{paint('added', 'green')}  {about}{'' if behavior.live else f'  ({behavior.status})'}\n{text}"
    arrow = symbols("→", "->")
    changes = [
        printable(f"  {field}: {_text(each['old'])} {arrow} {_text(each['new'])}")
        for field, each in _differences(change).items()
        if field not in ("variants", "canonical")
    ]
    if old.canonical != behavior.canonical:
        changes.append(f"  before, it said:\n{block(block(old.canonical))}")
    if len(behavior.variants) > len(old.variants):
        changes.append(f"  wordings kept: {len(old.variants):,} {arrow} {len(behavior.variants):,}")
    return lines(f"{paint('changed', 'yellow')}  {about}", text, *changes)


def _differences(change: RuleChange) -> dict[str, dict[str, Any]]:
    if change.old is None:
        return {}
    old, new = as_object(change.old), as_object(change.behavior)
    return {
        field: {"old": old[field], "new": new[field]}
        for field in change.fields
        if field != "updated_at"
    }


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return (
            ", ".join(
                f"{key} {_text(each)}" for key, each in value.items() if each not in (None, "", [])
            )
            or "none"
        )
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return "none" if value in (None, "") else str(value)
