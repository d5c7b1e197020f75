"""Learns a rule from a correction: makes a behavior of it, or finds the one that says the same already."""

from __future__ import annotations

from brim._light import namedtuple
from brim.behaviors.behavior import LARGEST_TEXT, Behavior, Provenance
from brim.behaviors.feedback import confirmed
from brim.behaviors.infer import infer_kind, infer_name, infer_tags, infer_when
from brim.behaviors.kinds import BehaviorKind, Status
from brim.behaviors.merging import merge
from brim.behaviors.names import LONGEST
from brim.behaviors.similarity import NEAR_DUPLICATE, most_similar, normalized
from brim.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from brim.behaviors.when import When

SOURCES = ("human", "agent", "import", "floop", "rules")
"""Who can teach. What an agent teaches is a pending note until a person accepts it."""
AGENT_CONFIDENCE = 0.4
"""Of a note by an agent; a person's rule begins at 0.6."""

Learned = namedtuple("Learned", ("behavior", "merged_with", "changes"))
"""The behavior to store, the one it takes the place of under the same id (None if it is new), and what was done."""


def learn(
    right: str,
    *,
    wrong: str = "",
    file: str = "",
    task: str = "",
    tags: Iterable[str] = (),
    kind: BehaviorKind | str | None = None,
    name: str | None = None,
    when: When | Mapping[str, object] | None = None,
    scope: str = "user",
    source: str = "human",
    session: str = "",
    now: float,
    existing: Iterable[Behavior] = (),
    near_duplicate: float = NEAR_DUPLICATE,
) -> Learned:
    """Learn *right* at the time *now*, given what *existing* behaviors say.

    The text is kept as it is given, but secrets are masked, NULs removed and lone surrogates replaced. What is not
    given is inferred. The same text again confirms what is there. Another wording of a live behavior of the same scope
    is merged into it; *near_duplicate* is how similar that has to be, and 1 merges nothing. What an agent says becomes
    a pending note of the project, at most a directive, and never changes what a person has taught.
    """
    provenance = _provenance(source, now, right=right, wrong=wrong, file=file, task=task, session=session)
    tags = tuple(tags)
    behavior = _made(cleaned(right), provenance, tags=tags, kind=kind, name=name, when=when, scope=scope)
    by_agent = source == "agent"
    known = sorted(existing, key=lambda each: each.id)
    again = _same_text(behavior, known, anywhere=by_agent)
    if again is not None:
        given = {"kind": kind, "name": name, "when": when, "tags": tags}
        return _again(again, behavior, {key: value for key, value in given.items() if value}, by_agent, now)
    near = _near(behavior, known, near_duplicate)
    behavior = _apart(behavior, known, named=bool(name))
    if near is None:
        return Learned(behavior, None, ("new",))
    if by_agent and not _is_note(near):
        return Learned(behavior, None, (f"new: like {near.id}, which an agent cannot change",))
    if _is_note(near) and not by_agent:
        return _accepted(near, behavior)
    merged = merge(near, behavior, now)
    kept = merged.kept.changed(supersedes=near.supersedes)
    return Learned(confirmed(kept, now), near, (f"another wording of {near.id}", *merged.changes[:-1]))


def id_of(canonical: str) -> str:
    """Return the id that brim gives to a text: the same in every process, whatever its case and white space.

    >>> id_of("Use uv.") == id_of("use  UV.\\n")
    True
    """
    from hashlib import sha256

    return "b-" + sha256(normalized(canonical).encode("utf-8", "replace")).hexdigest()[:10]


def cleaned(text: str) -> str:
    """Return *text* as it may be stored: secrets masked, no NULs, no lone surrogates."""
    from brim.masking import mask

    return mask(text.replace("\0", "").encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))


def _provenance(source: str, now: float, *, right: str, wrong: str, file: str, task: str, session: str) -> Provenance:
    """Check what was given before anything is done with it, and return where the behavior comes from."""
    if source not in SOURCES:
        raise InputError(f"unknown source {source!r}: it is one of {', '.join(SOURCES)}")
    for text in (right, wrong, file, task, session):
        if not isinstance(text, str):
            raise InputError(f"what is learned, and where, are texts, not {text!r}")
    if not right.strip("\0 \t\r\n"):
        raise InputError("there is nothing to learn: the text is empty; say what to do")
    longest = max(len(right), len(wrong))
    if longest > LARGEST_TEXT:
        raise InputError(f"a text to learn has at most {LARGEST_TEXT:,} characters, not {longest:,}: say it shorter")
    return Provenance(
        source, at=now, wrong=cleaned(wrong), file=cleaned(file), task=cleaned(task), session=cleaned(session)
    )


def _made(
    right: str,
    provenance: Provenance,
    *,
    tags: tuple[str, ...],
    kind: BehaviorKind | str | None,
    name: str | None,
    when: When | Mapping[str, object] | None,
    scope: str,
) -> Behavior:
    by_agent = provenance.source == "agent"
    behavior = Behavior(
        id=id_of(right),
        name=name or infer_name(right),
        kind=kind or infer_kind(right, provenance.wrong),
        canonical=right,
        tags=tags or infer_tags(right, provenance.file),
        when=infer_when(provenance.file, provenance.task) if when is None else when,
        scope="project" if by_agent else scope,
        status=Status.PENDING if by_agent else Status.ACTIVE,
        provenance=provenance,
        created_at=provenance.at,
        updated_at=provenance.at,
    )
    if not by_agent:
        return behavior
    weaker = BehaviorKind.DIRECTIVE if behavior.kind is BehaviorKind.CONSTRAINT else behavior.kind
    return behavior.changed(kind=weaker, confidence=AGENT_CONFIDENCE)


def _is_note(behavior: Behavior) -> bool:
    return behavior.status is Status.PENDING


def _same_text(behavior: Behavior, known: list[Behavior], *, anywhere: bool) -> Behavior | None:
    """Return the behavior that has this very text, or a variant of it: a live one before the others.

    For an agent *anywhere*: a project's note must not stand in front of the user's own rule.
    """
    text = normalized(behavior.canonical)
    found = [
        each
        for each in known
        if (anywhere or each.scope == behavior.scope)
        and any(normalized(said) == text for said in (each.canonical, *each.variants))
    ]
    by_id = {each.id: each for each in known if each.scope == behavior.scope}
    for each in found:
        step, seen = each, {each.id}
        while step.status is Status.SUPERSEDED and step.superseded_by in by_id and step.superseded_by not in seen:
            step = by_id[step.superseded_by]
            seen.add(step.id)
        if step.live:
            return step
    return found[0] if found else None


def _again(known: Behavior, said: Behavior, given: dict[str, object], by_agent: bool, now: float) -> Learned:
    """Return what becomes of *known* when its text is taught again: it is confirmed, and what was *given* holds."""
    if by_agent and not _is_note(known):
        return Learned(known, known, (f"known already as {known.id}, which an agent cannot change",))
    changes = [f"confirmed: known already as {known.id}"]
    if not known.live or (_is_note(known) and not by_agent):
        changes.append(f"it was {known.status} and is active again" if not known.live else "it was unconfirmed")
        known_before, known = known, known.changed(status=Status.ACTIVE, superseded_by=None)
    else:
        known_before = known
    if by_agent:
        given = {}
    if "tags" in given:
        given["tags"] = tuple(dict.fromkeys((*known.tags, *said.tags)))
    fields = {key: value if key == "tags" else getattr(said, key) for key, value in given.items()}
    fields = {key: value for key, value in fields.items() if value != getattr(known, key)}
    changes.extend(f"{key} changed" for key in fields)
    wrong = _both(known.provenance.wrong, said.provenance.wrong)
    source = known.provenance.source if by_agent or (known_before.live and not _is_note(known_before)) else "human"
    provenance = known.provenance.changed(wrong=wrong, source=source)
    return Learned(confirmed(known.changed(**fields, provenance=provenance), now), known_before, tuple(changes))


def _accepted(note: Behavior, said: Behavior) -> Learned:
    """Return an agent's *note* in the words of the person who has *said* the same: all that counts is the person's."""
    variants = tuple(text for text in dict.fromkeys((note.canonical, *note.variants)) if text != said.canonical)
    behavior = said.changed(id=note.id, variants=variants, usage=note.usage, created_at=note.created_at)
    return Learned(behavior, note, (f"another wording of the unconfirmed note {note.id}, which is confirmed by it",))


def _apart(behavior: Behavior, known: list[Behavior], *, named: bool) -> Behavior:
    """Return *behavior* under an id that no other has, and a name too, unless a person *named* it.

    An edited behavior keeps the id that its first text gave it, so that text may come again and need another one.
    """
    ids = {each.id for each in known}
    names = {each.name for each in known if each.live}
    id, name = behavior.id, behavior.name
    number = 1
    while id in ids:
        number += 1
        id = id_of(f"{behavior.canonical} {number}")
    number = 1
    while name in names and not named:
        number += 1
        ending = f"-{number}"
        name = behavior.name[: LONGEST - len(ending)] + ending
    return behavior.changed(id=id, name=name)


def _near(behavior: Behavior, known: list[Behavior], at_least: float) -> Behavior | None:
    """Return the live behavior of the same scope that says the same in other words."""
    if at_least >= 1:
        return None
    texts = [
        (text, each)
        for each in known
        if each.live and each.scope == behavior.scope
        for text in (each.canonical, *each.variants)
    ]
    found = most_similar(behavior.canonical, (text for text, _ in texts), at_least=at_least)
    return None if found is None else texts[found.index][1]


def _both(first: str, second: str) -> str:
    if not second or normalized(second) in normalized(first):
        return first
    return f"{first}\n{second}" if first else second
