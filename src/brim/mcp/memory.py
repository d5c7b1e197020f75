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
        return _entry_text(entries, int(number))
    if not entries:
        return EMPTY
    matches = _matches(entries, query.strip().casefold())
    if not matches:
        return f"No entry holds {query.strip()[:80]!r}."
    lines = []
    for entry in matches[-MOST_FOUND:]:
        lines.append(f"#{entry.number} {entry.kind}: {sentence(entry, 120)}")
    older = len(matches) - len(lines)
    if older:
        lines.append(f"{older:,} older are not shown: look for more words")
    return "\n".join(lines)


def _entry_text(entries: list[MemoryEntry], number: int) -> str:
    """Return the entry with this *number*, whole."""
    for entry in entries:
        if entry.number == number:
            return _whole(entry)
    return f"There is no entry #{number}."


def _matches(entries: list[MemoryEntry], word: str) -> list[MemoryEntry]:
    """Return those of *entries* that are told and hold *word*, in small letters."""
    unconfirmed = {(entry.session, entry.id) for entry in MemoryView(entries).unconfirmed}
    gone = {*withdrawn(entries), *unconfirmed}
    matches = []
    for entry in entries:
        if entry.kind in HIDDEN or (entry.session, entry.id) in gone:
            continue
        if word in entry.text.casefold():
            matches.append(entry)
    return matches


def keep_dead_end(workspace: Workspace, text: str, *, session: str = "") -> str:
    """Keep what led nowhere, so that it isn't tried again after a compaction."""
    if len(text) > LONGEST_NOTE:
        size = f"{len(text):,} characters, more than {LONGEST_NOTE:,}"
        raise InputError(f"dead_end has {size}: say it in a sentence")
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
    text = entry.text[:LONGEST]
    if len(entry.text) > LONGEST:
        text = f"{text}\n… {len(entry.text):,} characters in all"
    return "\n> ".join([f"#{entry.number} {entry.kind}", *text.split("\n")])
