"""Learns a model's ratio of its own tokens to local ones from a session that is being watched.

The difference between two prompts is what came between them, free of system texts, tools and framing. Of that, what the
model wrote is known from its own report, so the rest is the results of tools; and these are here, to be counted.
"""

from __future__ import annotations

from brim.tokens.calibrate import ANY_FAMILY, MAX_RATIO, MIN_RATIO, learn
from brim.tracking.events import Compaction, Message, ToolCall, ToolResult, Usage
from brim.tracking.occupancy import SYNTHETIC, prompt_of, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.tokens.calibrate import CalibrationStore
    from brim.tokens.counters import TokenCounter
    from brim.tracking.events import Event

_LEAST, _MOST = 2_000, 400_000
"""Characters of results that are worth counting: fewer say little, more take long."""


class Calibrator:
    """Teaches *store* from what a session reports. *counter* counts locally; if it scales, its ratio is taken out.

    It learns only from two calls of the main thread in a row, by one model, in one session, with nothing but results of
    tools between them and the output of the first one final: a message of a person ends a turn, and clients drop old
    reasoning there. A ratio beyond all vocabularies teaches nothing: something was in the prompt that no line shows.
    Nor does a stream that reports a call only when its tools are done: a result may be in either prompt there.
    """

    def __init__(self, counter: TokenCounter, store: CalibrationStore) -> None:
        self._counter, self._store = counter, store
        self._last: Usage | None = None
        self._texts: list[str] = []
        self._size = 0
        self._spoiled = self._called = self._late = False

    def update(self, event: Event) -> None:
        """Take one event; those of sub-agents say nothing here."""
        if event.agent:
            return
        if isinstance(event, Usage):
            self._report(event)
        elif isinstance(event, ToolResult):
            self._late |= self._called and self._last is None
            self._size += len(event.text)
            if self._size <= _MOST:
                self._texts.append(event.text)
        elif isinstance(event, ToolCall):
            self._called = True
        elif isinstance(event, Compaction) or (isinstance(event, Message) and event.role not in ("assistant", "error")):
            self._spoiled = True

    def _report(self, event: Usage) -> None:
        last = self._last
        if event.model == SYNTHETIC or not prompt_of(event.tokens):
            return
        if last is not None and event.request and event.request == last.request:
            self._last = event
            return
        if last is not None and self._says_something(last, event):
            self._teach(last, event)
        self._last, self._texts, self._size, self._spoiled = event, [], 0, False

    def _says_something(self, last: Usage, event: Usage) -> bool:
        same = (last.model, last.session) == (event.model, event.session) and bool(event.model)
        return same and last.final and not (self._spoiled or self._late) and _LEAST <= self._size <= _MOST

    def _teach(self, last: Usage, event: Usage) -> None:
        from brim.models.light import lookup

        ratio = getattr(self._counter, "ratio", None)
        local = sum(int(self._counter.count(text)) for text in self._texts) / (ratio.value if ratio else 1.0)
        reported = prompt_of(event.tokens) - prompt_of(last.tokens) - whole(last.tokens.output)
        if local > 0 and MIN_RATIO <= reported / local <= MAX_RATIO:
            light = lookup(event.model)
            family = light.encoding if light.resolved else ANY_FAMILY
            learn(self._store, event.model, family, reported=reported, local=local)
