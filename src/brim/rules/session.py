"""``Session``: how much one agent's window may be told, and how soon it may be told the same
again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from brim.errors import InputError
from brim.record import PlainData
from brim.rules.tiers import Tier

RENEWING = ("startup", "clear", "compact")
"""Beginnings after which the rules are not in the window any more. ``resume`` isn't one."""


@dataclass(frozen=True)
class Shown(PlainData):
    """What a session knows of one behavior: how often it was shown, at which prompt last, and in
    how much detail."""

    times: int = 0
    prompt: int = 0
    best: Tier = Tier.OMITTED

    def __repr__(self) -> str:
        return f"Shown({self.times} times, at prompt {self.prompt}, {self.best})"


class ToldText(Protocol):
    """A text that a window is told: a plan, or a delivery."""

    @property
    def included(self) -> Sequence[Any]:
        """The rules in it, each with its ``id`` and ``tier``."""

    @property
    def total_tokens(self) -> int:
        """What it takes."""


class Session:
    """Limits automatic injections. Only prompts that a person typed count.

    The total is never exceeded; None means no limit. The n-th injection of a behavior waits
    ``backoff`` * (n - 1) prompts after the one before it; in more detail than ever before it is let
    through at once. A sub-agent (*parent*) has a window, and so a backoff, of its own, and spends
    from its parent's total.
    """

    def __init__(
        self,
        max_tokens: int | None = 3_000,
        max_per_injection: int | None = 500,
        backoff: int = 5,
        *,
        parent: Session | None = None,
    ) -> None:
        for name, value in (
            ("max_tokens", max_tokens),
            ("max_per_injection", max_per_injection),
            ("backoff", backoff),
        ):
            if not (isinstance(value, int) and value >= 0) and not (
                value is None and name != "backoff"
            ):
                raise InputError(f"session.{name} must be a whole number from 0 on, not {value!r}")
        self.max_tokens = max_tokens
        self.max_per_injection = max_per_injection
        self.backoff = backoff
        self.parent = parent
        self.prompts = 0
        """Prompts so far."""
        self.spent = 0
        """Tokens charged here; a sub-agent's are its parent's."""
        self.shown: dict[str, Shown] = {}
        self.stopped: set[str] = set()
        """The calls that were stopped in this window, each after its rule; a rule alone if such a
        call was made again."""

    def __repr__(self) -> str:
        limit = "no limit" if self.max_tokens is None else f"of {self.max_tokens}"
        return (
            f"Session({self.used} tokens {limit}, {self.prompts} prompts, {len(self.shown)} shown)"
        )

    @property
    def used(self) -> int:
        """Tokens that count against the total."""
        if self.parent is not None:
            return self.parent.used
        return self.spent

    @property
    def remaining(self) -> int | None:
        """Tokens that may still go in; None means no limit."""
        if self.parent is not None:
            return self.parent.remaining
        if self.max_tokens is None:
            return None
        return max(0, self.max_tokens - self.spent)

    def budget(self, dynamic: int | None = None) -> int | None:
        """Return what the next injection may take: the *dynamic* budget, the limit of one
        injection, what is left."""
        limits = [
            limit
            for limit in (dynamic, self.max_per_injection, self.remaining)
            if limit is not None
        ]
        if limits:
            return min(limits)
        return None

    def begin(self, how: str) -> None:
        """Note that the window starts over: ``startup``, ``clear`` or ``compact``; ``resume``
        changes nothing."""
        if how not in RENEWING:
            return
        self.shown.clear()
        self.stopped.clear()
        self.prompts = 0
        self.spent = 0

    def next_prompt(self) -> None:
        """Note that a person typed a prompt."""
        self.prompts += 1

    def allows(self, id: str, tier: Tier) -> bool:
        """Whether the behavior may be shown at *tier* now."""
        record = self.shown.get(id)
        if record is None or tier > record.best:
            return True
        return self.prompts - record.prompt >= self.backoff * record.times

    def why_not(self, id: str) -> str:
        """Return why the behavior is not shown again yet."""
        record = self.shown[id]
        wait = self.backoff * record.times - (self.prompts - record.prompt)
        times = "once" if record.times == 1 else f"{record.times} times"
        return f"shown {times} in this session; again in {wait} prompt{'s' if wait != 1 else ''}"

    def charge(self, plan: ToldText) -> None:
        """Spend what *plan* takes, and note what it shows; raise, and note nothing, if that is more
        than is left."""
        self.spend(int(plan.total_tokens) if plan.included else 0, "the plan")
        self.record(plan)

    def spend(self, tokens: int, label: str = "the text") -> None:
        """Spend *tokens* for what goes in, which *label* names.

        Raise, and spend nothing, if that is more than is left.
        """
        left = self.remaining
        if left is not None and tokens > left:
            raise InputError(f"the session has {left:,} tokens left, and {label} takes {tokens:,}")
        payer = self
        while payer.parent is not None:
            payer = payer.parent
        payer.spent += tokens

    def record(self, plan: ToldText) -> None:
        """Note what *plan* shows without charging it: what goes in when a session starts has a
        budget of its own."""
        for item in plan.included:
            before = self.shown.get(item.id, Shown())
            best = max(before.best, item.tier)
            self.shown[item.id] = Shown(before.times + 1, self.prompts, best)

    def may_repeat(self, id: str, call: str, *, is_alone: bool) -> bool:
        """Whether a *call* that breaks the rule *id* passes: it's the same call again, or the agent
        has made one again that breaks this rule alone."""
        if id in self.stopped:
            return True
        is_same = f"{id} {call}" in self.stopped
        if is_same and is_alone:
            self.stopped.add(id)
        return is_same

    def note_reason(self, ids: Iterable[str], tokens: int, call: str = "") -> None:
        """Note that *call* was stopped for the rules *ids*, with a reason that takes *tokens*.

        A reason is told even if nothing is left, and then charged as far as there is something.
        """
        remaining = self.remaining
        if remaining is not None:
            tokens = min(tokens, remaining)
        self.spend(tokens, "the reason")
        for id in ids:
            self.stopped.add(f"{id} {call}")
            before = self.shown.get(id, Shown())
            self.shown[id] = Shown(before.times + 1, self.prompts, Tier.FULL)

    def to_dict(self) -> dict[str, Any]:
        """Return the state, for a store: what ``load`` takes."""
        records = {}
        for id, record in sorted(self.shown.items()):
            records[id] = [record.times, record.prompt, int(record.best)]
        state: dict[str, Any] = {"prompts": self.prompts, "spent": self.spent, "shown": records}
        if self.stopped:
            state["stopped"] = sorted(self.stopped)
        return state

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on where ``to_dict`` left off."""
        self.prompts = int(state["prompts"])
        self.spent = int(state["spent"])
        self.shown = {
            id: Shown(times, prompt, Tier(best))
            for id, (times, prompt, best) in state["shown"].items()
        }
        self.stopped = set(state.get("stopped", ()))
