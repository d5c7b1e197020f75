"""``brim doctor``: what is installed where, whether it works, and what to do."""

from __future__ import annotations

import os

from brim import __version__
from brim.cli.doctoring import FIX, OFF, WRONG, Finding, findings
from brim.cli.installing import Installation
from brim.cli.output import note, paint, printable, say, say_json, table
from brim.cli.settings import add_json
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
    if options.fix and any(each.state == WRONG and each.fix == FIX for each in found):
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
    from brim.cli.commands.upgrade import migrate_stores

    fixed = [f"{path} written anew" for path in install_launchers(installation.home)]
    changes = []
    for target in installation.targets():
        record = installation.records.get(target.path)
        try:
            if record is not None and (change := installation.again(target, record)).changes:
                changes.append(change)
        except BrimError as error:
            note(str(error))
    installation.apply(changes, installing=True)
    fixed += [f"{change.target.path}: hooks as they should be" for change in changes]
    try:
        migrate_stores(installation)
    except BrimError as error:
        note(str(error))
    return fixed
