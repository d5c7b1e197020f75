"""Writes the journal, and the files that are rendered from it.

One process writes at a time. An entry that was returned is on the disk, whatever happens next.
Rendered files are always complete, and can be rebuilt from the journal.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from functools import partial

from brim.config import user_folder
from brim.errors import InputError, StoreError
from brim.files import locked
from brim.memory.entries import MemoryEntry, draft
from brim.memory.folder import (
    LOCK,
    NAME,
    SECTIONS,
    check_folder,
    make_folder,
    own,
    owner_of,
    place_of,
    remove_leftovers,
    remove_ours,
    save,
    session_folders,
)
from brim.memory.index import NAME as INDEX
from brim.memory.index import render_details, render_index
from brim.memory.journal import NAME as JOURNAL
from brim.memory.journal import Journal, keep_journals, old_journals
from brim.memory.matching import Matching
from brim.memory.model import ScratchModel
from brim.memory.view import MemoryView

APPENDED = ("human", "decision", "state", "dead-end")
"""The kinds of entries that ``append`` takes."""


class ScratchWriter:
    """The files of a *worktree*'s memory: ``.context/scratch.md``, the detail files, the journal.

    A *session* that starts while another is live in the same worktree gets a folder of its own
    inside. *state_folder* is where ``cleanup`` puts the journal (default: the user's brim folder);
    *patience* is how many seconds to wait for another writer. With the user's *secret*, only a
    folder that was created with it is used. Nothing is created before there is something to write.
    """

    def __init__(
        self,
        worktree: str | os.PathLike[str],
        *,
        session: str = "",
        clock: Callable[[], float] = time.time,
        state_folder: str | os.PathLike[str] | None = None,
        patience: float = 10.0,
        claim: bool = True,
        secret: str = "",
    ) -> None:
        self.worktree = os.path.abspath(os.fspath(worktree))
        self.session = session
        self._clock = clock
        self._patience = patience
        self._claim = claim
        self._secret = secret
        self._state_folder = None if state_folder is None else os.fspath(state_folder)
        self._root = os.path.join(self.worktree, NAME)
        self._journal = Journal(os.path.join(self._root, JOURNAL))
        self._matching = Matching()
        self._models: list[tuple[ScratchModel, int]] = []
        """The models, each with how many of its entries are written."""

    @property
    def folder(self) -> str:
        """The folder of this session's files; it may not exist yet."""
        return place_of(self._root, self.session, now=self._clock(), claim=self._claim)

    @property
    def scratch_path(self) -> str:
        """The path of the index, relative to the worktree: ``.context/scratch.md``."""
        return f"{self._pointer(self.folder)}/{INDEX}"

    # Writing --------------------------------------------------------------------------------------

    def write_scratch(self, model: ScratchModel, *, replay: bool = False) -> list[MemoryEntry]:
        """Append the entries of *model* that the journal lacks, and render the files.

        Return the new entries. *replay* says that the model was read from the beginning of its
        session: entries that any process has written before aren't written again.
        """
        with self._writing() as folder:
            added = self._append_model(model, self._count_written(model), replay=replay)
            self._models = [pair for pair in self._models if pair[0] is not model]
            self._models.append((model, len(model.entries)))
            self._show(folder)
        return added

    def append_human_input(self, text: str) -> MemoryEntry | None:
        """Append what a person typed; None if it's empty."""
        return self.append("human", text)

    def append_dead_end(self, description: str) -> MemoryEntry | None:
        """Append an approach that failed; None if it's empty."""
        return self.append("dead-end", description)

    def append(self, kind: str, text: str) -> MemoryEntry | None:
        """Append a *text* of one of the kinds ``APPENDED``; None if it's empty."""
        if kind not in APPENDED:
            raise InputError(
                f"{kind!r} cannot be added on its own: take one of {', '.join(APPENDED)}"
            )
        entry = draft(kind, text, session=self.session)
        if not entry.text.strip():
            return None
        with self._writing() as folder:
            written = self._matching.appended(entry)
            if written is None:
                (written,) = self._journal.append([replace(entry, time=self._clock())])
                self._matching.wrote(written, by_itself=True)
                self._show(folder)
        return written

    def add(self, entries: Iterable[MemoryEntry]) -> list[MemoryEntry]:
        """Append those of *entries*, made from events, whose ids the journal lacks."""
        with self._writing() as folder:
            ids = {(entry.session, entry.id) for entry in self._journal.entries}
            waiting = [entry for entry in entries if (entry.session, entry.id) not in ids]
            added = self._journal.append(waiting)
            if added:
                self._show(folder)
        return added

    def rebuild(self) -> list[str]:
        """Rebuild every file from the journal, and return the names of those that changed."""
        with self._writing() as folder:
            return self._render(folder)

    # Reading and ending ---------------------------------------------------------------------------

    def read(self) -> Journal:
        """Return the journal as it is now, without waiting or creating anything."""
        folder = self.folder if check_folder(self._root, self._secret) else self._root
        check_folder(folder, self._secret)
        self._use_journal_in(folder)
        self._journal.refresh()
        return self._journal

    def close(self) -> None:
        """Note that this session is over, so that the next one can use the worktree's own files."""
        if not self.session or not check_folder(self._root, self._secret):
            return
        if owner_of(self.folder).get("session") != self.session:
            return
        with self._writing() as folder:
            own(folder, self.session, now=self._clock(), closed=True)

    def cleanup(self) -> list[str]:
        """Move every journal to the user's folder for 30 days, and remove ``.context/``.

        Return the new paths. A link, or a folder that brim didn't create, is refused. Other files
        in the folder stay.
        """
        if not check_folder(self._root):
            return []
        with self._locked():
            archive = os.path.join(self._state_folder or user_folder(os.environ), "scratch")
            inside = list(session_folders(self._root).values())
            label = os.path.basename(self.worktree)
            copies = keep_journals([self._root, *inside], archive, label, now=self._clock())
            for path in old_journals(archive, now=self._clock()):
                with suppress(OSError):
                    os.unlink(path)
            for folder in (*inside, self._root):
                remove_ours(folder)
        return copies

    # Inside ---------------------------------------------------------------------------------------

    def _locked(self) -> AbstractContextManager[None]:
        make = partial(make_folder, self._root, self._secret)
        return locked(os.path.join(self._root, LOCK), patience=self._patience, prepare=make)

    @contextmanager
    def _writing(self) -> Iterator[str]:
        """Hold the lock, create this session's folder, read its journal, and yield the folder."""
        with self._locked():
            # Again: a cleanup may have taken its mark away since.
            make_folder(self._root, self._secret)
            folder = self.folder
            if folder != self._root:
                make_folder(folder, self._secret)
            remove_leftovers(folder)
            if self._claim:
                own(folder, self.session, now=self._clock())
            self._use_journal_in(folder)
            self._journal.refresh()
            if self._matching.learn(self._journal):
                self._models = []  # the journal was removed: a model still holds its entries
            yield folder

    def _use_journal_in(self, folder: str) -> None:
        path = os.path.join(folder, JOURNAL)
        if path != self._journal.path:
            self._journal = Journal(path)

    def _count_written(self, model: ScratchModel) -> int:
        for written_model, count in self._models:
            if written_model is model:
                return count
        return 0

    def _append_model(self, model: ScratchModel, start: int, *, replay: bool) -> list[MemoryEntry]:
        """Append the new entries of *model* from *start* on, and give the model their numbers."""
        now = self._clock()
        waiting = self._title(model, now)
        places: dict[int, int] = {}
        """Where each new entry is in the model, by its place among those that wait."""
        for place, model_entry in enumerate(model.entries[start:], start):
            entry = replace(model_entry, session=model_entry.session or self.session)
            written = self._matching.modelled(entry, now=now, replay=replay)
            if written is None:
                places[len(waiting)] = place
                waiting.append(replace(entry, time=now if entry.time is None else entry.time))
                continue
            model.written(place, written)
            if entry.id and entry.id != written.id:
                refs = {"of": written.id}
                waiting.append(replace(entry, kind="same", text="", time=now, refs=refs))
        appended = self._journal.append(waiting)
        for position, place in places.items():
            model.written(place, appended[position])
            if not replay:
                self._matching.wrote(appended[position], by_itself=False)
        return [appended[position] for position in places]

    def _title(self, model: ScratchModel, now: float) -> list[MemoryEntry]:
        """Return the entry of the *model*'s title, if the journal has another one."""
        if not (model.job or model.phase):
            return []
        title = draft("job", model.job, session=self.session, time=now, refs={"phase": model.phase})
        view = MemoryView(self._journal.entries)
        if (title.text, title.refs["phase"]) == (view.job, view.phase):
            return []
        return [title]

    def _show(self, folder: str) -> None:
        """Render the files. If one can't be written, the error says that nothing is lost."""
        try:
            self._render(folder)
        except StoreError as error:
            advice = (
                "the journal holds everything: do not add it again, "
                "'brim memory rebuild' renders it"
            )
            raise StoreError(f"{error}; {advice}", error.reason) from None

    def _render(self, folder: str) -> list[str]:
        view = MemoryView(self._journal.refresh())
        texts: dict[str, str] = {}
        for section in SECTIONS:
            entries = view.of(section.kind)
            if section.kind == "lost" and not entries:
                continue
            unconfirmed = view.unconfirmed if section.kind == "human" else ()
            texts[section.file] = render_details(section, entries, unconfirmed)
        session = self.session or str(owner_of(folder).get("session", ""))
        # The index last: what it points to is there.
        texts[INDEX] = render_index(view, self._pointer(folder), session=session)
        return [name for name, text in texts.items() if save(folder, name, text)]

    def _pointer(self, folder: str) -> str:
        """Return *folder* relative to the worktree."""
        return os.path.relpath(folder, self.worktree).replace(os.sep, "/")
