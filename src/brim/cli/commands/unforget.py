"""``brim unforget``: bring forgotten behaviors back."""

from __future__ import annotations

from brim.behaviors.behavior import Status
from brim.cli.behaviors import as_object, named
from brim.cli.learned import Place, add_behavior, found_each
from brim.cli.output import note, printable, say, say_json
from brim.cli.settings import add_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from brim.behaviors.behavior import Behavior
    from brim.store.scopes import Scopes

HELP = """\
Bring forgotten behaviors back, each as it was: what was active is active again, what an agent noted waits for
'brim review' again. With several, all come back or none.

Examples:
  brim unforget use-pip
  brim list --status forgotten
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    add_behavior(parser, "ids", several=True)
    add_json(parser)


def run(options: Namespace) -> int:
    """Bring them back, and say which were never away."""
    place = Place()
    back, already = [], []
    with place.open() as scopes, scopes.writing():
        for behavior in found_each(scopes, options.ids):
            if behavior.status is not Status.FORGOTTEN:
                already.append(behavior)
                continue
            changed = behavior.replace(status=_status_before(behavior, scopes), updated_at=place.now)
            scopes.put(changed, event="unforgotten", now=place.now)
            back.append(changed)
    if options.as_json:
        say_json({"unforgotten": [as_object(each) for each in back], "unchanged": [each.id for each in already]})
        return 0
    for each in back:
        say(printable(f"back: {named(each)}, {each.status}"))
        if each.status is Status.SUPERSEDED:
            note(f"{each.superseded_by} has taken its place, so it is still not injected")
    for each in already:
        say(printable(f"{named(each)} is not forgotten: it is {each.status}"))
    return 0


def _status_before(behavior: Behavior, scopes: Scopes) -> Status:
    """Return what it was when it was put away; if nobody wrote that down, what it can have been at most."""
    for event in reversed(scopes.store(behavior.scope).events(behavior=behavior.id)):
        if event.kind in ("forgotten", "rejected"):
            was = event.detail.get("was")
            if was in (Status.ACTIVE, Status.PENDING, Status.SUPERSEDED):
                return Status(was)
            break
    if behavior.superseded_by:
        return Status.SUPERSEDED
    return Status.PENDING if behavior.provenance.source == "agent" else Status.ACTIVE
