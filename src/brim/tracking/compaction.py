"""The line that asks an agent to compact, and the one that it gets afterwards."""

from __future__ import annotations

from unicodedata import category

LONGEST = 200
"""Characters that the task and the state have at most: a client takes everything after ``/compact`` as its focus."""

NO_TASK = "the current task"

_DROPPED = frozenset(("Cc", "Cf", "Cs"))
"""What is no character to read: controls, marks that turn the direction of writing, surrogates."""
_ESCAPES = r"\x1b\[[0-?]*[ -/]*[@-~]"
"""What colours a terminal, moves its cursor or clears it."""
_JOINERS = "\u200c\u200d"


def build_compact_prompt(task: str, cfa_state: str = "", scratch_path: str | None = None) -> str:
    """Return the request to compact: what to keep, the state the work is in, and where more is written down.

    Task and state are folded to one line of at most 200 characters; an empty state is left out. It is a turn of its
    own: whatever is put after it is swallowed. So the pointer in it serves the summary; the agent gets it once more, by
    ``build_reminder``, when the compaction is done.

    >>> print(build_compact_prompt("fix the parser", "EXECUTING", ".context/scratch.md"))
    /compact focus on fix the parser -- current CfA state is EXECUTING
    After compaction, read .context/scratch.md for preserved context.
    """
    prompt = f"/compact focus on {fold(task) or NO_TASK}"
    state = fold(cfa_state)
    if state:
        prompt += f" -- current CfA state is {state}"
    path = _one_line(str(scratch_path)) if scratch_path else ""
    if path:
        prompt += f"\nAfter compaction, read {path} for preserved context."
    return prompt


def build_reminder(scratch_path: str) -> str:
    """Return what the agent is told after a compaction: the pointer again, since the request's is in no message."""
    return f"The conversation was compacted. Read {_one_line(str(scratch_path))} for preserved context."


def fold(text: str, longest: int = LONGEST) -> str:
    """Return *text* as one line of at most *longest* characters, cut at a word with ``…`` if it is longer.

    >>> fold("fix\\n  the\\tparser\\x1b[2J")
    'fix the parser'
    """
    line = _one_line(text if isinstance(text, str) else "")
    if len(line) <= longest:
        return line
    from brim.behaviors.summary import border_at_or_before

    cut = line[: border_at_or_before(line, longest - 1)]
    at_word = cut.rpartition(" ")[0] if line[len(cut)] != " " else cut
    return f"{(at_word if len(at_word) >= longest // 2 else cut).rstrip()}…"


def _one_line(text: str) -> str:
    """Return *text* with every run of white space as one space, and without what is no character to read."""
    if "\x1b" in text:
        import re

        text = re.sub(_ESCAPES, "", text)
    text = " ".join(text.split())
    if text.isprintable():
        return text
    kept = "".join(character for character in text if character in _JOINERS or category(character) not in _DROPPED)
    return " ".join(kept.split())
