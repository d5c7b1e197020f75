"""How the plan of an import looks: as a table for a person, and as an object for a script."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from brim.cli.output import block, counted, lines, listed, paint, printable, say_paged, symbols, table, tell_all
from brim.cli.rule_view import as_object, edge_object, whole
from brim.store.imports import Change, EdgeChange, Plan

SHOWN = 100
"""So many problems are listed."""


def show_plan(plan: Plan, source: str) -> None:
    """Print what would be added and changed, whole: agents are told it."""
    edges = table([_edge_row(change) for change in plan.edges]) if plan.edges else ""
    parts = [printable(f"{source}: {in_numbers(plan)}"), *map(_change, plan.changes), edges]
    say_paged("\n\n".join(filter(None, parts)) + ("" if plan.is_empty else "\n"))
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


def _change(change: Change) -> str:
    behavior, old = change.behavior, change.old
    about, _, text = whole(behavior).partition("\n")
    if old is None:
        return f"{paint('added', 'green')}  {about}{'' if behavior.live else f'  ({behavior.status})'}\n{text}"
    arrow = symbols("→", "->")
    changes = [
        printable(f"  {field}: {_text(each['old'])} {arrow} {_text(each['new'])}")
        for field, each in _differences(change).items()
        if field not in ("variants", "canonical")
    ]
    if old.canonical != behavior.canonical:
        changes.append(f"  before, it said:\n{block(block(old.canonical))}")
    if len(behavior.variants) > len(old.variants):
        changes.append(f"  wordings kept: {len(old.variants):,} {arrow} {len(behavior.variants):,}")
    return lines(f"{paint('changed', 'yellow')}  {about}", text, *changes)


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
