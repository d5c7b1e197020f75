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
    remove_edges,
    stale_problems,
)
from brim.store.rulebook import mark_conflicts, unmarked_conflicts
from brim.store.scopes import Scopes
from brim.workspace import DATABASE, Workspace


def _stores(workspace: Workspace) -> dict[str, str]:
    """Return the store's file of each scope, whether it is there or not."""
    return {
        scope: os.path.join(folder, DATABASE) for scope, folder in workspace.scope_folders.items()
    }


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
    paths = {scope: path for scope, path in _stores(workspace).items() if os.path.lexists(path)}
    if len(paths) == 2 and os.path.samefile(*paths.values()):
        del paths["project"]
    broken, sound = file_problems(paths)
    fixed: list[str] = []
    with Scopes(sound) as scopes:
        problems = broken + graph_problems(scopes) + stale_problems(scopes)
        hinted = hints(scopes)
        if not options.as_json:
            print(_check_view(paths, scopes, problems, hinted), end="")
        if options.fix:
            fixed = _fix(options, workspace, scopes, problems)
        if fixed:
            problems = broken + graph_problems(scopes) + stale_problems(scopes)
    files = [
        {"scope": scope, "path": path, "sound": scope in sound} for scope, path in paths.items()
    ]
    shown = [[asdict(each) for each in of] for of in (problems, hinted)]
    left = (
        f"{counted(len(problems), 'problem')}{' left' if fixed else ''}"
        if problems
        else "all is well"
    )
    view = lines(*(home_path(f"fixed: {text}") for text in fixed), left) if paths else ""
    result = {"files": files, "problems": shown[0], "hints": shown[1], "fixed": fixed}
    return emit(result, view, options.as_json, empty=NO_RULES, code=1 if problems else 0)


def _check_view(
    paths: dict[str, str], scopes: Scopes, problems: list[Problem], hinted: list[Problem]
) -> str:
    found = []
    for scope, path in paths.items():
        state = "sound" if scope in scopes.stores else paint("cannot be used as it is", "red")
        found.append(f"{scope}'s file {home_path(path)}: {state}")
    if scopes.stores:
        found.append(
            f"{counted(len(scopes.behaviors()), 'rule')}, {counted(len(scopes.all_edges()), 'connection')}"
        )
    for what, colour, of in (("problem", "red", problems), ("hint", "yellow", hinted)):
        texts, more = listed([[f"{each.text}; {each.fix}"] for each in of])
        found += [*(f"{paint(what, colour)}: {home_path(text)}" for (text,) in texts), more]
    return "".join(f"{line}\n" for line in found if line)


def _fix(
    options: Namespace, workspace: Workspace, scopes: Scopes, problems: list[Problem]
) -> list[str]:
    """Repair what can be repaired without a loss, and return what was done."""
    removable = removable_edges(scopes, problems)
    for _, edge in removable if not options.as_json else ():
        print(printable(f"to remove: {edge}"))
    question = f"Remove {counted(len(removable), 'connection')}?"
    agreed = bool(removable) and says_yes(question, yes=options.yes, no="no connection was removed")
    conflicts = unmarked_conflicts(scopes)
    if not agreed and not conflicts and not any(each.rule == "stale-costs" for each in problems):
        return []
    if any(holds(each.other) for _, each in conflicts):
        need_person("lets a rule hide a constraint")
    fixed = []
    with scopes.writing():
        for newer, other in conflicts:
            mark_conflicts(scopes, newer, [other], now=workspace.now)
            fixed.append(
                f"agents hear {newer.name} ({newer.id}) instead of {other.other.name} ({other.other.id})"
            )
        for store in (scopes.user, scopes.project):
            if store is not None and (recosted := store.recost()):
                fixed.append(f"{store.path}: {counted(recosted, 'rule')} counted")
        if agreed:
            removable = removable_edges(scopes, graph_problems(scopes))
            remove_edges(removable, now=workspace.now)
            fixed += [f"{edge} removed" for _, edge in removable]
    return fixed
