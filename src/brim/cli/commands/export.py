"""``brim export``: behaviors as a file that is made to be committed."""

from __future__ import annotations

import os

from brim.behaviors.behavior import EdgeKind
from brim.cli.asking import add_yes, says_yes
from brim.cli.behaviors import counted, named
from brim.cli.files import usual_file
from brim.cli.importing import as_stored
from brim.cli.learned import Place, add_scope
from brim.cli.messages import read_text
from brim.cli.output import note, printable, say, say_json
from brim.cli.saving import check_regular, save
from brim.cli.settings import add_json
from brim.errors import InputError, StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Collection

    from brim.behaviors.behavior import Behavior, Edge

HELP = """\
Write the behaviors of a scope to a file that is made to be committed to git: one JSON object a line, in an order that
stays, without what is this machine's (uses, times of use, the connections that brim learned by itself). The same
content gives the same bytes, and a file that would stay as it is is not written. Secrets are masked.

In a project FILE may be left out: it is .brim/behaviors.jsonl, which others read with 'brim import'. If it holds
behaviors that are not stored here, since somebody else added them, or lines that cannot be read, you are asked before
they are dropped; ends with 1 if it was not written for that. 'brim import' brings them in first.

Examples:
  brim export
  brim export rules.jsonl --user --all
  brim export - | grep constraint
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    text = "file to write; - is standard output (default: the project's .brim/behaviors.jsonl)"
    parser.add_argument("file", nargs="?", metavar="FILE", help=text)
    add_scope(parser)
    text = "also what is forgotten or superseded, and the connections that brim learned by itself"
    parser.add_argument("--all", action="store_true", dest="everything", help=text)
    add_yes(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    """Write the file, and return the exit code."""
    from brim.behaviors.jsonl import dump

    place = Place()
    scope = place.scope(options)
    path = options.file or _usual(place, scope)
    if path == "-" and options.as_json:
        raise InputError("--json and the export cannot both go to standard output: name a file")
    with place.open() as scopes:
        store = scopes.project if scope == "project" else scopes.user
        if store is None:
            raise StoreError(f"nothing is stored for this {scope} yet: 'brim learn' makes a beginning", "missing")
        with store.reading():
            stored, every_edge = store.behaviors(), store.all_edges()
    behaviors, edges, left_out = exported(stored, every_edge, everything=options.everything)
    text = dump(behaviors, edges)
    if left_out:
        note(f"{counted(left_out, 'connection')} left out: one end is not in the file")
    content = counted(len(behaviors), "behavior") + (f", {counted(len(edges), 'connection')}" if edges else "")
    if path == "-":
        say(text.removesuffix("\n"))
        note(f"{content} of this {scope}")
        return 0
    before = _before(path)
    dropped = _dropped(before, stored, path)
    agreed = before == text or options.dry_run or not dropped or _agrees(options, dropped, path)
    written = agreed and before != text and not options.dry_run
    if written:
        save(path, text)
    if options.as_json:
        facts = {"behaviors": len(behaviors), "edges": len(edges), "edges_left_out": left_out}
        say_json({"file": path, "scope": scope, "written": written, "dropped": dropped, **facts})
    elif agreed:
        how = "; unchanged, so it was not written" if before == text else "" if written else "; would be written"
        say(printable(f"{path}: {content}{how}"))
    return 0 if agreed else 1


def exported(
    behaviors: Collection[Behavior], edges: Collection[Edge], *, everything: bool
) -> tuple[list[Behavior], list[Edge], int]:
    """Return what goes into the file, and how many edges of live behaviors do not, since they lead out of it.

    Which scope it is for says whoever imports it. When something was last touched, git says.
    """
    chosen = {each.id: each for each in behaviors if everything or each.live}
    away = {each.id for each in behaviors if each.id not in chosen}
    meant = [edge for edge in edges if everything or edge.kind is not EdgeKind.CO_ACTIVATED]
    inside = [edge for edge in meant if edge.source in chosen and edge.target in chosen]
    # An edge of what was put away stays behind with it; one that leads to another file would lead nowhere for others.
    outside = [
        edge
        for edge in meant
        if not {edge.source, edge.target} <= chosen.keys() and edge.source not in away and edge.target not in away
    ]
    shared = [
        as_stored(each).replace(
            scope="user", updated_at=None, supersedes=[id for id in each.supersedes if id in chosen]
        )
        for each in chosen.values()
    ]
    return shared, inside, len(outside)


def _usual(place: Place, scope: str) -> str:
    """Return the file that a project's behaviors are committed as."""
    if scope != "project" or place.project is None:
        raise InputError(
            "which file? For your own behaviors there is no usual one: brim export FILE, or - for the screen"
        )
    return usual_file(place.project)


def _before(path: str) -> str | None:
    """Return what the file *path* holds, None if it is not there; raise if it is not one to be written over."""
    from brim.behaviors.jsonl import FORMAT

    check_regular(path)
    if not os.path.exists(path):
        return None
    try:
        text = read_text(path)
    except InputError as error:
        raise InputError(f"{error}; it is not written over: choose another name") from None
    if text.strip() and not any(FORMAT in line for line in text.split("\n", 20)[:20]):
        raise InputError(f"{path}: is no export of brim's, so it is not written over: choose another name")
    return text


def _dropped(before: str | None, stored: Collection[Behavior], path: str) -> list[str]:
    """Return what the file holds that is not stored here: behaviors of others, and lines that cannot be read."""
    from brim.behaviors.jsonl import load

    known = {each.id for each in stored}
    loaded = load(before or "", path)
    return [named(each) for each in loaded.behaviors if each.id not in known] + [str(each) for each in loaded.problems]


def _agrees(options: Namespace, dropped: list[str], path: str) -> bool:
    note(f"{path} holds what is not stored here: 'brim import' brings in what can be read")
    for text in dropped[:10]:
        note(text)
    if len(dropped) > 10:
        note(f"and {len(dropped) - 10:,} more")
    return says_yes("Write it without them?", yes=options.yes)
