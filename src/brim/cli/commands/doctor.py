"""``brim doctor``: what is installed where, whether it works, and what to do."""

from __future__ import annotations

import os

from brim import __version__
from brim.cli.doctoring import findings
from brim.cli.finding import FIX, OFF, WRONG, Finding
from brim.cli.installing import Installation, installed_events
from brim.cli.options import add_json
from brim.cli.output import note, paint, printable, say, say_json, table
from brim.errors import BrimError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

HELP = """\
Say what is installed where, whether a hook really answers and how long it takes, how many tokens brim itself adds, and
what to correct. A hook is tried in a home of its own, so nothing is recorded. With --fix everything is corrected that
needs no decision of yours: launcher, hooks in the settings, files of an older version.

Ends with 1 if something is wrong.

Examples:
  brim doctor
  brim doctor --fix
  brim doctor --json
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("--fix", action="store_true", help="correct what can be corrected")
    add_json(parser)


def run(options: Namespace) -> int:
    """Look, print what was found, and return the exit code."""
    installation = Installation(os.environ)
    found = list(findings(installation))
    fixed: list[str] = []
    if options.fix and any(each.fix == FIX for each in found):
        fixed = _fix(installation)
        installation = Installation(os.environ)
        found = list(findings(installation))
    wrong = [each for each in found if each.state == WRONG]
    if options.as_json:
        looked = [
            {"state": "off" if each.state == OFF else each.state, "what": each.what, "text": each.text, "fix": each.fix}
            | each.facts
            for each in found
        ]
        say_json({"version": __version__, "ok": not wrong, "fixed": fixed, "findings": looked})
    else:
        for text in fixed:
            say(printable(f"corrected: {text}"))
        _say(found)
        if wrong:
            fix = " ('brim doctor --fix' corrects what it can)" if any(each.fix == FIX for each in wrong) else ""
            note(f"{len(wrong)} thing{'' if len(wrong) == 1 else 's'} to correct{fix}")
    return 1 if wrong else 0


def _say(found: list[Finding]) -> None:
    colours = {WRONG: "red", OFF: "faint"}
    rows = [[paint(each.state, colours.get(each.state, "green")), each.what, each.text] for each in found]
    lines = table(rows).split("\n")
    for line, each in zip(lines, found, strict=True):
        say(line)
        for text in each.facts.get("lines", ()):
            say(f"      {printable(text)}")


def _fix(installation: Installation) -> list[str]:
    """Correct what needs no decision: write launchers and hooks anew, and bring the stores up to date."""
    from brim.agents.install.launchers import install_launchers
    from brim.cli.commands.upgrade import migrate_stores, upgrade_server
    from brim.store.project import FILE

    fixed = _fix_settings(installation)
    if fixed or any(installed_events(target.path, installation.home) for target in installation.targets()):
        fixed += [f"{path} written anew" for path in install_launchers(installation.home)]
        if not os.path.lexists(os.path.join(installation.home, FILE)) and installation.make_store():
            fixed.append(f"{installation.home}: has a store now")
    if path := upgrade_server(installation):
        fixed.append(f"{path}: starts this brim")
    stores, broken = migrate_stores(installation)
    for reason in broken:
        note(reason)
    return fixed + [f"{path} brought up to date" for path, migrated in stores.items() if migrated]


def _fix_settings(installation: Installation) -> list[str]:
    """Put hooks in the settings right, take them out of projects that have them for every project already, and forget
    projects that are no longer there.
    """
    again, out, orphans = [], [], []
    for target in installation.targets():
        record = installation.records.get(target.path)
        above = installation.target(target.agent, "user").path
        try:
            if target.is_orphan:
                orphans.append(installation.removed(target))
            elif target.scope == "project" and installed_events(above, installation.home):
                out.append(installation.removed(target))
            elif record is not None:
                again.append(installation.again(target, record))
        except BrimError as error:
            note(str(error))
    again, out = ([change for change in changes if change.changes] for changes in (again, out))
    installation.apply(again, installing=True)
    installation.apply([*out, *orphans], installing=False)
    told = [f"{change.target.path}: hooks as they should be" for change in again]
    told += [f"{change.target.path}: forgotten, since its project is no longer there" for change in orphans]
    return told + [f"{change.target.path}: taken out, since it is for every project" for change in out]
