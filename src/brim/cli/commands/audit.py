"""``brim rules audit``: contradictions, duplicates and damage in the stored rules."""

from __future__ import annotations

import os
from argparse import Namespace
from dataclasses import asdict

from brim.behaviors.graph import Problem
from brim.behaviors.learning import holds
from brim.cli.asking import need_person, says_yes
from brim.cli.options import add_json, command, here, option
from brim.cli.output import counted, emit, home_path, lines, paint, printable
from brim.cli.rule_options import NO_RULES
from brim.cli.tables import listed
from brim.errors import InputError
from brim.store.checks import (
    file_problems,
    graph_problems,
    hints,
    removable_edges,
    repair_rules,
    stale_problems,
)
from brim.store.rulebook import unmarked_conflicts
from brim.store.scopes import Scopes
from brim.workspace import DATABASE, Workspace

SCOPES = ("user", "project")


@command(
    option("--fix", action="store_true", help="count lines again, and remove useless connections"),
    option("--yes", "-y", action="store_true", help="with --fix: do it without asking"),
    add_json,
)
def audit(options: Namespace) -> int:
    """Check the stored rules for contradictions and damage.

    Problems are damaged files, connections that lead nowhere or in a circle, superseded rules
    without a successor, and rules whose tokens aren't counted. Hints are rules that contradict each
    other or say the same, rules that were overridden more often than confirmed, and project rules
    that brim doesn't follow because they would weaken a constraint of your own.

    --fix counts the tokens, lets agents hear only the newer of two rules that contradict each other
    and, after asking, removes connections that lead nowhere or exist twice. It changes nothing
    else. Exits with 1 if problems remain; hints don't count.

    Examples:
      brim rules audit
      brim rules audit --fix
    """
    if options.yes and not options.fix:
        raise InputError("--yes has a meaning only with --fix")
    workspace = here()
    paths = _stores(workspace)
    broken, sound = file_problems(paths)
    fixed: list[str] = []
    with Scopes(sound) as scopes:
        problems = broken + graph_problems(scopes) + stale_problems(scopes)
        hints_found = hints(scopes)
        if not options.as_json:
            print(_check_view(paths, scopes, problems, hints_found), end="")
        if options.fix:
            fixed = _fix(options, workspace, scopes, problems)
        if fixed:
            problems = broken + graph_problems(scopes) + stale_problems(scopes)
    result = {
        "files": [
            {"scope": scope, "path": path, "sound": scope in sound} for scope, path in paths.items()
        ],
        "problems": [asdict(problem) for problem in problems],
        "hints": [asdict(hint) for hint in hints_found],
        "fixed": fixed,
    }
    view = ""
    if paths:
        view = lines(*(home_path(f"fixed: {text}") for text in fixed), _verdict(problems, fixed))
    return emit(result, view, options.as_json, empty=NO_RULES, code=int(bool(problems)))


def _stores(workspace: Workspace) -> dict[str, str]:
    """Return the store's file of each scope that has one."""
    paths = {}
    for scope, folder in workspace.scope_folders.items():
        path = os.path.join(folder, DATABASE)
        if os.path.lexists(path):
            paths[scope] = path
    if len(paths) == len(SCOPES) and os.path.samefile(*paths.values()):
        del paths["project"]
    return paths


def _verdict(problems: list[Problem], fixed: list[str]) -> str:
    if not problems:
        return "all is well"
    count = counted(len(problems), "problem")
    if fixed:
        return f"{count} left"
    return count


def _check_view(
    paths: dict[str, str], scopes: Scopes, problems: list[Problem], hints_found: list[Problem]
) -> str:
    view = []
    for scope, path in paths.items():
        state = "sound"
        if scope not in scopes.stores:
            state = paint("cannot be used as it is", "red")
        view.append(f"{scope}'s file {home_path(path)}: {state}")
    if scopes.stores:
        rules = counted(len(scopes.behaviors()), "rule")
        view.append(f"{rules}, {counted(len(scopes.all_edges()), 'connection')}")
    view += _findings(paint("problem", "red"), problems)
    view += _findings(paint("hint", "yellow"), hints_found)
    return "".join(f"{line}\n" for line in view)


def _findings(title: str, findings: list[Problem]) -> list[str]:
    rows, hidden = listed([[f"{finding.text}; {finding.fix}"] for finding in findings])
    view = [f"{title}: {home_path(row[0])}" for row in rows]
    if hidden:
        view.append(hidden)
    return view


def _fix(
    options: Namespace, workspace: Workspace, scopes: Scopes, problems: list[Problem]
) -> list[str]:
    """Repair what can be repaired without a loss, and return what was done."""
    removable = removable_edges(scopes, problems)
    if not options.as_json:
        for _, edge in removable:
            print(printable(f"to remove: {edge}"))
    question = f"Remove {counted(len(removable), 'connection')}?"
    agreed = bool(removable) and says_yes(question, yes=options.yes, no="no connection was removed")
    conflicts = unmarked_conflicts(scopes)
    is_stale = any(problem.rule == "stale-costs" for problem in problems)
    if not agreed and not conflicts and not is_stale:
        return []
    if any(holds(conflict.other) for _, conflict in conflicts):
        need_person("lets a rule hide a constraint")
    with scopes.writing():
        return repair_rules(scopes, remove_useless_edges=agreed, now=workspace.now)
