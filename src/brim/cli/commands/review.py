"""``brim review``: what agents noted, for a person to accept or reject."""

from __future__ import annotations

from brim.behaviors.behavior import BehaviorKind, Status
from brim.cli.behaviors import age, as_object, cut, kind_of, named, shared_values
from brim.cli.fitting import fitted
from brim.cli.learned import Place, complete_behavior, found_each
from brim.cli.output import heading, note, printable, say, say_json
from brim.cli.settings import add_json
from brim.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

    from brim.behaviors.behavior import Behavior

ACTIONS = ("list", "accept", "reject")
LONGEST = 300
"""Characters of a note in the list."""

HELP = """\
Look through what agents noted. Until somebody accepts it, a note is injected at most as a summary, under a heading that
says so.

  list           the notes that wait (default)
  accept ID ...  from now on they count as if you had said them; --kind says what they are
  reject ID ...  they are put away; 'brim unforget' makes them notes again

Examples:
  brim review
  brim review accept b-3f2a --kind constraint
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("action", nargs="?", choices=ACTIONS, default="list", help="what to do (default: list)")
    ids: Any = parser.add_argument("ids", nargs="*", metavar="ID", help="id, beginning of an id, or name of a note")
    ids.completer = complete_behavior
    kinds = [kind.value for kind in BehaviorKind]
    parser.add_argument("--kind", choices=kinds, help="for accept: what it is (default: what the agent said)")
    parser.add_argument("--reason", default="", metavar="TEXT", help="for reject: why; kept with it")
    add_json(parser)


def run(options: Namespace) -> int:
    """Do what was asked, and return the exit code."""
    if options.kind and options.action != "accept":
        raise InputError("--kind belongs to 'brim review accept'")
    if options.reason and options.action != "reject":
        raise InputError("--reason belongs to 'brim review reject'")
    if options.action == "list":
        return _list(options)
    if not options.ids:
        raise InputError(f"which note? 'brim review' lists them: brim review {options.action} ID")
    return _decide(options)


def _list(options: Namespace) -> int:
    if options.ids:
        raise InputError(f"'brim review list' takes no id: 'brim show {options.ids[0]}' shows one")
    place = Place()
    with place.open() as scopes:
        notes = scopes.behaviors(Status.PENDING)
    if options.as_json:
        say_json({"pending": [as_object(each) for each in notes]})
        return 0
    if not notes:
        note("no note waits for review")
        return 0
    with_scope = not shared_values(notes, "scope")
    rows = [["id", "kind", *["scope"] * with_scope, "noted", "name", "text"]]
    for each in notes:
        start = [each.id, kind_of(each), *[each.scope] * with_scope, age(each.created_at, place.now)]
        rows.append([*start, each.name, cut(each.canonical, LONGEST)])
    say(heading(fitted(rows)))
    return 0


def _decide(options: Namespace) -> int:
    place = Place()
    accepts = options.action == "accept"
    decided: list[Behavior] = []
    with place.open() as scopes, scopes.writing():
        for behavior in found_each(scopes, options.ids):
            if behavior.status is not Status.PENDING:
                raise InputError(
                    f"{named(behavior)} is no note that waits: it is {behavior.status}; nothing was changed"
                )
            status = Status.ACTIVE if accepts else Status.FORGOTTEN
            changed = behavior.replace(status=status, kind=options.kind or behavior.kind, updated_at=place.now)
            detail = (
                {"kind": changed.kind.value} if accepts else {"was": behavior.status.value, "reason": options.reason}
            )
            scopes.put(changed, event=f"{options.action}ed", now=place.now, **detail)
            decided.append(changed)
    if options.as_json:
        say_json({f"{options.action}ed": [as_object(each) for each in decided]})
        return 0
    for each in decided:
        what = f"accepted, {each.kind}" if accepts else "rejected"
        say(printable(f"{what}: {named(each)}"))
    return 0
