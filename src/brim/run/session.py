"""What is known of a supervised session: every line of its agent goes to the gauge, the purse and
the notes."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from brim.agents import agent_named
from brim.agents.call import Event, ToolCall
from brim.agents.events import Compaction, End, Message, ModelSeen, Usage
from brim.agents.fields import parsed_line
from brim.agents.running import run_of
from brim.agents.stream import BLOCK, Feed, open_session
from brim.errors import BrimError
from brim.memory.folder import NAME as FOLDER
from brim.memory.model import ScratchModel
from brim.memory.writer import ScratchWriter
from brim.notices import Notice
from brim.run.purse import Purse
from brim.sessions.window.budget import ContextBudget
from brim.workspace import Workspace

PAUSE = 1.0
"""Seconds between two writings of notes while a turn runs: a crash loses no more."""

_SESSION = re.compile(r"[A-Za-z0-9_-]{8,64}")


class Notes:
    """The scratch memory of a run. If it can't be written, that is told once and the run goes
    on."""

    def __init__(
        self,
        worktree: str,
        cwd: str,
        *,
        job: str = "",
        clock: Callable[[], float],
        tell: Callable[[str], object],
        environ: Mapping[str, str],
    ) -> None:
        self.model = ScratchModel(job=job, root=worktree)
        self._worktree = worktree
        self._cwd = cwd
        self._environ = environ
        self._clock = clock
        self._tell = tell
        self._writer: ScratchWriter | None = None
        self._failed = False
        self._saved = 0
        self._saved_at = 0.0

    @property
    def path(self) -> str:
        """The index, relative to where the agent works; empty if there is none."""
        if self._writer is None or self._failed or not self._saved:
            return ""
        index = os.path.join(self._worktree, self._writer.scratch_path)
        return os.path.relpath(index, self._cwd).replace(os.sep, "/")

    def begin(self, session: str) -> None:
        """Say which session it is: before that nothing can be written."""
        if self._writer is not None or self._failed:
            return
        self.model.session = session
        try:
            workspace = Workspace(self._environ, self._cwd, who="agent", now=self._clock())
            secret = workspace.memory_secret(os.path.join(self._worktree, FOLDER))
        except BrimError as error:
            self._fail(error)
            return
        self._writer = ScratchWriter(
            self._worktree, session=session, clock=self._clock, secret=secret
        )
        self.save()

    def person_said(self, text: str) -> None:
        """Keep what a person typed: no stream repeats it."""
        self.model.add_human_input(text, now=self._clock())

    def take(self, event: Event) -> None:
        """Keep what matters of *event*. A person's words in the stream were kept when they were
        sent."""
        if not (isinstance(event, Message) and event.human):
            self.model.extract(event)
        if len(self.model.entries) > self._saved and self._clock() - self._saved_at >= PAUSE:
            self.save()

    def save(self) -> None:
        """Write down what is new."""
        self._saved_at = self._clock()
        self._try(lambda writer: writer.write_scratch(self.model))
        if self._writer is not None and not self._failed:
            self._saved = len(self.model.entries)

    def close(self) -> None:
        """Write the rest, and let the next session have the files."""
        self.save()
        self._try(lambda writer: writer.close())

    def _try(self, act: Callable[[ScratchWriter], object]) -> None:
        """Let the writer act; what fails is said once."""
        if self._writer is not None and not self._failed:
            try:
                act(self._writer)
            except (BrimError, OSError) as error:
                self._fail(error)

    def _fail(self, why: object) -> None:
        """Go on without scratch memory."""
        self._failed = True
        self._tell(f"no scratch memory in this run: {why}")


class SessionFiles:
    """The files that an agent writes of a session, if its stream has only sums: they have each
    request.

    They are read on from where they were read last. What happened before *since* is left out.
    """

    def __init__(self, agent: str, environ: Mapping[str, str], *, since: float) -> None:
        self._home = agent_named(agent).places.home(environ)
        self._pattern = run_of(agent).session_files
        self._since = since
        self._feeds: dict[str, Feed] = {}

    def events(self, session: str) -> list[Event]:
        """Return what the files of *session* say that its stream does not."""
        if not self._pattern or not _SESSION.fullmatch(session):
            return []
        events = []
        inside = self._pattern.format(session)
        for path in sorted(glob.glob(os.path.join(glob.escape(self._home), inside))):
            for event in self._added(path):
                if event.session == session:
                    events.append(event)
        return events

    def _added(self, path: str) -> list[Event]:
        """Return the events that were added to the file *path*."""
        last = self._feeds.get(path) or Feed()
        feed = Feed(start=last.offset, reader=last.reader)  # half a line is read again
        events: list[Event] = []
        try:
            with open_session(path) as file:
                file.seek(feed.offset)
                while block := file.read(BLOCK):
                    events += feed.feed(block)
        except (BrimError, OSError):
            return []
        self._feeds[path] = feed
        return [event for event in events if self._counts(event)]

    def _counts(self, event: Event) -> bool:
        """Whether *event* is of this run, and isn't in the stream."""
        if not isinstance(event, Usage | ModelSeen | Compaction):
            return False
        return event.time is None or event.time >= self._since


@dataclass(frozen=True)
class Heard:
    """What one line of the agent meant for the run."""

    line: Mapping[str, Any] = field(default_factory=dict)
    """The line as it was parsed; empty if it isn't a JSON object."""
    end: End | None = None
    """The turn of the main thread ended with it."""
    compacted: bool = False
    """The main thread's window was compacted."""
    notices: tuple[Notice, ...] = ()
    text: str = ""
    """What the agent said last; at the end of a turn that failed too, where ``end`` says why."""
    answered: bool = False
    """Whether its last word in this turn was an answer, and no call of a tool that something should
    follow."""


@dataclass(eq=False)
class Tracked:
    """One session under supervision, whatever becomes of its processes."""

    budget: ContextBudget
    purse: Purse
    notes: Notes
    files: SessionFiles | None = None
    feed: Feed = field(default_factory=Feed)
    """Counts the lines, and those that can't be used."""
    session: str = ""
    """The id to resume it by; empty until the agent says so."""
    _text: str = ""
    _answered: bool = False

    def take(self, line: bytes) -> Heard:
        """Take in one line. Nothing in it raises: what isn't a JSON object is counted, and
        skipped."""
        self.feed.lines += 1
        parsed = parsed_line(line)
        if isinstance(parsed, dict):
            return self.take_object(parsed)
        self.feed.broken += 1
        return Heard()

    def take_object(self, parsed: Mapping[str, Any]) -> Heard:
        """Take in one line that is parsed already."""
        notices: list[Notice] = []
        end: End | None = None
        compacted = False
        for event in self.feed.reader.events(parsed):
            notices += self._take(event, parsed)  # it notes the last text too
            if event.agent:
                continue  # a sub-agent's end or compaction isn't the session's
            if isinstance(event, End):
                end = event
            if isinstance(event, Compaction):
                compacted = True
        text = self._text
        answered = self._answered
        if end is not None:
            notices += self._count_files()
            if end.text and not end.error:
                text = end.text
            self._text = ""  # the next turn begins
            self._answered = False
        return Heard(parsed, end, compacted, tuple(notices), text, answered)

    def _count_files(self) -> list[Notice]:
        """Count what the session's files say at the end of a turn, and look what others spent."""
        notices: list[Notice] = []
        if self.files is not None:
            for event in self.files.events(self.session):
                notices += self._count(event, {})
        return [*notices, *self.purse.look()]

    def _take(self, event: Event, line: Mapping[str, Any]) -> list[Notice]:
        """Note what *event* says about the session."""
        if not event.agent:
            if event.session and event.session != self.session:
                self.session = event.session
                self.notes.begin(event.session)
            if isinstance(event, Message) and event.role == "assistant":
                self._text = event.text
                self._answered = True
            if isinstance(event, ToolCall):
                self._answered = False
        self.notes.take(event)
        return self._count(event, line)

    def _count(self, event: Event, line: Mapping[str, Any]) -> list[Notice]:
        """Count *event*, and return what must be told because of it."""
        return [*self.budget.update(event), *self.purse.take(event, line)]
