"""``brim connect``: say how two behaviors are related."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from brim.behaviors.behavior import Edge, EdgeKind
from brim.behaviors.graph import would_cycle
from brim.cli.behaviors import edge_object, named
from brim.cli.learned import Place, add_behavior
from brim.cli.output import note, printable, say, say_json
from brim.cli.settings import add_json
from brim.errors import InputError

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
    kind.completer = lambda prefix, **_: [each.value for each in EdgeKind if each.value.startswith(prefix)]
    add_behavior(parser, "target", metavar="TARGET")
    parser.add_argument("--weight", type=float, metavar="W", help="how strongly, above 0 and at most 1 (default: 1)")
    parser.add_argument("--remove", action="store_true", help="take the connection away")
    add_json(parser)


def run(options: Namespace) -> int:
    """Connect or disconnect them, and return the exit code."""
    if options.remove and options.weight is not None:
        raise InputError("--weight has no meaning with --remove: leave one of them out")
    place = Place()
    with place.open() as scopes, scopes.writing():
        source, target = scopes.find(options.source), scopes.find(options.target)
        weight = 1.0 if options.weight is None else options.weight
        edge = Edge(source.id, target.id, options.kind, weight, created_at=place.now)
        key, edges = (edge.source, edge.target, edge.kind), scopes.all_edges()
        old = next((each for each in edges if (each.source, each.target, each.kind) == key), None)
        if options.remove:
            removed = scopes.remove_edge(*key, now=place.now)
        else:
            if old is not None:
                edge = edge.replace(created_at=old.created_at, last_activated=old.last_activated)
            if circle := would_cycle(edges, edge):
                way = " -> ".join(circle)
                raise InputError(f"this would go round in a circle of {edge.kind}: {way}; nothing was changed")
            scopes.put_edge(edge, now=place.now)
            refusals = [refusal.text for refusal in scopes.refusals() if str(edge) in refusal.text]
    text = f"{named(source)} {edge.kind} {named(target)}"
    if options.remove:
        if options.as_json:
            say_json({"edge": edge_object(edge), "removed": removed})
        elif removed:
            say(printable(f"disconnected: {text}"))
        if not removed:
            note(f"{named(source)} is not connected so: brim show {source.id}")
        return 0 if removed else 1
    if options.as_json:
        say_json({"edge": edge_object(edge), "changed": old is not None, "followed": not refusals})
    else:
        was = "" if old is None or old.weight == edge.weight else f", was {old.weight:g}"
        say(printable(f"connected: {text}, weight {edge.weight:g}{was}"))
    rests = "the connection rests as long as it is"
    for text in [*refusals, *(f"{named(end)} is {end.status}: {rests}" for end in (source, target) if not end.live)]:
        note(text)
    return 0
