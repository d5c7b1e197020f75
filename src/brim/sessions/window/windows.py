"""How large is the window, and what is in it? The main thread and its sub-agents, from a session's
events.

Several sources say how large a window is, and they disagree. What the agent or the provider reports
is about this account and these settings; the table is about the model. An overflow error is the
provider's own statement, and holds until a larger prompt has gone through. What is in a window is
the last request of its thread, counted once, or what a compaction left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from brim.agents.events import Compaction, RunTotal, Usage
from brim.agents.fields import count as whole
from brim.agents.lines import SYNTHETIC, Bounded, is_short_for, model_key, model_spellings
from brim.models.light import UNKNOWN_WINDOW, lookup
from brim.models.overrides import window_of
from brim.models.usage import Tokens
from brim.record import PlainData
from brim.sessions.window.estimate import prompt_of

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


class _Unsaid(int):
    """The default, told apart from the same number when it is given."""


DEFAULT_WINDOW = _Unsaid(200_000)
"""The window when no source says anything."""


@dataclass(frozen=True)
class Window(PlainData):
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
        said = "".join(
            f"; {SOURCES.get(source, source)}: {tokens:,}" for source, tokens in self.others
        )
        return f"{self.tokens:,} tokens ({SOURCES.get(self.source, self.source)}{said})"


class Windows:
    """The windows of a session's models, from every source.

    *given* is the caller's, for the main thread's model.
    """

    def __init__(self, given: int = DEFAULT_WINDOW, *, pinned: bool = False) -> None:
        self._given = None if given is DEFAULT_WINDOW else int(given)
        self._pinned = pinned
        self._reported, self._overflow, self._found = Bounded(1_000), Bounded(1_000), Bounded(1_000)

    def report(self, windows: Mapping[str, int]) -> None:
        """Take what an agent says about its models; a later word replaces an earlier one."""
        for model, tokens in windows.items():
            if isinstance(model, str):
                self._keep(self._reported, model, tokens)

    def overflow(self, model: str, tokens: int) -> None:
        """Take the limit that a provider named when it refused a prompt."""
        self._keep(self._overflow, model, tokens)

    def prove(self, model: str, prompt: int) -> None:
        """Take that a prompt of so many tokens went through: an overflow error that named less is
        out of date."""
        key = model_key(model)
        if prompt > self._overflow.get(key, float("inf")):
            del self._overflow[key]
            self._found.clear()

    def of(self, model: str, *, main: bool = True) -> Window:
        """Return the window of *model*.

        *main* says whether it is the main thread's, which the caller's is for.
        """
        if (model, main) in self._found:
            return self._found[model, main]  # type: ignore[no-any-return]
        said = {
            "overflow": _named(self._overflow, model),
            "reported": _named(self._reported, model),
            **_known(model),
        }
        if main:
            said["pinned" if self._pinned else "given"] = self._given
        ranked = [
            (source, tokens) for source in SOURCES if (tokens := said.get(source)) is not None
        ]
        (source, tokens), *others = ranked or [("default", int(DEFAULT_WINDOW))]
        found = Window(tokens, source, tuple(other for other in others if other[1] != tokens))
        self._found[model, main] = found
        return found

    def _keep(self, kept: dict[str, int], model: str, size: object) -> None:
        if tokens := whole(size):
            key = model_key(model)
            if kept.pop(key, None) != tokens:
                self._found.clear()
            kept[key] = tokens


def _named(kept: dict[str, int], model: str) -> int | None:
    """Return what is kept for *model*, under its own name, without a suffix such as ``[1m]``, or as
    an alias."""
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


def _known(model: str) -> dict[str, int | None]:
    """Return what brim's own tables know about *model*: the most that a prompt may have, without
    its answer."""
    key = model_key(model)
    if not key:
        return {}
    light = lookup(key)
    if remembered := window_of(key) or window_of(light.name.lower()):
        return {"remembered": min(remembered, light.max_input)}
    if light.resolved:
        return {"table": light.max_input}
    return {"family": light.max_input} if light.max_input != UNKNOWN_WINDOW else {}


class Occupancy:
    """What is in one thread's window."""

    def __init__(self, windows: Windows, model: str = "", *, main: bool = False) -> None:
        self._windows, self._main = windows, main
        self.model = model
        """The thread's model; empty if unknown."""
        self.input_tokens = 0
        """Tokens of the last prompt that no cache has to do with."""
        self.cache_creation_input_tokens = 0
        """Tokens of the last prompt that were written to a cache."""
        self.cache_read_input_tokens = 0
        """Tokens of the last prompt that were read from a cache."""
        self.basis = ""
        """What ``used_tokens`` rests on.

        Empty: nothing yet; ``call``: the prompt of the last call; ``compaction``: what the client
        says that one left; ``guess``: the smallest prompt so far, after a compaction that doesn't
        say; ``total``: a run's total, which is a sum and so at least as much.
        """
        self.compactions = 0
        """How often the window was compacted."""
        self.overhead = 0
        """What is in every prompt (system, tools, pinned text), at most: the smallest prompt so
        far; 0 if unknown."""
        self._answer = 0  # tokens that the last call wrote; 0 if its number is not final
        self._reports = self._calls = (
            0  # each newer request is both; a total that counts is a report only
        )
        self._request = ""
        self._requests = Bounded(20_000)
        self._boundaries = Bounded(1_000)
        self._settled = self._open = self._last_output = 0
        self._prompts = self._reads = 0

    @property
    def used_tokens(self) -> int:
        """Tokens in the window: the three counters together."""
        return self.input_tokens + self.cache_creation_input_tokens + self.cache_read_input_tokens

    @property
    def window(self) -> Window:
        """How large the thread's window is, who says so, and who says otherwise."""
        return self._windows.of(self.model, main=self._main)

    @property
    def context_window(self) -> int:
        """Tokens that the window holds."""
        return self.window.tokens

    @property
    def utilization(self) -> float:
        """The share of the window that is used. It may exceed 1; a window of no size gives 0."""
        return self.used_tokens / self.context_window if self.context_window > 0 else 0.0

    @property
    def output_tokens(self) -> int:
        """Tokens that the model has written so far; a run's total settles them."""
        return self._settled + self._open

    @property
    def answer_tokens(self) -> int:
        """Tokens that the last call wrote; 0 if their number isn't final.

        The next prompt has them too.
        """
        return self._answer

    @property
    def cache_hit_share(self) -> float:
        """The share of all prompt tokens so far that were read from a cache."""
        return self._reads / self._prompts if self._prompts else 0.0

    def _report(self, event: Usage) -> bool:
        """Take what one request reported, and return whether it is newer than all before.

        A request that is known already corrects its numbers if it is the last one, and is left out
        otherwise: it is a repeated line, and the window has moved on.
        """
        tokens, request = event.tokens, event.request
        prompt, output = prompt_of(tokens), whole(tokens.output)
        if event.model == SYNTHETIC or not (prompt or output):
            return False
        known = bool(request) and request in self._requests
        if (known and request != self._request) or (not prompt and not known):
            return False
        if known and prompt:
            self._add_up(-1)
        if prompt:
            self._hold(tokens)
            self.overhead = min(self.overhead, prompt) if self.overhead else prompt
        before = self._last_output if known else 0
        self._open += max(0, output - before)
        self._last_output = max(output, before)
        if not known:
            self._request = request
            self._requests[request] = None
            self._reports, self._calls = self._reports + 1, self._calls + 1
        self.basis = "call"
        self._answer = output if event.final else (self._answer if known else 0)
        self._see_model(event.model, self.model)
        return not known

    def _total(self, event: RunTotal) -> bool:
        """Take a sum; return whether it is the occupancy, as far as is known.

        It settles what was written. The sum of a run is the occupancy only while no call has ever
        reported: with several calls it is several times the window. The sum of a session never is.
        Claude's is of one run, Codex's and Gemini's go on adding: OpenAI's usage counts cache
        writes as input; Gemini's has models, and neither their windows nor a cost.
        """
        if event.usage is None:
            return False
        bare = not event.tokens or bool(event.windows) or event.cost is not None
        of_run = bare and not event.usage.writes_are_input
        if output := whole(event.usage.output):
            self._settled, self._open = output + (self._settled if of_run else 0), 0
        if self._calls or not prompt_of(event.usage) or not of_run:
            return False
        self._hold(event.usage)
        self.basis, self._answer = "total", 0
        self._reports += 1
        return True

    def _compact(self, event: Compaction) -> bool:
        """Take a compaction, and return whether it is a new one: what the client says is left is in
        the window."""
        key = (event.session, event.trigger, event.before, event.after, event.time)
        if key in self._boundaries and key[2:] != (None, None, None):
            return False
        self._boundaries[key] = None
        left = whole(event.after)
        if left or 0 < self.overhead < self.used_tokens:
            self.basis = "compaction" if left else "guess"
            self.input_tokens = left or self.overhead
            self.cache_creation_input_tokens = self.cache_read_input_tokens = 0
        self._request, self._answer, self._last_output = "", 0, 0
        self.compactions += 1
        return True

    def _see_model(self, model: str, asked: str) -> None:
        """Take the *model*; what was *asked* for stays if it only says more: which window."""
        if (
            isinstance(model, str)
            and model
            and model != SYNTHETIC
            and not is_short_for(model, asked)
        ):
            self.model = model

    def _hold(self, tokens: Tokens) -> None:
        self.input_tokens, self.cache_read_input_tokens = (
            whole(tokens.input),
            whole(tokens.cache_read),
        )
        self.cache_creation_input_tokens = whole(tokens.cache_write_5m) + whole(
            tokens.cache_write_1h
        )
        self._add_up(1)

    def _add_up(self, sign: int) -> None:
        self._prompts += sign * self.used_tokens
        self._reads += sign * self.cache_read_input_tokens
