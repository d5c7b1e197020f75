"""What kind of rule a text is: read from its words, with ``data/kinds.tsv``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from brim.files import data_rows
from brim.rules.library_rule import BehaviorKind
from brim.rules.stems import is_unspaced

LOOKED_AT = 20_000
"""Characters of a text that are looked at."""

_OPENERS = frozenset(
    ("please", "you", "we", "and", "but", "also", "always", "important", "note", "remember", "so")
)
_CONDITIONS = (
    "when ",
    "if ",
    "whenever ",
    "after ",
    "once ",
    "as soon as ",
    "wenn ",
    "falls ",
    "si ",
    "quando ",
    "se ",
)
_CLAUSE_ENDS = (". ", "! ", "? ", "; ", ": ", ", ", " - ", " — ", " but ", "。", "，", "；", "！")
_STEP = re.compile(r"^\s*\d+[.):](?= |$)", re.MULTILINE)
_BEFORE = r"(?<![^\W_])"
_AFTER = r"(?![^\W_])"
_STEPS_TOLD = re.compile(f"{_BEFORE}(?:step 1|first.*{_BEFORE}then){_AFTER}", re.DOTALL)


def infer_kind(right: str, wrong: str = "") -> BehaviorKind:
    """Return what kind of rule *right* is: ``data/kinds.tsv``, steps, and conditions with what
    follows on them.

    An account of what happened once isn't a correction, so it counts as episodic only if nothing
    was *wrong*.

    >>> infer_kind("Never push to main.")
    <BehaviorKind.CONSTRAINT: 'constraint'>
    >>> infer_kind("Use uv, not pip")
    <BehaviorKind.DIRECTIVE: 'directive'>
    """
    text = right[:LOOKED_AT].lower().replace("’", "'")
    clauses = list(_clauses(text))
    has_steps = len(_STEP.findall(text)) > 1 or bool(_STEPS_TOLD.search(text))
    if has_steps:
        # A list of steps is a procedure even if one of them says never; not if that is how it
        # begins.
        if _kind_by_words(text, clauses[:1], anywhere=False) is BehaviorKind.CONSTRAINT:
            return BehaviorKind.CONSTRAINT
        return BehaviorKind.PROCEDURE
    kind = _kind_by_words(text, clauses, anywhere=True)
    if kind is not None and not (kind is BehaviorKind.EPISODIC and wrong):
        return kind
    if clauses and clauses[0].startswith(_CONDITIONS) and ("," in text or " then " in text):
        return BehaviorKind.WORKFLOW
    return BehaviorKind.DIRECTIVE


def _kind_by_words(text: str, clauses: list[str], *, anywhere: bool) -> BehaviorKind | None:
    """Return the first kind of the table of which *text* has a phrase, where it counts."""
    for kind, place, phrases in data_rows(__file__, "kinds.tsv"):
        for phrase in phrases.split(", "):
            if phrase not in text:
                continue
            pattern = _phrase_pattern(phrase)
            if place == "start" and any(map(pattern.match, clauses)):
                return BehaviorKind(kind)
            if place != "start" and anywhere and pattern.search(text):
                return BehaviorKind(kind)
    return None


@cache
def _phrase_pattern(phrase: str) -> re.Pattern[str]:
    """Return a pattern for *phrase* as words of their own; a script without spaces has no
    borders."""
    pattern = re.escape(phrase)
    if not is_unspaced(phrase[0]):
        pattern = _BEFORE + pattern
    if not is_unspaced(phrase[-1]):
        pattern += _AFTER
    return re.compile(pattern)


def _clauses(text: str) -> Iterator[str]:
    """Yield the clauses of *text*, each without the words that only open it."""
    for sign in _CLAUSE_ENDS:
        text = text.replace(sign, "\n")
    for line in text.split("\n"):
        words = _without_openers(line.strip(" \t-*+#>•\"'`(_").split(" "))
        first = words[0] if words else ""
        if first and not first.strip(".)").isdecimal():
            yield " ".join(words)


def _without_openers(words: list[str]) -> list[str]:
    for number, word in enumerate(words):
        if word.strip(",:*_") not in _OPENERS:
            return words[number:]
    return []
