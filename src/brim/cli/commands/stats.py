"""``brim stats``: how much is stored, and how it is used."""

from __future__ import annotations

from brim.behaviors.behavior import BehaviorKind, EdgeKind, Status
from brim.cli.behaviors import age, counted, cut, facts, kind_of, named, one_line
from brim.cli.files import readable_size, size_of
from brim.cli.fitting import fitted
from brim.cli.learned import NOTHING_YET, Place
from brim.cli.output import heading, note, paint, printable, say, say_json, table
from brim.cli.settings import add_json, add_model, whole_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence
    from typing import Any

    from brim.behaviors.behavior import Behavior
    from brim.store.scopes import Scopes

WIDTH = 60
"""Columns of a summary."""
TIERS = {"full": 1.0, "summary": 0.5, "name_only": 0.2}
"""An activation that gives each tier, with thresholds at 0.7, 0.3 and 0.1."""

HELP = """\
Show how much is stored here, of what kind and in which scope, how it is used, and the tokens that everything live would
take at each tier: whole, as summaries, and by name. Constraints are never below a summary, notes never above one.

Examples:
  brim stats
  brim stats --top 10 --model claude-sonnet-4-5
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    text = "so many of the most used are listed (default: 5)"
    parser.add_argument("--top", type=whole_number(0), default=5, metavar="N", help=text)
    add_model(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    """Print it, and return the exit code."""
    place = Place({"model": options.model})
    with place.open() as scopes:
        behaviors = scopes.behaviors()
        found = _counted(behaviors, options.top)
        edges = scopes.all_edges()
        found["edges"] = {kind.value: sum(edge.kind is kind for edge in edges) for kind in EdgeKind}
        found["tokens"], found["counter"] = _tokens(scopes, place, [each for each in behaviors if each.live])
        stores = {"project": scopes.project, "user": scopes.user}
        found["files"] = [
            {"scope": scope, "path": store.path, "bytes": size_of(store.path)}
            for scope, store in stores.items()
            if store is not None
        ]
    if options.as_json:
        say_json(found)
    elif not found["files"]:
        note(NOTHING_YET)
    else:
        _say(found, {each.id: each for each in behaviors}, place.now)
    return 0


def _counted(behaviors: Sequence[Behavior], top: int) -> dict[str, Any]:
    """Return what can be counted of *behaviors*, as JSON can hold it."""
    live = [each for each in behaviors if each.live]
    used = sorted(live, key=lambda each: (-each.usage.injected, -each.usage.confirmed, each.id))
    return {
        "behaviors": len(behaviors),
        "live": len(live),
        "kinds": {
            kind.value: {status.value: _how_many(behaviors, kind=kind, status=status) for status in Status}
            for kind in BehaviorKind
        },
        "statuses": {status.value: _how_many(behaviors, status=status) for status in Status},
        "scopes": {scope: _how_many(behaviors, scope=scope) for scope in ("project", "user")},
        "injected": sum(each.usage.injected for each in behaviors),
        "confirmed": sum(each.usage.confirmed for each in behaviors),
        "overridden": sum(each.usage.overridden for each in behaviors),
        "most_used": [each.id for each in used if each.usage.injected][:top],
        "never_used": [each.id for each in live if not (each.usage.injected or each.usage.confirmed)],
    }


def _how_many(behaviors: Sequence[Behavior], **fields: object) -> int:
    return sum(all(getattr(each, field) == value for field, value in fields.items()) for each in behaviors)


def _tokens(scopes: Scopes, place: Place, live: list[Behavior]) -> tuple[dict[str, int], str]:
    """Return what the text with all of *live* would count at each tier, headings included, and what counts."""
    from brim.injection.mapper import ActivationTierMapper
    from brim.store.planner import costs_of

    format = place.config["injection.format"]
    costs = costs_of(scopes, [each.id for each in live], place.config)
    mapper = ActivationTierMapper()
    totals = {
        tier: int(mapper.plan([(each.id, value) for each in live], live, format=format, costs=costs).total_tokens)
        for tier, value in TIERS.items()
    }
    return totals, costs.counter


def _say(found: dict[str, Any], behaviors: dict[str, Behavior], now: float) -> None:
    say(_kinds(found))
    say()
    edges = ", ".join(f"{count:,} {kind}" for kind, count in found["edges"].items() if count)
    tokens = found["tokens"]
    rows = [
        ("scopes", ", ".join(f"{count:,} {scope}" for scope, count in found["scopes"].items() if count)),
        ("connections", edges or "none"),
        ("uses", f"{found['injected']:,} injected, {_verdicts(found)}"),
        ("never used", f"{len(found['never_used']):,} of {found['live']:,} live: brim list --sort used"),
        (
            "tokens of all",
            f"{tokens['full']:,} whole, {tokens['summary']:,} as summaries, {tokens['name_only']:,} by name "
            f"({found['counter']})",
        ),
        *(
            (f"{each['scope']}'s file", printable(f"{readable_size(each['bytes'])}  {each['path']}"))
            for each in found["files"]
        ),
    ]
    say(facts(rows))
    most = [behaviors[id] for id in found["most_used"]]
    if most:
        say()
        say(paint("most used", "faint"))
        cells = [["uses", "last", "kind", "name", "summary"]]
        cells += [
            [
                f"{each.usage.injected:,}",
                age(each.usage.last_used, now),
                kind_of(each),
                each.name,
                cut(one_line(each), WIDTH),
            ]
            for each in most
        ]
        say(heading(fitted(cells, right=frozenset({0}))))
    doubtful = [each for each in behaviors.values() if each.live and each.usage.overridden > each.usage.confirmed]
    if doubtful:
        text = ", ".join(map(named, doubtful[:3])) + (" and others" if len(doubtful) > 3 else "")
        note(f"{counted(len(doubtful), 'behavior')} overridden more often than confirmed: {text}: see 'brim validate'")


def _verdicts(found: dict[str, Any]) -> str:
    return f"{found['confirmed']:,} confirmed, {found['overridden']:,} overridden"


def _kinds(found: dict[str, Any]) -> str:
    """Return the table of kinds by status; what there is none of is left out."""
    statuses = [status for status, count in found["statuses"].items() if count] or [Status.ACTIVE.value]
    rows = [["kind", *statuses]]
    for kind, counts in found["kinds"].items():
        if any(counts.values()):
            rows.append([kind, *(f"{counts[status]:,}" if counts[status] else "" for status in statuses)])
    rows.append(["in all", *(f"{found['statuses'][status]:,}" for status in statuses)])
    return heading(table(rows, right=frozenset(range(1, len(statuses) + 1))))
