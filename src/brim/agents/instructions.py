"""What the summariser is told before a compaction: the human's own words, what was decided, and which files changed.

Nothing that a tool printed is in it: that is data, and would be followed here. All of it is in the scratch files.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from brim.scratch.entries import Entry

LONGEST = 4_000
"""Characters of all of it."""

_LONGEST_WORDS = 400
_LONGEST_DECISION = 200
_MOST = {"human": 12, "decision": 12, "artifact": 30}


def build_instructions(entries: Iterable[Entry], scratch_path: str, *, session: str = "", root: str = "") -> str:
    """Return what the summary has to keep; empty if there is nothing. Paths in *root* are told from there.

    What does not fit is left out, the oldest first, but the first thing that the person asked: that is the task.
    """
    from brim.scratch.entries import View
    from brim.scratch.index import sentence
    from brim.scratch.quotes import one_line, shortened

    view = View(entry for entry in entries if entry.session in ("", session))
    said = [
        f'- "{shortened(one_line(entry.text), _LONGEST_WORDS)}"'
        for entry in view.of("human")
        if not _sets_up(entry.text)
    ]
    decided = [f"- {sentence(entry, _LONGEST_DECISION)}" for entry in view.of("decision")]
    changed = [f"- {_path(entry.text, root)}" for entry in view.of("artifact")]
    if not (said or decided or changed):
        return ""
    first = "Keep these in the summary, word for word where you can."
    last = (
        f"The whole record, with commands that failed and dead ends, is in {scratch_path}: "
        "name that file in the summary."
    )
    room = LONGEST - len(first) - len(last) - 2
    parts = [
        ("What the person asked, oldest first:", _latest(said, _MOST["human"], room // 2, first=True)),
        ("What was decided:", _latest(decided, _MOST["decision"], room // 4)),
        ("Files that were changed:", _latest(changed, _MOST["artifact"], room // 4)),
    ]
    lines = [line for title, found in parts if found for line in (title, *found)]
    return "\n".join((first, *lines, last)) + "\n"


def _sets_up(text: str) -> bool:
    """Whether a person typed a command for the client itself, such as ``/model``, and no task."""
    first = text.split(None, 1)[0].lower() if text.strip() else ""
    return first.startswith("/") and first in _set_up_commands()


def _set_up_commands() -> frozenset[str]:
    with open(os.path.join(os.path.dirname(__file__), "data", "set_up_commands.txt"), encoding="utf-8") as file:
        return frozenset(line.strip() for line in file if not line.startswith("#"))


def _latest(lines: Sequence[str], most: int, room: int, *, first: bool = False) -> list[str]:
    """Return the latest of *lines* that fit, with how many are left out; *first* keeps the first one too."""
    kept: list[str] = []
    room -= 60  # the title, and the line that says how many are missing
    opening = lines[:1] if first else []
    room -= sum(len(line) + 1 for line in opening)
    rest = lines[len(opening) :]
    for line in reversed(rest):
        if len(kept) == most - len(opening) or len(line) + 1 > room:
            break
        kept.insert(0, line)
        room -= len(line) + 1
    missing = len(rest) - len(kept)
    return [*opening, *([f"- ({missing} more are in the record)"] if missing else []), *kept]


def _path(text: str, root: str) -> str:
    from brim.scratch.quotes import code

    inside = root and text.startswith(root.rstrip(os.sep) + os.sep)
    return code(text[len(root.rstrip(os.sep)) + 1 :] if inside else text, 200)
