"""``brim show``: one behavior whole."""

from __future__ import annotations

from brim.cli.behaviors import as_object, block, day, edge_object, facts, tier_tokens, title, tokens_line
from brim.cli.learned import Place, add_behavior
from brim.cli.output import paint, printable, say, say_json, table
from brim.cli.settings import add_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from brim.behaviors.behavior import Behavior, Edge
    from brim.store.events import Event

MOST_EVENTS = 10

HELP = """\
Show one behavior whole: its text and its other wordings, when it matters, where it comes from, what it costs at each
tier, what it is connected to, and what last happened to it. Times are in UTC.

Examples:
  brim show use-uv
  brim show b-3f2a
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    add_behavior(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    """Print everything that is known of it."""
    place = Place()
    with place.open() as scopes:
        behavior = scopes.find(options.id)
        edges = [edge for edge in scopes.all_edges() if behavior.id in (edge.source, edge.target)]
        ends = scopes.get_many({end for edge in edges for end in (edge.source, edge.target)})
        events = scopes.store(behavior.scope).events(behavior=behavior.id, limit=MOST_EVENTS)
        tokens = tier_tokens(scopes, behavior, place.config)
        path = scopes.store(behavior.scope).path
    if options.as_json:
        say_json(
            {
                **as_object(behavior),
                "tokens": tokens,
                "edges": [edge_object(edge) for edge in edges],
                "events": [_event_object(event) for event in events],
                "file": path,
            }
        )
        return 0
    say(title(behavior))
    say()
    say(block(behavior.canonical))
    say()
    say(facts([*_about(behavior), ("tokens", tokens_line(tokens)), ("stored in", path)]))
    for number, text in enumerate(behavior.variants, 1):
        _section(f"other wording {number}", block(text))
    _section("connected", _edges(behavior, edges, ends))
    _section("what happened", _events(events))
    return 0


def _section(name: str, text: str) -> None:
    if text:
        say()
        say(paint(name, "faint"))
        say(text)


def _about(behavior: Behavior) -> list[tuple[str, str]]:
    usage, came = behavior.usage, behavior.provenance
    used = f"{usage.injected:,} times, confirmed {usage.confirmed:,}, overridden {usage.overridden:,}"
    about = (("file", came.file), ("task", came.task), ("session", came.session))
    origin = ", ".join([came.source, *(f"{name} {value}" for name, value in about if value)])
    return [
        ("summary", behavior.summary),
        ("tags", ", ".join(behavior.tags)),
        ("when", str(behavior.when)),
        ("priority", f"{behavior.priority:,}" if behavior.priority else ""),
        ("confidence", f"{behavior.confidence:.2f}"),
        ("injected", used + (f", last {day(usage.last_used)}" if usage.last_used is not None else "")),
        ("learned", f"{day(behavior.created_at)} from {origin}".strip()),
        ("changed", day(behavior.updated_at) if behavior.updated_at != behavior.created_at else ""),
        ("instead of", came.wrong),
        ("note", came.note),
        ("supersedes", ", ".join(behavior.supersedes)),
        ("superseded by", behavior.superseded_by or ""),
        ("not mapped", behavior.extra),
    ]


def _edges(behavior: Behavior, edges: list[Edge], ends: dict[str, Behavior]) -> str:
    rows = []
    for edge in edges:
        outward = edge.source == behavior.id
        other = edge.target if outward else edge.source
        known = ends.get(other)
        name = "(not there)" if known is None else known.name if known.live else f"{known.name} ({known.status})"
        rows.append(["  " + ("" if outward else "is target of: ") + edge.kind.value, other, name, f"{edge.weight:g}"])
    return table(sorted(rows)) if rows else ""


def _events(events: list[Event]) -> str:
    rows = [[f"  {day(event.time)}", event.kind, _detail(event)] for event in reversed(events)]
    return table(rows) if rows else ""


def _detail(event: Event) -> str:
    parts = [f"{key}: {_text(value)}" for key, value in event.detail.items() if value not in ("", None, [])]
    return printable("; ".join([*parts, f"session {event.session}"] if event.session else parts))[:200]


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _event_object(event: Event) -> dict[str, object]:
    from brim.behaviors.jsonl import iso

    return {**event.to_dict(), "time": iso(event.time), "detail": dict(event.detail)}
