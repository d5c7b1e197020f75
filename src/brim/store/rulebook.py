"""What people and agents do with stored rules: learn, find, remove, restore, review, edit and merge
them.

Call the functions that write inside ``scopes.writing()``. Nothing is deleted: statuses, wordings
and events keep it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

from brim.behaviors.behavior import LIVE, BehaviorKind, Edge, EdgeKind, Rule, Status
from brim.behaviors.contradictions import Contradiction, among
from brim.behaviors.contradictions import find as find_contradictions
from brim.behaviors.duplicates import Merged, Pair, merge_order, near_duplicate, near_pairs
from brim.behaviors.jsonl import as_object
from brim.behaviors.learning import Learned, Proposal, holds, loosens, propose, settle
from brim.behaviors.yaml_form import FIELDS
from brim.errors import InputError
from brim.record import PlainData
from brim.store.events import RuleEvent
from brim.store.imports import similar_elsewhere, store_merged
from brim.store.scopes import Scopes
from brim.store.suggestions import Suggestions
from brim.store.trust import ONCE, OWN, SESSION, allow

MOST_NOTES = 200
"""Notes that may wait for a person: one who cannot keep up with them would accept them unread."""

MOST_ALIKE = 3
"""Rules that say nearly the same as a new one, and are named when it is learned."""


def named(behavior: Rule) -> str:
    """Return the name of *behavior* for a sentence."""
    return f"{behavior.name} ({behavior.id})"


# Finding ------------------------------------------------------------------------------------------


def find_rule(scopes: Scopes, text: str) -> Rule:
    """Return the rule with the id or name *text*, or the only one that it begins or is a part
    of."""
    try:
        return scopes.find(text)
    except InputError:
        wanted, every = text.strip().casefold(), scopes.behaviors()
        if not wanted or any(
            each.id.startswith(text) or each.name.startswith(text) for each in every
        ):
            raise
        for live in (True, False):
            known = [each for each in every if each.live is live]
            for said in (
                (each.name for each in known),
                (f"{each.name}\n{each.canonical}" for each in known),
            ):
                found = [
                    each
                    for each, where in zip(known, said, strict=True)
                    if wanted in where.casefold()
                ]
                if len(found) == 1:
                    return found[0]
                if found:
                    names = ", ".join(sorted(each.name for each in found)[:5])
                    raise InputError(
                        f"{text!r} is in {len(found):,} rules: {names}; say which"
                    ) from None

        called = {
            word.casefold(): each.name
            for each in every
            for word in (*each.name.split("-"), each.name)
        }
        near = get_close_matches(wanted, called, 1)
        hint = f"did you mean {called[near[0]]}?" if near else "'brim rules' lists them"
        raise InputError(f"no rule matches {text!r}; {hint}") from None


def find_rules(scopes: Scopes, given: Iterable[str]) -> list[Rule]:
    """Return the rule for each of *given*, without duplicates: see ``find_rule``."""
    found = [find_rule(scopes, each) for each in given]
    return list({each.id: each for each in found}.values())


@dataclass(frozen=True)
class RuleFilter:
    """Which rules a person looks for; without anything, those in force."""

    patterns: tuple[str, ...] = ()
    """Parts of an id, a name, a tag or the text, or names with ``*`` and ``?``."""
    kind: str | None = None
    tags: tuple[str, ...] = ()
    status: str = "live"
    """A status, ``live`` or ``all``."""
    scope: str | None = None

    @property
    def narrows(self) -> bool:
        """Whether it leaves out rules in force."""
        return self != RuleFilter()

    def matches(self, rule: Rule) -> bool:
        """Whether *rule* is looked for."""
        if self.kind not in (None, rule.kind.value) or self.scope not in (None, rule.scope):
            return False
        if rule.status not in self._statuses():
            return False
        rule_tags = {tag.casefold() for tag in rule.tags}
        if not rule_tags.issuperset(tag.casefold() for tag in self.tags):
            return False
        return all(_matches(rule, pattern.casefold()) for pattern in self.patterns)

    def _statuses(self) -> Iterable[str]:
        if self.status == "all":
            return tuple(Status)
        if self.status == "live":
            return LIVE
        return (self.status,)


def _matches(rule: Rule, pattern: str) -> bool:
    names = [text.casefold() for text in (rule.id, rule.name, *rule.tags)]
    if any(character in pattern for character in "*?["):
        return any(fnmatchcase(name, pattern) for name in names)
    texts = [*names, rule.summary.casefold(), rule.canonical.casefold()]
    return any(pattern in text for text in texts)


# Learning -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Taught:
    """A rule that a person taught, and the event: ``learned`` or ``confirmed``."""

    learned: Learned
    event: str
    conflicts: tuple[Contradiction, ...] = ()
    """Rules that it contradicts. They are kept and marked; agents are told only the newer of
    two."""
    replaced: tuple[Rule, ...] = ()
    alike: tuple[Rule, ...] = ()
    """Rules of its scope that say nearly the same. A person decides."""

    @property
    def loosening(self) -> str:
        """What it does that only a person may do; empty if nothing."""
        if any(map(holds, self.replaced)):
            return "replaces a constraint"
        rule = self.learned.behavior
        if loosens(self.learned.merged_with, rule):
            return "changes a constraint"
        for conflict in self.conflicts:
            is_hidden = rule.scope == "user" or conflict.other.scope == "project"
            if is_hidden and holds(conflict.other):
                return "teaches what contradicts a constraint"
        return ""


def teach(
    scopes: Scopes,
    proposal: Proposal,
    *,
    now: float,
    summary: str = "",
    priority: int | None = None,
    replaces: Iterable[Rule] = (),
) -> Taught:
    """Learn and store the rule that is proposed, in its scope.

    Rules that it *replaces* become superseded. Others that it contradicts are marked.
    """
    known = scopes.store(proposal.rule.scope).behaviors()
    learned = settle(proposal, known)
    old, event = learned.merged_with, "learned"
    replaces = list(replaces)
    replaced = _replaced(replaces, learned.behavior, now)
    behavior = replace(
        learned.behavior,
        summary=summary or learned.behavior.summary,
        priority=learned.behavior.priority if priority is None else priority,
        supersedes=tuple(
            dict.fromkeys((*learned.behavior.supersedes, *(each.id for each in replaced)))
        ),
    )
    conflicts = [each for each in conflicts_of(scopes, behavior) if each.other not in replaces]
    detail: dict[str, Any] = {}
    if old is not None:
        if conflicts:  # said again, it is the newer one
            behavior = replace(behavior, provenance=replace(behavior.provenance, at=now))
        event = "confirmed"
        changed = [
            field
            for field in ("summary", "priority")
            if getattr(behavior, field) != getattr(old, field)
        ]
        learned = learned._replace(
            changes=(*learned.changes, *(f"{field} changed" for field in changed))
        )
        before = {
            field: as_object(old)[field]
            for field in FIELDS
            if getattr(behavior, field) != getattr(old, field)
        }
        detail = {
            "text": proposal.rule.canonical,
            "wrong": proposal.rule.provenance.wrong,
            "changes": list(learned.changes),
            "before": before,
        }
    scopes.put(behavior, event=event, now=now, **detail)
    for each in known if old is not None and not old.live else ():
        if behavior.id in each.supersedes and each.id != behavior.id:  # it is back
            rest = tuple(id for id in each.supersedes if id != behavior.id)
            scopes.put(replace(each, supersedes=rest, updated_at=now), event="edited", now=now)
    gone = {each.id for each in replaced}
    for each in replaced:
        rest = tuple(id for id in each.supersedes if id != behavior.id)
        scopes.put(replace(each, supersedes=rest), event="superseded", now=now, by=behavior.id)
    others = [each for each in known if each.live and each.id not in {behavior.id, *gone}]
    like = [
        each
        for each in others
        if old is None and near_duplicate(behavior.canonical, each.canonical)
    ]
    mark_conflicts(scopes, behavior, conflicts, now=now)
    learned = learned._replace(behavior=behavior)
    return Taught(learned, event, tuple(conflicts), tuple(replaced), tuple(like[:MOST_ALIKE]))


def _replaced(rules: Iterable[Rule], by: Rule, now: float) -> list[Rule]:
    """Return *rules* as superseded by *by*."""
    found = []
    for rule in rules:
        if rule.id == by.id:
            raise InputError(f"{named(rule)} says that already, so it can't be replaced by it")
        if rule.scope != by.scope:
            whose, option = (
                ("every project", "--user")
                if rule.scope == "user"
                else ("this project", "--project")
            )
            raise InputError(
                f"{named(rule)} is there for {whose}: to replace it, teach the new one with {option}"
            )
        found.append(replace(rule, status=Status.SUPERSEDED, superseded_by=by.id, updated_at=now))
    return found


def conflicts_of(scopes: Scopes, behavior: Rule) -> list[Contradiction]:
    """Return the live rules of both scopes that *behavior* contradicts, the newest first."""
    return find_contradictions(behavior, scopes.behaviors(LIVE))


def mark_conflicts(
    scopes: Scopes, behavior: Rule, conflicts: Iterable[Contradiction], *, now: float
) -> None:
    """Connect *behavior* with the rules that it contradicts, so that agents are told only the newer
    of two."""
    known = {
        edge.key[:2] for edges in scopes.edges_by_file((behavior.id,)).values() for edge in edges
    }
    for each in conflicts:
        ends = behavior.id, each.other.id
        if ends not in known and ends[::-1] not in known:
            scopes.put_edge(Edge(*ends, EdgeKind.CONFLICTS, created_at=now), now=now)


def unmarked_conflicts(scopes: Scopes) -> list[tuple[Rule, Contradiction]]:
    """Return pairs of rules that contradict each other and aren't connected, the newer first."""
    known = {pair for edge in scopes.all_edges() for pair in (edge.key[:2], edge.key[1::-1])}
    return [
        (newer, each)
        for newer, each in among(scopes.behaviors(LIVE))
        if (newer.id, each.other.id) not in known
    ]


def same_elsewhere(scopes: Scopes, behavior: Rule) -> Rule | None:
    """Return a rule of the other scope that says the same, or None."""
    return next((near for _, near in similar_elsewhere(scopes, behavior.scope, [behavior])), None)


def edit_rule(scopes: Scopes, old: Rule, changes: Mapping[str, Any], *, now: float) -> None:
    """Write *changes* of *old*, unless it has changed since it was read. Its history keeps the old
    values."""
    stored = scopes.store(old.scope).get(old.id)
    if stored is None or any(
        getattr(stored, field) != getattr(old, field) for field in (*FIELDS, "status")
    ):
        raise InputError(f"{named(old)} changed while you edited it: see 'brim rules why {old.id}'")
    before = {field: as_object(old)[field] for field in changes}
    scopes.put(
        replace(stored, **changes, scope=old.scope, updated_at=now),
        event="edited",
        now=now,
        before=before,
    )


# Removing, restoring and reviewing ----------------------------------------------------------------


def remove_rules(
    scopes: Scopes, rules: Iterable[Rule], *, now: float, reason: str = ""
) -> tuple[list[Rule], list[Rule]]:
    """Mark *rules* as forgotten; return those that changed, and those that were forgotten
    already."""
    removed, already = [], []
    for rule in rules:
        if rule.status is Status.FORGOTTEN:
            already.append(rule)
            continue
        changed = replace(rule, status=Status.FORGOTTEN, updated_at=now)
        scopes.put(changed, event="forgotten", now=now, was=rule.status.value, reason=reason)
        removed.append(changed)
    return removed, already


def restore_rules(
    scopes: Scopes, rules: Iterable[Rule], *, now: float
) -> tuple[list[Rule], list[Rule]]:
    """Restore forgotten *rules*; return those that changed, and those that weren't forgotten."""
    back, already = [], []
    for rule in rules:
        if rule.status is not Status.FORGOTTEN:
            already.append(rule)
            continue
        changed = replace(rule, status=_status_before(rule, scopes), updated_at=now)
        scopes.put(changed, event="unforgotten", now=now)
        back.append(changed)
    return back, already


def _status_before(rule: Rule, scopes: Scopes) -> Status:
    """Return the status of *rule* before it was removed; if no event has it, the highest that it
    can have had."""
    for event in reversed(scopes.store(rule.scope).events(behavior=rule.id)):
        if event.kind in ("forgotten", "rejected"):
            was = event.detail.get("was")
            if was in (Status.ACTIVE, Status.PENDING, Status.SUPERSEDED):
                return Status(was)
            break
    if rule.superseded_by:
        return Status.SUPERSEDED
    return Status.PENDING if rule.provenance.source == "agent" else Status.ACTIVE


def decide_notes(
    scopes: Scopes,
    notes: Iterable[Rule],
    *,
    accept: bool,
    now: float,
    kind: BehaviorKind | None = None,
    reason: str = "",
) -> list[Rule]:
    """Accept or reject *notes* by agents that wait for review."""
    decided = []
    for note in notes:
        if note.status is not Status.PENDING:
            raise InputError(
                f"{named(note)} is not a note that waits: it is {note.status}; nothing was changed"
            )
        status = Status.ACTIVE if accept else Status.FORGOTTEN
        changed = replace(note, status=status, kind=kind or note.kind, updated_at=now)
        detail = (
            {"kind": changed.kind.value} if accept else {"was": note.status.value, "reason": reason}
        )
        scopes.put(
            changed, event="accepted" if accept else "rejected", now=now, shown=True, **detail
        )
        decided.append(changed)
    return decided


def note_down(scopes: Scopes, proposal: Proposal, *, now: float) -> Learned:
    """Keep what an agent proposes as a note, unless a person's rule says the same already."""
    rules = scopes.behaviors()
    learned = settle(proposal, rules)
    old = learned.merged_with
    if old is not None and old.status is not Status.PENDING:
        return learned
    waiting = sum(rule.status is Status.PENDING and rule.scope == "project" for rule in rules)
    if old is None and waiting >= MOST_NOTES:
        raise InputError(
            f"{waiting:,} notes wait for the user, so nothing was kept:"
            " ask for 'brim rules review' first"
        )
    event = "confirmed"
    if old is None:
        event = "learned"
    scopes.put(
        learned.behavior,
        event=event,
        now=now,
        session=proposal.rule.provenance.session,
        changes=list(learned.changes),
    )
    mark_conflicts(scopes, learned.behavior, conflicts_of(scopes, learned.behavior), now=now)
    return learned


def accept_correction(
    scopes: Scopes, corrections: Suggestions, number: int, text: str, scope: str, *, now: float
) -> Taught:
    """Turn the correction *number* into the rule *text*; the call that it corrected is noted as
    wrong."""
    found = corrections.find(number)
    proposal = propose(text, wrong=found.call, session=found.session, scope=scope, now=now)
    with scopes.writing(scope):
        taught = teach(scopes, proposal, now=now)
    corrections.take(number)
    return taught


# Allowing what a rule refuses ---------------------------------------------------------------------


@dataclass(frozen=True)
class Allowed(PlainData):
    """A permission despite a rule's block: ``once``, or for a ``session``."""

    id: str
    name: str
    how: str
    session: str


def allow_rule(scopes: Scopes, text: str, *, session: str | None, now: float) -> Allowed:
    """Allow a call despite the block of a rule: once, or in *session*; empty is where it last
    refused a call.

    The rule ``brim`` stands for calls that are refused because they would loosen brim itself.
    """
    rule = None if text == OWN else find_rule(scopes, text)
    if rule is not None and not rule.blocks:
        raise InputError(
            f"{named(rule)} refuses nothing, so there is nothing to allow: see 'brim learn --help'"
        )
    id, name, store = (
        (OWN, OWN, scopes.home) if rule is None else (rule.id, rule.name, scopes.store(rule.scope))
    )
    place = scopes.project_key if rule is not None and rule.scope == "project" else "user"
    if session == "":  # the one in which it last refused a call
        session = next(
            (event.session for event in store.events(behavior=id, kind="blocked", limit=1)), ""
        )
    if session == "":
        raise InputError(
            f"{name} hasn't refused a call yet: say which session with --session ID, or allow it --once"
        )
    how = ONCE if session is None else SESSION
    allow(scopes.home, id, place, session=session or "", now=now)
    store.record(RuleEvent("lifted", now, id, session=session or "", detail={"how": how}))
    return Allowed(id, name, how, session or "")


# Two rules ----------------------------------------------------------------------------------------


def duplicate_pairs(scopes: Scopes) -> list[Pair]:
    """Return pairs of each scope that say nearly the same. The first of each pair would stay."""
    live = scopes.behaviors(LIVE)
    pairs: list[Pair] = []
    for scope in ("user", "project"):
        pairs += near_pairs(rule for rule in live if rule.scope == scope)
    return [Pair(*merge_order(pair.one, pair.other)) for pair in pairs]


def merge_pairs(scopes: Scopes, pairs: Iterable[Pair], *, now: float) -> list[Merged]:
    """Merge *pairs* in order. A rule that was merged before is used as it is now, or skipped if
    it's gone."""
    became: dict[str, Rule] = {}
    done: list[Merged] = []
    for pair in pairs:
        one, other = (became.get(each.id, each) for each in (pair.one, pair.other))
        if one.live and other.live:
            merged = store_merged(scopes, *merge_order(one, other), now)
            became[merged.kept.id], became[merged.superseded.id] = merged.kept, merged.superseded
            done.append(merged)
    return done
