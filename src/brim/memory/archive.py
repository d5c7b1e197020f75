"""Journals of memory that was removed: they stay in the user's folder for a while."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from brim.config.retention import JOURNALS
from brim.errors import StoreError
from brim.files import sync_folder, write_new
from brim.memory.journal import NAME as JOURNAL

_ARCHIVED = re.compile(r"(\d{1,12})-.*\.jsonl")
_LONGEST_LABEL = 60


def keep_journals(folders: Iterable[str], into: str, label: str, *, now: float) -> list[str]:
    """Copy the journals of *folders* to *into*, durably, and return the new paths."""
    safe_label = re.sub(r"[^A-Za-z0-9_.-]+", "-", label)[:_LONGEST_LABEL].strip("-.") or "scratch"
    copies: list[str] = []
    try:
        for folder in (os.path.dirname(into), into):
            os.makedirs(folder, mode=0o700, exist_ok=True)
        for folder in folders:
            journal = os.path.join(folder, JOURNAL)
            if not os.path.isfile(journal) or os.path.islink(journal):
                continue
            name = f"{max(0, int(now))}-{safe_label}-{os.urandom(4).hex()}.jsonl"
            path = os.path.join(into, name)
            with open(journal, "rb") as file:
                write_new(path, file.read())
            copies.append(path)
        sync_folder(into)
    except OSError as error:
        why = f"the journal cannot be kept there: {error.strerror or error}; nothing was removed"
        raise StoreError(f"{into}: {why}", "failed") from None
    return copies


def old_journals(into: str, *, now: float) -> list[str]:
    """Return the journals in *into* that have been there long enough."""
    if not os.path.isdir(into):
        return []
    old = []
    for name in sorted(os.listdir(into)):
        match = _ARCHIVED.fullmatch(name)
        if match is not None and now - int(match[1]) > JOURNALS:
            old.append(os.path.join(into, name))
    return old
