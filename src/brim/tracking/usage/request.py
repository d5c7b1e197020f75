"""One request as a file has it, and which of two reports of the same request counts."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.tracking.events import RunTotal, Usage


PLACE = "@"
"""What the key of a request begins with that has no name but its place in a file."""


class Request:
    """What one request took. A slotted class and no ``Frozen``: a tree of transcripts has hundreds of thousands.

    ``key`` names the request, whichever files report it. ``cost`` is in micro-dollars, None until it is priced and if
    there is no price; ``reported`` is what the client says that it cost, or None.
    """

    __slots__ = (
        "key",
        "main",
        "final",
        "model",
        "time",
        "session",
        "input",
        "output",
        "cache_read",
        "cache_write_5m",
        "cache_write_1h",
        "writes_are_input",
        "factors",
        "reported",
        "cost",
    )

    def __init__(  # noqa: PLR0917 # a row: names would double the time
        self,
        key: str,
        main: bool,
        final: bool,
        model: str,
        time: float | None,
        session: str,
        input: int,
        output: int,
        cache_read: int,
        cache_write_5m: int,
        cache_write_1h: int,
        writes_are_input: bool = False,
        factors: str = "",
        reported: int | None = None,
        cost: int | None = None,
    ) -> None:
        self.key, self.main, self.final, self.model, self.time, self.session = key, main, final, model, time, session
        self.input, self.output, self.cache_read = input, output, cache_read
        self.cache_write_5m, self.cache_write_1h = cache_write_5m, cache_write_1h
        self.writes_are_input, self.factors, self.reported, self.cost = writes_are_input, factors, reported, cost

    @property
    def message(self) -> str:
        """The id of the message that the request answered with: the part of the key before the request's own id."""
        return self.key if self.key.startswith(PLACE) else self.key.partition(":")[0]

    @property
    def prompt(self) -> int:
        """The whole prompt, cached tokens included."""
        return self.input + self.cache_read + self.cache_write_5m + self.cache_write_1h

    def outranks(self, other: Request) -> bool:
        """Whether this report of a request counts and not *other*, whichever was read first.

        The main thread's counts before a sub-agent's replay of it, a final one before a placeholder, then the one with
        more output, for a stream reports while the model still writes; then the larger prompt, then the earlier one.
        """
        return self._rank() > other._rank()

    def _rank(self) -> tuple[bool, bool, int, int, float]:
        return self.main, self.final, self.output, self.prompt, -self.time if self.time is not None else float("-inf")

    def fields(self) -> tuple[object, ...]:
        """Return its fields, in the order that the class takes them."""
        return tuple([getattr(self, name) for name in self.__slots__])

    def __repr__(self) -> str:
        return f"Request{self.fields()!r}"


class Total:
    """What a client says that a session took so far, every request included.

    ``tokens`` is by model, in the order input, output, cache read, cache write for 5 minutes, for an hour. A client
    that does not tell its models apart has all of it under an empty name.
    """

    __slots__ = ("cost", "session", "tokens")

    def __init__(self, session: str, cost: int | None, tokens: dict[str, list[int]]) -> None:
        self.session, self.cost, self.tokens = session, cost, tokens

    def outranks(self, other: Total) -> bool:
        """Whether this total is the later one: totals only grow, so it is the larger."""
        return (self.cost or 0, self._tokens()) > (other.cost or 0, other._tokens())

    def _tokens(self) -> int:
        return sum(map(sum, self.tokens.values()))

    def fields(self) -> tuple[object, ...]:
        """Return its fields, in the order that the class takes them."""
        return self.session, self.cost, self.tokens


def place_of(path: str, at: int) -> str:
    """Return the key of the request at byte *at* of the file *path*."""
    return f"{PLACE}{at}:{path}"


def request_from(event: Usage, path: str) -> Request:
    """Return what a reader's *event* from the file *path* says; one without a key is keyed by its place."""
    tokens = event.tokens
    return Request(
        event.request or place_of(path, event.at),
        not event.agent,
        event.final,
        event.model,
        event.time,
        event.session,
        tokens.input,
        tokens.output,
        tokens.cache_read,
        tokens.cache_write_5m,
        tokens.cache_write_1h,
        tokens.writes_are_input,
        " ".join(tokens.factors),
        event.cost,
    )


def total_from(event: RunTotal) -> Total:
    """Return what a reader's *event* says that its session took."""
    by_model = event.tokens or ({"": event.usage} if event.usage else {})
    return Total(
        event.session,
        event.cost,
        {
            model: [each.input, each.output, each.cache_read, each.cache_write_5m, each.cache_write_1h]
            for model, each in by_model.items()
        },
    )
