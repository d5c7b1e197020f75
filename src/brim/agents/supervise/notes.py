"""The scratch memory of a supervised run: what the person said, and what the stream shows, written down as it goes."""

from __future__ import annotations

import os

from brim.errors import BrimError
from brim.scratch.model import ScratchModel
from brim.scratch.writer import ScratchWriter
from brim.tracking.events import Message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from brim.tracking.events import Event

PAUSE = 1.0
"""Seconds between two writings while a turn runs: what is lost by a crash is no more."""


class Notes:
    """What must survive of this run. It is a help: if it cannot be written, that is told once and the run goes on."""

    def __init__(
        self, worktree: str, cwd: str, *, job: str = "", clock: Callable[[], float], tell: Callable[[str], object]
    ) -> None:
        self.model = ScratchModel(job=job, root=worktree)
        self._worktree, self._cwd = worktree, cwd
        self._clock, self._tell = clock, tell
        self._writer: ScratchWriter | None = None
        self._failed = False
        self._saved, self._saved_at = 0, 0.0

    @property
    def path(self) -> str:
        """The index, as the agent should be told it from where it works; empty if there is none."""
        if self._writer is None or self._failed or not self._saved:
            return ""
        index = os.path.join(self._worktree, self._writer.scratch_path)
        return os.path.relpath(index, self._cwd).replace(os.sep, "/")

    def begin(self, session: str) -> None:
        """Say which session it is: before that nothing can be written."""
        if self._writer is None and not self._failed:
            self.model.session = session
            self._writer = self._opened(session)
            self.save()

    def person_said(self, text: str) -> None:
        """Keep what a person typed: no stream repeats it."""
        self.model.add_human_input(text, now=self._clock())

    def take(self, event: Event) -> None:
        """Keep what matters of *event*. What a stream repeats of a person's words was kept when it was sent."""
        if not (isinstance(event, Message) and event.human):
            self.model.extract(event)
        if len(self.model.entries) > self._saved and self._clock() - self._saved_at >= PAUSE:
            self.save()

    def save(self) -> None:
        """Write down what is new."""
        if self._writer is None or self._failed:
            return
        self._saved_at = self._clock()
        try:
            self._writer.write_scratch(self.model)
            self._saved = len(self.model.entries)
        except (BrimError, OSError) as error:
            self._fail(error)

    def close(self) -> None:
        """Write the rest, and let the next session have the files."""
        self.save()
        if self._writer is not None and not self._failed:
            try:
                self._writer.close()
            except (BrimError, OSError) as error:
                self._fail(error)

    def _opened(self, session: str) -> ScratchWriter | None:
        from brim.scratch.folder import NAME
        from brim.scratch.journal_file import NAME as JOURNAL
        from brim.store.project import is_tracked

        journal = os.path.join(self._worktree, NAME, JOURNAL)
        if is_tracked(journal):
            self._fail(f"{journal}: git tracks it, so it may be somebody else's; 'git rm --cached' it")
            return None
        return ScratchWriter(self._worktree, session=session, clock=self._clock)

    def _fail(self, why: object) -> None:
        self._failed = True
        self._tell(f"no scratch memory in this run: {why}")
