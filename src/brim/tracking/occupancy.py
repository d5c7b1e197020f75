"""What is in one window: the last request of its thread, counted once, or what a compaction left."""

from __future__ import annotations

from brim.tracking.windows import is_short_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.models.usage import Tokens
    from brim.tracking.events import Compaction, Usage

SYNTHETIC = "<synthetic>"
"""The model of lines that a client writes by itself: no request was made."""

BASES = ("", "call", "compaction", "guess", "total")
"""What the occupancy rests on: nothing yet; the prompt of the last call; what the client says that a compaction left;
the smallest prompt so far, after a compaction that does not say; a run's total, a sum and so at least as much."""

_MOST = 10**12
_REQUESTS_KEPT = 20_000
_COMPACTIONS_KEPT = 1_000


def whole(value: object) -> int:
    """Return *value* if it can be a number of tokens, else 0."""
    return value if type(value) is int and 0 <= value <= _MOST else 0


class Occupancy:
    """One thread's window. ``used`` is always the sum of the three counters beside it."""

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
        self._requests: dict[str, None] = {}
        self._boundaries: dict[tuple[object, ...], None] = {}
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
        if len(self._boundaries) > _COMPACTIONS_KEPT:
            del self._boundaries[next(iter(self._boundaries))]
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
            if len(self._requests) > _REQUESTS_KEPT:
                del self._requests[next(iter(self._requests))]


def prompt_of(tokens: Tokens) -> int:
    """Return the whole prompt, whatever is in the fields."""
    fields = (tokens.input, tokens.cache_read, tokens.cache_write_5m, tokens.cache_write_1h)
    return sum(whole(field) for field in fields)
