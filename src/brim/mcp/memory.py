"""Scratch memory for an agent: the index, an entry, a search; and a dead end to keep."""

from __future__ import annotations

import os

from brim.errors import InputError, StoreError
from brim.memory.entries import MemoryEntry
from brim.memory.folder import NAME
from brim.memory.index import render_index
from brim.memory.sentences import sentence
from brim.memory.view import MemoryView, withdrawn
from brim.memory.writer import ScratchWriter
from brim.workspace import Workspace

MOST_FOUND = 30
LONGEST = 20_000
"""Characters of one entry that are given at once."""
LONGEST_NOTE = 2_000
HIDDEN = ("same", "job", "withdrawn")
EMPTY = "Nothing is kept yet."


def index_text(workspace: Workspace, session: str = "") -> str:
    """Return the index of scratch memory: that of *session*, if it has files of its own."""

    writer = _writer(workspace, session)
    entries = writer.read().entries
    if not entries:
        return f"{EMPTY}\n"
    return render_index(MemoryView(entries), os.path.dirname(writer.scratch_path), session=session)


def search_text(workspace: Workspace, query: str, session: str = "") -> str:
    """Return the newest entries that hold *query*, one line each; ``#12`` or ``12`` is that entry
    whole."""

    entries = _writer(workspace, session).read().entries
    number = query.strip().removeprefix("#")
    if number.isdecimal() and len(number) < 10:
        entry = next((entry for entry in entries if entry.number == int(number)), None)
        return f"There is no entry #{number}." if entry is None else _whole(entry)
    unconfirmed = {(one.session, one.id) for one in MemoryView(entries).unconfirmed}
    gone = {*withdrawn(entries), *unconfirmed}
    wanted = query.strip().casefold()
    shown = (
        each for each in entries if each.kind not in HIDDEN and (each.session, each.id) not in gone
    )
    found = [each for each in shown if wanted in each.text.casefold()]
    if not found:
        return f"No entry holds {query.strip()[:80]!r}." if entries else EMPTY
    lines = [
        f"#{entry.number} {entry.kind}: {sentence(entry, 120)}" for entry in found[-MOST_FOUND:]
    ]
    if older := len(found) - len(lines):
        lines.append(f"{older:,} older are not shown: look for more words")
    return "\n".join(lines)


def keep_dead_end(workspace: Workspace, text: str, *, session: str = "") -> str:
    """Keep what led nowhere, so that it isn't tried again after a compaction."""
    if len(text) > LONGEST_NOTE:
        raise InputError(
            f"dead_end has {len(text):,} characters, more than {LONGEST_NOTE:,}: say it in a sentence"
        )
    entry = _writer(workspace, session).append_dead_end(text)
    if entry is None:
        raise InputError("dead_end is empty: say what was tried, and why it did not work")
    return f"#{entry.number} kept as a dead end"


def kept_entries(workspace: Workspace, session: str = "") -> int:
    """Return how many entries are kept; 0 if there are none that may be read."""
    try:
        return len(_writer(workspace, session).read().entries)
    except (InputError, StoreError):
        return 0


def _writer(workspace: Workspace, session: str = "") -> ScratchWriter:
    """Return the writer of this project's files; files that came with a clone are refused."""
    worktree = workspace.project or workspace.cwd
    if worktree is None:
        raise InputError("the folder that the server was started in is gone: start it again")
    secret = workspace.memory_secret(os.path.join(worktree, NAME))
    return ScratchWriter(
        worktree, session=session, clock=lambda: workspace.now, claim=False, secret=secret
    )


def _whole(entry: MemoryEntry) -> str:
    more = f"\n… {len(entry.text):,} characters in all" if len(entry.text) > LONGEST else ""
    return "\n> ".join(
        [f"#{entry.number} {entry.kind}", *f"{entry.text[:LONGEST]}{more}".split("\n")]
    )
