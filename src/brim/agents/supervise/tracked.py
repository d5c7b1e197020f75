"""What is known of a supervised session: every line of its agent goes to the gauge, the purse and the notes."""

from __future__ import annotations

from brim._frozen import Frozen
from brim.tracking.events import Compaction, End, Message, ToolCall
from brim.tracking.readers.stream import Feed, parsed_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from brim.agents.supervise.beside import Beside
    from brim.agents.supervise.notes import Notes
    from brim.agents.supervise.purse import Purse
    from brim.tracking.budget import ContextBudget
    from brim.tracking.events import Event
    from brim.tracking.notices import Notice


class Heard(Frozen):
    """What one line of the agent meant for the run."""

    __slots__ = ("answered", "compacted", "end", "line", "notices", "refused", "text")

    line: Mapping[str, Any]
    """The line as it was parsed; empty if it is no JSON object."""
    end: End | None
    """The turn of the main thread ended with it."""
    compacted: bool
    """The main thread's window was compacted."""
    refused: str
    """Why the agent did not compact; empty if it did, or nobody asked."""
    notices: tuple[Notice, ...]
    text: str
    """What the agent said last; at the end of a turn that failed too, where ``end`` says why."""
    answered: bool
    """Whether its last word in this turn was an answer, and no call of a tool that something should follow."""

    def __init__(
        self,
        line: Mapping[str, Any],
        *,
        end: End | None = None,
        compacted: bool = False,
        refused: str = "",
        notices: tuple[Notice, ...] = (),
        text: str = "",
        answered: bool = False,
    ) -> None:
        self._fill(
            line=line,
            end=end,
            compacted=compacted,
            refused=refused,
            notices=notices,
            text=text,
            answered=answered,
        )


class Tracked:
    """One session under supervision, whatever becomes of its processes."""

    def __init__(
        self, budget: ContextBudget, purse: Purse, notes: Notes, beside: Beside, *, feed: Feed | None = None
    ) -> None:
        self.budget, self.purse, self.notes, self._beside = budget, purse, notes, beside
        self.feed = Feed() if feed is None else feed
        """Counts the lines, and those that cannot be used."""
        self.session = ""
        """The id to resume it by; empty until the agent says so."""
        self._text, self._answered = "", False

    def take(self, line: bytes) -> Heard:
        """Take in one line. Nothing in it raises: what is no JSON object is counted, and skipped."""
        self.feed.lines += 1
        parsed = parsed_line(line)
        if not isinstance(parsed, dict):
            self.feed.broken += 1
            return Heard({})
        return self.take_object(parsed)

    def take_object(self, parsed: Mapping[str, Any]) -> Heard:
        """Take in one line that is parsed already."""
        notices: list[Notice] = []
        end: End | None = None
        compacted = False
        for event in self.feed.reader.events(parsed):
            notices += self._take(event, parsed)
            if event.agent:
                continue
            end = event if isinstance(event, End) else end
            compacted = compacted or isinstance(event, Compaction)
        if end is not None:
            notices += [notice for event in self._beside.events(self.session) for notice in self._count(event, {})]
            notices += self.purse.look()
        said = self._text if end is None or end.error or not end.text else end.text
        answered = self._answered
        if end is not None:
            self._text, self._answered = "", False
        return Heard(
            parsed,
            end=end,
            compacted=compacted,
            refused=_refusal(parsed),
            notices=tuple(notices),
            text=said,
            answered=answered,
        )

    def _take(self, event: Event, line: Mapping[str, Any]) -> list[Notice]:
        if event.session and not event.agent and event.session != self.session:
            self.session = event.session
            self.notes.begin(event.session)
        if isinstance(event, Message) and event.role == "assistant" and not event.agent:
            self._text, self._answered = event.text, True
        if isinstance(event, ToolCall) and not event.agent:
            self._answered = False
        self.notes.take(event)
        return self._count(event, line)

    def _count(self, event: Event, line: Mapping[str, Any]) -> list[Notice]:
        return [*self.budget.update(event), *self.purse.take(event, line)]


def _refusal(line: Mapping[str, Any]) -> str:
    """Return why a compaction failed, as Claude's status line says it."""
    if line.get("type") != "system" or line.get("compact_result") in (None, "success"):
        return ""
    return str(line.get("compact_error") or line.get("compact_result"))[:500]
