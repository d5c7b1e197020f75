"""Appends what one event says to a session's journal, as cheaply as a hook needs it.

Only the journal's lines of the same session are parsed, and no file is rendered.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable

from brim.files import locked
from brim.memory.entries import MemoryEntry
from brim.memory.folder import LOCK, make_folder
from brim.memory.journal import NAME, Journal
from brim.memory.owners import own, place_of
from brim.memory.quotes import encodable

_NO_LINE = b"\n"
"""What no line of a journal holds."""


def append_entries(
    root: str,
    session: str,
    entries: list[MemoryEntry],
    *,
    now: float,
    secret: str,
    patience: float,
) -> None:
    """Append those of *entries* that the journal of *session* lacks, in one write.

    *root* is the folder ``.context``. *patience* is how many seconds to wait for another writer.
    """

    def make_root() -> None:
        make_folder(root, secret)

    with locked(os.path.join(root, LOCK), patience=patience, prepare=make_root):
        make_root()  # again, now that no other process removes it
        folder = place_of(root, session, now=now, claim=True)
        if folder != root:
            make_folder(folder, secret)
        own(folder, session, now=now)
        journal = Journal(os.path.join(folder, NAME))
        known_entries = journal.refresh(only=_needle(session, entries))
        journal.append(_missing(entries, known_entries))


def _needle(session: str, entries: Iterable[MemoryEntry]) -> bytes:
    """Return what every line of the journal holds that may say the same as one of *entries*."""
    if any(entry.id or entry.kind == "artifact" for entry in entries):
        return encodable(json.dumps(session, ensure_ascii=False)).encode()
    return _NO_LINE  # what a person says twice was said twice: no line is like it


def _missing(entries: list[MemoryEntry], known_entries: list[MemoryEntry]) -> list[MemoryEntry]:
    """Return those of *entries* that aren't there. A file is noted once, whatever changes it."""
    ids = {(entry.session, entry.id) for entry in known_entries}
    files: set[tuple[str, str]] = set()
    for entry in known_entries:
        if entry.kind == "artifact":
            files.add((entry.session, entry.text))
        elif entry.kind == "withdrawn":
            files.discard((entry.session, entry.text))
    missing = []
    for entry in entries:
        is_noted_file = entry.kind == "artifact" and (entry.session, entry.text) in files
        if (entry.session, entry.id) not in ids and not is_noted_file:
            missing.append(entry)
    return missing
