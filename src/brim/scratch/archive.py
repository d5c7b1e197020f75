"""What is left when the files go: the journals, in the user's own folder, for 30 days."""

from __future__ import annotations

import os
import re

from brim._light import suppress
from brim.errors import StoreError
from brim.scratch.entries import SECTIONS
from brim.scratch.folder import IGNORE, LOCK, MARK, OWNER, TEMPORARY, settle
from brim.scratch.index import NAME as INDEX
from brim.scratch.journal_file import NAME as JOURNAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

KEPT = 30 * 86_400.0
"""Seconds that a journal is kept after its folder was removed."""
_OURS = frozenset({JOURNAL, INDEX, OWNER, *(section.file for section in SECTIONS)})
_NAMED = re.compile(r"(\d{1,12})-.*\.jsonl")


def keep_journals(folders: Iterable[str], into: str, label: str, *, now: float) -> list[str]:
    """Copy the journal of each of *folders* to *into*, on the disk, and return where they are now."""
    kept = []
    safe = re.sub(r"[^A-Za-z0-9_.-]+", "-", label)[:60].strip("-.") or "scratch"
    try:
        for folder in (os.path.dirname(into), into):
            os.makedirs(folder, mode=0o700, exist_ok=True)
        for folder in folders:
            source = os.path.join(folder, JOURNAL)
            if os.path.isfile(source) and not os.path.islink(source):
                path = os.path.join(into, f"{max(0, int(now))}-{safe}-{os.urandom(4).hex()}.jsonl")
                _copy(source, path)
                kept.append(path)
        settle(into)
    except OSError as error:
        raise StoreError(
            f"{into}: the journal cannot be kept there: {error.strerror or error}; nothing was removed", "failed"
        ) from None
    return kept


def forget_old(into: str, *, now: float) -> list[str]:
    """Remove the journals in *into* that are older than 30 days, and return their names."""
    gone = []
    for name in sorted(os.listdir(into)) if os.path.isdir(into) else []:
        found = _NAMED.fullmatch(name)
        if found and now - int(found[1]) > KEPT:
            with suppress(OSError):
                os.unlink(os.path.join(into, name))
                gone.append(name)
    return gone


def remove_ours(folder: str) -> list[str]:
    """Remove what brim put into *folder*, and the folder; return what is left because somebody else put it there."""
    left = []
    try:
        for name in os.listdir(folder):
            if name in _OURS or name.startswith(TEMPORARY):
                os.unlink(os.path.join(folder, name))
            elif name not in (MARK, IGNORE, LOCK):
                left.append(os.path.join(folder, name))
        if not left:  # the lock last: whoever waits for it finds that it is gone, and begins anew
            for name in (IGNORE, MARK, LOCK):
                with suppress(FileNotFoundError):
                    os.unlink(os.path.join(folder, name))
            with suppress(OSError):  # another process began it anew at this very moment: then it is that one's
                os.rmdir(folder)
    except OSError as error:
        raise StoreError(f"{folder}: cannot be removed: {error.strerror or error}", "failed") from None
    return sorted(left)


def _copy(source: str, path: str) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file, open(source, "rb") as old:
        while block := old.read(1 << 20):
            file.write(block)
        file.flush()
        os.fsync(handle)
