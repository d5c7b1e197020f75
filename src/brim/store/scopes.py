"""``Scopes``: the project's file and the user's, combined.

If both files have a rule with the same id, the project's applies. There is one exception: nothing
in the project's file replaces, hides or weakens a live constraint of the user, because a cloned
project must not overrule its user.

Agents get only those rules of the project that the user has agreed to. ``brim rules trust`` shows
rules that were added or changed without brim, and asks about them. Rules written through ``Scopes``
count as agreed to.
"""

from __future__ import annotations

import os.path
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Self, TypeVar

from brim.activation.source import Node
from brim.behaviors.behavior import LIVE, POSITIVE, BehaviorKind, Edge, EdgeKind, Rule, Status
from brim.errors import StoreError
from brim.record import PlainData
from brim.rules.session import Session
from brim.store.backup import keep_copy
from brim.store.database import FILE, TIMEOUT, Closing, closed_on_error, project_key
from brim.store.events import RuleEvent
from brim.store.store import Standing, Store, chosen, open_store

Known = Mapping[str, tuple[bool, str] | Standing | None]
"""Standings by id; None is not there."""
_Entry = TypeVar("_Entry", Node, Rule)


SHOWN = 200
"""Characters of a call that an event keeps."""


@dataclass(frozen=True)
class InForce(PlainData):
    """Which file's rule applies for an id, and whether that rule is live and protected."""

    scope: str
    live: bool
    protected: bool


@dataclass(frozen=True)
class Refusal(PlainData):
    """Something in the project's file that brim doesn't follow, and why."""

    id: str
    """The user's constraint that it would have touched."""
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Sketch(PlainData):
    """The part of a rule that ``ActivationTierMapper.plan`` needs."""

    id: str
    kind: BehaviorKind
    status: Status
    scope: str

    @property
    def live(self) -> bool:
        """Whether agents can be told it."""
        return self.status in LIVE


def open_scopes(
    project: str | None,
    user: str,
    *,
    trusted: bool,
    create: bool = True,
    timeout: float = TIMEOUT,
    checked: bool = False,
) -> Scopes:
    """Open the files of the folders *project* and *user*. Without *trusted*, the project's file is
    left out.

    A missing file is created when something is written to its scope. *create* and *timeout* are
    those of ``open_store``; a hook passes False, so that it never creates a file. *checked* leaves
    out rules of the project that the user hasn't agreed to.
    """
    paths = {"user": os.path.join(user, FILE)}
    if project is not None and trusted:
        paths["project"] = os.path.join(project, ".brim", FILE)
    if len(paths) == 2 and _is_same(*map(os.path.dirname, paths.values())):
        del paths["project"]
    return Scopes(paths, create=create, timeout=timeout, checked=checked)


class Scopes(Closing):
    """The files of both scopes, read as one ``brim.activation.Source``."""

    def __init__(
        self,
        paths: Mapping[str, str],
        *,
        create: bool = True,
        timeout: float = TIMEOUT,
        checked: bool = False,
    ) -> None:
        self._paths, self._create, self._timeout, self._checked = (
            dict(paths),
            create,
            timeout,
            checked,
        )
        self.left_out: set[str] = set()
        """Rules of the project that are left out because the user hasn't agreed to them, as far as
        brim has looked."""
        self._agreed: set[str] = set()
        self._aside: set[str] = set()
        """Rules that are left out because a newer one contradicts them."""
        self.stores: dict[str, Store] = {}
        """The files that exist, by scope."""
        self._stamps: list[tuple[int, int]] = []
        self._known: dict[str, dict[str, Standing | None]] = {}
        """The standing of each id by scope, None if it's missing there. Forgotten when a file
        changes."""
        self._force: dict[str, InForce | None] = {}
        self._few: dict[str, list[Any] | None] = {}
        """The rows of all edges by scope; None for a file with many."""
        with closed_on_error(self):
            for scope, path in self._paths.items():
                if os.path.lexists(path):
                    self.stores[scope] = open_store(path, create=create, timeout=timeout)

    @property
    def project(self) -> Store | None:
        """The project's file, if it exists and may be used."""
        return self.stores.get("project")

    @property
    def user(self) -> Store | None:
        """The user's file, if it exists."""
        return self.stores.get("user")

    def store(self, scope: str) -> Store:
        """Return the file of *scope*. It's created if it's missing and files may be created."""
        if scope not in self.stores:
            if scope not in self._paths:
                raise StoreError(
                    f"there is no {scope} here that brim may use: see 'brim rules trust'", "missing"
                )
            self.stores[scope] = open_store(
                self._paths[scope], create=self._create, timeout=self._timeout
            )
        return self.stores[scope]

    @property
    def home(self) -> Store:
        """The user's file, which holds sessions and facts about models whatever the project."""
        return self.store("user")

    # What activation asks -------------------------------------------------------------------------

    def seeds(self, facts: Mapping[str, tuple[str, ...]], words: frozenset[str]) -> list[Node]:
        """Return every rule in force that a situation may activate directly."""
        self._refresh()
        found = {
            scope: store.seeds(facts, words, self._known[scope])
            for scope, store in self.stores.items()
        }
        return [node for _, node in self._counting(found) if node.id not in self._aside]

    def nodes(self, ids: Collection[str]) -> list[Node]:
        """Return the live rules among *ids*, each from the file that applies."""
        self._refresh()
        ids = [id for id in ids if id not in self._aside]
        found = {
            scope: store.nodes(ids, self._known[scope]) for scope, store in self.stores.items()
        }
        return [node for _, node in self._counting(found)]

    def postings(self, terms: Collection[str]) -> dict[str, list[tuple[str, int]]]:
        """Return the rules that each of *terms* finds in either file, with their weights in
        hundredths."""
        found: dict[str, list[tuple[str, int]]] = {}
        for store in self.stores.values():
            for term, rules in store.postings(terms).items():
                found.setdefault(term, []).extend(rules)
        return found

    def count(self) -> int:
        """Return how many live rules both files have."""
        return sum(store.count() for store in self.stores.values())

    def sections(self, ids: Collection[str]) -> list[Any]:
        """Return section and id of every rule that shares a section with one of *ids* in the same
        file."""
        return [row for store in self.stores.values() for row in store.sections(ids)]

    def edges(self, ids: Collection[str]) -> list[Edge]:
        """Return the edges of both files that touch one of *ids*, connect live rules, and are
        followed."""
        return self.followed(self.edges_by_file(ids))[0]

    def edges_by_file(self, ids: Collection[str]) -> dict[str, list[Edge]]:
        """Return every edge that touches one of *ids*, by scope, even if it isn't followed."""
        self._refresh()
        for scope, store in self.stores.items():
            if scope not in self._few:
                self._few[scope] = store.few_edges(4 * len(ids))
        return {
            scope: store.edges_touching(ids, self._few[scope])
            for scope, store in self.stores.items()
        }

    def followed(
        self, found: Mapping[str, list[Edge]]
    ) -> tuple[list[Edge], list[tuple[Edge, str]]]:
        """Return the edges of *found*, by scope, that are followed, and those that would weaken a
        user's constraint."""
        ends = {end for edges in found.values() for edge in edges for end in edge.key[:2]}
        weakening = [edge for edge in found.get("project", ()) if edge.kind not in POSITIVE]
        self.leave_out({end for edge in weakening for end in edge.key[:2]})
        return followed(found.get("user", []), found.get("project", []), self._in_force(ends))

    def set_aside(self, edges: Iterable[Edge]) -> bool:
        """Leave out the older of two rules that contradict each other; return whether there was
        one.

        *edges* are those of the rules that a situation activates.
        """
        older = {older.id for _, older in self.contradictions(edges)} - self._aside
        self._aside |= older
        return bool(older)

    def contradictions(self, edges: Iterable[Edge]) -> list[tuple[Rule, Rule]]:
        """Return the live rules that *edges* mark as contradicting each other: the one agents hear,
        and the other."""
        pairs = [edge.key[:2] for edge in edges if edge.kind is EdgeKind.CONFLICTS]
        known = self.get_many({end for pair in pairs for end in pair}) if pairs else {}
        met = [
            [known[end] for end in pair]
            for pair in pairs
            if all(end in known and known[end].live for end in pair)
        ]
        ordered = [sorted(pair, key=lambda each: each.precedence) for pair in met]
        return [(higher, lower) for lower, higher in ordered]

    @contextmanager
    def reading(self) -> Iterator[Self]:
        """Read one consistent state of each file inside. Many queries are faster this way, too."""
        with ExitStack() as held:
            for store in self.stores.values():
                held.enter_context(store.reading())
            yield self

    # What is in force -----------------------------------------------------------------------------

    def behaviors(self, status: Status | str | Iterable[Status | str] | None = None) -> list[Rule]:
        """Return the rules in force, sorted by id: all, or those of one *status* or of several."""
        wanted = list(status) if status is not None and not isinstance(status, str) else status
        found = {scope: store.behaviors(wanted) for scope, store in self.stores.items()}
        self.leave_out([behavior.id for behavior in found.get("project", ())])
        return sorted(
            (_of(*pair) for pair in self._counting(found)), key=lambda behavior: behavior.id
        )

    def get(self, id: str) -> Rule | None:
        """Return the rule *id* that applies, whatever its status, or None."""
        return self.get_many((id,)).get(id)

    def get_many(self, ids: Collection[str]) -> dict[str, Rule]:
        """Return the rules that apply for *ids*, by id."""
        self.leave_out(ids)
        found = [(scope, self.stores[scope].get_many(own)) for scope, own in self._split(ids)]
        return {id: _of(scope, each) for scope, own in found for id, each in own.items()}

    def standings(self, ids: Collection[str]) -> dict[str, tuple[BehaviorKind, Status]]:
        """Return the kind and the status of each of *ids* that exists."""
        found = {}
        for id, entry in self._in_force(ids).items():
            _, kind, status = self._known[entry.scope][id] or (False, "", "")
            try:
                found[id] = _members(kind, status)
            except ValueError:
                raise StoreError(
                    f"the rule {id!r} can't be read: {kind!r}, {status!r}", "damaged"
                ) from None
        return found

    def sketches(self, ids: Collection[str]) -> dict[str, Sketch]:
        """Return what a plan needs of each of *ids* that exists, without their texts."""
        force = self._in_force(ids)
        return {
            id: Sketch(id, *standing, force[id].scope)
            for id, standing in self.standings(ids).items()
        }

    def find(self, text: str) -> Rule:
        """Return the rule in force with the id or name *text*, or whose id or name begins with
        it."""
        found = {scope: store.candidates(text) for scope, store in self.stores.items()}
        self.leave_out([behavior.id for behavior in found.get("project", ())])
        kept = [_of(*pair) for pair in self._counting(found)]
        same = [each for each in kept if each.id == text] or [
            each for each in kept if each.name == text
        ]
        return chosen(same or kept, text)

    def all_edges(self) -> list[Edge]:
        """Return every edge of both files once, even if a rule at its end is missing."""
        found = {edge.key: edge for store in self.stores.values() for edge in store.all_edges()}
        return [found[key] for key in sorted(found)]

    def line_costs(
        self, ids: Collection[str], encoding: str
    ) -> dict[tuple[str, int], tuple[int, int]]:
        """Return tokens and characters by id and tier, each from the file that applies."""
        found: dict[tuple[str, int], tuple[int, int]] = {}
        for scope, own in self._split(ids):
            found.update(self.stores[scope].line_costs(own, encoding))
        return found

    def refusals(self) -> list[Refusal]:
        """Return what brim doesn't follow in the project's file because it would touch a user's
        constraint."""
        if self.project is None or self.user is None:
            return []
        both = {behavior.id for behavior in self.project.behaviors()}
        refused = [
            Refusal(
                id, f"the project's {id} does not take the place of your own constraint of that id"
            )
            for id, entry in sorted(self._in_force(both).items())
            if entry.scope == "user"
        ]
        edges = self.followed({scope: store.all_edges() for scope, store in self.stores.items()})[1]
        return refused + [
            Refusal(
                protected,
                f"the connection {edge} isn't followed: it would weaken your constraint {protected}",
            )
            for edge, protected in edges
        ]

    # Writing --------------------------------------------------------------------------------------

    @contextmanager
    def writing(self, *scopes: str) -> Iterator[Self]:
        """Open one transaction in each file. The files of *scopes* are created if they are missing.

        Both files are locked from the start, so nothing that is read inside can change before it is
        written.
        """
        for scope in scopes:
            self.store(scope)
        for store in self.stores.values():
            store.database.check_once()  # before anything is locked: hooks don't wait long
        with ExitStack() as held:
            for scope in ("user", "project"):
                # Always in this order: two processes can't block each other.
                found = self.stores.get(scope)
                if found is not None and (not found.readonly or scope in scopes):
                    held.enter_context(found.writing())
            yield self

    def put(
        self,
        behavior: Rule,
        *,
        event: str,
        now: float,
        session: str = "",
        shown: bool = False,
        **detail: Any,
    ) -> None:
        """Write *behavior* to the file of its scope: see ``Store.put``.

        Writing a rule of the project means agreeing to it, unless the rule came from elsewhere and
        the person wasn't *shown* all of it.
        """
        store, id = self.store(behavior.scope), behavior.id
        agrees = behavior.scope == "project" and (shown or not self.unagreed((id,)))
        store.put(behavior, event=event, now=now, session=session, **detail)
        if agrees and self.user is not None and not self.user.readonly:
            self.user.agree(self.project_key, store.digests((id,)))

    def put_edge(self, edge: Edge, *, now: float) -> None:
        """Write *edge* to the project's file if it touches a rule of the project, else to the
        user's."""
        force = self._in_force((edge.source, edge.target))
        scopes = {entry.scope for entry in force.values()}
        self.store("project" if "project" in scopes else "user").put_edge(edge, now=now)

    def remove_edge(self, source: str, target: str, kind: EdgeKind | str, *, now: float) -> bool:
        """Remove an edge from both files; return whether it was in one of them."""
        removed = [
            store.remove_edge(source, target, kind, now=now) for store in self.stores.values()
        ]
        return any(removed)

    def used(self, ids: Collection[str], *, now: float, session: str = "", **detail: Any) -> None:
        """Note that *ids* were injected together, each in the file that applies."""
        for scope, own in self._split(ids):
            self.stores[scope].used(own, now=now, session=session, **detail)

    def record(
        self, kind: str, calls: Mapping[str, str], *, now: float, session: str, tool: str
    ) -> None:
        """Record an event about a call of *tool* with each rule; *calls* has the part that it's
        about, by id."""

        for scope, own in self._split(calls):
            store = self.stores[scope]
            for id in own if not store.readonly else ():
                detail = {"tool": tool[:SHOWN], "call": calls[id][:SHOWN]}
                store.record(RuleEvent(kind, now, id, session=session, detail=detail))

    def session(
        self, session: str, agent: str = "", **limits: Any
    ) -> AbstractContextManager[Session]:
        """Hand out the state of a session, to be charged: see ``Store.session``."""
        return self.home.session(session, agent, **limits)

    def session_seen(self, session: str, agent: str = "", **limits: Any) -> Session:
        """Return the state of a session to look at: see ``Store.session_seen``."""
        return self.home.session_seen(session, agent, **limits)

    def close(self) -> None:
        """Close both files. If rules of the project were written, a copy of them is kept in the
        user's folder."""
        if self.project is not None and self.project.learned:
            keep_copy(self.project.database, os.path.dirname(self._paths["user"]), now=time.time())
            self.project.learned = False
        for store in self.stores.values():
            store.close()

    # Consent --------------------------------------------------------------------------------------

    @property
    def project_key(self) -> str:
        """The project's key in the user's file."""
        return project_key(os.path.dirname(os.path.dirname(self._paths["project"])))

    def unagreed(self, ids: Collection[str] | None = None) -> dict[str, str]:
        """Return the digests of rules of the project that the user hasn't agreed to: of *ids*, or
        of all live rules."""
        found = self.project.digests(ids) if self.project is not None else {}
        agreed = (
            self.user.agreed(self.project_key, found) if found and self.user is not None else {}
        )
        return {id: digest for id, digest in found.items() if agreed.get(id) != digest}

    def leave_out(self, ids: Collection[str]) -> bool:
        """Leave out those of *ids* that the user hasn't agreed to; return whether there was one.

        Call it for rules that are about to be told: a hook has no time to check every rule.
        """
        self._refresh()
        asked = (
            [id for id in ids if id not in self._agreed and id not in self.left_out]
            if self._checked
            else []
        )
        unagreed = self.unagreed(asked) if asked else {}
        self._agreed.update(asked)
        if unagreed:
            self.left_out.update(unagreed)
            self._force = {}
        return bool(unagreed)

    # Which file applies----------------------------------------------------------------------------

    def _split(self, ids: Collection[str]) -> list[tuple[str, list[str]]]:
        """Return *ids* by the scope whose rule applies."""
        if self._is_simple:
            return [(scope, list(ids)) for scope in self.stores]
        force = self._in_force(ids)
        split = {
            scope: [id for id in ids if id in force and force[id].scope == scope]
            for scope in self.stores
        }
        return [(scope, own) for scope, own in split.items() if own]

    def _counting(self, found: Mapping[str, list[_Entry]]) -> list[tuple[str, _Entry]]:
        """Return the rules in *found*, by scope, that apply, each with its scope."""
        pairs = [(scope, each) for scope, own in found.items() for each in own]
        if self._is_simple:
            return pairs
        force = self._in_force({each.id for _, each in pairs})
        if any(each.id not in force and each.id not in self.left_out for _, each in pairs):
            raise StoreError(
                f"{' or '.join(self._paths.values())}: an index is damaged: see 'brim rules audit'",
                "damaged",
            )
        return [
            (scope, each)
            for scope, each in pairs
            if each.id in force and force[each.id].scope == scope
        ]

    @property
    def _is_simple(self) -> bool:
        """Whether every rule applies: there's one file, and all of it may be used."""
        return len(self.stores) == 1 and not (self._checked and "project" in self.stores)

    def _in_force(self, ids: Collection[str]) -> dict[str, InForce]:
        """Return which file's rule applies for each of *ids*; ids in neither file are missing."""
        self._refresh()
        new = [id for id in ids if id not in self._force]
        if new:
            for scope, store in self.stores.items():
                known = self._known[scope]
                if unknown := [id for id in new if id not in known]:
                    known.update({**dict.fromkeys(unknown), **store.standing(unknown)})
            mine, theirs = self._known.get("user", {}), self._known.get("project", {})
            # A rule that the user hasn't agreed to doesn't take the place of one of theirs either.
            if self._checked and self.user is not None:
                self.leave_out([id for id in new if mine.get(id) and theirs.get(id)])
            theirs.update(dict.fromkeys(self.left_out.intersection(new)))
            found = in_force(new, mine, theirs)
            self._force.update({id: found.get(id) for id in new})
        return {id: entry for id in ids if (entry := self._force[id]) is not None}

    def _refresh(self) -> None:
        """Forget what was read if a file has changed since."""
        stamps = [store.database.stamp() for store in self.stores.values()]
        if stamps != self._stamps:
            self._stamps, self._force, self._few, self._agreed = stamps, {}, {}, set()
            self._known = {scope: {} for scope in self.stores}


def _is_same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:  # one of the folders is not there yet
        return os.path.realpath(one) == os.path.realpath(other)


def _of(scope: str, behavior: Rule) -> Rule:
    """Return *behavior* with the scope of the file that it was read from."""
    return behavior if behavior.scope == scope else replace(behavior, scope=scope)


def in_force(ids: Collection[str], user: Known, project: Known) -> dict[str, InForce]:
    """Return which file's rule applies for each of *ids*; ids in neither file are missing."""
    found = {}
    for id in ids:
        mine, theirs = user.get(id), project.get(id)
        protected = mine is not None and mine[0] and mine[1] == BehaviorKind.CONSTRAINT
        if mine is not None and (protected or theirs is None):
            found[id] = _entry("user", mine[0], protected)
        elif theirs is not None:
            found[id] = _entry("project", theirs[0], False)
    return found


_entry = cache(InForce)  # of hundreds of ids, and there are only a few different ones


@cache
def _members(kind: str, status: str) -> tuple[BehaviorKind, Status]:
    return BehaviorKind(kind), Status(status)


def followed(
    user: Collection[Edge], project: Collection[Edge], force: Mapping[str, InForce]
) -> tuple[list[Edge], list[tuple[Edge, str]]]:
    """Return the edges that are followed, and the others with the constraint that each would
    weaken.

    Only an edge between the user's own rules, in the user's file, may weaken a user's constraint.
    If both files have an edge, the project's applies, unless it touches such a constraint.
    """
    kept: dict[tuple[str, str, str], Edge] = {}
    refused = []
    for edges, theirs in ((user, False), (project, True)):
        for edge in edges:
            ends = (edge.source, edge.target)
            if not all(end in force and force[end].live for end in ends):
                continue
            protected = [end for end in ends if force[end].protected]
            # An edge takes activation from its target, and a conflict from its source too.
            losing = (
                ()
                if edge.kind in POSITIVE
                else ends[::-1]
                if edge.kind is EdgeKind.CONFLICTS
                else ends[1:]
            )
            weakened = next((end for end in losing if end in protected), "")
            if weakened and (theirs or any(force[end].scope == "project" for end in ends)):
                refused.append((edge, weakened))
            elif not (theirs and protected and edge.key in kept):
                kept[edge.key] = edge
    return list(kept.values()), refused
