"""``ContextBudget``: how full is the window, and is it time to compact?

It is fed every event of a session and keeps, for the main thread, what the last call reported. A
run's total is a sum over its calls, so it doesn't measure the window: docs/decisions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from brim.agents.call import Event
from brim.agents.events import Compaction, End, Message, ModelSeen, RunTotal, Usage
from brim.agents.lines import Bounded
from brim.agents.readers import AnyReader
from brim.errors import InputError
from brim.memory.token_length import by_length, length_of
from brim.models.reported import window_from_error
from brim.notices import OVERHEAD, CompactDue, ContextWarning, Notice, Subscribers
from brim.sessions.window.estimate import Contents, Filling, anchored
from brim.sessions.window.occupancy import Occupancy
from brim.sessions.window.windows import DEFAULT_WINDOW, Windows
from brim.tokens.approximate import ApproximateTokenCounter
from brim.tokens.count import Count
from brim.tokens.protocol import TokenCounter

WARN = 0.70
COMPACT = 0.78
"""Shares of the window at which a session is warned, and asked to compact."""


class ContextBudget(Occupancy):
    """How full the window of a session's main thread is, from whatever its agent writes.

    *context_window* is the caller's word for the main thread; what the agent or the provider
    reports outranks it, and it outranks what is known about the model. With *pinned* it outranks
    everything. The guarantees:

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
            raise InputError(
                f"context_window must be a whole number of tokens, not {repr(context_window)[:40]}"
            )
        for name, threshold in (
            ("warn_threshold", warn_threshold),
            ("compact_threshold", compact_threshold),
        ):
            if (
                isinstance(threshold, bool)
                or not isinstance(threshold, (int, float))
                or not threshold >= 0
            ):
                raise InputError(
                    f"{name} must be a share of the window such as 0.7, not {repr(threshold)[:40]}"
                )
        self.warn_threshold = warn_threshold
        self.compact_threshold = compact_threshold
        self.subscriber_error: Exception | None = None
        """What the last subscriber that failed raised: ``update`` does not raise it."""
        super().__init__(Windows(context_window, pinned=pinned), model or "", main=True)
        self.should_warn = False
        """Whether the warning threshold was reached: set until ``clear_warning`` or
        ``clear_compact``."""
        self.should_compact = False
        """Whether the compaction threshold was reached: set until ``clear_compact`` or
        ``request_compaction``."""
        self.session = ""
        """The session of the last main-thread event that names one."""
        self._asked = self.model
        self._threads = Bounded(1_000)
        self._measured_on = ""  # the session of the last report
        self._warned_until = self._compacted_until = (
            0  # reports up to these are dealt with: newer ones set the flags
        )
        self._subscribers = Subscribers()
        self._reader = AnyReader()
        self._requested: str | None = None
        self._begin()

    def _begin(self) -> None:
        """Begin with another window.

        Its floor is what the last compaction left, as the prompt after it shows.
        """
        self._contents = Contents()
        self._floor: int | None = None
        self._compacted = self._told_overhead = False

    def update(self, event: object) -> list[Notice]:
        """Take an event: a typed one, any parsed line of any agent, or a response or stream event
        of an SDK.

        Return what must be told because of it.
        """
        notices = [notice for one in self._events(event) for notice in self._noticed(one)]
        try:
            self._subscribers.tell(notices)
        except Exception as error:  # it is the subscriber's, and must not stop the session
            self.subscriber_error = error
        return notices

    @property
    def overhead_exceeds(self) -> bool:
        """Whether the last compaction still left the window over the threshold: another one would
        not help."""
        window = self.context_window
        return (
            self._floor is not None
            and window > 0
            and self._floor / window >= self.compact_threshold
        )

    @property
    def standing_tokens(self) -> int:
        """Tokens in the window, with the system prompt and the tools.

        What a client says that a compaction left is the conversation alone; ``used_tokens`` is that
        number until the next request.
        """
        if self.basis != "compaction":
            return self.used_tokens
        return self.used_tokens + self._contents.fixed

    def report_windows(self, windows: Mapping[str, int]) -> None:
        """Take what the client says about the windows of its models."""
        self._windows.report(windows)

    @property
    def filling(self) -> Filling:
        """What fills the window, largest part first: an estimate that adds up to
        ``used_tokens``."""
        return self._contents.filling(self.used_tokens, self.model, self.basis)

    @property
    def agents(self) -> dict[str, Occupancy]:
        """The windows of the sub-agents, by their id; each fills and is compacted on its own."""
        return dict(self._threads)

    def pending(
        self, text: str = "", *, messages: Sequence[Any] = (), counter: TokenCounter | None = None
    ) -> Count:
        """Return how large the next prompt will be: what was reported, and a local count of what
        came since.

        *text* and *messages* are what is to be sent on top. Without a *counter* texts are taken by
        their length.
        """
        unanswered = self._contents.since(self._answer, counter, self.model)
        if text:
            unanswered += counter.count(text) if counter else by_length(length_of(text), self.model)
        if messages:
            unanswered += (counter or ApproximateTokenCounter(self.model)).count_messages(messages)
        if not self.basis:
            return unanswered
        if self.basis in ("total", "guess"):
            # At most as much as a run's sum; a guess has no lower end either.
            return anchored(0, unanswered, more=self.used_tokens)
        # What clients say that a compaction left is the conversation: system and tools come on top
        # of it.
        return anchored(
            self.used_tokens, unanswered, more=self.overhead if self.basis == "compaction" else 0
        )

    def must_compact(self, text: str = "", *, counter: TokenCounter | None = None) -> bool:
        """Whether the next prompt is over the compaction threshold for certain, so that compacting
        may be forced.

        It asks the lower end of ``pending``, because a compaction cannot be undone; and the answer
        is no while a request waits or compacting does not help. Unlike ``should_compact`` it is
        about now, and not latched.
        """
        window = self.context_window
        if self.compaction_requested or self.overhead_exceeds or window <= 0:
            return False
        return self.pending(text, counter=counter).low / window >= self.compact_threshold

    def clear_warning(self) -> None:
        """Clear the warning; a newer report sets it again."""
        self.should_warn = False
        self._warned_until = self._reports

    def clear_compact(self) -> None:
        """Clear both flags, and end a request to compact; a newer report sets them again."""
        self.should_compact = False
        self._compacted_until = self._reports
        self.clear_warning()
        self._requested = None

    def request_compaction(self) -> None:
        """Say that the agent was asked to compact: both flags are cleared, and stay so until it
        has.

        A compaction of the main thread ends the request, and so do another session and
        ``clear_compact``, for when the agent refuses.
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
        try:
            dump = None if isinstance(event, Mapping) else getattr(event, "model_dump", None)
            if callable(dump):  # a response or an event of an SDK
                event = dump(mode="json", by_alias=True, exclude_none=True)
            if isinstance(event, Mapping):
                return self._reader.events(event)
            return []
        except Exception:  # a caller's own mapping class can raise anything
            return []

    def _noticed(self, event: Event) -> list[Notice]:
        try:
            self._take(event)
            return self._judge()
        except Exception:  # a typed event whose fields are not what they should be, whatever these raise, says nothing
            return []

    def _take(self, event: Event) -> None:
        main = not event.agent
        if main and isinstance(event.session, str) and event.session:
            self.session = event.session
        thread = self._thread_of(event)
        if thread is None:
            return
        if isinstance(event, Usage):
            self._take_usage(thread, event)
        elif isinstance(event, Compaction):
            self._take_compaction(thread, event)
        elif isinstance(event, ModelSeen):
            asked = self._asked if main else ""
            thread._see_model(event.model, asked)
            self._windows.report({thread.model: event.window})
        elif isinstance(event, (Message, End)) and _is_error(event):
            self._windows.overflow(thread.model, window_from_error(event.text) or 0)
        elif main and isinstance(event, RunTotal):
            self._windows.report(event.windows)
            if self._total(event):
                self._measure(0)
        elif main:
            self._contents.add(event)

    def _thread_of(self, event: Event) -> Occupancy | None:
        """Return the window that *event* is about; None if it has none yet."""
        if not event.agent:
            return self
        if event.agent not in self._threads:
            # Words alone make no window: a sub-agent is often named by another id there.
            if not isinstance(event, (Usage, Compaction, ModelSeen)):
                return None
            self._threads[event.agent] = Occupancy(self._windows)
        thread: Occupancy = self._threads[event.agent]
        return thread

    def _take_usage(self, thread: Occupancy, event: Usage) -> None:
        before = thread.used_tokens
        if not thread._report(event):
            return
        self._windows.prove(thread.model, thread.used_tokens)
        if thread is self:
            self._measure(before)

    def _take_compaction(self, thread: Occupancy, event: Compaction) -> None:
        if thread._compact(event) and thread is self:
            self._contents.compact()
            self._floor = None
            self._compacted = True
            self._requested = None

    def _measure(self, before: int) -> None:
        """Note a newer measurement of the window: what came before is in it."""
        used = self.used_tokens
        if self._measured_on and self.session != self._measured_on:
            # What was asked and told was about the other session. If less is used, the conversation
            # did not move here.
            self._told_overhead = False
            if self._requested != self.session:
                self._requested = None
            if used < before:
                self._begin()
                self.overhead = used
        if self._compacted:
            # A large result right after a compaction isn't overhead: its highest estimate is taken
            # off.
            self._floor = max(0, used - by_length(self._contents.arrived, self.model).high)
            self._compacted = False
        elif self._floor is not None:
            self._floor = min(self._floor, used)
        self._contents.report(used, self.model)
        self._measured_on = self.session

    def _judge(self) -> list[Notice]:
        window = self.context_window
        if not self._reports or window <= 0:
            return []
        used = self.used_tokens
        notices: list[Notice] = []
        facts: Any = {"window": window, "session": self._measured_on}
        exceeds = self.overhead_exceeds
        if exceeds and not self._told_overhead:
            self._told_overhead = True
            floor = self._floor or 0
            share = floor / window
            notices.append(
                ContextWarning(used_tokens=floor, utilization=share, reason=OVERHEAD, **facts)
            )
        if self.basis not in ("call", "total"):
            return notices
        utilization = used / window
        facts |= {"used_tokens": used, "utilization": utilization}
        is_over = False
        is_near = False
        if not self.compaction_requested:
            is_over = utilization >= self.compact_threshold
            is_near = utilization >= min(self.warn_threshold, self.compact_threshold)
        compacts = is_over and self._may_say_compact and not exceeds
        warns = compacts or (is_near and self._reports > self._warned_until)
        if warns and not self.should_warn:
            self.should_warn = True
            notices.append(ContextWarning(**facts))
        if compacts:
            self.should_compact = True
            notices.append(CompactDue(**facts))
        return notices

    @property
    def _may_say_compact(self) -> bool:
        """Whether it isn't said already, and there was a report since it was answered."""
        return not self.should_compact and self._reports > self._compacted_until


def _is_error(event: Message | End) -> bool:
    """Whether *event* is a provider's error: it may name the size of the window."""
    if isinstance(event, Message):
        return event.role == "error"
    return event.error and not event.agent
