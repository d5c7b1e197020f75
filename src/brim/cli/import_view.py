"""How the plan of an import looks: as a table for a person, and as an object for a script."""

from __future__ import annotations

from brim.cli.output import counted, cut, heading, listed, note, paint, printable, say, symbols, table
from brim.cli.rule_view import as_object, edge_object, kind_of, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from brim.store.imports import Change, Plan

WIDTH = 100
"""Columns of a text, and of both sides of a difference."""
SHOWN = 100
"""So many behaviors are listed, and so many connections."""


def show_plan(plan: Plan, source: str) -> None:
    """Print what would be added and changed."""
    say(printable(f"{source}: {in_numbers(plan)}"))
    rows, more = listed([row for change in plan.changes for row in _rows(change)], SHOWN)
    if rows:
        say()
        say(heading(table([["", "kind", "name", "text"], *rows])))
    edges, more_edges = listed([_edge_row(*each) for each in _edges(plan)], SHOWN)
    if edges:
        say()
        say(table(edges))
    for text in (more, more_edges):
        if text:
            say(text)
    if not plan.is_empty:
        say()
    for text in plan.notes:
        note(text)
    for edge in plan.dangling:
        note(f"left out: the connection {edge}: one of its ends is neither here nor in the file")


def in_numbers(plan: Plan) -> str:
    """Return how many are added, changed and the same."""
    parts = [(len(plan.added), "added"), (len(plan.altered), "changed"), (len(plan.same), "the same")]
    text = ", ".join(f"{count:,} {what}" for count, what in parts if count) or "no rules"
    added = sum(change.old is None for change in plan.edges)
    of_edges = [(added, "added"), (len(plan.edges) - added, "changed"), (plan.same_edges, "the same")]
    edges = ", ".join(f"{count:,} {what}" for count, what in of_edges if count)
    return f"{text}; connections: {edges}" if edges else text


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
    found = [[str(problem)] for problem in problems]
    shown, more = listed(found, SHOWN)
    for (text,) in shown:
        note(text)
    if more:
        note(more)


def say_stored(plan: Plan) -> None:
    """Print what was stored."""
    parts = [(len(plan.added), "added"), (len(plan.altered), "changed")]
    texts = [f"{counted(count, 'rule')} {what}" for count, what in parts if count]
    if plan.edges:
        texts.append(counted(len(plan.edges), "connection"))
    say(f"stored: {', '.join(texts)}")


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


def _edges(plan: Plan) -> list[tuple[str, str]]:
    arrow = symbols("→", "->")
    return [
        ("added", str(change.edge))
        if change.old is None
        else ("changed", f"{change.old} {arrow} {change.edge.weight:g}")
        for change in plan.edges
    ]


def _edge_row(what: str, text: str) -> list[str]:
    return [paint(what, "green" if what == "added" else "yellow"), text]
