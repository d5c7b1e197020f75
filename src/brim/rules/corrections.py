"""Prompts that correct an agent: something it did or keeps doing is wrong here, and would make a
rule.

A prompt counts by how it is built, in five languages: a reproach (*I said*, *you keep*, *stop
adding*), or a rejection (*no*, *that's wrong*, *revert that*) together with what holds here. In
doubt it doesn't. The hook asks this at every prompt, so it is plain text search: compiling a
regular expression takes longer than all of it.
"""

from __future__ import annotations

from functools import cache

from brim.files import data_rows

LONGEST = 600
"""Characters of a prompt that can be a correction: a longer one is a task, or a pasted log."""
MOST_LINES = 6
"""Lines that it can have."""

_SIGNS = str.maketrans(dict.fromkeys(".!?;:,()…—¡¿", "\n") | {"’": "'", "\t": " "})
_MEANT = ("stop ", "please ", "bitte ", "stopp ", "halt ")
"""Openings that belong to what follows, if no sign is between."""


def is_correction(prompt: str) -> bool:
    """Whether *prompt* corrects what the agent did, and not the task or the product.

    >>> is_correction("no, use pnpm here"), is_correction("no problem, go on")
    (True, False)
    >>> is_correction("stop adding comments like that"), is_correction("make it stop after five")
    (True, False)
    """
    text = prompt.strip()
    if not 5 < len(text) <= LONGEST or text[0] in "/!#<{[" or text.count("\n") >= MOST_LINES:
        return False
    lower_text = text.lower().translate(_SIGNS)
    clauses = [f"{' '.join(words)} " for line in lower_text.split("\n") if (words := line.split())]
    while len(clauses) > 1 and clauses[0] in _phrases("opening"):
        del clauses[0]
    if clauses:
        first = next(
            (phrase for phrase in _phrases("opening") if clauses[0].startswith(phrase)), ""
        )
        if first not in _MEANT and clauses[0] != first:
            clauses[0] = clauses[0].removeprefix(first)
    return bool(clauses) and (
        _reproaches(clauses) or (not text.endswith("?") and _rejects(clauses))
    )


def _reproaches(clauses: list[str]) -> bool:
    """Whether one of *clauses* is about what was said before, or about what the agent keeps
    doing."""
    if any(clause.startswith(_phrases("reproach")) or _stops(clause) for clause in clauses):
        return True
    whole = f" {' '.join(clauses)}"
    return any(phrase in whole for phrase in _phrases("reproach anywhere"))


def _rejects(clauses: list[str]) -> bool:
    """Whether *clauses* begin with a rejection, or with what isn't done, and say what holds
    here."""
    first = clauses[0]
    later = clauses[1:]
    whole = f" {' '.join(clauses)}"
    if first.startswith(_phrases("forbidding")) and not any(
        phrase in whole for phrase in _phrases("for now")
    ):
        return True
    habit = next((phrase for phrase in _phrases("habit") if first.startswith(phrase)), "")
    if habit:
        return _holds(" ".join(clauses)[len(habit) :]) or (
            habit.startswith(("we ", "in ")) and _holds(habit)
        )
    if first.startswith(_phrases("rejection")):
        return _holds(" ".join(clauses))
    if first not in _phrases("no") or not later or later[0].startswith(_phrases("clarification")):
        return False
    return later[0].startswith(_phrases("order")) or any(
        phrase in f" {' '.join(later)}" for phrase in _phrases("norm")
    )


def _stops(clause: str) -> bool:
    """Whether *clause* is *stop doing something*; *stop the server* isn't."""
    words = clause.removeprefix("please ").removeprefix("just ").split()
    return len(words) > 1 and words[0] in ("stop", "quit") and words[1].endswith("ing")


def _holds(text: str) -> bool:
    """Whether *text* says what holds in general, not only now."""
    return any(phrase in f" {text}" for kind in ("norm", "general") for phrase in _phrases(kind))


@cache
def _phrases(kind: str) -> tuple[str, ...]:
    """Return the phrases of *kind*, each with a space after it; those that are looked for anywhere
    with one before."""
    joined = ", ".join(
        [
            phrases
            for row_kind, phrases in data_rows(__file__, "corrections.tsv")
            if row_kind == kind
        ]
    )
    if kind in ("norm", "general", "reproach anywhere", "for now"):
        return tuple(f" {joined} ".replace(", ", " , ").split(","))
    return tuple(f"{joined} ".replace(", ", " ,").replace("' ", "'").split(","))
