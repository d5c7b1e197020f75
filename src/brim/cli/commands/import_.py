"""``brim import``: behaviors from a file that ``brim export`` made."""

from __future__ import annotations

import os

from brim.cli.asking import add_yes
from brim.cli.files import usual_file
from brim.cli.import_view import plan_object, say_stored, show_plan, tell_problems
from brim.cli.importing import carry_out, plan_of
from brim.cli.learned import Place, add_scope
from brim.cli.messages import read_text
from brim.cli.output import say, say_json
from brim.cli.settings import add_json
from brim.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from brim.cli.importing import Plan

HELP = """\
Read behaviors from a file that 'brim export' made, show what is new and what is different, ask, and store it all at
once. In a project FILE may be left out: it is .brim/behaviors.jsonl.

Nothing that is here is removed. Uses and confidence stay as they are here; a text that is replaced stays among the
other wordings; what was forgotten or merged here stays so; a constraint of your own is not changed by what comes into
a project. Lines that cannot be read are listed, and the others are used.

Ends with 1 if nothing was stored that could have been, or if a line was left out.

Examples:
  brim import
  brim import rules.jsonl --user --yes
  git show origin/main:.brim/behaviors.jsonl | brim import - --dry-run
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    text = "file to read; - is standard input (default: the project's .brim/behaviors.jsonl)"
    parser.add_argument("file", nargs="?", metavar="FILE", help=text)
    add_scope(parser)
    add_yes(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    """Import the file, and return the exit code."""
    from brim.behaviors.jsonl import load

    place = Place()
    scope = place.scope(options)
    path = options.file or _usual(place)
    source = "standard input" if path == "-" else path
    loaded = load(read_text(path), source)
    behaviors = [each.replace(scope=scope) for each in loaded.behaviors]
    edges = [(scope, edge) for edge in loaded.edges]
    name = "" if path == "-" else os.path.basename(path)

    def show(plan: Plan) -> None:
        if not options.as_json:
            show_plan(plan, source)
        tell_problems(loaded.problems)

    with place.open() as scopes:
        plan, stored = carry_out(
            options,
            place,
            scopes,
            lambda: plan_of(scopes, behaviors, edges, source=name, now=place.now),
            show,
            source=name,
        )
    if options.as_json:
        problems = [{"line": each.line, "why": each.why, "text": each.text} for each in loaded.problems]
        say_json({"file": source, "scope": scope, **plan_object(plan), "problems": problems, "stored": stored})
    elif stored:
        say_stored(plan)
    elif plan.is_empty:
        say("there is nothing to store" if loaded.behaviors or loaded.edges else "the file holds no behaviors")
    if stored and scope == "project":
        place.tell_trust()
    declined = not (stored or plan.is_empty or options.dry_run)
    return 1 if declined or loaded.problems or plan.dangling else 0


def _usual(place: Place) -> str:
    """Return the file that a project's behaviors are committed as."""
    if place.project is None:
        raise InputError("which file? Outside a project there is no usual one: brim import FILE")
    path = usual_file(place.project)
    if not os.path.lexists(path):
        raise InputError(f"{path}: is not there: 'brim export' makes it, or name another file: brim import FILE")
    return path
