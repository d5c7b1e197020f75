"""The index, ``scratch.md``: at most 200 lines of at most 120 characters, whatever happened.

Its sections share the room by need and show their newest entries. Each says how many older ones there are and where.
An entry's number finds its full text in the file that the section names: two steps.
"""

from __future__ import annotations

from brim.scratch.entries import SECTIONS
from brim.scratch.quoting import one_line, shortened
from brim.scratch.sentences import WIDTH, headline
from brim.scratch.sharing import shares

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.scratch.entries import Entry
    from brim.scratch.view import View

LINES = 200
"""The most lines of the index."""
NAME = "scratch.md"
_ABOUT = "What must survive a compaction, newest last. The file of a section holds each entry whole, by its #number."


def render_index(view: View, folder: str = ".context") -> str:
    """Return the index of *view*; *folder* is where the files are, as the agent should be told."""
    title = one_line(view.job)
    lines = [shortened(f"# Scratch: {title}" if title else "# Scratch", WIDTH)]
    if phase := one_line(view.phase):
        lines.append(shortened(f"Phase: {phase}", WIDTH))
    lines += ["", _ABOUT]
    found = [view.of(section.kind) for section in SECTIONS]
    room = LINES - len(lines) - 2 * len(SECTIONS)
    for section, entries, share in zip(SECTIONS, found, shares([len(each) for each in found], room), strict=True):
        file = f"{folder}/{section.file}"
        lines += ["", shortened(f"## {section.title} ({len(entries):,}): {file}", WIDTH)]
        lines += _newest(entries, share, file)
    return "\n".join(lines) + "\n"


def _newest(entries: list[Entry], share: int, file: str) -> list[str]:
    if len(entries) <= share:
        return [headline(entry) for entry in entries]
    shown = entries[len(entries) - share + 1 :] if share > 1 else []
    line = f"- {len(entries) - len(shown):,} older not shown: {file}"
    return [shortened(line, WIDTH), *(headline(entry) for entry in shown)][:share]
