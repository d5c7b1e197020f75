"""``ContextBudget``: how full is the window, and is it time to compact?

It is fed every event of a session and keeps, for the main thread, what the last call reported. A run's total is a sum
over its calls, so it doesn't measure the window: docs/decisions/0008.
"""

from __future__ import annotations

from collections.abc import Mapping

from brim.errors import InputError
from brim.notices import Notice, Subscribers
from brim.tracking.events import Event
from brim.tracking.gauge import COMPACT, OVERHEAD, WARN, CompactDue, ContextWarning, Latches
from brim.tracking.readers import AnyReader
from brim.tracking.windows import DEFAULT_WINDOW, SessionWindows, Windows, share

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from brim.tokens.counters import TokenCounter
    from brim.tracking.estimate import Filling


class ContextBudget(SessionWindows):
    """How full the window of a session's main thread is, from whatever its agent writes.

    *context_window* is the caller's word for the main thread; what the agent or the provider reports outranks it, and
    it outranks what is known about the model. With *pinned* it outranks everything. The guarantees:

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
        self.subscriber_error: Exception | None = None
        """What the last subscriber that failed raised: ``update`` does not raise it."""
        super().__init__(Windows(context_window, pinned=pinned), model or "")
        self._latches = Latches(warn_threshold, compact_threshold)
        self._subscribers = Subscribers()
        self._reader: AnyReader | None = None
        self._requested: str | None = None
        self._told_overhead = False

    def update(self, event: object) -> list[Notice]:
        """Take an event: a typed one, or any parsed line of any agent. Return what must be told because of it."""
        notices: list[Notice] = []
        for one in self._events(event):
            notices += self._noticed(one)
        try:
            self._subscribers.tell(notices)
        except Exception as error:  # it is the subscriber's, and must not stop the session
            self.subscriber_error = error
        return notices

    @property
    def input_tokens(self) -> int:
        """Tokens of the last prompt that no cache has to do with."""
        return self.main.input

    @property
    def cache_creation_input_tokens(self) -> int:
        """Tokens of the last prompt that were written to a cache."""
        return self.main.cache_creation

    @property
    def cache_read_input_tokens(self) -> int:
        """Tokens of the last prompt that were read from a cache."""
        return self.main.cache_read

    @property
    def output_tokens(self) -> int:
        """Tokens that the main thread's model has written so far; a run's total settles them."""
        return self.main.written

    @property
    def used_tokens(self) -> int:
        """Tokens in the window: the three counters together."""
        return self.main.used

    @property
    def basis(self) -> str:
        """What ``used_tokens`` rests on: ``call``, ``compaction``, ``guess``, ``total``, or empty for nothing yet."""
        return self.main.basis

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
        """Whether the warning threshold was reached: set until ``clear_warning`` or ``clear_compact``."""
        return self._latches.should_warn

    @property
    def should_compact(self) -> bool:
        """Whether the compaction threshold was reached: set until ``clear_compact`` or ``request_compaction``."""
        return self._latches.should_compact

    @property
    def model(self) -> str:
        """The main thread's model; empty if unknown."""
        return self.main.model

    @property
    def compactions(self) -> int:
        """How often the main thread's window was compacted."""
        return self.main.compactions

    @property
    def cache_hit_share(self) -> float:
        """The share of all prompt tokens so far that were read from a cache."""
        return self.main.cache_hit_share

    @property
    def overhead(self) -> int:
        """What is in every prompt (system, tools, pinned text), at most: the smallest prompt so far; 0 if unknown."""
        return self.main.smallest

    @property
    def overhead_exceeds(self) -> bool:
        """Whether the last compaction still left the window over the threshold: another one would not help."""
        floor, window = self.floor, self.context_window
        return floor is not None and window > 0 and share(floor, window) >= self.compact_threshold

    @property
    def filling(self) -> Filling:
        """What fills the window, largest part first: an estimate that adds up to ``used_tokens``."""
        return self.contents.filling(self.used_tokens, self.model, self.basis)

    def must_compact(self, text: str = "", *, counter: TokenCounter | None = None) -> bool:
        """Whether the next prompt is over the compaction threshold for certain, so that compacting may be forced.

        It asks the lower end of ``pending``, because a compaction cannot be undone; and the answer is no while a
        request waits or compacting does not help. Unlike ``should_compact`` it is about now, and not latched.
        """
        window = self.context_window
        if self.compaction_requested or self.overhead_exceeds or window <= 0:
            return False
        return share(self.pending(text, counter=counter).low, window) >= self.compact_threshold

    def clear_warning(self) -> None:
        """Clear the warning; a newer report sets it again."""
        self._latches.clear_warning(self.main.reports)

    def clear_compact(self) -> None:
        """Clear both flags, and end a request to compact; a newer report sets them again."""
        self._latches.clear_compact(self.main.reports)
        self._requested = None

    def request_compaction(self) -> None:
        """Say that the agent was asked to compact: both flags are cleared, and stay so until it has.

        A compaction of the main thread ends the request, and so do another session and ``clear_compact``, for when the
        agent refuses.
        """
        self.clear_compact()
        self._requested = self.session

    @property
    def compaction_requested(self) -> bool:
        """Whether the agent was asked to compact and has not done so yet."""
        return self._requested is not None

    def subscribe(self, subscriber: Callable[[Notice], object]) -> Callable[[], None]:
        """Hand every notice to *subscriber* from now on; call what is returned to end that."""
        return self._subscribers.add(subscriber)

    def _events(self, event: object) -> list[Event]:
        if isinstance(event, Event):
            return [event]
        if not isinstance(event, Mapping):
            return []
        self._reader = self._reader or AnyReader()
        try:
            return self._reader.events(event)
        except Exception:  # a caller's own mapping class can raise anything
            return []

    def _noticed(self, event: Event) -> list[Notice]:
        try:
            self._take(event)
            return self._judge()
        except Exception:  # a typed event whose fields are not what they should be, whatever these raise, says nothing
            return []

    def _take(self, event: Event) -> None:
        main = self.main
        compactions, session = main.compactions, self.measured_on
        self.take(event)
        if main.compactions > compactions:
            self._requested = None
        if session and self.measured_on != session:  # what was asked and told was about the other session
            self._told_overhead = False
            if self._requested != self.measured_on:
                self._requested = None

    def _judge(self) -> list[Notice]:
        main, window = self.main, self.context_window
        if not main.reports or window <= 0:
            return []
        notices: list[Notice] = []
        session, used, floor = self.measured_on, main.used, self.floor or 0
        exceeds = self.overhead_exceeds
        if exceeds and not self._told_overhead:
            self._told_overhead = True
            part = floor / window
            notices.append(
                ContextWarning(used_tokens=floor, window=window, utilization=part, session=session, reason=OVERHEAD)
            )
        if main.basis not in ("call", "total"):
            return notices
        part = used / window
        warn, compact = self._latches.judge(part, main.reports, asked=self.compaction_requested, compacting=not exceeds)
        if warn:
            notices.append(ContextWarning(used_tokens=used, window=window, utilization=part, session=session))
        if compact:
            notices.append(CompactDue(used_tokens=used, window=window, utilization=part, session=session))
        return notices
