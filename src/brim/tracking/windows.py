"""How large is the window, and what is in it? The main thread and its sub-agents, from a session's events.

Several sources say how large a window is, and they disagree. What the agent or the provider reports is about this
account and these settings; the table is about the model. An overflow error is the provider's own statement, and holds
until a larger prompt has gone through. What is in a window is the last request of its thread, counted once, or what a
compaction left.
"""

from __future__ import annotations

from brim.models.light import UNKNOWN_WINDOW, lookup
from brim.models.windows import window_from_error, window_of
from brim.record import Record
from brim.tokens.counters import ApproximateTokenCounter
from brim.tracking.estimate import Contents, Tail, anchored, by_length, length_of, prompt_of, text_of, whole
from brim.tracking.events import Compaction, End, Message, ModelSeen, RunTotal, ToolCall, ToolResult, Usage
from brim.tracking.readers.fields import SYNTHETIC, Bounded, is_short_for, model_key, model_spellings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from brim.models.usage import Tokens
    from brim.tokens.count import Count
    from brim.tokens.counters import TokenCounter
    from brim.tracking.events import Event

SOURCES = {
    "pinned": "pinned",
    "overflow": "named in an overflow error",
    "reported": "reported by the agent",
    "given": "given",
    "remembered": "reported earlier",
    "table": "model table",
    "family": "nearest known model",
    "default": "default",
}
"""Where a window can come from, strongest first, and how that is said."""

_MOST = 10**12


class _Unsaid(int):
    """The default, told apart from the same number when it is given."""


DEFAULT_WINDOW = _Unsaid(200_000)
"""The window when no source says anything."""


class Window(Record):
    """How many tokens the window holds, who says so, and what the other sources say instead.

    >>> print(Window(1_000_000, "reported", (("given", 200_000),)))
    1,000,000 tokens (reported by the agent; given: 200,000)
    """

    tokens: int
    source: str
    """One of ``SOURCES``."""
    others: tuple[tuple[str, int], ...] = ()
    """The sources that say something else, strongest first, each with its tokens."""

    def __str__(self) -> str:
        said = "".join(f"; {SOURCES.get(source, source)}: {tokens:,}" for source, tokens in self.others)
        return f"{self.tokens:,} tokens ({SOURCES.get(self.source, self.source)}{said})"


class Windows:
    """The windows of a session's models, from every source. *given* is the caller's, for the main thread's model."""

    def __init__(self, given: int = DEFAULT_WINDOW, *, pinned: bool = False) -> None:
        self._given = None if given is DEFAULT_WINDOW else int(given)
        self._pinned = pinned
        self._reported, self._overflow, self._found = Bounded(1_000), Bounded(1_000), Bounded(1_000)

    def report(self, windows: Mapping[str, int]) -> None:
        """Take what an agent says about its models; a later word replaces an earlier one."""
        for model, tokens in windows.items():
            if isinstance(model, str) and _is_size(tokens):
                self._keep(self._reported, model_key(model), tokens)

    def overflow(self, model: str, tokens: int) -> None:
        """Take the limit that a provider named when it refused a prompt."""
        if _is_size(tokens):
            self._keep(self._overflow, model_key(model), tokens)

    def prove(self, model: str, prompt: int) -> None:
        """Take that a prompt of so many tokens went through: an overflow error that named less is out of date."""
        key = model_key(model)
        if prompt > self._overflow.get(key, _MOST):
            del self._overflow[key]
            self._found.clear()

    def of(self, model: str, *, main: bool = True) -> Window:
        """Return the window of *model*; *main* says whether it is the main thread's, which the caller's is for."""
        if (model, main) not in self._found:
            self._found[model, main] = self._decide(model, main=main)
        return self._found[model, main]  # type: ignore[no-any-return]

    def _decide(self, model: str, *, main: bool) -> Window:
        said: list[tuple[str, int]] = []
        if main and self._given is not None:
            said.append(("pinned" if self._pinned else "given", self._given))
        if (tokens := _named(self._overflow, model)) is not None:
            said.append(("overflow", tokens))
        if (tokens := _named(self._reported, model)) is not None:
            said.append(("reported", tokens))
        said += _known(model)
        said.sort(key=lambda one: tuple(SOURCES).index(one[0]))
        if not said:
            return Window(int(DEFAULT_WINDOW), "default")
        source, tokens = said[0]
        return Window(tokens, source, tuple(other for other in said[1:] if other[1] != tokens))

    def _keep(self, kept: dict[str, int], key: str, tokens: int) -> None:
        if kept.pop(key, None) != tokens:
            self._found.clear()
        kept[key] = tokens


def _is_size(tokens: object) -> bool:
    return type(tokens) is int and 0 < tokens <= _MOST


def _named(kept: dict[str, int], model: str) -> int | None:
    """Return what is kept for *model*, under its own name, without a suffix such as ``[1m]``, or as an alias."""
    if not kept:
        return None
    key = model_key(model)
    if not key:
        return next(iter(kept.values())) if len(kept) == 1 else None
    if key in kept:
        return kept[key]
    names = model_spellings(key)
    same = (kept[other] for other in reversed(kept) if other and names & model_spellings(other))
    return next(same, kept.get(""))


def _known(model: str) -> list[tuple[str, int]]:
    """Return what brim's own tables know about *model*: the most that a prompt may have, without its answer."""
    key = model_key(model)
    if not key:
        return []
    light = lookup(key)
    remembered = window_of(key) or window_of(light.name.lower())
    if remembered:
        return [("remembered", min(remembered, light.max_input))]
    if light.resolved:
        return [("table", light.max_input)]
    return [("family", light.max_input)] if light.max_input != UNKNOWN_WINDOW else []


BASES = ("", "call", "compaction", "guess", "total")
"""What the occupancy rests on: nothing yet; the prompt of the last call; what the client says that a compaction left;
the smallest prompt so far, after a compaction that does not say; a run's total, a sum and so at least as much."""


class Occupancy:
    """One thread's window. ``used`` is always the sum of its three counters."""

    def __init__(self) -> None:
        self.input = self.cache_creation = self.cache_read = 0
        self.basis = ""
        self.output = 0
        """Tokens that the last call wrote; 0 if its number is not final."""
        self.model = ""
        self.reports = 0
        """How many reports there were: each newer request is one, and so is each total that counts."""
        self.calls = 0
        self.compactions = 0
        self.smallest = 0
        """The smallest prompt in this window: system, tools and little else; 0 if there was none."""
        self._request = ""
        self._requests = Bounded(20_000)
        self._boundaries = Bounded(1_000)
        self._settled, self._open, self._last_output = 0, 0, 0
        self._prompts, self._reads = 0, 0

    @property
    def used(self) -> int:
        """Tokens in the window."""
        return self.input + self.cache_creation + self.cache_read

    @property
    def written(self) -> int:
        """Tokens that the model has written so far, as far as reports and totals say."""
        return self._settled + self._open

    @property
    def cache_hit_share(self) -> float:
        """The share of all prompt tokens so far that were read from a cache."""
        return self._reads / self._prompts if self._prompts else 0.0

    def report(self, event: Usage) -> bool:
        """Take what one request reported, and return whether it is newer than all before.

        A request that is known already corrects its numbers if it is the last one, and is left out otherwise: it is
        a repeated line, and the window has moved on.
        """
        tokens, request = event.tokens, event.request
        prompt, output = prompt_of(tokens), whole(tokens.output)
        if event.model == SYNTHETIC or not (prompt or output):
            return False
        known = bool(request) and request in self._requests
        if (known and request != self._request) or (not prompt and not known):
            return False
        if known and prompt:
            self._count(-1)
        if prompt:
            self._hold(tokens)
            self._count(1)
            self.smallest = min(self.smallest, prompt) if self.smallest else prompt
        if known:
            self._open += max(0, output - self._last_output)
            self._last_output = max(output, self._last_output)
        else:
            self._remember(request)
            self._open += output
            self._last_output = output
            self.reports += 1
            self.calls += 1
        self.basis = "call"
        self.output = output if event.final else (self.output if known else 0)
        if isinstance(event.model, str) and event.model and not is_short_for(event.model, self.model):
            self.model = event.model
        return not known

    def total(self, tokens: Tokens, *, of_run: bool = True) -> bool:
        """Take a sum, *of_run* or of the whole session; return whether it is the occupancy, as far as anybody knows.

        It settles what was written. The sum of a run is the occupancy only while no call has ever reported: with
        several calls it is several times the window. The sum of a session never is.
        """
        prompt, output = prompt_of(tokens), whole(tokens.output)
        if output:
            self._settled, self._open = output + (self._settled if of_run else 0), 0
        if self.calls or not prompt or not of_run:
            return False
        self._hold(tokens)
        self._count(1)
        self.basis, self.output = "total", 0
        self.reports += 1
        return True

    def compact(self, event: Compaction) -> bool:
        """Take a compaction, and return whether it is a new one: what the client says is left is in the window."""
        key = (event.session, event.trigger, event.before, event.after, event.time)
        says = event.before is not None or event.after is not None or event.time is not None
        if says and key in self._boundaries:
            return False
        self._boundaries[key] = None
        left = whole(event.after)
        if left:
            self.input, self.cache_creation, self.cache_read = left, 0, 0
            self.basis = "compaction"
        elif 0 < self.smallest < self.used:
            self.input, self.cache_creation, self.cache_read = self.smallest, 0, 0
            self.basis = "guess"
        self._request, self.output, self._last_output = "", 0, 0
        self.compactions += 1
        return True

    def renew(self) -> None:
        """Begin another window: the prompt that was just reported is its first."""
        self.smallest = self.used

    def _hold(self, tokens: Tokens) -> None:
        self.input, self.cache_read = whole(tokens.input), whole(tokens.cache_read)
        self.cache_creation = whole(tokens.cache_write_5m) + whole(tokens.cache_write_1h)

    def _count(self, sign: int) -> None:
        self._prompts += sign * self.used
        self._reads += sign * self.cache_read

    def _remember(self, request: str) -> None:
        self._request = request
        if request:
            self._requests[request] = None


def share(part: int, window: int) -> float:
    """Return which share of *window* a *part* is; a window of no size gives 0."""
    return part / window if window > 0 else 0.0


class AgentWindow(Record):
    """The window of a sub-agent: it fills and is compacted on its own."""

    model: str
    used_tokens: int
    window: Window
    compactions: int = 0

    @property
    def utilization(self) -> float:
        """The share of its window that is used; it may exceed 1."""
        return share(self.used_tokens, self.window.tokens)


class SessionWindows:
    """The windows of one session, as its events tell them."""

    def __init__(self, windows: Windows, model: str = "") -> None:
        self.windows = windows
        self.main = Occupancy()
        self.main.model = self._asked = model
        self._threads = Bounded(1_000)
        self.contents, self.tail = Contents(), Tail()
        self.session = ""
        """The session of the last main-thread event that names one."""
        self.measured_on = ""
        """The session of the last main-thread report."""
        self.floor: int | None = None
        """What the last compaction left, as the first prompt after it shows; None before there was one."""
        self._compacted = False

    @property
    def window(self) -> Window:
        """How large the main thread's window is, who says so, and who says otherwise."""
        return self.windows.of(self.main.model)

    def take(self, event: Event) -> None:
        """Take one event of the session."""
        if event.agent:
            self._take_agent(event)
            return
        if isinstance(event.session, str) and event.session:
            self.session = event.session
        if isinstance(event, Usage):
            self._report(event)
        elif isinstance(event, RunTotal):
            self.windows.report(event.windows)
            if event.usage is not None and self.main.total(event.usage, of_run=_is_of_run(event)):
                self._newer()
        elif isinstance(event, Compaction):
            if self.main.compact(event):
                self.tail.clear()
                self.contents.compact()
                self.floor, self._compacted = None, True
        elif isinstance(event, ModelSeen):
            _see_model(event, self.main, self.windows, asked=self._asked)
        else:
            self._collect(event)

    @property
    def agents(self) -> dict[str, AgentWindow]:
        """The windows of the sub-agents, by their id."""
        found = {}
        for name, each in self._threads.items():
            window = self.windows.of(each.model, main=False)
            found[name] = AgentWindow(each.model, each.used, window, each.compactions)
        return found

    def pending(self, text: str = "", *, messages: Sequence[Any] = (), counter: TokenCounter | None = None) -> Count:
        """Return how large the next prompt will be: what was reported, and a local count of what came since.

        *text* and *messages* are what is to be sent on top. Without a *counter* texts are taken by their length.
        """
        main, model = self.main, self.main.model
        rest = self.tail.count(main.output, counter, model)
        if text:
            rest += counter.count(text) if counter else by_length(length_of(text), model)
        if messages:
            rest += (counter or ApproximateTokenCounter(model)).count_messages(messages)
        if not main.basis:
            return rest
        if main.basis in ("total", "guess"):  # at most as much as a run's sum; a guess has no lower end either
            return anchored(0, rest, more=main.used)
        # What clients say that a compaction left is the conversation: system and tools come on top of it.
        return anchored(main.used, rest, more=main.smallest if main.basis == "compaction" else 0)

    def _report(self, event: Usage) -> None:
        before = self.main.used
        if not self.main.report(event):
            return
        self.windows.prove(self.main.model, self.main.used)
        elsewhere = bool(self.measured_on) and self.session != self.measured_on
        if elsewhere and self.main.used < before:
            self._begin()
        self._newer()

    def _newer(self) -> None:
        """Note a newer measurement of the window: what came before is in it."""
        used, model = self.main.used, self.main.model
        if self._compacted:
            # A large result right after a compaction is no overhead: its highest estimate is taken off.
            since = by_length(self.tail.size, model).high if self.tail.size else 0
            self.floor, self._compacted = max(0, used - since), False
        elif self.floor is not None:
            self.floor = min(self.floor, used)
        self.contents.report(used, model)
        self.tail.report()
        self.measured_on = self.session

    def _begin(self) -> None:
        """Begin another window: another session has reported less, so the conversation did not move there."""
        self.contents, self.tail = Contents(), Tail()
        self.floor, self._compacted = None, False
        self.main.renew()

    def _collect(self, event: Event) -> None:
        if isinstance(event, (Message, End)) and (isinstance(event, End) or event.role == "error"):
            if isinstance(event, Message) or event.error:
                _see_overflow(event.text, self.main, self.windows)
            return
        text = text_of(event)
        self.contents.add(event, text)
        if isinstance(event, ToolResult):
            self.tail.arrive(text, result=True)
        elif isinstance(event, ToolCall) or (isinstance(event, Message) and event.role == "assistant"):
            self.tail.wrote(text, call=isinstance(event, ToolCall))
        elif isinstance(event, Message) and event.role != "summary":
            self.tail.arrive(text)

    def _agent(self, name: str) -> Occupancy:
        if name not in self._threads:
            self._threads[name] = Occupancy()
        return self._threads[name]  # type: ignore[no-any-return]

    def _take_agent(self, event: Event) -> None:
        """Take an event of a sub-agent. Words alone make no window: it is often named by another id there."""
        if isinstance(event, Usage):
            agent = self._agent(event.agent)
            if agent.report(event):
                self.windows.prove(agent.model, agent.used)
        elif isinstance(event, Compaction):
            self._agent(event.agent).compact(event)
        elif isinstance(event, ModelSeen):
            _see_model(event, self._agent(event.agent), self.windows)
        elif isinstance(event, Message) and event.role == "error" and event.agent in self._threads:
            _see_overflow(event.text, self._threads[event.agent], self.windows)


def _is_of_run(event: RunTotal) -> bool:
    """Whether a total is Claude's, of one run: with a single call it is that call's. Codex's and Gemini's go on adding.

    OpenAI's usage counts cache writes as input; Gemini's has models, and neither their windows nor a cost.
    """
    usage = event.usage
    bare = not event.tokens or bool(event.windows) or event.cost is not None
    return bare and usage is not None and not usage.writes_are_input


def _see_model(event: ModelSeen, thread: Occupancy, windows: Windows, *, asked: str = "") -> None:
    """Take the model; what the caller *asked* for stays if it only says more: which window."""
    named = isinstance(event.model, str) and event.model and event.model != SYNTHETIC
    if named and not is_short_for(event.model, asked):
        thread.model = event.model
    windows.report({thread.model: event.window})


def _see_overflow(text: str, thread: Occupancy, windows: Windows) -> None:
    tokens = window_from_error(text)
    if tokens:
        windows.overflow(thread.model, tokens)
