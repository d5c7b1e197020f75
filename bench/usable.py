"""What is left of a history, and whether an agent can use it.

An output is *usable* if a provider accepts it, it fits by brim's count, and the system prompt and
the last user message are still in it: without these the model does not know what it is asked.
``best`` is the most that any selection of whole steps can reach, so that a limit nobody can keep is
held against nobody.
"""

from __future__ import annotations

import json
import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from brim.messages import validate
from brim.tokens import TokenCounter
from histories import History, Message


class Sizes:
    """Tokens of messages, each counted once: a count of messages is a constant and a sum over
    them."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self.frame = int(counter.count_messages([]))
        self._known: dict[str, int] = {}

    def one(self, message: Message) -> int:
        """Return what *message* adds to a request."""
        key = json.dumps(message, ensure_ascii=False)
        if key not in self._known:
            self._known[key] = int(self._counter.count_messages([message])) - self.frame
        return self._known[key]

    def all(self, messages: Sequence[Message]) -> int:
        """Return the tokens of a request."""
        return self.frame + sum(map(self.one, messages))

    def usable(self, before: Sequence[Message], after: Sequence[Message], limit: int) -> bool:
        """Return whether *after*, made from *before*, is accepted, fits and holds what it must."""
        kept = before[0] in after and last_user(before) in after
        return kept and self.all(after) <= limit and not validate(list(after), provider="openai")


@dataclass(frozen=True)
class Case:
    """A history and the most tokens that may be left of it."""

    history: History
    limit: int
    best: list[Message] | None
    """What fills the limit best; None if the system prompt and the last user message alone are over
    it."""
    newest_fits: bool
    """Whether what the model is to answer, the last user message or the last step, fits beside
    those two."""

    @classmethod
    def of(cls, history: History, limit: int, sizes: Sizes) -> Case:
        """Work out what can be reached."""
        last = last_user(history.messages)
        steps = _steps(history.messages)
        needed = [
            step
            for step in steps
            if step[0]["role"] == "system" or step[0] is last or step is steps[-1]
        ]
        fits = sizes.all([message for step in needed for message in step]) <= limit
        return cls(history, limit, best(history.messages, limit, sizes), fits)


@dataclass
class Row:
    """What one trimmer made of its cases; the lists hold one value per case."""

    valid: list[bool] = field(default_factory=list)
    fits: list[bool] = field(default_factory=list)
    user: list[bool] = field(default_factory=list)
    last_user: list[bool] = field(default_factory=list)
    newest: list[bool] = field(default_factory=list)
    """Whether the newest message, which the model is to answer, is still there."""
    usable: list[bool] = field(default_factory=list)
    cases: list[Case] = field(default_factory=list)
    used: list[float] = field(default_factory=list)
    """Share of the limit, of usable outputs."""
    used_tools: list[float] = field(default_factory=list)
    """The same, of the histories in which nearly everything comes from tools."""
    profiles: defaultdict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))
    """Usable or not, by profile, where it is reachable."""
    ms: list[float] = field(default_factory=list)
    errors: int = 0

    def add(self, case: Case, after: list[Message] | None, sizes: Sizes) -> None:
        """Add what became of *case*; nothing if the trimmer raised."""
        before, after = case.history.messages, after or []
        users = [message for message in before if message["role"] == "user"]
        tokens = sizes.all(after)
        self.cases.append(case)
        self.valid.append(bool(after) and not validate(after, provider="openai"))
        self.fits.append(bool(after) and tokens <= case.limit)
        self.user.append(any(message in users for message in after))
        self.last_user.append(users[-1] in after)
        self.newest.append(before[-1] in after)
        self.usable.append(
            self.valid[-1] and self.fits[-1] and self.last_user[-1] and before[0] in after
        )
        if case.best:
            self.profiles[case.history.profile].append(self.usable[-1])
        if self.usable[-1]:
            self.used.append(tokens / case.limit)
            if case.history.tool_heavy:
                self.used_tools.append(self.used[-1])

    def extend(self, other: Row) -> None:
        """Add what *other* made of more cases."""
        for each in fields(self):
            mine, theirs = getattr(self, each.name), getattr(other, each.name)
            if each.name == "profiles":
                for profile, found in theirs.items():
                    mine[profile] += found
            else:
                setattr(self, each.name, mine + theirs)

    def reached(self, what: Sequence[bool]) -> float:
        """Return the share of *what* over the cases whose limit can be kept."""
        return mean([value for value, case in zip(what, self.cases, strict=True) if case.best])

    @property
    def kept_newest(self) -> float:
        """The share of outputs that hold the newest message, over the cases in which it fits."""
        return mean(
            [value for value, case in zip(self.newest, self.cases, strict=True) if case.newest_fits]
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers as plain values."""
        shares = {
            name: mean(getattr(self, name))
            for name in ("valid", "fits", "user", "last_user", "newest", "usable")
        }
        return shares | {
            "cases": len(self.cases),
            "usable_of_reachable": self.reached(self.usable),
            "newest_of_reachable": self.kept_newest,
            "used": mean(self.used) if self.used else None,
            "used_tools": mean(self.used_tools) if self.used_tools else None,
            "usable_by_profile": {profile: mean(found) for profile, found in self.profiles.items()},
            "median_ms": statistics.median(self.ms) if self.ms else None,
            "errors": self.errors,
        }


def best(messages: Sequence[Message], limit: int, sizes: Sizes) -> list[Message] | None:
    """Return the selection of whole steps that fills *limit* best, or None if not even what must
    stay fits in.

    Steps are items of a knapsack; bit n of ``reach[i]`` says whether the first i of them can make n
    tokens.
    """
    last = last_user(messages)
    must = [message for message in messages if message["role"] == "system" or message is last]
    room = limit - sizes.all(must)
    if room < 0:
        return None
    steps = [
        step for step in _steps(messages) if step[0]["role"] != "system" and step[0] is not last
    ]
    weights = [sum(map(sizes.one, step)) for step in steps]
    reach = [1]
    for weight in weights:
        reach.append((reach[-1] | reach[-1] << weight) & ((1 << room + 1) - 1))
    left = reach[-1].bit_length() - 1
    chosen = {id(message) for message in must}
    for i in reversed(range(len(steps))):
        if not reach[i] >> left & 1:
            left -= weights[i]
            chosen |= {id(message) for message in steps[i]}
    return [message for message in messages if id(message) in chosen]


def _steps(messages: Sequence[Message]) -> list[list[Message]]:
    """Return *messages* in groups that stand or fall together: calls with their results."""
    steps: list[list[Message]] = []
    for message in messages:
        if message["role"] == "tool":
            steps[-1].append(message)
        else:
            steps.append([message])
    return steps


def last_user(messages: Sequence[Message]) -> Message:
    """Return what the model is asked."""
    return next(message for message in reversed(messages) if message["role"] == "user")


def mean(values: Sequence[float]) -> float:
    """Return the mean, and of nothing 0."""
    return sum(values) / len(values) if values else 0.0
