"""``brim import-rules``: the bullets of CLAUDE.md, AGENTS.md and the like, each as a behavior."""

from __future__ import annotations

import os

from brim.cli.asking import add_yes
from brim.cli.behaviors import counted, cut, kind_of, named
from brim.cli.import_view import plan_object, say_stored
from brim.cli.importing import carry_out
from brim.cli.learned import Place, add_scope
from brim.cli.messages import read_text
from brim.cli.output import heading, listed, note, paint, printable, say, say_json, table
from brim.cli.settings import add_json
from brim.store.imports import RulesReader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from brim.store.imports import Outcome, Plan

WIDTH = 100
"""Columns of a text."""
COLOURS = {"added": "green", "merged": "yellow", "known": "faint", "left out": "faint"}

HELP = """\
Learn the rules in files such as CLAUDE.md, AGENTS.md, GEMINI.md or .cursorrules: each bullet is one, with what hangs on
it and with the line above it if that changes its sense. Everything is shown before it is stored. What says nearly the
same as something that is known, or as another bullet, is merged with it, and both texts are kept; what is known
already, or was forgotten, stays as it is. The files stay as they are.

Ends with 1 if nothing was stored that could have been.

Examples:
  brim import-rules CLAUDE.md
  brim import-rules CLAUDE.md AGENTS.md --user --yes
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="file to read; - is standard input")
    add_scope(parser)
    add_yes(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    """Import the rules, and return the exit code."""
    place = Place()
    scope = place.scope(options)
    reader = RulesReader(scope, place.now, place.config["behaviors.near_duplicate"])
    for path in dict.fromkeys(options.files):
        name = "standard input" if path == "-" else _shared_name(path, place.project)
        reader.read(read_text(path), name)

    def show(_: Plan) -> None:
        if not options.as_json:
            _show(reader.outcomes)

    with place.open() as scopes:
        plan, stored = carry_out(
            options, place, scopes, lambda: reader.plan(scopes), show, source=", ".join(reader.files), event="learned"
        )
    if options.as_json:
        outcomes = [each.to_dict() for each in reader.outcomes]
        say_json({"files": reader.files, "scope": scope, "rules": outcomes, **plan_object(plan), "stored": stored})
    elif stored:
        say_stored(plan)
    elif plan.is_empty:
        say("there is nothing new to store" if reader.outcomes else "no rules were found")
    for text in plan.notes:
        note(text)
    if reader.secrets:
        note(f"{counted(reader.secrets, 'secret')} in the text masked: what is learned is read by others")
    if stored and scope == "project":
        place.tell_trust()
    return 0 if stored or plan.is_empty or options.dry_run else 1


def _shared_name(path: str, project: str | None) -> str:
    """Return *path* as it may be written into a file that others read: from the project's folder on, or its name."""
    if project is not None:
        inside = os.path.relpath(os.path.realpath(path), os.path.realpath(project))
        if not inside.startswith(os.pardir):
            return inside.replace(os.sep, "/")
    return os.path.basename(path)


def _show(outcomes: list[Outcome]) -> None:
    if not outcomes:
        return
    counts: dict[str, int] = {}
    for each in outcomes:
        counts[each.what] = counts.get(each.what, 0) + 1
    numbers = ", ".join(f"{count:,} {what}" for what, count in counts.items())
    say(f"{counted(len(outcomes), 'rule')}: {numbers}")
    say()
    learned = [each for each in outcomes if each.behavior is not None]
    rows, more = listed(
        [[paint(each.what, COLOURS[each.what]), *_cells(each), each.place, cut(each.text, WIDTH)] for each in learned],
        most=200,
    )
    if rows:
        say(heading(table([["", "kind", "tags", "where", "text"], *rows])))
    if more:
        say(more)
    for each in learned:
        if each.what == "merged" and each.behavior is not None:
            say(printable(f"{each.place}: merged into {named(each.behavior)}: {'; '.join(each.changes)}"))
    left_out = [[each.place, each.why, cut(each.text, WIDTH)] for each in outcomes if each.behavior is None]
    if left_out:
        say()
        say(paint("left out", "faint"))
        say(table(left_out))
    say()


def _cells(outcome: Outcome) -> list[str]:
    behavior = outcome.behavior
    return ["", ""] if behavior is None else [kind_of(behavior), ", ".join(behavior.tags)]
