"""Collects what must survive a session, from its events or from its caller."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import replace
from typing import Any

from brim.agents.call import Event, ToolCall
from brim.agents.events import End, Message, ToolResult
from brim.agents.readers import AnyReader, Reader
from brim.agents.stream import read
from brim.memory.calls import Calls
from brim.memory.entries import MemoryEntry, draft, source_of, where_of
from brim.memory.index import render_index
from brim.memory.repetition import DeadEnd, RepetitionDetector
from brim.memory.sentences import sentence
from brim.memory.states import States
from brim.memory.view import MemoryView

_EARLY = 64
"""How many of the first and of the last events before the first call are given to the detector of
dead ends."""


class ScratchModel:
    """What must survive a compaction, taken from a job's events. Nothing is guessed from prose.

    Give ``extract`` every event of a stream, parsed or typed. Secrets are masked.
    ``ScratchWriter.write_scratch`` writes the entries to files. *root* is the project's folder, if
    it's known.
    """

    def __init__(
        self,
        job: str = "",
        phase: str = "",
        *,
        session: str = "",
        find_dead_ends: bool = True,
        root: str = "",
    ) -> None:
        self.job = job
        self.phase = phase
        self.session = session
        self._root = root
        self._finds_dead_ends = find_dead_ends
        self._entries: list[MemoryEntry] = []
        self._ids: set[str] = set()
        self._calls = Calls()
        self._states = States()
        self._detector: RepetitionDetector | None = None
        self._early_events: list[Event] = []
        self._reader: Reader | None = None

    # What is taken in -----------------------------------------------------------------------------

    def extract(self, event: Event | Mapping[str, Any]) -> None:
        """Add the entries of *event*: a typed one, or any parsed line of any agent.

        This never raises.
        """
        if isinstance(event, Event):
            self._take(event)
        elif isinstance(event, Mapping):
            if self._reader is None:
                self._reader = AnyReader()
            for typed_event in self._reader.events(event):
                self._take(typed_event)

    def record_state_change(self, previous: str, new: str, *, now: float | None = None) -> None:
        """Record that the work went from one state to another."""
        self._add([draft("state", f"{previous} → {new}", session=self.session, time=now)])

    def record_decision(self, text: str, *, now: float | None = None) -> None:
        """Record a decision."""
        self._record("decision", text, now)

    def add_dead_end(self, description: str, *, now: float | None = None) -> None:
        """Record an approach that failed."""
        self._record("dead-end", description, now)

    def add_human_input(self, text: str, *, now: float | None = None) -> None:
        """Record what a person typed if no event has it."""
        self._record("human", text, now)

    def _record(self, kind: str, text: str, now: float | None) -> None:
        if text.strip():
            self._add([draft(kind, text, session=self.session, time=now)])

    def _take(self, event: Event) -> None:
        if isinstance(event, Message) and event.human and event.text.strip():
            self._add([draft("human", event.text, source=source_of(event), **where_of(event))])
        self._add(self._states.entries(event))
        if isinstance(event, ToolCall):
            self._add(self._calls.called(event))
        elif isinstance(event, ToolResult):
            self._take_result(event)
        if self._finds_dead_ends:
            self._add([dead_end.entry(event.time) for dead_end in self._dead_ends(event)])

    def _take_result(self, result: ToolResult) -> None:
        call = self._calls.call_of(result)
        if call is None:
            return
        self._states.learn_task(call, result)
        self._add(self._calls.answered(call, result))

    def _dead_ends(self, event: Event) -> list[DeadEnd]:
        if self._detector is not None:
            return self._detector.update(event)
        self._early_events.append(event)
        if not isinstance(event, ToolCall | End):
            # Before the first, there's nothing to find or import.
            del self._early_events[_EARLY:-_EARLY]
            return []
        self._detector = RepetitionDetector(self._root)
        dead_ends: list[DeadEnd] = []
        for early_event in self._early_events:
            dead_ends += self._detector.update(early_event)
        self._early_events = []
        return dead_ends

    def _add(self, entries: Iterable[MemoryEntry]) -> None:
        for entry in entries:
            if entry.id and entry.id in self._ids:
                continue
            self._ids.add(entry.id)
            self._entries.append(entry)

    # What it holds --------------------------------------------------------------------------------

    @property
    def entries(self) -> tuple[MemoryEntry, ...]:
        """All entries, in order. Those that aren't in a journal yet have the number 0."""
        return tuple(self._entries)

    @property
    def human_inputs(self) -> list[str]:
        """What a person typed."""
        return self._sentences("human")

    @property
    def artifacts(self) -> list[str]:
        """The files that were written or edited, as the calls name them, without duplicates."""
        return [entry.text for entry in MemoryView(self._entries).of("artifact")]

    @property
    def state_changes(self) -> list[str]:
        """What changed, one sentence each."""
        return self._sentences("state")

    @property
    def decisions(self) -> list[str]:
        """What was decided, one sentence each."""
        return self._sentences("decision")

    @property
    def dead_ends(self) -> list[str]:
        """Approaches that failed: recorded, or found and confirmed."""
        return self._sentences("dead-end")

    @property
    def commands(self) -> list[str]:
        """The commands that failed, each with how it ended."""
        return self._sentences("command")

    def _sentences(self, kind: str) -> list[str]:
        sentences = []
        for entry in MemoryView(self._entries).of(kind):
            sentences.append(sentence(entry) if entry.quoted else entry.text)
        return sentences

    def render(self, folder: str = ".context") -> str:
        """Return the index: at most 200 lines. Entries get their numbers when they are written."""
        view = MemoryView(self._entries)
        view.job = draft("job", self.job).text
        view.phase = draft("job", self.phase).text
        return render_index(view, folder)

    def forget(self, typed: Container[str]) -> None:
        """Drop what a person typed if it's among *typed*, because a journal has it already."""
        self._entries = [
            entry for entry in self._entries if entry.kind != "human" or entry.text not in typed
        ]

    def written(self, place: int, entry: MemoryEntry) -> None:
        """Note that the entry at *place* is in a journal as *entry*. The writer calls this."""
        self._entries[place] = replace(self._entries[place], number=entry.number)


# A transcript as the memory would have taken it in ----------------------------------------------


def read_model(path: str) -> ScratchModel | None:
    """Return the memory of the session in the file *path*; None if no agent wrote it."""
    model = ScratchModel()
    has_events = False
    for event in read(path):
        model.extract(event)
        has_events = True
    if not has_events:
        return None
    return model


def session_of(model: ScratchModel) -> str:
    """Return the session that *model* is of; empty if it doesn't say."""
    for entry in model.entries:
        if entry.session:
            return entry.session
    return ""
