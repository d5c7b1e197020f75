"""``brim import-floop``: what floop has learned."""

from __future__ import annotations

import os

from brim.cli.asking import add_yes
from brim.cli.behaviors import counted, kind_of
from brim.cli.import_view import plan_object, say_stored, show_plan, tell_problems
from brim.cli.importing import carry_out, plan_of
from brim.cli.learned import Place
from brim.cli.output import heading, note, printable, say, say_json, table
from brim.cli.settings import add_json
from brim.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from brim.behaviors.behavior import Behavior, Edge
    from brim.behaviors.floop import Floop
    from brim.cli.importing import Plan

FILES = ("nodes.jsonl", "edges.jsonl", "corrections.jsonl")

HELP = """\
Read what floop has learned from a .floop folder, or from the folder that it is in: behaviors, connections, and
corrections that it had not learned from yet, which become notes to review. What belongs to a project goes into this
project, everything else into your own scope; without a project everything does. What could not be brought over as it
was is listed. Reading the same folder again changes nothing; ids, counters and everything that brim has no field for
are kept.

Ends with 1 if nothing was stored that could have been.

Examples:
  brim import-floop .
  brim import-floop ~/.floop --yes
  brim import-floop .floop --dry-run --json
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("folder", metavar="DIR", help="the .floop folder, or the folder that it is in")
    add_yes(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    """Import the folder, and return the exit code."""
    place = Place()
    folder = _folder(options.folder)
    found = _read(folder, "project" if place.project is not None and not _is_at_home(folder) else "user")
    behaviors, edges = _placed(found, place)

    def show(plan: Plan) -> None:
        if not options.as_json:
            _show(folder, found, behaviors, place)
            show_plan(plan, folder)
            twice = len(found.edges) - len(plan.edges) - plan.same_edges - len(plan.dangling)
            if twice:
                note(f"{counted(twice, 'connection')} in floop's files twice, once each way: kept as one each")
        tell_problems(found.unmapped)

    with place.open() as scopes:
        plan, stored = carry_out(
            options,
            place,
            scopes,
            lambda: plan_of(scopes, behaviors, edges, source=".floop", now=place.now),
            show,
            source=".floop",
        )
    if options.as_json:
        unmapped = [{name: getattr(each, name) for name in each.__match_args__} for each in found.unmapped]
        say_json({"folder": folder, **plan_object(plan), "unmapped": unmapped, "stored": stored})
    elif stored:
        say_stored(plan)
    elif plan.is_empty:
        known = behaviors and not found.unmapped
        say("there is nothing to store: all of it is here already" if known else "there is nothing new to store")
    if stored:
        place.tell_trust()
    return 0 if stored or plan.is_empty or options.dry_run else 1


def _folder(given: str) -> str:
    """Return the folder that floop's files are in."""
    for folder in (given, os.path.join(given, ".floop")):
        if any(os.path.isfile(os.path.join(folder, name)) for name in FILES):
            return os.path.normpath(folder)
    if not os.path.isdir(given):
        raise InputError(f"{given}: there is no such folder")
    raise InputError(f"{given}: holds none of {', '.join(FILES)}: name a .floop folder, or the folder that it is in")


def _is_at_home(folder: str) -> bool:
    """Whether *folder* is floop's own for every project: it lies in the home folder."""
    return os.path.dirname(os.path.realpath(folder)) == os.path.realpath(os.path.expanduser("~"))


def _read(folder: str, scope: str) -> Floop:
    from brim.behaviors.floop import read_floop

    nodes, edges, corrections = (_lines(os.path.join(folder, name)) for name in FILES)
    return read_floop(nodes, edges, corrections, scope=scope)


def _lines(path: str) -> list[str]:
    """Return the lines of the file *path*; none if it is not there. What is not UTF-8 makes its line unreadable."""
    try:
        with open(path, "rb") as file:
            return file.read().decode("utf-8", "backslashreplace").split("\n")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None


def _placed(found: Floop, place: Place) -> tuple[list[Behavior], list[tuple[str, Edge]]]:
    """Return behaviors and edges with the scope that each goes to."""
    behaviors = list(found.behaviors)
    if place.project is None:
        behaviors = [each.replace(scope="user") for each in behaviors]
    ours = {each.id for each in behaviors if each.scope == "project"}
    edges = [("project" if {edge.source, edge.target} & ours else "user", edge) for edge in found.edges]
    return behaviors, edges


def _show(folder: str, found: Floop, behaviors: list[Behavior], place: Place) -> None:
    """Print how many there are of each kind, and where they go."""
    content = f"{counted(len(behaviors), 'behavior')}, {counted(len(found.edges), 'connection')}"
    say(printable(f"{folder} holds {content}"))
    counts: dict[tuple[str, str, str], int] = {}
    for each in behaviors:
        key = (kind_of(each), each.status.value, each.scope)
        counts[key] = counts.get(key, 0) + 1
    if counts:
        rows = [[kind, status, scope, f"{count:,}"] for (kind, status, scope), count in sorted(counts.items())]
        say(heading(table([["kind", "status", "scope", "count"], *rows], right=frozenset({3}))))
    if place.project is None and any(each.scope == "project" for each in found.behaviors):
        note("there is no project here, so what belongs to one goes into your own scope as well")
    say()
