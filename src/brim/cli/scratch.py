"""What ``brim scratch`` stands on: which folder is meant, and what an entry looks like to a script."""

from __future__ import annotations

import os

from brim.cli.output import note
from brim.cli.settings import working_folder
from brim.errors import InputError, StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any

    from brim.scratch.entries import Entry
    from brim.scratch.journal import Journal
    from brim.scratch.writer import ScratchWriter


def worktree_of(given: str | None) -> str:
    """Return the folder that ``.context/`` is in: the one that was *given*, else the project's, else where we are."""
    from brim.config import project_folder

    if given is not None:
        if not os.path.isdir(given):
            raise InputError(f"--worktree: {given}: there is no such folder")
        return os.path.abspath(given)
    here = working_folder()
    if here is None:
        raise InputError("the folder that this runs in was deleted: say --worktree DIR")
    return project_folder(os.environ, here) or here


def writer_for(options: Namespace, session: str | None = None) -> ScratchWriter:
    """Return the writer of the files that *options* mean. A person's command never takes files over for a session."""
    from brim.scratch.folder import NAME
    from brim.scratch.journal import NAME as JOURNAL
    from brim.scratch.writer import ScratchWriter
    from brim.store.project import is_tracked

    journal = os.path.join(options.worktree, NAME, JOURNAL)
    if is_tracked(journal):
        raise StoreError(
            f"{journal}: git tracks it, so it may be somebody else's and is not used; 'git rm --cached' it", "refused"
        )
    return ScratchWriter(options.worktree, session=options.session if session is None else session, claim=False)


def journal_of(options: Namespace) -> tuple[ScratchWriter, Journal]:
    """Return the writer that *options* mean, and its journal as it is now. Says so if there are others beside it."""
    from brim.scratch.folder import NAME, session_folders

    writer = writer_for(options)
    journal = writer.read()
    root = os.path.join(options.worktree, NAME)
    if not options.session and os.path.isdir(root) and (others := session_folders(root)):
        note(f"other sessions have files of their own here, for --session: {', '.join(others)}")
    return writer, journal


def whole_session(worktree: str, given: str) -> str:
    """Return the id of the session that *given* is the beginning of, if there is exactly one; else *given* itself."""
    from brim.scratch.folder import NAME, check_folder, session_folders
    from brim.scratch.writer import ScratchWriter

    root = os.path.join(worktree, NAME)
    if not given or not check_folder(root):
        return given
    known = {entry.session for entry in ScratchWriter(worktree).read().entries} | set(session_folders(root))
    begun = [session for session in known if session.startswith(given)]
    return begun[0] if len(begun) == 1 and given not in known else given


def index_text(writer: ScratchWriter, entries: list[Entry]) -> str:
    """Return the index of *entries*, as the journal gives it, whatever became of the file."""
    from brim.scratch.entries import View
    from brim.scratch.index import render_index

    return render_index(View(entries), os.path.dirname(writer.scratch_path))


def entry_facts(entry: Entry) -> dict[str, Any]:
    """Return *entry* as a script gets it."""
    return entry.to_dict()


def when(seconds: float | None) -> str:
    """Return a moment as UTC, short enough for a table."""
    from brim.scratch.index import when as whole

    return whole(seconds).removesuffix(" UTC")
