"""``brim list``: what has been learned, one line each."""

from __future__ import annotations

from brim.behaviors.behavior import LIVE, BehaviorKind, Status
from brim.cli.behaviors import age, as_object, counted, cut, kind_of, one_line, shared_values
from brim.cli.fitting import fitted, room_beside
from brim.cli.learned import NOTHING_YET, Place
from brim.cli.output import heading, note, say, say_json
from brim.cli.settings import add_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

    from brim.behaviors.behavior import Behavior

SORTS: dict[str, Callable[[Behavior], float]] = {
    "name": lambda _: 0,
    "used": lambda behavior: -behavior.usage.count,
    "new": lambda behavior: -(behavior.created_at or 0),
    "confidence": lambda behavior: -behavior.confidence,
}
"""What each order goes by; then come name and id."""
STATUSES = ("live", *(status.value for status in Status), "all")
LONGEST = 200
"""Characters of a summary where nothing limits a line: a summary may be as long as a text."""

COMFORTABLE = 48
"""Columns that name and summary should have together."""

HELP = """\
List what has been learned: in this project, and by you. A PATTERN is a part of an id, a name, a tag or the text, or a
name with * and ?; with several, all of them have to match. Ends with 1 if nothing does.

On a terminal the lines are cut to its width; in a pipe names are whole. 'brim show ID' prints one behavior whole.

Examples:
  brim list
  brim list pytest --kind constraint
  brim list --status forgotten --sort new
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("patterns", nargs="*", metavar="PATTERN", help="what to look for")
    parser.add_argument("--kind", choices=[kind.value for kind in BehaviorKind], help="only of this kind")
    parser.add_argument("--tag", action="append", default=[], metavar="TAG", help="only with this tag; may be repeated")
    text = "live is active and pending (default: live)"
    parser.add_argument("--status", choices=STATUSES, default="live", help=text)
    parser.add_argument("--scope", choices=("project", "user"), help="only from there (default: both)")
    parser.add_argument("--sort", choices=list(SORTS), default="name", help="what comes first (default: name)")
    add_json(parser)


def run(options: Namespace) -> int:
    """Print the list, and return the exit code."""
    place = Place()
    with place.open() as scopes:
        every = scopes.behaviors()
    found = [each for each in every if _is_wanted(each, options)]
    found.sort(key=lambda each: (SORTS[options.sort](each), each.name.casefold(), each.id))
    if options.as_json:
        say_json({"behaviors": [as_object(each) for each in found]})
    elif found:
        say(_table(found, place.now, options.sort))
    narrowed = bool(options.patterns or options.kind or options.tag or options.scope or options.status != "live")
    if not options.as_json and not found:
        note(_nothing(every, narrowed))
    return 1 if narrowed and not found else 0


def _is_wanted(behavior: Behavior, options: Namespace) -> bool:
    status = behavior.status
    return (
        (options.status == "all" or status in LIVE if options.status in ("live", "all") else status == options.status)
        and options.kind in (None, behavior.kind.value)
        and options.scope in (None, behavior.scope)
        and {tag.casefold() for tag in behavior.tags}.issuperset(tag.casefold() for tag in options.tag)
        and all(_matches(behavior, pattern.casefold()) for pattern in options.patterns)
    )


def _matches(behavior: Behavior, pattern: str) -> bool:
    short = [text.casefold() for text in (behavior.id, behavior.name, *behavior.tags)]
    if any(character in pattern for character in "*?["):
        from fnmatch import fnmatchcase

        return any(fnmatchcase(text, pattern) for text in short)
    return any(pattern in text for text in (*short, behavior.summary.casefold(), behavior.canonical.casefold()))


def _table(found: list[Behavior], now: float, sort: str) -> str:
    """Return one line each. Where the terminal is narrow, uses and age make room, unless they are what it goes by."""
    columns: dict[str, Callable[[Behavior], str]] = {"id": lambda each: each.id, "kind": kind_of}
    if any(each.status is not Status.ACTIVE for each in found):
        columns["status"] = lambda each: each.status.value
    if not shared_values(found, "scope"):
        columns["scope"] = lambda each: each.scope
    columns |= {"uses": lambda each: f"{each.usage.count:,}", "learned": lambda each: age(each.created_at, now)}
    for column, needed in (("learned", "new"), ("uses", "used")):
        room = room_beside(_rows(columns, found))
        if room is not None and room < COMFORTABLE and sort != needed:
            del columns[column]
    right = frozenset({list(columns).index("uses")} if "uses" in columns else ())
    columns |= {"name": lambda each: each.name, "summary": lambda each: cut(one_line(each), LONGEST)}
    return heading(fitted(_rows(columns, found), right=right))


def _rows(columns: dict[str, Callable[[Behavior], str]], found: list[Behavior]) -> list[list[str]]:
    return [list(columns), *([show(each) for show in columns.values()] for each in found)]


def _nothing(every: list[Behavior], narrowed: bool) -> str:
    if not every:
        return NOTHING_YET
    if narrowed:
        return f"nothing matches; {counted(len(every), 'behavior')} in all: brim list --status all"
    return f"nothing is live; {len(every):,} forgotten or superseded: brim list --status all"
