"""``brim export``: behaviors as a file that is made to be committed."""

from __future__ import annotations

import os

from brim.behaviors.kinds import EdgeKind
from brim.cli.behaviors import counted
from brim.cli.inputs import Source, chunks
from brim.cli.learned import Place, add_scope
from brim.cli.output import note, printable, say, say_json
from brim.cli.settings import add_json
from brim.errors import InputError, StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from brim.behaviors.behavior import Behavior
    from brim.behaviors.edges import Edge
    from brim.store.store import Store

HELP = """\
Write the behaviors of a scope to a file that is made to be committed to git: one JSON object a line, in an order that
stays, without what is this machine's (uses, times of use, the connections that brim learned by itself). The same content
gives the same bytes, and a file that would stay as it is is not written. Secrets are masked.

In a project FILE may be left out: it is .brim/behaviors.jsonl, which others read with 'brim import'.

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
        behaviors, edges, left_out = _exported(store, everything=options.everything)
    text = dump(behaviors, edges)
    if path == "-":
        say(text.removesuffix("\n"))
        written = True
    else:
        written = _write(path, text)
    content = counted(len(behaviors), "behavior") + (f", {counted(len(edges), 'connection')}" if edges else "")
    if options.as_json:
        facts = {"behaviors": len(behaviors), "edges": len(edges), "edges_left_out": left_out}
        say_json({"file": path, "scope": scope, "written": written, **facts})
    elif path == "-":
        note(f"{content} of this {scope}")
    else:
        say(printable(f"{path}: {content}" + ("" if written else "; unchanged, so it was not written")))
    if left_out:
        note(f"{counted(left_out, 'connection')} left out: they lead to behaviors that are not in the file")
    return 0


def _exported(store: Store, *, everything: bool) -> tuple[list[Behavior], list[Edge], int]:
    """Return what of *store* goes into the file, and how many edges lead out of it.

    Which scope it is for says whoever imports it. When something was last touched, git says.
    """
    from brim.cli.importing import as_stored

    with store.reading():
        chosen = {each.id: each for each in store.behaviors() if everything or each.live}
        edges = [edge for edge in store.all_edges() if everything or edge.kind is not EdgeKind.CO_ACTIVATED]
        live = {each.id for each in store.behaviors() if each.live}
    behaviors = [
        as_stored(each).changed(
            scope="user",
            updated_at=None,
            supersedes=[id for id in each.supersedes if id in chosen],
        )
        for each in chosen.values()
    ]
    inside = [edge for edge in edges if edge.source in chosen and edge.target in chosen]
    # An edge of what was put away is left out with it; one that leads elsewhere would dangle for others.
    outside = [edge for edge in edges if edge not in inside and (edge.source in live or edge.target in live)]
    return behaviors, inside, len(outside)


def _usual(place: Place, scope: str) -> str:
    """Return the file that a project's behaviors are committed as."""
    if scope != "project" or place.project is None:
        raise InputError("which file? For your own behaviors there is no usual one: brim export FILE, or - for the screen")
    return os.path.join(place.project, ".brim", "behaviors.jsonl")


def _write(path: str, text: str) -> bool:
    """Write *text* to *path*, unless it is there already; whether it was written."""
    from brim.cli.saving import save

    if os.path.isdir(path):
        raise InputError(f"{path}: is a folder: name a file in it")
    if os.path.exists(path):
        try:
            if "".join(chunks(Source(path, path=path), lambda _: None)) == text:
                return False
        except InputError as error:  # somebody else's file, and no text at all
            raise InputError(f"{error}; it is not written over: choose another name") from None
    save(path, text)
    return True
