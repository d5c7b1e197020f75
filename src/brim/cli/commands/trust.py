"""``brim trust``: which projects may steer an agent."""

from __future__ import annotations

import os
import time

from brim.cli.asking import add_yes, says_yes
from brim.cli.behaviors import cut, day, kind_of, one_line
from brim.cli.output import heading, listed, note, printable, say, say_json, table
from brim.cli.settings import add_json, working_folder
from brim.config.places import project_folder, user_folder
from brim.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from brim.behaviors.behavior import Behavior

SHOWN = 20
"""So many behaviors are shown before the question; constraints come first."""
WIDTH = 72
"""Columns of a summary."""

HELP = """\
Let agents use this project's behaviors and settings. What lies in a project that you have cloned is somebody else's
word, so hooks and servers use its .brim/ only after you have said so, once, for this very folder. You see first what it
would let in. Your own constraints stay in force whatever a project says.

Commands that you type yourself use the project in any case.

Examples:
  brim trust
  brim trust ~/shop --yes
  brim trust --list
  brim trust --remove
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("folder", nargs="?", metavar="DIR", help="a project's folder (default: the one around here)")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--list", action="store_true", dest="as_list", help="list the trusted projects")
    which.add_argument("--remove", action="store_true", help="trust it no more")
    add_yes(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    """Do what was asked, and return the exit code."""
    user = user_folder(os.environ)
    if options.as_list:
        if options.folder is not None:
            raise InputError(f"--list lists every trusted project, so it takes no {options.folder}")
        return _list(user, as_json=options.as_json)
    if options.remove:
        return _remove(options, user)
    return _trust(options, user)


def _list(user: str, *, as_json: bool) -> int:
    from brim.store.trust import is_trusted, trusted_projects

    projects = [
        {"project": path, "since": day(at), "valid": is_trusted(path, user)}
        for path, at in trusted_projects(user).items()
    ]
    if as_json:
        say_json({"projects": projects})
    elif projects:
        rows = [["since", "project", ""]]
        gone = "is gone, or another folder is in its place: not trusted"
        rows += [[str(each["since"]), str(each["project"]), "" if each["valid"] else gone] for each in projects]
        say(heading(table(rows)))
    else:
        note("no project is trusted yet: run 'brim trust' in one")
    return 0


def _remove(options: Namespace, user: str) -> int:
    from brim.store.trust import trusted_projects, untrust

    path = os.path.realpath(options.folder if options.folder is not None else working_folder() or "/")
    if path not in trusted_projects(user):
        path = (project_folder(os.environ, path) if os.path.isdir(path) else None) or path
    was = path in trusted_projects(user)
    if was and not options.dry_run:
        untrust(path, user, now=time.time())
    if options.as_json:
        say_json({"project": path, "trusted": was and options.dry_run, "changed": was and not options.dry_run})
    elif not was:
        note(f"{path} was not trusted; nothing was changed")
    else:
        say(printable(f"{path} {'would be' if options.dry_run else 'is'} trusted no more"))
    return 0 if was else 1


def _trust(options: Namespace, user: str) -> int:
    from brim.store.trust import is_trusted, trust

    project = _project(options.folder)
    already = is_trusted(project, user)
    behaviors, refused = _behaviors(project, user)
    settings = _settings(project)
    if not options.as_json:
        _show(project, behaviors, refused, settings)
    if already:
        done = True
    elif options.dry_run:
        done = False
    else:
        question = "Let agents be told this, and what is stored here later?"
        done = says_yes(question, yes=options.yes, no="the project is not trusted")
        if done:
            trust(project, user, now=time.time())
    if options.as_json:
        shown = [
            {"id": each.id, "name": each.name, "kind": each.kind.value, "summary": one_line(each)} for each in behaviors
        ]
        facts = {"behaviors": shown, "settings": settings, "refused": refused}
        say_json({"project": project, "trusted": done, "changed": done and not already, **facts})
    elif done:
        say("it is trusted already" if already else "it is trusted now: 'brim trust --remove' takes that back")
    return 0 if done or options.dry_run else 1


def _project(given: str | None) -> str:
    """Return the project that *given*, or the working folder, lies in."""
    folder = given if given is not None else working_folder()
    if folder is None or not os.path.isdir(folder):
        raise InputError(f"{given or 'the working folder'}: no such folder")
    found = project_folder(os.environ, folder)
    if found is None:
        raise InputError(f"{given or folder}: is no project: neither it nor a folder above it has a .brim/ or a .git")
    return found


def _behaviors(project: str, user: str) -> tuple[list[Behavior], list[str]]:
    """Return what *project* would let in, constraints first, and what of it would not be followed."""
    from brim.behaviors.behavior import LIVE, BehaviorKind
    from brim.store.scopes import open_scopes

    kinds = list(BehaviorKind)
    with open_scopes(project, user, trusted=True, migrate=False) as scopes:
        found = scopes.project.behaviors(LIVE) if scopes.project is not None else []
        refused = [str(refusal) for refusal in scopes.refusals()]
    return sorted(found, key=lambda each: (kinds.index(each.kind), each.name, each.id)), refused


def _settings(project: str) -> dict[str, object]:
    """Return what the project's configuration sets."""
    from brim.config.text import read_settings, read_text

    path = os.path.join(project, ".brim", "config.yaml")
    if not os.path.exists(path):
        return {}
    return {key: value for key, (value, _) in read_settings(read_text(path), path)[0].items()}


def _show(project: str, behaviors: list[Behavior], refused: list[str], settings: dict[str, object]) -> None:
    """Print what the project would let in."""
    counts: dict[str, int] = {}
    for each in behaviors:
        counts[each.kind.value] = counts.get(each.kind.value, 0) + 1
    kinds = ", ".join(_number(count, kind) for kind, count in counts.items())
    say(printable(f"{project}: {_number(len(behaviors), 'behavior')}{f' ({kinds})' if kinds else ''}"))
    rows, more = listed([["", kind_of(each), each.name, cut(one_line(each), WIDTH)] for each in behaviors], SHOWN)
    if rows:
        say(table(rows))
    if more:
        say(f"  {more}")
    if settings:
        say(printable(f"  it sets {', '.join(settings)} in .brim/config.yaml"))
    for text in refused:
        say(printable(f"  not followed: {text}"))
    if os.path.exists(os.path.join(project, ".brim", "behaviors.jsonl")):
        say("  .brim/behaviors.jsonl is used only after 'brim import'")


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 or what == 'episodic' else 's'}"
