"""Writes the journal, and the files that are rendered from it.

One process writes at a time. An entry that was returned is on the disk, whatever happens next.
Rendered files are always complete, and can be rebuilt from the journal.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from functools import partial

from brim.config import user_folder
from brim.errors import InputError, StoreError
from brim.files import locked
from brim.memory.entries import MemoryEntry, MemoryView, draft
from brim.memory.folder import (
    LOCK,
    NAME,
    SECTIONS,
    check_folder,
    keep_journals,
    make_folder,
    old_journals,
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
from brim.memory.journal import Journal, Matching
from brim.memory.model import ScratchModel

HANDED = ("human", "decision", "state", "dead-end")
"""The kinds of entries that ``append`` takes."""


class ScratchWriter:
    """The scratch files of a *worktree*: ``.context/scratch.md``, a file for each section, and the
    journal.

    A *session* that starts while another is live in the same worktree gets a folder of its own
    inside. *state_folder* is where ``cleanup`` keeps the journal (default: the user's brim folder);
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
        self._clock, self._patience, self._claim, self._secret = clock, patience, claim, secret
        self._state = None if state_folder is None else os.fspath(state_folder)
        self._root = os.path.join(self.worktree, NAME)
        self._journal = Journal(os.path.join(self._root, JOURNAL))
        self._matching = Matching()
        self._models: list[tuple[ScratchModel, int]] = []

    @property
    def folder(self) -> str:
        """The folder of this session's files; it may not exist yet."""
        return place_of(self._root, self.session, now=self._clock(), claim=self._claim)

    @property
    def scratch_path(self) -> str:
        """The path of the index, relative to the worktree: ``.context/scratch.md``."""
        return f"{self._pointer(self.folder)}/{INDEX}"

    def write_scratch(self, model: ScratchModel, *, replay: bool = False) -> list[MemoryEntry]:
        """Append the entries of *model* that the journal lacks, render the files, and return the
        new entries.

        *replay* says that the model was read from the beginning of its session: entries that any
        process has written before aren't written again.
        """
        with self._writing() as folder:
            done = next((count for known, count in self._models if known is model), 0)
            added = self._journal_model(model, done, replay=replay)
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
        """Append a *text* of one of the kinds ``HANDED``; None if it's empty."""
        if kind not in HANDED:
            raise InputError(
                f"{kind!r} cannot be added on its own: take one of {', '.join(HANDED)}"
            )
        entry = draft(kind, text, session=self.session)
        if not entry.text.strip():
            return None
        with self._writing() as folder:
            known = self._matching.handed(entry)
            if known is None:
                (known,) = self._journal.append([replace(entry, time=self._clock())])
                self._matching.wrote(known, by_itself=True)
                self._show(folder)
        return known

    def rebuild(self) -> list[str]:
        """Rebuild every file from the journal, and return the names of those that changed."""
        with self._writing() as folder:
            return self._render(folder)

    def read(self) -> Journal:
        """Return the journal as it is now, without waiting or creating anything."""
        folder = self.folder if check_folder(self._root, self._secret) else self._root
        check_folder(folder, self._secret)
        self._at(folder)
        self._journal.refresh()
        return self._journal

    def close(self) -> None:
        """Note that this session is over, so that the next one can use the worktree's own files."""
        if (
            self.session
            and check_folder(self._root, self._secret)
            and owner_of(self.folder).get("session") == self.session
        ):
            with self._writing() as folder:
                own(folder, self.session, now=self._clock(), closed=True)

    def cleanup(self) -> list[str]:
        """Move every journal to the user's folder for 30 days, and remove ``.context/``. Return the
        new paths.

        A link, or a folder that brim didn't create, is refused. Other files in the folder stay.
        """
        if not check_folder(self._root):
            return []
        with self._locked():
            into = os.path.join(
                self._state if self._state is not None else user_folder(os.environ), "scratch"
            )
            inside = list(session_folders(self._root).values())
            kept = keep_journals(
                [self._root, *inside], into, os.path.basename(self.worktree), now=self._clock()
            )
            for path in old_journals(into, now=self._clock()):
                with suppress(OSError):
                    os.unlink(path)
            for folder in (*inside, self._root):
                remove_ours(folder)
        return kept

    def _locked(self) -> AbstractContextManager[None]:
        make = partial(make_folder, self._root, self._secret)
        return locked(os.path.join(self._root, LOCK), patience=self._patience, prepare=make)

    @contextmanager
    def _writing(self) -> Iterator[str]:
        """Hold the lock, create the folder of this session, read its journal, and yield the
        folder."""
        with self._locked():
            make_folder(
                self._root, self._secret
            )  # again: a cleanup may have taken its mark away since
            folder = self.folder
            if folder != self._root:
                make_folder(folder, self._secret)
            remove_leftovers(folder)
            if self._claim:
                own(folder, self.session, now=self._clock())
            self._at(folder)
            self._journal.refresh()
            if self._matching.learn(
                self._journal
            ):  # the journal was removed: a model still holds its entries
                self._models = []
            yield folder

    def _at(self, folder: str) -> None:
        path = os.path.join(folder, JOURNAL)
        if path != self._journal.path:
            self._journal = Journal(path)

    def _journal_model(self, model: ScratchModel, done: int, *, replay: bool) -> list[MemoryEntry]:
        """Append the new entries of *model* from *done* on, and give the model their numbers."""
        now = self._clock()
        view = MemoryView(self._journal.entries)
        title = draft("job", model.job, session=self.session, time=now, refs={"phase": model.phase})
        known_title = (title.text, title.refs["phase"]) == (view.job, view.phase) or not (
            model.job or model.phase
        )
        waiting = [] if known_title else [title]
        places: dict[int, int] = {}
        for at, entry in enumerate(model.entries[done:], done):
            named = replace(entry, session=entry.session or self.session)
            known = self._matching.modelled(named, now=now, replay=replay)
            if known is None:
                places[len(waiting)] = at
                waiting.append(replace(named, time=now if entry.time is None else entry.time))
                continue
            model.written(at, known)
            if entry.id and entry.id != known.id:
                waiting.append(
                    replace(named, kind="same", text="", time=now, refs={"of": known.id})
                )
        written = self._journal.append(waiting)
        for position, at in places.items():
            model.written(at, written[position])
            if not replay:
                self._matching.wrote(written[position], by_itself=False)
        return [written[position] for position in places]

    def _show(self, folder: str) -> None:
        """Render the files. If one can't be written, the error says that nothing is lost."""
        try:
            self._render(folder)
        except StoreError as error:
            kept = "the journal holds everything: do not add it again, 'brim memory rebuild' renders it"
            raise StoreError(f"{error}; {kept}", error.reason) from None

    def _render(self, folder: str) -> list[str]:
        view = MemoryView(self._journal.refresh())
        texts = {
            section.file: render_details(section, view.of(section.kind)) for section in SECTIONS
        }
        session = self.session or str(owner_of(folder).get("session", ""))
        texts[INDEX] = render_index(
            view, self._pointer(folder), session=session
        )  # last: what it points to is there
        return [name for name, text in texts.items() if save(folder, name, text)]

    def _pointer(self, folder: str) -> str:
        """Return *folder* relative to the worktree."""
        return os.path.relpath(folder, self.worktree).replace(os.sep, "/")
