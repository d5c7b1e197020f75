"""``brim connect``: say how two behaviors are related."""

from __future__ import annotations

from brim.behaviors.behavior import Edge, EdgeKind
from brim.cli.behaviors import edge_object, named
from brim.cli.learned import Place, add_behavior
from brim.cli.output import note, printable, say, say_json
from brim.cli.settings import add_json
from brim.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

    from brim.behaviors.behavior import Behavior
    from brim.store.scopes import Scopes

HELP = """\
Relate two behaviors: SOURCE stands to TARGET in the relation KIND. What is connected already gets the new weight.

  requires      who has the one needs the other; what would go round in a circle is refused
  similar-to    they are about the same thing
  learned-from  the one came out of the other
  co-activated  they come up together; brim learns these by itself
  overrides     SOURCE weakens TARGET
  conflicts     each weakens the other

The first four carry activation both ways. --remove takes a connection away again, and ends with 1 if there was none.

Examples:
  brim connect use-uv overrides use-pip
  brim connect write-tests requires use-pytest --weight 0.5
  brim connect use-uv overrides use-pip --remove
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    add_behavior(parser, "source", metavar="SOURCE")
    kind: Any = parser.add_argument("kind", metavar="KIND", help=f"one of {', '.join(EdgeKind)}")
    kind.completer = complete_kind
    add_behavior(parser, "target", metavar="TARGET")
    parser.add_argument("--weight", type=float, metavar="W", help="how strongly, above 0 and at most 1 (default: 1)")
    parser.add_argument("--remove", action="store_true", help="take the connection away")
    add_json(parser)


def complete_kind(prefix: str, **_: object) -> list[str]:
    """Return the relations that begin with what was typed."""
    return [kind.value for kind in EdgeKind if kind.value.startswith(prefix)]


def run(options: Namespace) -> int:
    """Connect or disconnect them, and return the exit code."""
    if options.remove and options.weight is not None:
        raise InputError("--weight has no meaning with --remove: leave one of them out")
    place = Place()
    with place.open() as scopes, scopes.writing():
        source, target = scopes.find(options.source), scopes.find(options.target)
        weight = 1.0 if options.weight is None else options.weight
        edge = Edge(source.id, target.id, options.kind, weight, created_at=place.now)
        if options.remove:
            removed = scopes.remove_edge(edge.source, edge.target, edge.kind, now=place.now)
            return _say_removed(options, edge, source, target, removed)
        old = _same(edge, scopes)
        if old is not None:
            edge = edge.replace(created_at=old.created_at, last_activated=old.last_activated)
        _refuse_circle(edge, scopes)
        scopes.put_edge(edge, now=place.now)
        refusals = [refusal.text for refusal in scopes.refusals() if str(edge) in refusal.text]
    if options.as_json:
        say_json({"edge": edge_object(edge), "changed": old is not None, "followed": not refusals})
    else:
        was = "" if old is None or old.weight == edge.weight else f", was {old.weight:g}"
        text = f"{named(source)} {edge.kind} {named(target)}, weight {edge.weight:g}{was}"
        say(printable(f"connected: {text}"))
    for text in refusals:
        note(text)
    for end in (source, target):
        if not end.live:
            note(f"{named(end)} is {end.status}: the connection rests as long as it is")
    return 0


def _same(edge: Edge, scopes: Scopes) -> Edge | None:
    """Return the edge that *edge* would replace."""
    for each in scopes.all_edges():
        if (each.source, each.target, each.kind) == (edge.source, edge.target, edge.kind):
            return each
    return None


def _refuse_circle(edge: Edge, scopes: Scopes) -> None:
    from brim.behaviors.graph import would_cycle

    circle = would_cycle(scopes.all_edges(), edge)
    if circle:
        raise InputError(f"this would go round in a circle of {edge.kind}: {' -> '.join(circle)}; nothing was changed")


def _say_removed(options: Namespace, edge: Edge, source: Behavior, target: Behavior, removed: bool) -> int:
    if options.as_json:
        say_json({"edge": edge_object(edge), "removed": removed})
    elif removed:
        say(printable(f"disconnected: {named(source)} {edge.kind} {named(target)}"))
    if not removed:
        note(f"{named(source)} is not connected so: brim show {source.id}")
    return 0 if removed else 1
