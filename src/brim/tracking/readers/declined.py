"""Why Codex, Gemini CLI or opencode did not carry out a call, by what they say in place of a result."""

from __future__ import annotations

import os

_openings: list[tuple[str, str]] = []


def refusal_in(answer: str) -> str:
    """Return which of ``events.REFUSALS`` the *answer* to a failed call is, empty if it is a failure.

    >>> refusal_in("exec command rejected by user"), refusal_in("aborted by user after 3.1s"), refusal_in("not found")
    ('permission', 'interrupt', '')
    """
    if not _openings:
        with open(os.path.join(os.path.dirname(__file__), "data", "declined.tsv"), encoding="utf-8") as file:
            rows = [line.rstrip("\n").split("\t") for line in file if line.strip() and not line.startswith("#")]
        _openings.extend([(opening, why) for why, opening in rows])
    start = answer[:200].lstrip().lower()
    return next((why for opening, why in _openings if start.startswith(opening)), "")
