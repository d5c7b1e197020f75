"""How the plan of an import looks: as a table for a person, and as an object for a script."""

from __future__ import annotations

from brim.cli.output import counted, cut, heading, listed, paint, printable, say, symbols, table, tell_all
from brim.cli.rule_view import as_object, edge_object, kind_of, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from brim.store.imports import Change, EdgeChange, Plan

WIDTH = 100
"""Columns of a text, and of both sides of a difference."""
SHOWN = 100
"""So many behaviors are listed, and so many connections."""


def show_plan(plan: Plan, source: str) -> None:
    """Print what would be added and changed."""
    say(printable(f"{source}: {in_numbers(plan)}"))
    rows, more = listed([row for change in plan.changes for row in _rows(change)], SHOWN)
    edges, more_edges = listed([_edge_row(change) for change in plan.edges], SHOWN)
    if rows:
        say(f"\n{heading(table([['', 'kind', 'name', 'text'], *rows]))}")
    if edges:
        say(f"\n{table(edges)}")
    for text in filter(None, (more, more_edges)):
        say(text)
    if not plan.is_empty:
        say()
    lost = (
        f"left out: the connection {edge}: one of its ends is neither here nor in the file" for edge in plan.dangling
    )
    tell_all(*plan.notes, *lost)


def in_numbers(plan: Plan) -> str:
    """Return how many are added, changed and the same."""
    added = sum(change.old is None for change in plan.edges)
    text = _numbers(len(plan.added), len(plan.altered), len(plan.same)) or "no rules"
    edges = _numbers(added, len(plan.edges) - added, plan.same_edges)
    return f"{text}; connections: {edges}" if edges else text


def _numbers(*counts: int) -> str:
    parts = zip(counts, ("added", "changed", "the same"), strict=True)
    return ", ".join(f"{count:,} {what}" for count, what in parts if count)


def plan_object(plan: Plan) -> dict[str, Any]:
    """Return *plan* for a script."""
    return {
        "added": [as_object(change.behavior) for change in plan.added],
        "changed": [
            {"id": change.behavior.id, "name": change.behavior.name, "fields": _differences(change)}
            for change in plan.altered
        ],
        "same": list(plan.same),
        "edges": {
            "added": [edge_object(change.edge) for change in plan.edges if change.old is None],
            "changed": [edge_object(change.edge) for change in plan.edges if change.old is not None],
            "same": plan.same_edges,
            "left_out": [edge_object(edge) for edge in plan.dangling],
        },
        "notes": list(plan.notes),
    }


def tell_problems(problems: Iterable[object]) -> None:
    """Print each of *problems*, which say themselves where they are, to standard error."""
    shown, more = listed([[str(problem)] for problem in problems], SHOWN)
    tell_all(*(text for (text,) in shown), more)


def stored_line(plan: Plan) -> str:
    """Return what was stored."""
    parts = [("rule", " added", plan.added), ("rule", " changed", plan.altered), ("connection", "", plan.edges)]
    return f"stored: {', '.join(counted(len(of), what) + how for what, how, of in parts if of)}"


def _rows(change: Change) -> list[list[str]]:
    behavior = change.behavior
    if change.old is None:
        away = "" if behavior.live else f"({behavior.status}) "
        return [[paint("added", "green"), kind_of(behavior), behavior.name, away + cut(one_line(behavior), WIDTH)]]
    arrow = symbols("→", "->")
    texts = [
        f"{field}: {cut(_text(each['old']), WIDTH // 2)} {arrow} {cut(_text(each['new']), WIDTH // 2)}"
        for field, each in _differences(change).items()
        if field != "variants"
    ]
    before = len(change.old.variants)
    if len(behavior.variants) > before:
        texts.append(f"wordings kept: {before:,} {arrow} {len(behavior.variants):,}")
    first, *rest = texts or ["variants"]
    named = [paint("changed", "yellow"), kind_of(behavior), behavior.name]
    return [[*named, first], *(["", "", "", text] for text in rest)]


def _differences(change: Change) -> dict[str, dict[str, Any]]:
    if change.old is None:
        return {}
    old, new = as_object(change.old), as_object(change.behavior)
    return {field: {"old": old[field], "new": new[field]} for field in change.fields if field != "updated_at"}


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_text(each)}" for key, each in value.items() if each not in (None, "", [])) or "none"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return "none" if value in (None, "") else str(value)


def _edge_row(change: EdgeChange) -> list[str]:
    if change.old is None:
        return [paint("added", "green"), str(change.edge)]
    return [paint("changed", "yellow"), f"{change.old} {symbols('→', '->')} {change.edge.weight:g}"]
