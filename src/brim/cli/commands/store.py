"""``brim rules check``, ``stats`` and ``backup``: the files that rules are stored in."""

from __future__ import annotations

import os
from argparse import Namespace
from contextlib import suppress
from dataclasses import asdict

from brim.behaviors.graph import Problem
from brim.behaviors.jsonl import iso
from brim.behaviors.learning import holds
from brim.cli.options import (
    NOTHING_YET,
    add_json,
    add_scope,
    add_yes,
    check_belongs,
    command,
    here,
    need_person,
    option,
    says_yes,
    scope_of,
    tell_trust,
)
from brim.cli.output import (
    counted,
    emit,
    heading,
    home_path,
    lines,
    listed,
    paint,
    printable,
    readable_size,
    table,
)
from brim.errors import BrimError, InputError, StoreError
from brim.store.backup import (
    backups_in,
    create,
    described,
    find_backup,
    is_sound,
    keep_copy,
    kept_copies,
    lost_rules,
    merge_copy,
    new_backup,
    rules_in,
    store_size,
)
from brim.store.backup import restore as restore_backup
from brim.store.checks import file_problems, graph_problems, hints, removable_edges, remove_edges, stale_problems
from brim.store.events import Event
from brim.store.rulebook import mark_conflicts, unmarked_conflicts
from brim.store.scopes import Scopes
from brim.store.store import open_store
from brim.workspace import DATABASE, Workspace


def _stores(workspace: Workspace) -> dict[str, str]:
    """Return the store's file of each scope, whether it is there or not."""
    return {scope: os.path.join(folder, DATABASE) for scope, folder in workspace.scope_folders.items()}


@command(
    option("--fix", action="store_true", help="count lines again, and remove useless connections"),
    option("--yes", "-y", action="store_true", help="with --fix: do it without asking"),
    add_json,
)
def check(options: Namespace) -> int:
    """Check the stored rules for contradictions and damage.

    Problems are damaged files, connections that lead nowhere or in a circle, superseded rules without a successor, and
    rules whose tokens aren't counted. Hints are rules that contradict each other or say the same, rules that were
    overridden more often than confirmed, and project rules that brim doesn't follow because they would weaken a
    constraint of your own.

    --fix counts the tokens, lets agents hear only the newer of two rules that contradict each other and, after asking,
    removes connections that lead nowhere or exist twice. It changes nothing else. Exits with 1 if problems remain;
    hints don't count.

    Examples:
      brim rules check
      brim rules check --fix
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
    files = [{"scope": scope, "path": path, "sound": scope in sound} for scope, path in paths.items()]
    shown = [[asdict(each) for each in of] for of in (problems, hinted)]
    left = f"{counted(len(problems), 'problem')}{' left' if fixed else ''}" if problems else "all is well"
    view = lines(*(home_path(f"fixed: {text}") for text in fixed), left) if paths else ""
    result = {"files": files, "problems": shown[0], "hints": shown[1], "fixed": fixed}
    return emit(result, view, options.as_json, empty=NOTHING_YET, code=1 if problems else 0)


def _check_view(paths: dict[str, str], scopes: Scopes, problems: list[Problem], hinted: list[Problem]) -> str:
    found = []
    for scope, path in paths.items():
        state = "sound" if scope in scopes.stores else paint("cannot be used as it is", "red")
        found.append(f"{scope}'s file {home_path(path)}: {state}")
    if scopes.stores:
        found.append(f"{counted(len(scopes.behaviors()), 'rule')}, {counted(len(scopes.all_edges()), 'connection')}")
    for what, colour, of in (("problem", "red", problems), ("hint", "yellow", hinted)):
        texts, more = listed([[f"{each.text}; {each.fix}"] for each in of])
        found += [*(f"{paint(what, colour)}: {home_path(text)}" for (text,) in texts), more]
    return "".join(f"{line}\n" for line in found if line)


def _fix(options: Namespace, workspace: Workspace, scopes: Scopes, problems: list[Problem]) -> list[str]:
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
            fixed.append(f"agents hear {newer.name} ({newer.id}) instead of {other.other.name} ({other.other.id})")
        for store in (scopes.user, scopes.project):
            if store is not None and (recosted := store.recost()):
                fixed.append(f"{store.path}: {counted(recosted, 'rule')} counted")
        if agreed:
            removable = removable_edges(scopes, graph_problems(scopes))
            remove_edges(removable, now=workspace.now)
            fixed += [f"{edge} removed" for _, edge in removable]
    return fixed


# Backups --------------------------------------------------------------------------------------------------------


def complete_backup(prefix: str, **_: object) -> list[str]:
    """Return the names of the backups that begin with what was typed."""
    with suppress(BrimError):
        found = [os.path.basename(path) for _, path in backups_in(here().scope_folders)]
        return [name for name in found if name.startswith(prefix)]
    return []


@command(
    option("action", nargs="?", choices=("list", "create", "restore"), default="list", help="default: list"),
    option("file", nargs="?", metavar="FILE", help="the backup", completer=complete_backup),
    add_scope,
    add_yes,
    add_json,
)
def backup(options: Namespace) -> int:
    """Copy the store to a file, or put such a copy in its place.

    Inside a project it is the project's store, else your own; --project and --user say which.

      create [FILE]  copy it as it is at this moment, while others may write (default: a new file in the folder backups
                     next to it); an existing file is never overwritten
      restore FILE   put FILE, or the backup of that name, in place of the store; the old store is kept next to it
      restore        bring back what the project's store has lost, from the copy that brim keeps in your own folder
                     whenever you change a project's rules: rules that are missing are added to it; a store that is
                     damaged or missing is replaced
      list           the backups there are, newest first (default)

    Examples:
      brim backup create
      brim backup create ~/rules.db --user
      brim backup restore brim-20260131-120000.db
    """
    check_belongs(options, dict.fromkeys(("yes", "dry_run"), ("restore",)), "brim backup")
    return {"list": _list_backups, "create": _create, "restore": _restore}[options.action](options, here())


def _create(options: Namespace, workspace: Workspace) -> int:
    scope = scope_of(options, workspace)
    store = _stores(workspace)[scope]
    if os.path.isfile(store):
        rules_in(store)  # what cannot be restored by this brim is refused before a copy is made
    path = create(store, options.file or new_backup(workspace.scope_folders[scope], now=workspace.now))
    count = rules_in(path)
    found = {"file": os.path.abspath(path), "scope": scope, "behaviors": count, "bytes": store_size(path)}
    view = f"{home_path(path)}: {counted(count, 'rule')}, {readable_size(store_size(path))}"
    return emit(found, view, options.as_json)


def _restore(options: Namespace, workspace: Workspace) -> int:
    if not options.dry_run:
        need_person("puts a backup in place")
    scope = scope_of(options, workspace)
    store = _stores(workspace)[scope]
    lost = lost_rules(store, workspace.home) if scope == "project" and options.file is None else None
    if options.file is None and lost is None:
        raise InputError("which backup? 'brim backup list' shows them: brim backup restore FILE")
    path = lost[0] if lost else find_backup(workspace.scope_folders[scope], options.file)
    count = rules_in(path)
    merges = lost is not None and os.path.lexists(store) and is_sound(store)
    if not options.as_json:
        what = f"{counted(count, 'rule')}, would take the place of {store}: {_present(store)}"
        if lost and merges:
            what = f"{counted(lost[1], 'rule')} would be added to {store}: {_present(store)}"
        print(home_path(f"{path}: {what}"))
    question = "Add what is missing?" if merges else "Put it in its place?"
    done = not options.dry_run and says_yes(question, yes=options.yes)
    kept = None
    if done:
        if scope == "project":
            workspace.begin_project()
        if merges:
            with workspace.open() as scopes:
                merge_copy(path, scopes, now=workspace.now)
        else:
            kept = restore_backup(path, store)
            with open_store(store) as restored:
                restored.record(Event("restored", workspace.now, detail={"backup": os.path.basename(path)}))
                if scope == "project":
                    keep_copy(restored.database, workspace.home, now=workspace.now, alone=lost is None)
    said = "restored" + (f"; what was there is kept in {home_path(kept)}" if kept else "")
    found = {"file": path, "scope": scope, "behaviors": count, "store": store, "kept": kept, "restored": done}
    emit(found, said if done else "", options.as_json)
    if done and scope == "project":
        tell_trust(workspace)
    return 0 if done or options.dry_run else 1


def _list_backups(options: Namespace, workspace: Workspace) -> int:
    if options.file is not None:
        raise InputError(f"'brim backup list' takes no file: brim backup restore {options.file}")
    folders = workspace.scope_folders
    if options.scope is not None:
        folders = {options.scope: folders[scope_of(options, workspace)]}
    backups = [described(scope, path) for scope, path in backups_in(folders)]
    copies = kept_copies(_stores(workspace)["project"], workspace.home) if "project" in folders else []
    kept = [described("project", path) for path in copies]
    every = sorted(backups + kept, key=lambda each: (-each["at"], each["file"]))
    rows = [["made (UTC)", "scope", "rules", "size", "file"]]
    for each in every:
        each["at"] = iso(int(each["at"]))
        count = f"{each['behaviors']:,}" if each["problem"] is None else each["problem"]
        made = each["at"][:19].replace("T", " ")
        rows.append([made, each["scope"], count, readable_size(each["bytes"]), home_path(each["file"])])
    result = {"backups": [each for each in every if each not in kept], "kept": kept}
    view = heading(table(rows, right=(2, 3))) if every else ""
    return emit(result, view, options.as_json, empty="no backup yet: brim backup create")


def _present(store: str) -> str:
    """Say what is in the file that would be replaced; it may be damaged, which is what a backup is for."""
    if not os.path.lexists(store):
        return "nothing there yet"
    try:
        return counted(rules_in(store), "rule")
    except StoreError as error:
        return f"it is {error.reason}"
