"""``brim forget``: put behaviors away, so that they are never injected."""

from __future__ import annotations

from brim.behaviors.behavior import Status
from brim.cli.behaviors import as_object, named
from brim.cli.learned import Place, add_behavior, found_each
from brim.cli.output import printable, say, say_json
from brim.cli.settings import add_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

HELP = """\
Put behaviors away: they are never injected, and take no part in activation. Nothing is deleted; 'brim unforget' brings
them back as they were. With several, all are put away or none.

Examples:
  brim forget use-pip --reason 'we moved to uv'
  brim forget b-3f2a b-91cc
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    add_behavior(parser, "ids", several=True)
    parser.add_argument("--reason", default="", metavar="TEXT", help="why; kept with it")
    add_json(parser)


def run(options: Namespace) -> int:
    """Put them away, and say which were away already."""
    place = Place()
    forgotten, already = [], []
    with place.open() as scopes, scopes.writing():
        for behavior in found_each(scopes, options.ids):
            if behavior.status is Status.FORGOTTEN:
                already.append(behavior)
                continue
            changed = behavior.replace(status=Status.FORGOTTEN, updated_at=place.now)
            scopes.put(changed, event="forgotten", now=place.now, was=behavior.status.value, reason=options.reason)
            forgotten.append(changed)
    if options.as_json:
        say_json({"forgotten": [as_object(each) for each in forgotten], "unchanged": [each.id for each in already]})
        return 0
    for each in forgotten:
        say(printable(f"forgotten: {named(each)}; 'brim unforget {each.id}' brings it back"))
    for each in already:
        say(printable(f"{named(each)} was forgotten already"))
    return 0
