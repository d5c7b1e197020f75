"""``ContextBudget``: how full is the window, and is it time to compact?

It is fed every event of a session and keeps, for the main thread, what the last call reported. A run's total is a sum
over its calls and so no measure of the window; docs/decisions/0008 says why this matters.
"""

from __future__ import annotations

from collections.abc import Mapping

from brim._frozen import Frozen
from brim.errors import InputError
from brim.notices import Subscribers
from brim.tracking.estimate import Tail, anchored, by_length
from brim.tracking.events import Compaction, End, Event, Message, ModelSeen, RunTotal, ToolCall, ToolResult, Usage
from brim.tracking.filling import Contents, input_text
from brim.tracking.occupancy import SYNTHETIC, Occupancy
from brim.tracking.thresholds import COMPACT, OVERHEAD, WARN, CompactDue, ContextWarning, Latches
from brim.tracking.windows import DEFAULT_WINDOW, Windows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from brim.notices import Notice
    from brim.tokens.count import Count
    from brim.tokens.types import TokenCounter
    from brim.tracking.filling import Filling
    from brim.tracking.readers.detect import AnyReader
    from brim.tracking.windows import Window

_AGENTS_KEPT = 1_000


class AgentWindow(Frozen):
    """The window of a sub-agent: it fills and is compacted by itself."""

    __slots__ = ("compactions", "model", "used_tokens", "window")

    model: str
    used_tokens: int
    window: Window
    compactions: int

    def __init__(self, *, model: str, used_tokens: int, window: Window, compactions: int = 0) -> None:
        self._fill(model=model, used_tokens=used_tokens, window=window, compactions=compactions)

    @property
    def utilization(self) -> float:
        """The share of its window that is used; it may exceed 1."""
        return share(self.used_tokens, self.window.tokens)


class ContextBudget:
    """How full the window of a session's main thread is, from whatever its agent writes.

    *context_window* is the caller's word for the main thread; what the agent or the provider reports outranks it, and
    it outranks what is known about the model. With *pinned* it outranks everything. Its guarantees:

    - ``update`` takes any parsed line or typed event and never raises;
    - ``used_tokens`` is the last main-thread call, each request counted once, or what a compaction left; a run's total
      counts only while no call has reported;
    - the flags are set at or over their thresholds, and stay set until the caller clears them.
    """

    def __init__(
        self,
        context_window: int = DEFAULT_WINDOW,
        warn_threshold: float = WARN,
        compact_threshold: float = COMPACT,
        *,
        model: str | None = None,
        pinned: bool = False,
    ) -> None:
        if not isinstance(context_window, int) or isinstance(context_window, bool):
            raise InputError(f"context_window must be a whole number of tokens, not {repr(context_window)[:40]}")
        for name, threshold in (("warn_threshold", warn_threshold), ("compact_threshold", compact_threshold)):
            if isinstance(threshold, bool) or not isinstance(threshold, (int, float)) or not threshold >= 0:
                raise InputError(f"{name} must be a share of the window such as 0.7, not {repr(threshold)[:40]}")
        self.warn_threshold, self.compact_threshold = warn_threshold, compact_threshold
        self.session = ""
        """The session of the last main-thread event that names one."""
        self.subscriber_error: Exception | None = None
        """What the last subscriber that failed raised: ``update`` does not raise it."""
        self._windows = Windows(context_window, pinned=pinned)
        self._main = Occupancy()
        self._main.model = model or ""
        self._agents: dict[str, Occupancy] = {}
        self._latches = Latches(warn_threshold, compact_threshold)
        self._subscribers = Subscribers()
        self._reader: AnyReader | None = None
        self._contents, self._tail = Contents(), Tail()
        self._measured_on = ""
        self._requested: str | None = None
        self._floor: int | None = None
        self._compacted = self._told = False

    def update(self, event: Mapping[str, Any] | Event | object) -> list[Notice]:
        """Take an event: a typed one, or any parsed line of any agent. Return what must be told because of it."""
        notices: list[Notice] = []
        for one in self._events(event):
            try:
                self._take(one)
                notices += self._judge()
            except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
                continue  # a typed event whose fields are not what they should be says nothing
        try:
            self._subscribers.tell(notices)
        except Exception as error:  # it is the subscriber's, and must not stop the session
            self.subscriber_error = error
        return notices

    @property
    def input_tokens(self) -> int:
        """Tokens of the last prompt that no cache has to do with."""
        return self._main.input

    @property
    def cache_creation_input_tokens(self) -> int:
        """Tokens of the last prompt that were written to a cache."""
        return self._main.cache_creation

    @property
    def cache_read_input_tokens(self) -> int:
        """Tokens of the last prompt that were read from a cache."""
        return self._main.cache_read

    @property
    def output_tokens(self) -> int:
        """Tokens that the main thread's model has written so far; a run's total settles them."""
        return self._main.written

    @property
    def used_tokens(self) -> int:
        """Tokens in the window: the three counters together."""
        return self._main.used

    @property
    def basis(self) -> str:
        """What ``used_tokens`` rests on: ``call``, ``compaction``, ``guess``, ``total``, or empty for nothing yet."""
        return self._main.basis

    @property
    def window(self) -> Window:
        """How large the window is, who says so, and who says otherwise."""
        return self._windows.of(self._main.model)

    @property
    def context_window(self) -> int:
        """Tokens that the window holds."""
        return self.window.tokens

    @property
    def utilization(self) -> float:
        """The share of the window that is used. It may exceed 1; a window of no size gives 0."""
        return share(self.used_tokens, self.context_window)

    @property
    def should_warn(self) -> bool:
        """Whether the warning threshold was reached; set until ``clear_warning`` or ``clear_compact``."""
        return self._latches.should_warn

    @property
    def should_compact(self) -> bool:
        """Whether the compaction threshold was reached; set until ``clear_compact`` or ``request_compaction``."""
        return self._latches.should_compact

    @property
    def model(self) -> str:
        """The main thread's model; empty if nobody said."""
        return self._main.model

    @property
    def compactions(self) -> int:
        """How often the main thread's window was compacted."""
        return self._main.compactions

    @property
    def cache_hit_share(self) -> float:
        """The share of all prompt tokens so far that were read from a cache."""
        return self._main.cache_hit_share

    @property
    def overhead(self) -> int:
        """What is in every prompt (system, tools, pinned text), at most: the smallest prompt so far; 0 if unknown."""
        return self._main.smallest

    @property
    def overhead_exceeds(self) -> bool:
        """Whether the last compaction left the window over the threshold by itself: another one would not help."""
        window = self.context_window
        return self._floor is not None and window > 0 and share(self._floor, window) >= self.compact_threshold

    @property
    def filling(self) -> Filling:
        """What fills the window, largest part first; an estimate that adds up to ``used_tokens``."""
        return self._contents.filling(self.used_tokens, self.model, self.basis)

    @property
    def agents(self) -> dict[str, AgentWindow]:
        """The windows of the sub-agents, by their id."""
        return {
            name: AgentWindow(
                model=one.model,
                used_tokens=one.used,
                window=self._windows.of(one.model, main=False),
                compactions=one.compactions,
            )
            for name, one in self._agents.items()
        }

    def pending(self, text: str = "", *, messages: Sequence[Any] = (), counter: TokenCounter | None = None) -> Count:
        """Return how large the next prompt will be: what was reported, and a local count of what came since.

        *text* and *messages* are what is to be sent on top. Without a *counter* texts are taken by their length.
        """
        rest = self._tail.count(self._main.output, counter, self.model)
        if text:
            rest += counter.count(text) if counter else by_length(len(text.encode("utf-8", "replace")), self.model)
        if messages:
            from brim.tokens.approximate import ApproximateTokenCounter

            rest += (counter or ApproximateTokenCounter(self.model)).count_messages(messages)
        if self.basis == "total":
            return anchored(0, rest, more=self.used_tokens)
        if not self.basis:
            return rest
        # What clients say that a compaction left is the conversation: system and tools come on top of it.
        more = self._main.smallest if self.basis == "compaction" else 0
        return anchored(self.used_tokens, rest, more=more)

    def must_compact(self, text: str = "", *, counter: TokenCounter | None = None) -> bool:
        """Whether the next prompt is over the compaction threshold for certain, so that compacting may be forced.

        It asks the lower end of ``pending``, because a compaction cannot be undone; and it is no while a request waits
        or compacting does not help. Unlike ``should_compact`` it is about now, and not latched.
        """
        if self._requested is not None or self.overhead_exceeds:
            return False
        window = self.context_window
        return window > 0 and share(self.pending(text, counter=counter).low, window) >= self.compact_threshold

    def clear_warning(self) -> None:
        """Clear the warning; a newer report sets it again."""
        self._latches.clear_warning(self._main.reports)

    def clear_compact(self) -> None:
        """Clear both flags, and forget a request to compact; a newer report sets them again."""
        self._latches.clear_compact(self._main.reports)
        self._requested = None

    def request_compaction(self) -> None:
        """Say that the agent was asked to compact: the flags are cleared, and stay so until it has.

        A compaction of the main thread ends the request, and so do another session and ``clear_compact``, for when the
        agent refuses.
        """
        self.clear_compact()
        self._requested = self.session

    @property
    def compaction_requested(self) -> bool:
        """Whether the agent was asked to compact and has not yet done so."""
        return self._requested is not None

    def subscribe(self, subscriber: Callable[[Notice], object]) -> Callable[[], None]:
        """Hand every notice to *subscriber* from now on; call what is returned to end that."""
        return self._subscribers.add(subscriber)

    def _events(self, event: object) -> list[Event]:
        if isinstance(event, Event):
            return [event]
        if not isinstance(event, Mapping):
            return []
        if self._reader is None:
            from brim.tracking.readers.detect import AnyReader

            self._reader = AnyReader()
        try:
            return self._reader.events(event)
        except Exception:  # a mapping of somebody's own can raise anything
            return []
