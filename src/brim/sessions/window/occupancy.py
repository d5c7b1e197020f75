"""What is in the window of one thread: the main one or a sub-agent's.

It is the last request of the thread, counted once, or what a compaction left.
"""

from __future__ import annotations

from brim.agents.events import Compaction, RunTotal, Usage
from brim.agents.fields import count as whole
from brim.agents.lines import SYNTHETIC, Bounded, is_short_for
from brim.models.usage import Tokens
from brim.sessions.window.windows import Window, Windows


def prompt_of(tokens: Tokens) -> int:
    """Return the whole prompt, whatever is in the fields."""
    return sum(
        map(whole, (tokens.input, tokens.cache_read, tokens.cache_write_5m, tokens.cache_write_1h))
    )


class Occupancy:
    """What is in one thread's window."""

    def __init__(self, windows: Windows, model: str = "", *, main: bool = False) -> None:
        self._windows = windows
        self._main = main
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
        if self.context_window > 0:
            return self.used_tokens / self.context_window
        return 0.0

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
        if self._prompts:
            return self._reads / self._prompts
        return 0.0

    def _report(self, event: Usage) -> bool:
        """Take what one request reported, and return whether it is newer than all before.

        A request that is known already corrects its numbers if it is the last one, and is left out
        otherwise: it is a repeated line, and the window has moved on.
        """
        tokens = event.tokens
        request = event.request
        prompt = prompt_of(tokens)
        output = whole(tokens.output)
        if event.model == SYNTHETIC or not (prompt or output):
            return False
        is_repeated = bool(request) and request in self._requests
        if is_repeated and request != self._request:
            return False
        if not prompt and not is_repeated:
            return False
        if is_repeated and prompt:
            self._add_up(-1)
        if prompt:
            self._hold(tokens)
            self.overhead = min(self.overhead or prompt, prompt)
        if not is_repeated:
            self._request = request
            self._requests[request] = None
            self._reports += 1
            self._calls += 1
            self._last_output = 0
            self._answer = 0
        self._open += max(0, output - self._last_output)
        self._last_output = max(output, self._last_output)
        if event.final:
            self._answer = output
        self.basis = "call"
        self._see_model(event.model, self.model)
        return not is_repeated

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
            self._settled = output + (self._settled if of_run else 0)
            self._open = 0
        if self._calls or not prompt_of(event.usage) or not of_run:
            return False
        self._hold(event.usage)
        self.basis = "total"
        self._answer = 0
        self._reports += 1
        return True

    def _compact(self, event: Compaction) -> bool:
        """Take a compaction, and return whether it is a new one."""
        key = (event.session, event.trigger, event.before, event.after, event.time)
        is_identified = key[2:] != (None, None, None)
        if is_identified and key in self._boundaries:
            return False  # a line that is repeated
        self._boundaries[key] = None
        self._hold_compacted(whole(event.after))
        self._request = ""
        self._answer = 0
        self._last_output = 0
        self.compactions += 1
        return True

    def _hold_compacted(self, left: int) -> None:
        """Take what a compaction left: *left* tokens, or if that is 0, the client doesn't say.

        Then what is in every prompt is a guess, unless the window would grow by it.
        """
        if left:
            self.basis = "compaction"
            self.input_tokens = left
        elif 0 < self.overhead < self.used_tokens:
            self.basis = "guess"
            self.input_tokens = self.overhead
        else:
            return
        self.cache_creation_input_tokens = 0
        self.cache_read_input_tokens = 0

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
        self.input_tokens = whole(tokens.input)
        self.cache_read_input_tokens = whole(tokens.cache_read)
        self.cache_creation_input_tokens = whole(tokens.cache_write_5m) + whole(
            tokens.cache_write_1h
        )
        self._add_up(1)

    def _add_up(self, sign: int) -> None:
        self._prompts += sign * self.used_tokens
        self._reads += sign * self.cache_read_input_tokens
