"""Checks files, rows and the graph, and finds rules of doubtful use."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial

from brim.behaviors.behavior import LIVE, Edge
from brim.behaviors.graph import Problem, check
from brim.errors import BrimError, StoreError
from brim.figures import counted
from brim.store.rulebook import duplicate_pairs, mark_conflicts, named, unmarked_conflicts
from brim.store.scopes import Scopes
from brim.store.store import Store, open_store

REMOVABLE = ("self", "dangling", "mirrored")
"""Problems of an edge that has no effect, or the same effect as another."""


def file_problems(paths: Mapping[str, str]) -> tuple[list[Problem], dict[str, str]]:
    """Return problems with the files in *paths*, by scope, and the files that can be used."""
    problems, sound = [], {}
    for scope, path in paths.items():
        if not os.path.lexists(path):
            continue
        try:
            with open_store(path) as store:
                wrong = store_problems(store)
        except StoreError as error:
            problems.append(
                Problem(
                    "file", (), str(error), "'brim rules restore' brings a project's rules back"
                )
            )
            continue
        if not wrong:
            sound[scope] = path
        else:
            problems.append(
                Problem(
                    "file",
                    (),
                    f"{path}: {shortened(wrong)}",
                    "'brim rules restore' brings a project's rules back",
                )
            )
    return problems, sound


def shortened(problems: list[str]) -> str:
    """Return *problems* as one text that names the first five."""
    return "; ".join(problems[:5]) + (
        f"; and {len(problems) - 5:,} more" if len(problems) > 5 else ""
    )


def store_problems(store: Store) -> list[str]:
    """Return what SQLite finds wrong with the file of *store*, or else problems with its rows.

    This names every rule that can't be read, but only one edge and one event.
    """
    if damage := store.check():
        return damage
    strays = sorted({(row[0], row[2]) for row in store.database.rows("PRAGMA foreign_key_check")})
    found = dict.fromkeys(f"{table}: a row belongs to none of {parent}" for table, parent in strays)

    def tried(read: Callable[[], object]) -> None:
        try:
            read()
        except BrimError as error:
            found[str(error)] = None

    tried(store.behaviors)
    if found:
        for (id,) in store.database.rows("SELECT id FROM behaviors ORDER BY id"):
            tried(partial(store.get, id))
    tried(store.all_edges)
    tried(store.events)
    return list(found)


def graph_problems(scopes: Scopes) -> list[Problem]:
    """Return problems with the rules in force and all edges."""
    return check(scopes.behaviors(), scopes.all_edges())


def stale_problems(scopes: Scopes) -> list[Problem]:
    """Return a problem for each file with lines that this version of the renderer hasn't
    counted."""
    problems = []
    for store in scopes.stores.values():
        stale = store.stale_ids()
        if stale:
            text = f"{store.path}: the lines of {counted(len(stale), 'rule')} are not counted, so length is charged"
            problems.append(
                Problem("stale-costs", tuple(stale), text, "'brim rules audit --fix' counts them")
            )
    return problems


def hints(scopes: Scopes) -> list[Problem]:
    """Return hints that aren't errors."""
    live = scopes.behaviors(LIVE)
    found = [
        Problem("not-followed", (each.id,), each.text, "nothing has to be done")
        for each in scopes.refusals()
    ]
    for each in live:
        confirmed, overridden = each.usage.confirmed, each.usage.overridden
        if overridden > confirmed:
            text = f"{each.name} ({each.id}) was overridden {overridden:,} times and confirmed {confirmed:,}"
            fix = f"change it with 'brim rules edit {each.id}', or remove it with 'brim rules remove {each.id}'"
            found.append(Problem("overridden", (each.id,), text, fix))
    found += _contradictions(scopes)
    pairs = duplicate_pairs(scopes)
    for one, other in pairs[:5]:
        text = f"{one.name} ({one.id}) and {other.name} ({other.id}) say nearly the same"
        found.append(
            Problem(
                "near-duplicate", (one.id, other.id), text, "merge them in 'brim ui', or remove one"
            )
        )
    if len(pairs) > 5:
        text = f"{counted(len(pairs) - 5, 'pair')} more nearly the same"
        found.append(Problem("near-duplicate", (), text, "'brim ui' merges them"))
    return found


def _contradictions(scopes: Scopes) -> list[Problem]:
    """Return contradictions, five by name: unmarked ones, of which agents hear both rules, and
    marked ones."""
    found = [
        (
            (newer.id, each.other.id),
            f"{newer.name} ({newer.id}) contradicts {each.other.name} ({each.other.id}): {each.about}",
            f"remove one, or 'brim rules audit --fix' lets agents hear only {newer.name}",
        )
        for newer, each in unmarked_conflicts(scopes)
    ]
    found += [
        (
            (newer.id, older.id),
            f"agents don't hear {older.name} ({older.id}): {newer.name} ({newer.id}) contradicts it",
            f"'brim rules remove {older.id}' removes it",
        )
        for newer, older in scopes.contradictions(scopes.all_edges())
    ]
    problems = [Problem("contradiction", ids, text, fix) for ids, text, fix in found[:5]]
    if len(found) > 5:
        text = f"{counted(len(found) - 5, 'more pair')} of rules contradict each other"
        problems.append(
            Problem(
                "contradiction",
                (),
                text,
                "'brim rules audit --fix' lets agents hear only the newer",
            )
        )
    return problems


def removable_edges(scopes: Scopes, problems: Iterable[Problem]) -> list[tuple[Store, Edge]]:
    """Return the edges with a problem of ``REMOVABLE``, each with its file.

    Of two edges that mean the same, one is removable only if both are in the same file.
    """
    wanted: dict[tuple[str, ...], list[Problem]] = {}
    for problem in problems:
        if problem.rule in REMOVABLE:
            wanted.setdefault(problem.ids, []).append(problem)
    found = []
    for store in scopes.stores.values():
        edges = store.all_edges()
        keys = {(edge.source, edge.kind, edge.target) for edge in edges}
        for edge in edges:
            ends = (edge.source, edge.target) if edge.source != edge.target else (edge.source,)
            beginning = f"{edge.source} {edge.kind} {edge.target}: "
            rules = [each.rule for each in wanted.get(ends, ()) if each.text.startswith(beginning)]
            if rules and (rules != ["mirrored"] or (edge.target, edge.kind, edge.source) in keys):
                found.append((store, edge))
    return found


def remove_edges(removable: Iterable[tuple[Store, Edge]], *, now: float) -> None:
    """Remove the edges; a mirrored one passes on the greater weight. Call it inside ``writing``."""
    for store, edge in removable:
        for other in store.edges_touching((edge.source,)):
            if (other.source, other.target, other.kind) == (
                edge.target,
                edge.source,
                edge.kind,
            ) and other != edge:
                used = [at for at in (edge.last_activated, other.last_activated) if at is not None]
                weight = max(edge.weight, other.weight)
                store.put_edges(
                    (replace(other, weight=weight, last_activated=max(used, default=None)),)
                )
        store.remove_edge(edge.source, edge.target, edge.kind, now=now)


def repair_rules(scopes: Scopes, *, remove_useless_edges: bool, now: float) -> list[str]:
    """Repair what can be repaired without a loss, and return what was done.

    Of two rules that contradict each other, agents hear the newer one. Call it inside
    ``scopes.writing()``.
    """
    repairs = []
    for newer, conflict in unmarked_conflicts(scopes):
        mark_conflicts(scopes, newer, [conflict], now=now)
        other = conflict.other
        repairs.append(f"agents hear {named(newer)} instead of {named(other)}")
    for store in (scopes.user, scopes.project):
        if store is None:
            continue
        count = store.recost()
        if count:
            repairs.append(f"{store.path}: {counted(count, 'rule')} counted")
    if remove_useless_edges:
        edges = removable_edges(scopes, graph_problems(scopes))
        remove_edges(edges, now=now)
        repairs += [f"{edge} removed" for _, edge in edges]
    return repairs
