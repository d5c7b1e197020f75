"""What an agent may say of rules: a note that waits for a person, and how a rule fared."""

from __future__ import annotations

from dataclasses import dataclass

from brim.behaviors.behavior import BehaviorKind, Status
from brim.behaviors.learning import cleaned, confirmed, learn, overridden
from brim.errors import InputError
from brim.mcp.rules import found_rule
from brim.mcp.situation import files_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.behaviors.behavior import Behavior
    from brim.behaviors.learning import Learned
    from brim.mcp.here import Here
    from brim.store.scopes import Scopes

LONGEST = 4_000
"""Characters of a note. A rule is short; a document is not learned by accident."""
MOST_NOTES = 200
"""Notes that may wait for a person: one who cannot keep up with them would accept them unread."""


@dataclass(frozen=True)
class Note:
    """What became of a note."""

    id: str
    name: str
    kind: str
    status: str
    result: str
    """What was done, and what a person may do next."""


@dataclass(frozen=True)
class Verdict:
    """What a verdict changed."""

    id: str
    name: str
    confirmed: int
    overridden: int
    confidence: float
    result: str


def learn_note(here: Here, right: str, wrong: str = "", situation: str = "", *, session: str = "") -> Note:
    """Keep *right* as a pending note of the project. What a person has taught stays as it is."""
    here.need_trust()
    for name, text in (("right", right), ("wrong", wrong)):
        if len(text) > LONGEST:
            raise InputError(f"{name} has {len(text):,} characters, more than {LONGEST:,}: say the rule in a sentence")
    file = next(iter(files_in(situation)), "")
    with here.open() as scopes, scopes.writing("project"):
        known = [each for store in (scopes.user, scopes.project) if store is not None for each in store.behaviors()]
        learned = learn(
            right,
            wrong=wrong,
            file=file,
            source="agent",
            session=session,
            now=here.now,
            existing=known,
            near_duplicate=here.config["behaviors.near_duplicate"],
        )
        _store(scopes, learned, known, here.now, session)
    return _note(learned)


def judge(here: Here, id: str, verdict: str, note: str = "", *, session: str = "") -> Verdict:
    """Note how a rule fared. An agent's word never lowers a constraint."""
    if len(note) > LONGEST:
        raise InputError(f"note has {len(note):,} characters, more than {LONGEST:,}: say it shorter")
    with here.open() as scopes, scopes.writing():
        behavior = found_rule(scopes, id)
        if not behavior.live:
            raise InputError(f"{behavior.name} ({behavior.id}) is {behavior.status}, so it cannot have been of use")
        confirms = verdict == "confirmed"
        changed = confirmed(behavior, here.now) if confirms else overridden(behavior, here.now, by_agent=True)
        refused = not confirms and behavior.kind is BehaviorKind.CONSTRAINT
        if not refused:
            scopes.put(changed, event=verdict, now=here.now, session=session, note=cleaned(note), by="agent")
    result = "a constraint: an agent's word does not lower it; ask the user" if refused else "noted"
    usage = changed.usage
    return Verdict(changed.id, changed.name, usage.confirmed, usage.overridden, round(changed.confidence, 3), result)


def _store(scopes: Scopes, learned: Learned, known: list[Behavior], now: float, session: str) -> None:
    """Write the note, unless a person's rule says the same already."""
    old = learned.merged_with
    if old is not None and old.status is not Status.PENDING:
        return
    waiting = sum(each.status is Status.PENDING and each.scope == "project" for each in known)
    if old is None and waiting >= MOST_NOTES:
        raise InputError(f"{waiting:,} notes wait for the user, so nothing was kept: ask for 'brim review' first")
    event = "learned" if old is None else "merged" if learned.behavior.variants != old.variants else "confirmed"
    scopes.put(learned.behavior, event=event, now=now, session=session, changes=list(learned.changes))


def _note(learned: Learned) -> Note:
    behavior = learned.behavior
    result = "; ".join(learned.changes)
    if behavior.status is Status.PENDING:
        result += f"; unconfirmed until the user runs 'brim review accept {behavior.id}'"
    return Note(behavior.id, behavior.name, behavior.kind.value, behavior.status.value, result)
