"""What a compaction's summary has to keep, as the summarizer is told before it.

It gets a person's own words, what was decided and which files changed. Text that a tool printed is
never passed on here: it would be followed as an instruction. Neither are prompts that no line of
the client's transcript confirms: nobody but the person speaks for them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from brim.memory.decisions import NOT_ANSWERED, REFUSED
from brim.memory.entries import MemoryEntry
from brim.memory.inventory import is_set_up
from brim.memory.quotes import code, one_line, shortened
from brim.memory.sentences import sentence
from brim.memory.view import MemoryView

LONGEST = 4_000
"""Characters of the instructions."""

_LONGEST_WORDS = 400
_LONGEST_DECISION = 200
_LONGEST_PATH = 200
_MOST_PROMPTS = 12
_MOST_DECISIONS = 12
_MOST_FILES = 30
_TITLE_ROOM = 60
"""Characters of a title, and of the line that says how many lines are missing."""
_FIRST = "Keep these in the summary, word for word where you can."
_LAST = (
    "The whole record, with commands that failed and dead ends, is in {path}: "
    "name that file in the summary."
)


def build_instructions(
    entries: Iterable[MemoryEntry], scratch_path: str, *, session: str = "", root: str = ""
) -> str:
    """Return what the summary has to keep; empty if there is nothing.

    Paths in *root* are relative to it. What doesn't fit is left out, the oldest first, except the
    first thing that the person asked: that is the task.
    """
    view = MemoryView([entry for entry in entries if entry.session in ("", session)])
    prompts = _prompt_lines(view)
    decisions = _decision_lines(view)
    files = _file_lines(view, root)
    if not prompts and not decisions and not files:
        return ""
    last = _LAST.format(path=scratch_path)
    room = LONGEST - len(_FIRST) - len(last) - 2
    lines = [_FIRST]
    lines += _titled(
        "What the person asked, oldest first:",
        _first_and_latest(prompts, _MOST_PROMPTS, room // 2),
    )
    lines += _titled("What was decided:", _latest(decisions, _MOST_DECISIONS, room // 4))
    lines += _titled("Files that were changed:", _latest(files, _MOST_FILES, room // 4))
    lines.append(last)
    return "\n".join(lines) + "\n"


def _prompt_lines(view: MemoryView) -> list[str]:
    lines = []
    for entry in view.of("human"):
        if not is_set_up(entry.text):
            lines.append(f'- "{shortened(one_line(entry.text), _LONGEST_WORDS)}"')
    return lines


def _decision_lines(view: MemoryView) -> list[str]:
    lines = []
    for entry in view.of("decision"):
        if entry.refs.get("outcome") not in (NOT_ANSWERED, REFUSED):
            lines.append(f"- {sentence(entry, _LONGEST_DECISION)}")
    return lines


def _file_lines(view: MemoryView, root: str) -> list[str]:
    return [
        f"- {code(_relative(entry.text, root), _LONGEST_PATH)}" for entry in view.of("artifact")
    ]


def _relative(path: str, root: str) -> str:
    above = root.rstrip(os.sep) + os.sep
    return path[len(above) :] if root and path.startswith(above) else path


def _titled(title: str, lines: list[str]) -> list[str]:
    return [title, *lines] if lines else []


def _first_and_latest(lines: Sequence[str], count: int, room: int) -> list[str]:
    """Return the first of *lines* and the latest that fit."""
    if not lines:
        return []
    return [lines[0], *_latest(lines[1:], count - 1, room - len(lines[0]) - 1)]


def _latest(lines: Sequence[str], count: int, room: int) -> list[str]:
    """Return the latest of *lines* that fit, at most *count*, with how many are left out."""
    room -= _TITLE_ROOM
    latest: list[str] = []
    for line in reversed(lines):
        if len(latest) == count or len(line) + 1 > room:
            break
        latest.insert(0, line)
        room -= len(line) + 1
    missing = len(lines) - len(latest)
    if missing:
        latest.insert(0, f"- ({missing} more are in the record)")
    return latest
