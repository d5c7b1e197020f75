"""``brim trust``: which projects may steer agents, and what exactly they may say."""

from __future__ import annotations

import os
import time
from argparse import Namespace
from collections import Counter

from brim.cli.options import add_json, add_yes, command, need_person, one_of, option, says_yes, working_folder
from brim.cli.output import (
    block,
    counted,
    day,
    emit,
    heading,
    home_path,
    lines,
    note,
    printable,
    say_paged,
    table,
)
from brim.cli.rule_view import whole
from brim.config.places import project_folder, user_folder
from brim.errors import InputError
from brim.scratch.entries import Entry
from brim.store.consent import Consent
from brim.store.trust import is_trusted, trusted_projects, untrust
from brim.workspace import Workspace


@command(
    option("folder", nargs="?", metavar="DIR", help="a project's folder (default: the one around here)"),
    one_of(
        option("--list", action="store_true", dest="as_list", help="list the trusted projects"),
        option("--remove", action="store_true", help="stop trusting it"),
    ),
    add_yes,
    add_json,
)
def trust(options: Namespace) -> int:
    """Let agents use this project's rules and settings.

    Anyone may have written the .brim/ folder of a project that you cloned, so hooks and servers ignore it until you
    trust it. brim first shows everything that this would let in, whole. What changes later by other ways than brim,
    such as a pull, is left out until you run this again: then it shows only that. Memory in .context/ that wasn't made
    here is shown too. Your own constraints stay in force, whatever a project says. Commands that you type yourself
    always use the project.

    Examples:
      brim trust
      brim trust ~/shop --yes
      brim trust --list
      brim trust --remove
    """
    user = user_folder(os.environ)
    if options.as_list:
        if options.folder is not None:
            raise InputError(f"--list lists every trusted project, so it takes no {options.folder}")
        return _list_trusted(user, as_json=options.as_json)
    return _remove_trust(options, user) if options.remove else _trust(options)


def _list_trusted(user: str, *, as_json: bool) -> int:
    rows, projects = [["since", "project", ""]], []
    for path, at in trusted_projects(user).items():
        valid = is_trusted(path, user)
        projects.append({"project": path, "since": day(at), "valid": valid})
        gone = "" if valid else "is gone, or another folder is in its place: not trusted"
        rows.append([day(at), home_path(path), gone])
    if not projects:
        note("no trusted projects yet: run 'brim trust' in one")
    return emit({"projects": projects}, heading(table(rows)) if projects else "", as_json)


def _remove_trust(options: Namespace, user: str) -> int:
    path = os.path.realpath(options.folder if options.folder is not None else working_folder() or "/")
    if path not in trusted_projects(user):
        path = (project_folder(os.environ, path) if os.path.isdir(path) else None) or path
    was = path in trusted_projects(user)
    if was and not options.dry_run:
        untrust(path, user, now=time.time())
    said = f"{home_path(path)} {'would no longer be' if options.dry_run else 'is no longer'} trusted" if was else ""
    found = {"project": path, "trusted": was and options.dry_run, "changed": was and not options.dry_run}
    emit(found, said, options.as_json)
    if not was and not options.as_json:
        note(f"{path} wasn't trusted; nothing was changed")
    return 0 if was else 1


def _trust(options: Namespace) -> int:
    if not options.dry_run:
        need_person("trusts a project")
    folder = options.folder if options.folder is not None else working_folder()
    if folder is None or not os.path.isdir(folder):
        raise InputError(f"{options.folder or 'the working folder'}: no such folder")
    workspace = Workspace(os.environ, folder, who="person", now=time.time())
    found = workspace.consent()
    if found is None:
        raise InputError(f"{folder}: not a project: no .brim/ or .git in it or above it")
    if not options.as_json:
        say_paged(_view(found))
    done = found.trusted and not found.is_new
    if not done and not options.dry_run:
        refusal = "agents are not told this" if found.trusted else "the project is not trusted"
        done = says_yes("Let agents be told this, and what you store here later?", yes=options.yes, no=refusal)
        if done:
            found.accept(now=workspace.now)
    changed = done and (found.is_new or not found.trusted)
    said = "trusted now; 'brim trust --remove' undoes this" if changed else "already trusted"
    told = {"project": found.project, "trusted": found.trusted or done, "changed": changed, **found.to_dict()}
    return emit(told, said if done else "", options.as_json, code=0 if done or options.dry_run else 1)


def _view(found: Consent) -> str:
    """Return all of it for a person: whole, and with everything visible."""
    counts = Counter(each.kind.value for each in found.rules)
    kinds = ", ".join(f"{n:,} {kind}" if kind == "episodic" else counted(n, kind) for kind, n in counts.items())
    since = ", new or changed since you trusted it" if found.trusted and found.is_new else ""
    shared = os.path.exists(os.path.join(found.project, ".brim", "behaviors.jsonl"))
    sets = [f"  {key}: {value}" for key, value in found.settings.items()]
    parts = [
        f"{home_path(found.project)}: {counted(len(found.rules), 'rule')}{f' ({kinds})' if kinds else ''}{since}",
        *map(whole, found.rules),
        lines("it sets in .brim/config.yaml", *map(printable, sets)) if sets else "",
        *(
            f"{home_path(folder)}: memory that wasn't made here\n{_entries(each)}"
            for folder, each in found.memory.items()
        ),
        lines(*(printable(f"not followed: {text}") for text in found.refused)),
        ".brim/behaviors.jsonl is used only after 'brim rules import'" if shared else "",
    ]
    return "\n\n".join(filter(None, parts))


def _entries(entries: list[Entry]) -> str:
    shown = []
    for each in entries:
        refs = [f"  {key}: {value}" for key, value in each.refs.items()]
        shown.append(lines(printable(f"#{each.number} {each.kind}"), block(each.text), *map(printable, refs)))
    return "\n".join(shown)
