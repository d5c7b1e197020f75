"""Learns a rule from a correction: makes a behavior of it, or finds the one that says the same
already.

What the correction doesn't say (kind, tags, name, conditions) is inferred from word lists. A rule
that is taught again closes a fifth of its confidence's distance to 1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from itertools import count, islice
from typing import Any, NamedTuple
from unicodedata import normalize

from brim.behaviors.behavior import (
    LARGEST_TEXT,
    LONGEST_NAME,
    BehaviorKind,
    Provenance,
    Rule,
    Status,
    as_tag,
    in_name,
)
from brim.behaviors.duplicates import both, normalized
from brim.behaviors.summary import one_line
from brim.behaviors.tasks import named_task
from brim.behaviors.when import When
from brim.behaviors.words import is_unspaced, looked_at, stem, tokens, word_list
from brim.errors import InputError
from brim.files import data_rows
from brim.masking import mask
from brim.record import PlainData, plain
from brim.rules.blocks import checked_blocks
from brim.rules.languages import language_of

SOURCES = ("human", "agent", "import", "floop", "rules")
"""Who can teach. What an agent teaches is a pending note until a person accepts it."""
AGENT_CONFIDENCE = 0.4
"""Of a note by an agent; a person's rule begins at 0.6."""

MOST_TAGS = 8
LONGEST_INFERRED_NAME = 50
WORDS_IN_NAME = 6
WORDS_LOOKED_AT = 20
"""Words at the beginning that a name is made of."""

_OPENERS = frozenset(
    ("please", "you", "we", "and", "but", "also", "always", "important", "note", "remember", "so")
)
_CONDITIONS = tuple(
    f"{word} "
    for word in (
        "when",
        "if",
        "whenever",
        "after",
        "once",
        "as soon as",
        "wenn",
        "falls",
        "si",
        "quando",
        "se",
    )
)
_STEP = re.compile(r"^\s*\d+[.):](?= |$)", re.MULTILINE)
_BEFORE, _AFTER = r"(?<![^\W_])", r"(?![^\W_])"
_STEPS_TOLD = re.compile(f"{_BEFORE}(?:step 1|first.*{_BEFORE}then){_AFTER}", re.DOTALL)
_ACCENTS = re.compile("(?<=[a-z])[\u0300-\u036f]+")
_NEGATIONS = frozenset(
    (
        "not",
        "no",
        "never",
        "only",
        "without",
        "instead",
        "before",
        "after",
        "unless",
        "dont",
        "except",
        "until",
    )
)

GAIN = 0.2
"""Share of the distance to 1 that a confirmation closes."""


class KnownRules:
    """Behaviors that are known already, by what they say: learning many doesn't compare each with
    each."""

    def __init__(self, behaviors: Iterable[Rule] = ()) -> None:
        self._found: dict[tuple[str, str], Rule] = {}
        self._saying: dict[str, dict[tuple[str, str], None]] = {}
        self.ids: set[str] = set()
        self.names: set[str] = set()
        """Those of live behaviors."""
        for behavior in behaviors:
            self.put(behavior)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self._found.values())

    def put(self, behavior: Rule) -> None:
        """Add *behavior*, or let it take the place of the one with its id. Its earlier texts still
        count as its own."""
        key = behavior.scope, behavior.id
        self._found[key] = behavior
        self.ids.add(behavior.id)
        if behavior.live:
            self.names.add(behavior.name)
        for text in (behavior.canonical, *behavior.variants):
            self._saying.setdefault(normalized(text), {})[key] = None

    def get(self, scope: str, id: str) -> Rule | None:
        """Return the behavior with this id."""
        return self._found.get((scope, id))

    def saying(self, text: str, scope: str | None = None) -> list[Rule]:
        """Return the behaviors that have this very *text*, or a variant of it, by id; of *scope*,
        or of any."""
        keys = [key for key in self._saying.get(normalized(text), ()) if scope in (None, key[0])]
        return [self._found[key] for key in sorted(keys, key=lambda key: key[1])]

    def same_text(self, behavior: Rule, *, anywhere: bool) -> Rule | None:
        """Return the one that has the text of *behavior*, or a variant of it: a live one before the
        others.

        For an agent *anywhere*: a project's note must not stand in front of the user's own rule.
        """
        found = self.saying(behavior.canonical, None if anywhere else behavior.scope)
        return next((each for each in found if each.live), found[0] if found else None)


class Learned(NamedTuple):
    """The behavior to store, the one it takes the place of under the same id (None if it is new),
    and what was done."""

    behavior: Rule
    merged_with: Rule | None
    changes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain data."""
        return {name: plain(value) for name, value in self._asdict().items()}


@dataclass(frozen=True)
class Proposal(PlainData):
    """A rule as somebody says it, before it's compared with those that are there."""

    rule: Rule
    explicit: tuple[str, ...] = ()
    """The fields that were said, and not inferred."""

    @property
    def by_agent(self) -> bool:
        """Whether an agent says it: then it becomes a note at most."""
        return self.rule.provenance.source == "agent"


def propose(
    right: str,
    *,
    wrong: str = "",
    file: str = "",
    task: str = "",
    tags: Iterable[str] = (),
    kind: BehaviorKind | str | None = None,
    name: str | None = None,
    when: When | Mapping[str, object] | None = None,
    blocks: Iterable[str] = (),
    scope: str = "user",
    source: str = "human",
    session: str = "",
    now: float,
) -> Proposal:
    """Make a rule of *right*, said at the time *now*. What isn't said is inferred.

    The text is kept as it is, but secrets are masked, NULs removed and lone surrogates replaced.
    What an agent says becomes a pending note of the project, at most a directive. *blocks* are what
    it refuses; such a rule is a constraint unless *kind* says otherwise, and an agent's note has
    none.
    """
    _check(source, right, wrong, file, task, session)
    right, wrong, file, task, session = map(cleaned, (right, wrong, file, task, session))
    tags = tuple(tags)
    refused: tuple[str, ...] = ()
    if source != "agent":
        refused = checked_blocks(blocks)
    if refused and not kind:
        kind = BehaviorKind.CONSTRAINT
    conditions = when
    if conditions is None:
        conditions = infer_when(file, task)
    rule = Rule(
        id=id_of(right),
        name=name or infer_name(right),
        kind=kind or infer_kind(right, wrong),
        canonical=right,
        tags=tags or infer_tags(right, file),
        when=conditions,
        blocks=refused,
        scope=scope,
        provenance=Provenance(source, at=now, wrong=wrong, file=file, task=task, session=session),
        created_at=now,
        updated_at=now,
    )
    if source == "agent":
        rule = _as_note(rule)
    values = {"kind": kind, "name": name, "when": when, "tags": tags, "blocks": refused}
    return Proposal(rule, tuple(field for field, value in values.items() if value))


def settle(proposal: Proposal, existing: Iterable[Rule] | KnownRules = ()) -> Learned:
    """Learn what was proposed, beside the *existing* rules.

    The same text again confirms what is there. An agent never changes what a person has taught.
    """
    rules = existing
    if not isinstance(rules, KnownRules):
        rules = KnownRules(rules)
    rule = proposal.rule
    same = rules.same_text(rule, anywhere=proposal.by_agent)
    if same is None:
        is_named = "name" in proposal.explicit
        return Learned(_apart(rule, rules, named=is_named), None, ("new",))
    return _again(same, rule, list(proposal.explicit), proposal.by_agent, rule.created_at or 0.0)


def learn(
    right: str, *, existing: Iterable[Rule] | KnownRules = (), now: float, **said: Any
) -> Learned:
    """Learn *right* at the time *now*, beside the *existing* rules: see ``propose``, ``settle``."""
    return settle(propose(right, now=now, **said), existing)


def _as_note(behavior: Rule) -> Rule:
    """Return *behavior* as an agent may teach it: a pending note of the project, and not a
    constraint."""
    weaker = BehaviorKind.DIRECTIVE if behavior.kind is BehaviorKind.CONSTRAINT else behavior.kind
    return replace(
        behavior, kind=weaker, scope="project", status=Status.PENDING, confidence=AGENT_CONFIDENCE
    )


def id_of(canonical: str) -> str:
    """Return the id that brim gives to a text: the same in every process, whatever its case and
    white space.

    >>> id_of("Use uv.") == id_of("use  UV.\\n")
    True
    """
    return "b-" + sha256(normalized(canonical).encode("utf-8", "replace")).hexdigest()[:10]


def cleaned(text: str) -> str:
    """Return *text* as it may be stored: secrets masked, no NULs, no lone surrogates."""
    return mask(
        text.replace("\0", "").encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    )


def _check(source: str, right: str, wrong: str, *places: str) -> None:
    """Raise if what was given cannot be learned, before anything is done with it."""
    if source not in SOURCES:
        raise InputError(f"unknown source {source!r}: it is one of {', '.join(SOURCES)}")
    for text in (right, wrong, *places):
        if not isinstance(text, str):
            raise InputError(f"what is learned, and where, are texts, not {text!r}")
    if not right.strip("\0 \t\r\n"):
        raise InputError("there is nothing to learn: the text is empty; say what to do")
    longest = max(len(right), len(wrong))
    if longest > LARGEST_TEXT:
        raise InputError(
            f"a text to learn has at most {LARGEST_TEXT:,} characters, not {longest:,}: say it shorter"
        )


def _again(known: Rule, said: Rule, given: list[str], by_agent: bool, now: float) -> Learned:
    """Return what becomes of *known* when its text is taught again: it is confirmed, and what was
    *given* holds."""
    is_note = known.status is Status.PENDING
    if by_agent and not is_note:
        return Learned(
            known, known, (f"known already as {known.id}, which an agent cannot change",)
        )
    changes = [f"confirmed: known already as {known.id}"]
    fields = {} if by_agent else {key: getattr(said, key) for key in given}
    for key in ("tags", "blocks"):
        if key in fields:
            fields[key] = tuple(dict.fromkeys((*getattr(known, key), *getattr(said, key))))
    fields = {key: value for key, value in fields.items() if value != getattr(known, key)}
    provenance = replace(
        known.provenance, wrong=both(known.provenance.wrong, said.provenance.wrong)
    )
    again = known
    if not known.live or (is_note and not by_agent):
        changes.append(
            "it was unconfirmed" if known.live else f"it was {known.status} and is active again"
        )
        again = replace(known, status=Status.ACTIVE, superseded_by=None)
        provenance = replace(provenance, source="human", at=now)
    changes.extend(f"{key} changed" for key in fields)
    return Learned(
        confirmed(replace(again, **fields, provenance=provenance), now), known, tuple(changes)
    )


def _apart(behavior: Rule, known: KnownRules, *, named: bool) -> Rule:
    """Return *behavior* under an id that no other has, and a name too, unless a person *named* it.

    An edited behavior keeps the id that its first text gave it, so that text may come again and
    need another one.
    """
    id, name = behavior.id, behavior.name
    if id in known.ids:
        id = _free(known.ids, lambda number: id_of(f"{behavior.canonical} {number}"))
    if name in known.names and not named:
        name = _free(
            known.names,
            lambda number: f"{behavior.name[: LONGEST_NAME - 1 - len(str(number))]}-{number}",
        )
    return replace(behavior, id=id, name=name)


def _free(taken: set[str], numbered: Callable[[int], str]) -> str:
    return next(each for each in map(numbered, count(2)) if each not in taken)


def confirmed(behavior: Rule, now: float) -> Rule:
    """Return *behavior* after a person or an agent said at the time *now* that it was right."""
    usage = behavior.usage
    return replace(
        behavior,
        confidence=behavior.confidence + GAIN * (1 - behavior.confidence),
        usage=replace(
            usage, confirmed=usage.confirmed + 1, last_used=max(now, usage.last_used or now)
        ),
        updated_at=now,
    )


HOLDING = ("kind", "canonical", "summary", "when")
"""What of a constraint decides whether and when it holds."""


def holds(behavior: Rule) -> bool:
    """Whether agents must not weaken it: a constraint, or a rule that refuses something."""
    return behavior.kind is BehaviorKind.CONSTRAINT or bool(behavior.blocks)


def loosens(old: Rule | None, new: Rule) -> bool:
    """Whether *new* in place of *old* could make a constraint hold less, or refuses less."""
    if old is None or not old.live or not holds(old):
        return False
    changed = any(getattr(new, field) != getattr(old, field) for field in HOLDING)
    return changed or not new.live or not set(old.blocks) <= set(new.blocks)


# Guesses from word lists: kind, tags, name and conditions.


def infer_kind(right: str, wrong: str = "") -> BehaviorKind:
    """Return what kind of rule *right* is: ``data/kinds.tsv``, steps, and conditions with what
    follows on them.

    An account of what happened once isn't a correction, so it counts as episodic only if nothing
    was *wrong*.

    >>> infer_kind("Never push to main."), infer_kind("Use uv, not pip")
    (<BehaviorKind.CONSTRAINT: 'constraint'>, <BehaviorKind.DIRECTIVE: 'directive'>)
    """
    text = looked_at(right).lower().replace("’", "'")
    clauses = list(_clauses(text))
    steps = len(_STEP.findall(text)) > 1 or bool(_STEPS_TOLD.search(text))
    # A list of steps is a procedure even if one of them says never; not if that is how it begins.
    told = _told(text, clauses[:1] if steps else clauses, anywhere=not steps)
    if told is BehaviorKind.CONSTRAINT or (
        told and not steps and not (told is BehaviorKind.EPISODIC and wrong)
    ):
        return told
    if steps:
        return BehaviorKind.PROCEDURE
    if clauses and clauses[0].startswith(_CONDITIONS) and ("," in text or " then " in text):
        return BehaviorKind.WORKFLOW
    return BehaviorKind.DIRECTIVE


def infer_tags(right: str, file: str = "") -> tuple[str, ...]:
    """Return at most 8 tags, sorted: the language of *file*, then the topics that *right* names
    first.

    >>> infer_tags("Use pytest fixtures for the database", "tests/test_app.py")
    ('database', 'python', 'testing')
    """
    language, topics = language_of(file) if file else None, _topics()
    found = [as_tag(language)] if language else []
    found += [tag for word in tokens(looked_at(right)) for tag in topics.get(stem(word), ())]
    return tuple(sorted(list(dict.fromkeys(found))[:MOST_TAGS]))


def infer_name(right: str) -> str:
    """Return a short name from the first words of *right*; without letters one from its hash.

    >>> infer_name("Please always use uv, and never pip, for installing packages."), infer_name("Größe prüfen!")
    ('use-uv-never-pip-installing-packages', 'grosse-prufen')
    """
    words = list(islice(_name_words(looked_at(right)), WORDS_LOOKED_AT))
    # What turns the sense, with what it speaks of, is needed first: "without-asking" is worth more
    # than a fourth noun.
    turning = [each for at, word in enumerate(words) if word in _NEGATIONS for each in (at, at + 1)]
    chosen = [at for at in dict.fromkeys((0, *turning, *range(len(words)))) if at < len(words)]
    name = "-".join(words[at] for at in sorted(chosen))
    while len(chosen) > 1 and (len(chosen) > WORDS_IN_NAME or len(name) > LONGEST_INFERRED_NAME):
        chosen.pop()
        name = "-".join(words[at] for at in sorted(chosen))
    return name[:LONGEST_INFERRED_NAME].strip("-.") or f"rule-{id_of(right)[2:8]}"


def infer_when(file: str = "", task: str = "") -> When:
    """Return the conditions that *file* and *task* stand for.

    Of a file only its language: a correction made in one Python file is meant for the others too. A
    task may also go by the name that is inferred for it, so that ``deploy`` comes back with
    *deployment*.
    """
    task = " ".join(task.split())
    return When(
        language=language_of(file) if file else None,
        task=(task, named_task(task)) if task else None,
    )


def _told(text: str, clauses: list[str], *, anywhere: bool) -> BehaviorKind | None:
    for kind, where, phrases in data_rows(__file__, "kinds.tsv"):
        for phrase in [_phrase(each) for each in phrases.split(", ") if each in text]:
            if (
                any(map(phrase.match, clauses))
                if where == "start"
                else anywhere and phrase.search(text)
            ):
                return BehaviorKind(kind)
    return None


@cache
def _phrase(phrase: str) -> re.Pattern[str]:
    """Return a pattern for *phrase* as words of their own; a script without spaces has no
    borders."""
    before, after = (
        "" if is_unspaced(end) else border
        for end, border in ((phrase[0], _BEFORE), (phrase[-1], _AFTER))
    )
    return re.compile(before + re.escape(phrase) + after)


def _clauses(text: str) -> Iterator[str]:
    """Yield the clauses of *text*, each without the words that only open it."""
    for sign in (". ", "! ", "? ", "; ", ": ", ", ", " - ", " — ", " but ", "。", "，", "；", "！"):
        text = text.replace(sign, "\n")
    for line in text.split("\n"):
        words = line.strip(" \t-*+#>•\"'`(_").split(" ")
        while words and words[0].strip(",:*_") in _OPENERS:
            words = words[1:]
        if words and words[0] and not words[0].strip(".)").isdecimal():
            yield " ".join(words)


def _name_words(text: str) -> Iterator[str]:
    """Yield the words of the beginning of *text* that a name can hold, without fillers."""
    fillers = word_list("fillers.txt") - _NEGATIONS
    for chunk in one_line(text[:1_000]).replace("'", "").replace("’", "").split():
        plain = normalize("NFC", _ACCENTS.sub("", normalize("NFKD", chunk.casefold())))
        kept = "".join(
            letter if letter not in "_/-" and in_name(letter) else " " for letter in plain
        )
        word = "-".join(part.strip(".") for part in kept.split() if part.strip("."))
        if word and word not in fillers:
            yield word


@cache
def _topics() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for tag, words in data_rows(__file__, "topics.tsv"):
        for word in dict.fromkeys(map(stem, words.split())):
            found.setdefault(word, []).append(tag)
    return found
