"""Imports and merges of rules: planned against what is stored, and then written.

An import removes nothing. It takes what the file says, and keeps what brim has learned about a rule
here: its uses and its confidence. A text that is replaced stays among the rule's wordings, and a
rule that was removed here stays removed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from brim.behaviors.behavior import LIVE, POSITIVE, Edge, Provenance, Rule
from brim.behaviors.contradictions import Contradiction, among, find
from brim.behaviors.duplicates import Merged, merge, sense
from brim.behaviors.graph import MUTUAL, would_cycle
from brim.behaviors.jsonl import as_object
from brim.behaviors.learning import KnownRules, cleaned, id_of, infer_tags, learn, loosens
from brim.behaviors.markdown import MarkdownRule, RuleFile, read_rules
from brim.behaviors.when import When
from brim.errors import InputError
from brim.figures import counted
from brim.masking import mask
from brim.store.events import RuleEvent
from brim.store.loaded import LoadedFile, RuleLoader, note_files, noted_files
from brim.store.rows import without_secrets
from brim.store.scopes import Scopes
from brim.store.store import Store

EdgeKey = tuple[str, str, str, str]
"""Scope, source, target and kind."""

ALWAYS = When()

MOST_TOLD = 10
"""Contradictions that are named when rules are imported."""
MOST_COMPARED = 100
"""New rules that are compared with each other for contradictions: it takes a second or two."""

SAME = ("canonical", "variants", "kind", "tags", "when", "status")
"""Fields that must not change between the question to a person and the answer."""


@dataclass(frozen=True)
class RuleChange:
    """A behavior that would be written, and the one that it replaces; None if it's new."""

    behavior: Rule
    old: Rule | None = None
    fields: tuple[str, ...] = ()
    """The fields that change."""


@dataclass(frozen=True)
class EdgeChange:
    """An edge that would be written to the file of *scope*, and the one that it replaces."""

    scope: str
    edge: Edge
    old: Edge | None = None


@dataclass(frozen=True)
class Plan:
    """What an import would write, what is already stored, and notes for the person."""

    changes: tuple[RuleChange, ...] = ()
    same: tuple[str, ...] = ()
    """Ids of behaviors that are already stored as the file has them."""
    edges: tuple[EdgeChange, ...] = ()
    same_edges: int = 0
    dangling: tuple[Edge, ...] = ()
    """Edges to a behavior that is neither stored nor in the file. They are left out."""
    notes: tuple[str, ...] = ()
    files: tuple[LoadedFile, ...] = ()
    """Files that agents load on their own, to be noted in the file of *files_scope*."""
    files_scope: str = ""

    @property
    def added(self) -> list[RuleChange]:
        """New behaviors."""
        return [change for change in self.changes if change.old is None]

    @property
    def altered(self) -> list[RuleChange]:
        """Stored behaviors that would change."""
        return [change for change in self.changes if change.old is not None]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to write."""
        return not self.changes and not self.edges

    @property
    def loosens(self) -> bool:
        """Whether it could weaken a stored constraint."""
        edges = any(each.edge.kind not in POSITIVE for each in self.edges)
        return edges or any(loosens(each.old, each.behavior) for each in self.changes)

    @property
    def scopes(self) -> list[str]:
        """The scopes that would be written to."""
        return sorted(
            {change.behavior.scope for change in self.changes}
            | {change.scope for change in self.edges}
        )

    def store(
        self,
        scopes: Scopes,
        *,
        now: float,
        source: str,
        event: str,
        progress: Callable[[int], object] = bool,
    ) -> None:
        """Write it, inside ``scopes.writing(*plan.scopes)``; *progress* is called for each
        behavior."""
        for change in self.changes:
            came = change.behavior.provenance
            detail: dict[str, Any] = {
                "file": came.file if came.source == "rules" and came.file else source
            }
            if change.old is not None:
                old = as_object(change.old)
                detail["before"] = {
                    name: old[name]
                    for name in change.fields
                    if name not in ("canonical", "variants")
                }
            scopes.put(change.behavior, event=event, now=now, shown=True, **detail)
            progress(1)
        for scope in sorted({change.scope for change in self.edges}):
            edges = [change for change in self.edges if change.scope == scope]
            written, before = (
                [str(each.edge) for each in edges],
                [str(each.old) for each in edges if each.old],
            )
            scopes.store(scope).put_edges([change.edge for change in edges])
            detail = {"file": source, "edges": written, "before": before}
            scopes.store(scope).record(RuleEvent("connected", now, detail=detail))
        self.note_files(scopes)

    def note_files(self, scopes: Scopes) -> None:
        """Note which files agents load on their own, and which of the rules stand in them."""
        if self.files and self.files_scope in scopes.stores:
            with scopes.writing():
                note_files(scopes.store(self.files_scope), self.files)


def plan_of(
    scopes: Scopes,
    behaviors: Iterable[Rule],
    edges: Iterable[tuple[str, Edge]],
    *,
    source: str,
    now: float,
) -> Plan:
    """Return what would become of *behaviors*, each in the file of its scope, and of *edges* with
    theirs.

    *source* is where those come from that do not say it.
    """
    incoming = {(each.scope, each.id): without_secrets(each) for each in behaviors}
    ids = {scope: [id for of, id in incoming if of == scope] for scope in ("project", "user")}
    # What is in a file counts as of that file's scope.
    have = {
        (scope, id): replace(old, scope=scope)
        for scope, store in scopes.stores.items()
        for id, old in store.get_many(ids[scope]).items()
    }
    changes, same, notes = [], [], []
    for key, new in sorted(incoming.items()):
        old = have.get(key)
        if old is None:
            came = (
                Provenance("import", at=now, file=source)
                if new.provenance == Provenance()
                else new.provenance
            )
            since = now if new.created_at is None else new.created_at
            changes.append(RuleChange(replace(new, provenance=came, created_at=since)))
            continue
        wanted = updated(old, new)
        if fields := _differing(wanted, old):
            changes.append(RuleChange(replace(wanted, updated_at=now), old, fields))
        else:
            same.append(new.id)
        if new.live and not old.live:
            notes.append(
                f"{old.name} ({old.id}) is {old.status} here and stays so: brim rules restore {old.id}"
            )
    new_edges, same_edges, dangling = _edge_changes(scopes, incoming, list(edges), now)
    own = scopes.user.get_many(ids["project"]) if scopes.user is not None else {}
    notes += [
        f"{each.name} ({id}) is a constraint of your own: yours stays as it is, and counts"
        for id, each in sorted(own.items())
        if each.live and each.kind == "constraint"
    ]
    return Plan(tuple(changes), tuple(same), new_edges, same_edges, dangling, tuple(notes))


def updated(old: Rule, new: Rule) -> Rule:
    """Return *old* updated by *new*. Nothing is lost, and a second time changes nothing."""
    texts = dict.fromkeys((*old.variants, *new.variants, old.canonical))
    # What brim learned about it here stays, and so does what the file leaves out.
    kept: dict[str, Any] = {
        "scope": old.scope,
        "usage": old.usage,
        "confidence": old.confidence,
        "updated_at": old.updated_at,
        "supersedes": dict.fromkeys((*old.supersedes, *new.supersedes)),
        "variants": [text for text in texts if text != new.canonical],
        "created_at": old.created_at if new.created_at is None else new.created_at,
        "provenance": old.provenance if new.provenance == Provenance() else new.provenance,
        "extra": new.extra or old.extra,
        "blocks": new.blocks or old.blocks,
    }
    if new.canonical == old.canonical and not new.summary:
        kept["summary"] = old.summary
    if not old.live:
        kept |= {"status": old.status, "superseded_by": old.superseded_by}
    return replace(new, **kept)


def _edge_changes(
    scopes: Scopes,
    incoming: Mapping[tuple[str, str], Rule],
    given: list[tuple[str, Edge]],
    now: float,
) -> tuple[tuple[EdgeChange, ...], int, tuple[Edge, ...]]:
    """Return the edges to write, how many are already stored, and those without an end."""
    ends = {end for _, edge in given for end in (edge.source, edge.target)}
    known = {id for _, id in incoming} | scopes.get_many(ends).keys()
    have: dict[EdgeKey, Edge] = {
        (scope, *edge.key): edge
        for scope, store in scopes.stores.items()
        for edge in store.edges_touching(ends)
    }
    changes, dangling, same = [], [], 0
    for (scope, *_), edge in _folded(given, have).items():
        old = have.get((scope, *edge.key))
        if not {edge.source, edge.target} <= known:
            dangling.append(edge)
        elif old is None:
            changes.append(
                EdgeChange(
                    scope, edge if edge.created_at is not None else replace(edge, created_at=now)
                )
            )
        elif old.weight == edge.weight:
            same += 1
        else:
            changes.append(EdgeChange(scope, replace(old, weight=edge.weight), old))
    return tuple(changes), same, tuple(dangling)


def _differing(one: Rule, other: Rule) -> tuple[str, ...]:
    return tuple(
        field for field in Rule.__match_args__ if getattr(one, field) != getattr(other, field)
    )


def _stronger(before: Edge | None, edge: Edge) -> Edge:
    if before is None or edge.weight > before.weight:
        return edge
    return before


def _folded(edges: Iterable[tuple[str, Edge]], have: Collection[EdgeKey]) -> dict[EdgeKey, Edge]:
    """Return *edges* by scope, ends and kind. Mutual edges keep one direction, the stored one if we
    *have* it."""
    found: dict[EdgeKey, Edge] = {}
    for scope, edge in edges:
        key, mirrored = (scope, *edge.key), (scope, edge.target, edge.source, edge.kind.value)
        if edge.kind in MUTUAL and key not in have and (mirrored in have or mirrored in found):
            found[mirrored] = _stronger(
                found.get(mirrored), replace(edge, source=edge.target, target=edge.source)
            )
        else:
            found[key] = _stronger(found.get(key), edge)
    return found


# Rules of CLAUDE.md, AGENTS.md and the like.


@dataclass(frozen=True)
class ImportOutcome:
    """What an import does with one rule: ``added``, ``known`` or ``left out``."""

    what: str
    file: str
    line: int
    text: str
    behavior: Rule | None = None
    """The rule that it became, or the one that says it already; None if it's left out."""
    why: str = ""
    source: str = ""
    """Its lines in the file."""

    @property
    def place(self) -> str:
        """File and line."""
        return f"{self.file}:{self.line}"

    def to_dict(self) -> dict[str, Any]:
        """Return it for ``--json``."""
        found: dict[str, Any] = {
            name: getattr(self, name) for name in ("what", "file", "line", "text", "why")
        }
        return {**found, "id": self.behavior.id if self.behavior is not None else None}


@dataclass(frozen=True)
class FoundRule:
    """A rule file that was read."""

    name: str
    """Its name, for people."""
    path: str
    """Its path; empty for standard input."""
    rules: RuleFile
    when: When = ALWAYS
    """The condition that the file sets for its rules."""
    loaders: tuple[RuleLoader, ...] = ()
    about: str = ""
    """The topic that the file names."""
    stamp: tuple[int, int] = (0, 0)


class RulesReader:
    """The rules of one or several files, on their way into *scope*."""

    def __init__(self, scope: str, now: float) -> None:
        self.scope, self.now = scope, now
        self.outcomes: list[ImportOutcome] = []
        """What becomes of each rule, in the order of the files, by the latest ``plan``."""
        self._found: list[FoundRule] = []
        self._before: dict[str, Rule] | None = None
        self._changes: tuple[RuleChange, ...] = ()

    @property
    def files(self) -> list[str]:
        """The names of the files."""
        return [each.name for each in self._found]

    def read(self, text: str, name: str) -> None:
        """Add the rules in *text*, the content of the file *name*."""
        self.add(FoundRule(name, "", read_rules(mask(text), name)))

    def add(self, found: FoundRule) -> None:
        """Add the rules of a file that was read, with its secrets masked: they are shown, too."""
        self._found.append(found)
        self._before = None

    def plan(self, scopes: Scopes) -> Plan:
        """Return what would be written, given what is stored."""
        store = scopes.stores.get(self.scope)
        before = {
            each.id: replace(each, scope=self.scope)
            for each in (store.behaviors() if store is not None else ())
        }
        if before != self._before:
            known = KnownRules(before.values())
            self.outcomes = []
            for found in self._found:
                self.outcomes += [self._learned(rule, found, known) for rule in found.rules.rules]
                skipped = found.rules.skipped
                self.outcomes += [
                    ImportOutcome("left out", found.name, each.line, each.text, why=each.why)
                    for each in skipped
                ]
            self._before, self._changes = before, tuple(_changes(before, known))
        written = {change.behavior.id for change in self._changes}
        same = dict.fromkeys(
            each.behavior.id for each in self.outcomes if each.what == "known" and each.behavior
        )
        kept = tuple(id for id in same if id not in written)
        conflicts = self._conflicts(scopes)
        too_many = len(self._changes) > MOST_COMPARED
        marked = [
            EdgeChange("project" if "project" in (one.scope, each.other.scope) else "user", edge)
            for one, each in conflicts
            if (edge := Edge(one.id, each.other.id, "conflicts", created_at=self.now))
            and each.other.id not in written
        ]
        more = len(conflicts) - MOST_TOLD
        notes = (
            *self._elsewhere(scopes),
            *(
                ["too many at once to look for contradictions: 'brim rules audit' does"]
                if too_many
                else ()
            ),
            *(
                f"{one.name} ({one.id}) conflicts with {each.other.name} ({each.other.id})"
                for one, each in conflicts[:MOST_TOLD]
            ),
            *(
                [f"{counted(more, 'more contradiction')}: 'brim rules audit' finds them"]
                if more > 0
                else ()
            ),
            *(self._gone(store) if store is not None else ()),
        )
        return Plan(
            self._changes,
            kept,
            tuple(marked),
            notes=notes,
            files=self._loaded(),
            files_scope=self.scope,
        )

    def _learned(self, rule: MarkdownRule, found: FoundRule, known: KnownRules) -> ImportOutcome:
        """Learn *rule*, and put what it became into *known*."""
        place: dict[str, Any] = {
            "file": rule.file,
            "line": rule.line,
            "text": rule.text,
            "source": rule.source,
        }
        text = cleaned(rule.text)
        there = known.get(self.scope, id_of(text)) or next(iter(known.saying(text)), None)
        if there is not None:
            return ImportOutcome(
                "known",
                **place,
                behavior=there,
                why="" if there.live else f"{there.status} here, and stays so",
            )
        try:
            behavior, _, _ = learn(
                rule.text,
                tags=infer_tags(f"{rule.heading or found.about}\n{rule.text}"),
                kind="procedure" if rule.steps else None,
                when=found.when,
                scope=self.scope,
                source="rules",
                now=self.now,
                existing=known,
            )
        except InputError as error:
            return ImportOutcome("left out", **place, why=str(error))
        came = Provenance("rules", at=self.now, file=rule.file, note=rule.heading or found.about)
        new = replace(behavior, provenance=came)
        known.put(new)
        return ImportOutcome("added", **place, behavior=new)

    def _loaded(self) -> tuple[LoadedFile, ...]:
        """Return the files that agents load on their own, with their rules."""
        texts: dict[str, dict[str, str]] = {each.name: {} for each in self._found}
        for each in self.outcomes:
            if each.behavior is not None and each.behavior.live:
                texts[each.file][each.behavior.id] = each.source
        return tuple(
            LoadedFile(each.path, each.stamp, each.loaders, texts[each.name])
            for each in self._found
            if each.loaders
        )

    def _conflicts(self, scopes: Scopes) -> list[tuple[Rule, Contradiction]]:
        """Return which new rules contradict a stored one or each other; nothing if there are too
        many to compare."""
        new = [change.behavior for change in self._changes if change.old is None]
        if len(new) > MOST_COMPARED:
            return []
        stored = scopes.behaviors(LIVE)
        return [(one, each) for one in new for each in find(one, stored)] + among(new)

    def _gone(self, store: Store) -> Iterator[str]:
        """Say which rules a file no longer has since it was last imported."""
        before = noted_files(store)
        for file in self._loaded():
            ids = before[file.path].texts.keys() - file.texts.keys() if file.path in before else ()
            for rule in store.get_many(ids).values():
                if rule.live:
                    name = rule.provenance.file or os.path.basename(file.path)
                    yield f"{name} doesn't have {rule.name} ({rule.id}) any more: brim rules remove {rule.id}"

    def _elsewhere(self, scopes: Scopes) -> tuple[str, ...]:
        """Say which new rules nearly repeat a rule of the other scope."""
        whose = "for every project" if self.scope == "project" else "in this project"
        new = [change.behavior for change in self._changes if change.old is None]
        near = similar_elsewhere(scopes, self.scope, new)
        return tuple(
            f"{one.name} says nearly the same as {other.name} ({other.id}) {whose}"
            for one, other in near
        )


def _changes(before: Mapping[str, Rule], known: KnownRules) -> Iterator[RuleChange]:
    """Yield what changed in *known* since *before*."""
    for learned in known:
        old = before.get(learned.id)
        if learned != old:
            behavior = without_secrets(learned)
            yield RuleChange(behavior, old, _differing(behavior, old) if old is not None else ())


def similar_elsewhere(
    scopes: Scopes, scope: str, behaviors: Iterable[Rule]
) -> list[tuple[Rule, Rule]]:
    """Return *behaviors* of *scope* that say nearly the same as a rule of the other scope, each
    with that rule."""
    other = scopes.user if scope == "project" else scopes.project
    same: dict[object, Rule] = {}
    for rule in other.behaviors(LIVE) if other is not None else ():
        same.setdefault(sense(rule.canonical), rule)
    return [
        (rule, same[sense(rule.canonical)]) for rule in behaviors if sense(rule.canonical) in same
    ]


# Merges.


def store_merged(scopes: Scopes, kept: Rule, gone: Rule, now: float) -> Merged:
    """Merge *gone* into *kept* and write both. Call it inside ``writing``."""
    for shown in (kept, gone):
        stored = scopes.store(shown.scope).get(shown.id)
        if stored is None or any(getattr(stored, field) != getattr(shown, field) for field in SAME):
            raise InputError(
                f"{shown.name} ({shown.id}) changed in the meantime; nothing was merged: try again"
            )
    merged = merge(kept, gone, now)
    moved = _moved(scopes, kept, gone)
    changes = merged.changes
    if moved:
        changes += (f"{counted(len(moved), 'connection')} taken over",)
    scopes.put(
        merged.kept,
        event="merged",
        now=now,
        text=gone.canonical,
        other=gone.id,
        changes=list(changes),
    )
    scopes.put(merged.superseded, event="superseded", now=now, by=kept.id)
    for edge in moved:
        scopes.put_edge(edge, now=now)
    return merged._replace(changes=changes)


def _moved(scopes: Scopes, kept: Rule, gone: Rule) -> list[Edge]:
    """Return the edges of *gone* as edges of *kept*, unless it has them already or they'd close a
    circle."""
    known = scopes.all_edges()
    keys = {edge.key for edge in known}
    moved: list[Edge] = []
    for edge in known:
        if gone.id not in edge.key[:2] or kept.id in edge.key[:2]:
            continue
        if edge.source == gone.id:
            new = replace(edge, source=kept.id)
        else:
            new = replace(edge, target=kept.id)
        if new.key not in keys and not would_cycle([*known, *moved], new):
            moved.append(new)
    return moved
