"""``brim feedback``: say how a behavior fared."""

from __future__ import annotations

from brim.cli.behaviors import as_object, named
from brim.cli.learned import Place, add_behavior
from brim.cli.output import note, printable, say, say_json
from brim.cli.settings import add_json
from brim.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from brim.behaviors.behavior import Behavior

VERDICTS = ("confirmed", "overridden")

HELP = """\
Say that a behavior was right (confirmed), or that you did otherwise on purpose (overridden). Its confidence grows or
falls, and with its uses how easily it comes up. Its text stays as it is.

Examples:
  brim feedback use-uv confirmed
  brim feedback use-uv overridden --note 'the image has only pip'
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    add_behavior(parser)
    parser.add_argument("verdict", choices=VERDICTS, help="how it fared")
    parser.add_argument("--note", default="", metavar="TEXT", help="why; kept with it")
    add_json(parser)


def run(options: Namespace) -> int:
    """Note the verdict, and say what it changed."""
    place = Place()
    with place.open() as scopes, scopes.writing():
        behavior = scopes.find(options.id)
        if not behavior.live:
            raise InputError(
                f"{named(behavior)} is {behavior.status}, so it cannot have been of use: brim show {behavior.id}"
            )
        changed = _judged(behavior, options.verdict, place.now)
        scopes.put(changed, event=options.verdict, now=place.now, note=options.note)
    if options.as_json:
        say_json(as_object(changed))
    else:
        usage = changed.usage
        before, after = behavior.confidence, changed.confidence
        say(printable(f"{options.verdict}: {named(changed)}"))
        say(f"confirmed {usage.confirmed:,}, overridden {usage.overridden:,}, confidence {before:.2f} -> {after:.2f}")
    if changed.usage.overridden > changed.usage.confirmed + 1:
        note(f"it is overridden more often than confirmed: change it with 'brim edit {changed.id}', or forget it")
    return 0


def _judged(behavior: Behavior, verdict: str, now: float) -> Behavior:
    from brim.behaviors.learning import confirmed, overridden

    return confirmed(behavior, now) if verdict == "confirmed" else overridden(behavior, now)
