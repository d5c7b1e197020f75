"""Follows a session through its compactions: what each lost, and how that came back.

Before a compaction, a window holds files, commands, decisions and a person's instructions
(``inventory``). Whatever isn't named in anything that stands in the window afterwards is lost
(``comparison``): summary, messages that stayed, attached files, what hooks said. A lost file that
is read again, or a lost command that gives the same answer again, was found again: that costs turns
and tokens. Tokens are estimated from bytes by what the session's requests were billed.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice

from brim.agents.call import Event, ToolCall
from brim.agents.events import Attachment, Compaction, Message, StateSeen, ToolResult, Usage
from brim.agents.lines import Bounded
from brim.memory.comparison import Comparison, Fact, compare
from brim.memory.inventory import LARGEST, Inventory, is_set_up, shell_facts_of
from brim.memory.lost import (
    BASIS,
    GUESSED,
    HEADING,
    MOST_ITEMS,
    CompactionReport,
    LostFact,
    line_of,
)
from brim.memory.quotes import masked_line
from brim.memory.shell_facts import without_numbers
from brim.memory.token_length import BilledRatio, length_of

_LONGEST = 200
_RECENT = 2_000_000
"""Bytes of the latest events that are remembered: a compaction may leave them as they are."""
_EVENT_SIZE = 200
_WHOLE_WINDOWS = 8
"""Threads whose latest events are remembered: a session may have had thousands of sub-agents."""
_MOST_OPEN = 10_000


def compactions_in(events: Iterable[Event], agent: str = "") -> list[CompactionReport]:
    """Return the compactions in *events*, which are of one session of the client *agent*."""
    reader = CompactionReader(agent)
    for event in events:
        reader.take(event)
    return reader.finish()


class CompactionReader:
    """Takes the events of one session, and of its sub-agents, each of which has its own window.

    *agent* is the client. A *ratio* that gets the same events from its owner isn't fed here.
    """

    def __init__(self, agent: str = "", *, ratio: BilledRatio | None = None) -> None:
        self.agent = agent
        self._ratio = ratio or BilledRatio()
        self._feeds_ratio = ratio is None
        self._windows: dict[str, _Window] = {}
        self._last_agent = ""
        self._folder = ""

    def take(self, event: Event) -> None:
        """Take in one event. Nothing in it raises."""
        if isinstance(event, StateSeen) and event.name == "folder":
            self._folder = self._folder or event.value
        if self._feeds_ratio:
            self._ratio.take(event)
        if event.agent != self._last_agent or not self._windows:
            self._switch_to(event.agent)
        self._windows[event.agent].take(event)

    def _switch_to(self, agent: str) -> None:
        """Go on with the window of *agent*.

        Of all but the last few, the latest events are forgotten.
        """
        self._last_agent = agent
        window = self._windows.pop(agent, None) or _Window(self._folder)
        self._windows[agent] = window
        if len(self._windows) > _WHOLE_WINDOWS:
            older = next(islice(reversed(self._windows.values()), _WHOLE_WINDOWS, None))
            older.recent.clear()

    def finish(self) -> list[CompactionReport]:
        """Return the compactions so far, by their time; the session may go on afterwards."""
        reports: list[CompactionReport] = []
        for window in self._windows.values():
            reports += window.reports(self.agent, self._ratio)
        return sorted(reports, key=lambda report: report.time or 0.0)


class _LostUse:
    """One lost fact: how it was used before, and what finding it again took."""

    __slots__ = ("back", "given_back", "level", "seen", "size", "turns", "used_again", "uses")

    def __init__(self, uses: int, level: int) -> None:
        self.uses = uses
        self.level = level
        self.back = ""
        self.size = 0
        self.turns: set[int] = set()
        self.seen: set[int] = set()
        self.given_back = False
        self.used_again = False


class _OneCompaction:
    """One compaction while the session goes on: what was lost, and what of it came back."""

    def __init__(self, event: Compaction) -> None:
        self.event = event
        self.prose: list[str] = []
        self.data: list[str] = []
        """What stands in the window afterwards: words, and files and results of tools."""
        self.has_summary = False
        self.readable = False
        """Whether it is known what stands in the window."""
        self.in_window: dict[str, int] = {}
        self.lost: dict[Fact, _LostUse] = {}
        self.calls = 0
        self.steps: int | None = None

    def leaves(self, event: Event) -> bool:
        """Whether *event* is part of what the compaction leaves; if so, take its text."""
        if isinstance(event, Attachment):
            texts = self.data if event.path else self.prose
            texts.append(f"{event.path}\n{event.text}")
            return True
        if isinstance(event, ToolCall | ToolResult):
            return False
        if not isinstance(event, Message):
            return True
        if event.role == "assistant" or (event.human and not is_set_up(event.text)):
            return False
        self.prose.append(event.text)
        self.has_summary = self.has_summary or event.role == "summary"
        return True

    def end(self, facts: list[Fact], standing: Iterable[Event]) -> Comparison:
        """Compare *facts* with what stands in the window, and forget its text.

        The client left the *standing* messages in it. That alone doesn't say what the summary has.
        """
        has_text = self.has_summary or bool(self.prose or self.data)
        self.readable = has_text and not self.event.hidden
        for event in standing:
            texts = self.prose if isinstance(event, Message) else self.data
            texts.append(_text_of(event))
        comparison = compare(facts, "\n".join(self.prose), "\n".join(self.data))
        self.in_window = {kind: before for kind, (before, _) in comparison.counts().items()}
        self.prose = []
        self.data = []
        return comparison

    def count_call(self, *, is_edit: bool) -> None:
        """Count a call of the agent afterwards."""
        self.calls += 1
        if is_edit and self.steps is None:
            self.steps = self.calls

    def report(self, agent: str, ratio: BilledRatio, model: str) -> CompactionReport:
        """Return what is known of it."""
        lost = dict.fromkeys(self.in_window, 0)
        came_back = dict.fromkeys(self.in_window, 0)
        turns: set[int] = set()
        for (kind, _), use in self.lost.items():
            lost[kind] += 1
            came_back[kind] += bool(use.back)
            turns |= use.turns
        event = self.event
        return CompactionReport(
            time=event.time,
            session=event.session,
            agent=agent,
            sub_agent=event.agent,
            trigger=event.trigger,
            before=event.before,
            after=event.after,
            in_window=self.in_window,
            lost=lost,
            came_back=came_back,
            items=tuple(self._items(ratio, model)),
            turns=len(turns),
            tokens=ratio.tokens(sum(use.size for use in self.lost.values()), model),
            readable=self.readable,
            basis=GUESSED if ratio.bytes_per_token is None else BASIS,
            steps=self.steps,
        )

    def _items(self, ratio: BilledRatio, model: str) -> Iterator[LostFact]:
        for (kind, text), use in islice(self.lost.items(), MOST_ITEMS):
            yield LostFact(
                kind,
                _masked(text),
                use.uses,
                use.back,
                turns=len(use.turns),
                tokens=ratio.tokens(use.size, model),
                level=use.level,
                given_back=use.given_back,
                used_again=use.used_again,
            )


class _RecentEvents:
    """The latest events, whole: a compaction may leave them in the window."""

    def __init__(self) -> None:
        self._events: deque[Event] = deque()
        self._size = 0

    def add(self, event: Event) -> None:
        """Remember *event*, and forget the oldest if there is too much."""
        if not isinstance(event, Message | ToolCall | ToolResult | Attachment):
            return
        self._events.append(event)
        self._size += _size_of(event)
        while self._size > _RECENT and len(self._events) > 1:
            self._size -= _size_of(self._events.popleft())

    def at(self, places: Iterable[int]) -> list[Event]:
        """Return the events at these *places*."""
        wanted = set(places)
        return [event for event in self._events if event.at in wanted]

    def clear(self) -> None:
        """Forget all of them."""
        self._events.clear()
        self._size = 0


class _Window:
    """One thread's window, through its compactions."""

    def __init__(self, folder: str) -> None:
        self._inventory = Inventory(folder)
        self._compactions: list[_OneCompaction] = []
        self._open: _OneCompaction | None = None
        """The compaction whose standing text is being read."""
        self._missing: dict[Fact, _LostUse] = Bounded(LARGEST)
        """What is lost and wasn't used since; commands without their numbers."""
        self.recent = _RecentEvents()
        self._calls = Bounded(_MOST_OPEN)
        self._answers = Bounded(_MOST_OPEN)
        self._turn = 0
        self._model = ""

    def take(self, event: Event) -> None:
        """Take in one event."""
        if isinstance(event, Compaction):
            self._settle()
            self._open = _OneCompaction(event)
            return
        if self._open is not None and not self._open.leaves(event):
            self._settle()
        if isinstance(event, Usage):
            self._turn += 1
            self._model = event.model or self._model
        elif isinstance(event, ToolCall):
            self._calls[event.id] = event
        elif isinstance(event, Attachment) and self._missing:
            self._take_told(event.text, "hook" if event.kind.startswith("hook") else "")
        self.recent.add(event)
        self._use(event)

    # Before a compaction --------------------------------------------------------------------------

    def _use(self, event: Event) -> None:
        """Take in the facts that *event* names, and note which of them had been lost."""
        facts = self._inventory.take(event)
        if isinstance(event, ToolResult):
            self._take_result(event, facts)
        elif isinstance(event, Message) and event.human and self._missing:
            self._take_told(event.text, "you")

    def _take_result(self, result: ToolResult, facts: list[Fact]) -> None:
        """Note which of the *facts* that a call used had been lost."""
        call = self._calls.pop(result.id, None)
        if call is None:
            return
        is_edit = call.changes_files or bool(shell_facts_of(call).changes)
        if self._compactions and not result.refusal:
            self._compactions[-1].count_call(is_edit=is_edit and not result.error)
        for fact in facts:
            self._use_again(fact, call, result, is_edit=is_edit)

    # At a compaction ------------------------------------------------------------------------------

    def _settle(self) -> None:
        """Compare what the window held with what the last compaction left, all of which is read."""
        compaction = self._open
        self._open = None
        if compaction is None:
            return
        standing = self.recent.at(compaction.event.kept)
        comparison = compaction.end(self._inventory.ranked(), standing)
        if compaction.readable:
            self._lose(comparison, compaction)
        self._compactions.append(compaction)

    def _lose(self, comparison: Comparison, compaction: _OneCompaction) -> None:
        """Note what *compaction* lost, what matters most first, and forget it."""
        levels = self._inventory.levels(comparison.lost)
        for fact in sorted(comparison.lost, key=lambda fact: levels[fact]):
            use = _LostUse(self._inventory.uses[fact].uses, levels[fact])
            compaction.lost[fact] = use
            self._missing[without_numbers(fact)] = use
        self._inventory.keep_only(set(comparison.before) - set(comparison.lost))

    # After a compaction ---------------------------------------------------------------------------

    def _use_again(self, fact: Fact, call: ToolCall, result: ToolResult, *, is_edit: bool) -> None:
        """Note that a call used *fact*; if it had been lost, what finding it again took.

        A file costs what is read of it, each part once, until it is changed. A command costs only
        if its answer is the one from before: another answer is news.
        """
        answer = hash(result.text)
        is_command = fact[0] == "command"
        is_same_answer = is_command and self._answers.get(fact) == answer
        self._answers[fact] = answer
        use = self._missing.get(without_numbers(fact))
        if use is None:
            return
        use.used_again = True
        use.back = use.back or _how(is_command=is_command, is_edit=is_edit)
        is_cost = is_same_answer if is_command else answer not in use.seen
        if is_cost and not is_edit:
            use.seen.add(answer)
            use.turns.add(self._turn)
            use.size += length_of(result.text) + length_of(_text_of(call))
        if is_edit or is_command:
            del self._missing[without_numbers(fact)]

    def _take_told(self, text: str, by: str) -> None:
        """Note which of the last compaction's losses *text* names: somebody brought them back."""
        if not by or not text:
            return
        last = self._compactions[-1]
        missing = self._missing_of(last)
        lines: set[str] = set()
        if by == "hook" and HEADING in text:
            lines.update(text.splitlines())
        still_missing = set(compare(missing, text).lost)
        for fact in missing:
            use = last.lost[fact]
            kind, words = fact
            use.given_back = f"  - {line_of(kind, _masked(words))}" in lines
            if use.given_back or fact not in still_missing:
                use.back = by  # reading the file again still costs something
                self._inventory.note(fact)

    def _missing_of(self, compaction: _OneCompaction) -> list[Fact]:
        """Return what *compaction* lost and nobody brought back or used since."""
        missing = []
        for fact, use in compaction.lost.items():
            if not use.back and self._missing.get(without_numbers(fact)) is use:
                missing.append(fact)
        return missing

    def reports(self, agent: str, ratio: BilledRatio) -> Iterator[CompactionReport]:
        """Yield what is known of each compaction."""
        self._settle()
        for compaction in self._compactions:
            yield compaction.report(agent, ratio, self._model)


def _how(*, is_command: bool, is_edit: bool) -> str:
    if is_command:
        return "run"
    return "changed" if is_edit else "read"


@lru_cache(maxsize=4_096)
def _masked(text: str) -> str:
    return masked_line(text, _LONGEST)


def _size_of(event: Event) -> int:
    return len(getattr(event, "text", "")) + _EVENT_SIZE


def _text_of(event: Event) -> str:
    """Return all that *event* says."""
    if isinstance(event, ToolCall):
        try:
            return json.dumps(event.input, ensure_ascii=False, default=str)
        except (ValueError, TypeError, RecursionError):
            return ""
    return str(getattr(event, "text", ""))
