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


def render_index(view: View, folder: str = ".context", *, session: str = "") -> str:
    """Return the index of *view*; *folder* is where the files are, as the agent should be told.

    With a *session*, entries of sessions that ended before it are only counted: what was asked there is not asked now.
    """
    title = one_line(view.job)
    lines = [shortened(f"# Scratch: {title}" if title else "# Scratch", WIDTH)]
    if phase := one_line(view.phase):
        lines.append(shortened(f"Phase: {phase}", WIDTH))
    lines += ["", _ABOUT]
    every = [view.of(section.kind) for section in SECTIONS]
    found = [[entry for entry in entries if not session or entry.session in ("", session)] for entries in every]
    ended = [len(whole) - len(own) for whole, own in zip(every, found, strict=True)]
    room = LINES - len(lines) - 2 * len(SECTIONS) - sum(each > 0 for each in ended)
    each_share = shares([len(each) for each in found], room)
    for section, entries, others, share in zip(SECTIONS, found, ended, each_share, strict=True):
        file = f"{folder}/{section.file}"
        lines += ["", shortened(f"## {section.title} ({len(entries):,}): {file}", WIDTH)]
        if others:
            lines.append(shortened(f"- {others:,} of earlier sessions not shown: {file}", WIDTH))
        lines += _newest(entries, share, file)
    return "\n".join(lines) + "\n"


def _newest(entries: list[Entry], share: int, file: str) -> list[str]:
    if len(entries) <= share:
        return [headline(entry) for entry in entries]
    shown = entries[len(entries) - share + 1 :] if share > 1 else []
    line = f"- {len(entries) - len(shown):,} older not shown: {file}"
    return [shortened(line, WIDTH), *(headline(entry) for entry in shown)][:share]
