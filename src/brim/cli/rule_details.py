"""Everything about one rule, as ``brim rules why RULE`` shows it."""

from __future__ import annotations

from brim.behaviors.behavior import Edge, Rule
from brim.behaviors.sentences import heard, refused
from brim.cli.output import block, counted, home_path, paint, printable
from brim.cli.rule_views import day, title, tokens_line
from brim.cli.tables import facts, table
from brim.install.agents import NAMES
from brim.store.details import RuleDetails
from brim.store.events import RuleEvent

LONGEST_EVENT = 200
"""Characters of what is shown of an event."""


def rule_details(details: RuleDetails) -> str:
    """Return everything about one rule, for people; times are in UTC."""
    rule = details.rule
    readers = [f"{NAMES[agent]} in {file}" for agent, file in details.readers]
    rows = [
        *_about(details),
        ("tokens", tokens_line(details.tokens)),
        ("stored in", home_path(details.file)),
        ("read by", ", ".join(map(home_path, readers))),
    ]
    parts = [title(rule), "", block(rule.canonical), "", facts(rows)]
    for number, text in enumerate(rule.variants, 1):
        parts.append(_section(f"other wording {number}", block(text)))
    if details.edges:
        parts.append(_section("connected", _edges(details)))
    if details.events:
        parts.append(_section("what happened", _events(details.events)))
    return "\n".join(parts)


def _section(name: str, text: str) -> str:
    return f"\n{paint(name, 'faint')}\n{text}"


def _about(details: RuleDetails) -> list[tuple[str, str]]:
    rule = details.rule
    condition = str(rule.when)
    if not rule.when:
        condition = heard(rule).removeprefix("when ")
    priority = ""
    if rule.priority:
        priority = f"{rule.priority:,}"
    changed = ""
    if rule.updated_at != rule.created_at:
        changed = day(rule.updated_at)
    return [
        ("summary", rule.summary),
        ("tags", ", ".join(rule.tags)),
        ("when", condition),
        ("refuses", refused(rule)),
        ("priority", priority),
        ("confidence", f"{rule.confidence:.2f}"),
        ("told", _tellings(details)),
        ("held", _refusals(details)),
        ("learned", _origin(rule)),
        ("changed", changed),
        ("instead of", rule.provenance.wrong),
        ("note", rule.provenance.note),
        ("supersedes", ", ".join(rule.supersedes)),
        ("superseded by", rule.superseded_by or ""),
        ("not mapped", rule.extra),
    ]


def _tellings(details: RuleDetails) -> str:
    usage = details.rule.usage
    parts = [
        counted(details.outcome.told, "time"),
        f"confirmed {usage.confirmed:,}",
        f"overridden {details.outcome.overridden:,}",
    ]
    if usage.last_used is not None:
        parts.append(f"last {day(usage.last_used)}")
    return ", ".join(parts)


def _refusals(details: RuleDetails) -> str:
    outcome = details.outcome
    if not outcome.held:
        return ""
    return f"{counted(outcome.held, 'call')}, obeyed {outcome.obeyed:,}"


def _origin(rule: Rule) -> str:
    provenance = rule.provenance
    places = {"file": provenance.file, "task": provenance.task, "session": provenance.session}
    parts = [provenance.source, *(f"{name} {value}" for name, value in places.items() if value)]
    return f"{day(rule.created_at)} from {', '.join(parts)}".strip()


def _edges(details: RuleDetails) -> str:
    rows = [_edge_row(edge, details) for edge in details.edges]
    return table(sorted(rows))


def _edge_row(edge: Edge, details: RuleDetails) -> list[str]:
    direction = f"  {edge.kind.value}"
    other_id = edge.target
    if edge.source != details.rule.id:
        direction = f"  is target of: {edge.kind.value}"
        other_id = edge.source
    name = "(not there)"
    other = details.neighbours.get(other_id)
    if other is not None:
        name = other.name
        if not other.live:
            name = f"{other.name} ({other.status})"
    return [direction, other_id, name, f"{edge.weight:g}"]


def _events(events: tuple[RuleEvent, ...]) -> str:
    rows = []
    for event in reversed(events):
        parts = []
        for key, value in event.detail.items():
            if value not in ("", None, []):
                parts.append(f"{key}: {_detail(value)}")
        if event.session:
            parts.append(f"session {event.session}")
        text = printable("; ".join(parts))[:LONGEST_EVENT]
        rows.append([f"  {day(event.time)}", event.kind, text])
    return table(rows)


def _detail(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)
