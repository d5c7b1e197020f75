"""Tells a call that failed from one that was not let run, by the sentences that Claude Code answers with then."""

from __future__ import annotations

import os

_openings: list[tuple[str, str]] = []
_LONGEST = 200
_DECISIONS = (
    ("permission", ("reject", "deny", "denied", "block", "permission", "hook")),
    ("interrupt", ("interrupt", "cancel", "abort")),
    ("cascade", ("sibling", "parallel")),
)
"""What is in the word by which the client itself says that a call was not carried out."""


def refusal_of(text: str) -> str:
    """Return which of ``events.REFUSALS`` the *text* of a failed call's result is, empty if it is a failure.

    >>> refusal_of("<tool_use_error>Sibling tool call errored</tool_use_error>"), refusal_of("rm: Permission denied")
    ('cascade', '')
    """
    if not _openings:
        with open(os.path.join(os.path.dirname(__file__), "data", "claude_refusals.tsv"), encoding="utf-8") as file:
            rows = [line.rstrip("\n").split("\t") for line in file if line.strip() and not line.startswith("#")]
        _openings.extend((opening, kind) for kind, opening in rows)
    opening = text[:_LONGEST].lstrip().lower().replace("\u2019", "'")
    for wrapping in ("<tool_use_error>", "error: "):
        opening = opening.removeprefix(wrapping)
    return next((kind for known, kind in _openings if opening.startswith(known)), "")


def refusal_of_decision(word: str) -> str:
    """Return which of ``events.REFUSALS`` the client's own *word* for it is, empty for ``accept`` and unknown words.

    >>> refusal_of_decision("user-rejected"), refusal_of_decision("accept")
    ('permission', '')
    """
    lower = word.lower()
    return next((kind for kind, signs in _DECISIONS if any(sign in lower for sign in signs)), "")
