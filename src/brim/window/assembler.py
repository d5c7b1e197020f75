"""Puts a request together and accounts for every token in it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from brim.history import Pruned, Pruner
from brim.history.draft import draft, whole_number
from brim.history.formats import read
from brim.models.light import input_within, lookup
from brim.models.names import clean
from brim.models.windows import window_of
from brim.tokens.costs import message_costs
from brim.tokens.count import Count
from brim.tokens.protocol import TokenCounter
from brim.window.assembly import SECTIONS, Assembly, DroppedItem, Section
from brim.window.pieces import SYSTEM_IN_MESSAGES, Parts, Tail

ROUNDS = 8
"""How often a history is pruned again because the whole is still too large; the last time nothing of it is spared."""
NO_ROOM = "no room for it next to what must stay"
TAKING_ORDER = ("current_message", "system_prompt", "procedure", "knowledge", "episodes", "history")
"""Which section gets its tokens first where there are fewer than were counted."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a request may take, the response not included."""

    window: int | None
    """The model's window; None if unknown."""
    most: int | None
    """What the provider takes: more is an error. None if the window is unknown."""
    budget: int
    """What it should take: never more than ``most``, never negative."""

    @classmethod
    def of(cls, model: str | None, context_window: object, budget: int, reserve: int) -> Limits:
        """Return the limits of a request to *model*: *budget*, and the window less the *reserve* for the response.

        *context_window* outranks the model's window. The window of an unknown model is a guess, so it limits nothing;
        one that was reported does. Some models keep a part of the window for the response alone.
        """
        window = most_input = None
        if context_window is not None:
            window = most_input = whole_number("context_window", context_window, 1, "a whole number of tokens")
        found = lookup(model) if model else None
        if found and window is not None:
            most_input = input_within(found, window) if found.resolved else window
        elif found and (found.resolved or window_of(clean(model or ""))):
            window, most_input = found.context_window, found.max_input
        if window is None or most_input is None:
            return cls(None, None, max(0, budget))
        most = min(window - reserve, most_input)
        return cls(window, most, max(0, min(budget, most)))

    def fits(self, count: Count) -> bool:
        """Whether the provider takes a request of *count* tokens, even at the top of its interval."""
        return self.most is None or count.high <= self.most

    def holds(self, count: Count) -> bool:
        """Whether it fits and is within the budget, too."""
        return int(count) <= self.budget and self.fits(count)


@dataclass(frozen=True, slots=True)
class Filled:
    """A request whose history was pruned."""

    kept: list[Any]
    """History and current message, as far as they stay."""
    tokens: Count
    """The size of the whole request."""
    pruned: Pruned
    """What the pruner returned."""
    below_minimum: bool
    """Whether something of the minimum history had to leave."""


@dataclass(frozen=True, slots=True)
class Assembler:
    """Assembles one request."""

    counter: TokenCounter
    model: str | None
    limits: Limits
    min_history: int
    pruner: Pruner
    tools: Sequence[Any] | None
    tail: Tail

    def assemble(self, parts: Parts) -> Assembly:
        """Return the request with as much of the history as fits.

        Episodes and then the procedure make way for the minimum history; it makes way for the window alone.
        """
        minimum = self._minimum(parts)
        while not self.limits.holds(self._measured(parts, minimum)):
            smaller = parts.with_less(self.counter, NO_ROOM)
            if smaller is None:
                break
            parts = smaller
        return self._account(parts, self._fill(parts, minimum))

    def _minimum(self, parts: Parts) -> frozenset[int]:
        """Return the places of the newest messages that stay while the window allows.

        ``min_history_tokens`` is for the conversation: the current message and OpenAI's system messages, which stay
        anyway, don't count towards it.
        """
        messages, provider = self.tail.messages, parts.provider
        anyway = set(self.tail.pins)
        if provider in SYSTEM_IN_MESSAGES:
            anyway.update(entry.index for entry in read(messages, provider) if entry.role == "system")
        at_least = self.min_history + sum(message_costs(self.counter, [messages[at] for at in sorted(anyway)]).each)
        pin = self.tail.pins
        work = draft(messages, at_least, counter=self.counter, model=self.model, provider=provider, pin=pin)
        return frozenset(work.indices(work.newest()))

    def _measured(self, parts: Parts, kept: Collection[int]) -> Count:
        """Return the size of the request with the messages at the places *kept*."""
        messages = self.tail.messages
        request = [*parts.counted, *(messages[at] for at in sorted(kept))]
        return message_costs(self.counter, request, self.tools).count(range(len(request)))

    def _fill(self, parts: Parts, minimum: frozenset[int]) -> Filled:
        """Prune the history so that the whole request is within its limits, as its own counter counts it."""
        limits, before, messages = self.limits, parts.counted, self.tail.messages
        # Where the minimum history can't stay whole, the request may take all that the window holds.
        widest = limits.budget if limits.most is None else max(0, limits.most)
        taken = sum(message_costs(self.counter, before).each)
        whose: dict[str, Any] = {"model": self.model, "provider": parts.provider, "counter": self.counter}
        protected = limits.fits(self._measured(parts, minimum))
        limit = aim = limits.budget if protected else widest
        for left in range(ROUNDS, -1, -1):
            room, pin = max(0, aim - taken), minimum if protected else self.tail.pins
            pruned = self.pruner.prune(messages, room, tools=self.tools, pin=pin, **whose)
            kept = self.tail.completed(pruned.messages)
            tokens = self.counter.count_messages([*before, *kept], self.tools)
            if not limits.fits(tokens) and limits.most is not None:
                if pruned.fits:
                    aim = min(aim - 1, int(tokens) * max(0, limits.most) // max(1, tokens.high))
                elif protected:
                    protected = False
                    limit = aim = widest
                else:
                    break
            elif int(tokens) > limit and pruned.fits:  # the sizes of messages didn't add up to that of the whole
                aim -= int(tokens) - limit
            else:
                break
            if left == 1:
                protected, aim = False, 0
        there = {id(message) for message in kept}
        lost = not protected and any(id(messages[at]) not in there for at in minimum)
        return Filled(kept, tokens, pruned, lost)

    # The account: which section every token belongs to, what was dropped, and what is wrong

    def _account(self, parts: Parts, filled: Filled) -> Assembly:
        """Return the request as a result."""
        tail, budget, before = self.tail, self.limits.budget, parts.counted
        history = list(range(len(before), len(before) + len(filled.kept)))
        costs = message_costs(self.counter, [*before, *filled.kept], self.tools)
        current = Count(0)
        if tail.current is not None:
            at_current = max(at for at in history if filled.kept[at - len(before)] is tail.current)
            history.remove(at_current)
            current = costs.alone([at_current]) if tail.text is None else self.counter.count(tail.text)
        left = tuple(
            DroppedItem(unit.indices[0], f"{unit.kind}: {_places(unit.indices)}", unit.tokens, unit.reason)
            for unit in filled.pruned.receipt.dropped
            if not tail.pins.issuperset(unit.indices)
        )
        prompt, procedure, knowledge, episodes = parts.system_prompt, parts.procedure, parts.knowledge, parts.episodes
        rows: dict[str, tuple[Count, int, str, tuple[DroppedItem, ...]]] = {
            "system_prompt": (self._count(prompt), int(bool(prompt)), "text", ()),
            "procedure": (self._count(procedure), int(bool(procedure)), "text", parts.left_out),
            "knowledge": (knowledge.tokens, len(knowledge.kept), knowledge.sources, knowledge.dropped),
            "episodes": (episodes.tokens, len(episodes.kept), episodes.sources, episodes.dropped),
            "history": (costs.alone(history) if history else Count(0), len(history), "messages", left),
            "current_message": (current, int(tail.current is not None), "text" if tail.text else "message", ()),
        }
        counts = {name: row[0] for name, row in rows.items()}
        framing = "roles, tags, priming, tools" if self.tools else "roles, tags, priming"
        sections = []
        for name, count in _shared_out(counts, filled.tokens).items():
            _, items, source, dropped = rows.get(name, (None, 0, framing, ()))
            share = int(count) / budget if budget else 0.0
            sections.append(Section(name, count, share, source if items or name == "framing" else "", items, dropped))
        return Assembly(
            messages=[*parts.sent, *filled.kept],
            system=parts.system,
            sections=tuple(sections),
            tokens=filled.tokens,
            budget=budget,
            history_budget=max(0, budget - sum(int(count) for name, count in counts.items() if name != "history")),
            fits=self.limits.fits(filled.tokens),
            reason=self._reason(filled, {section.name: int(section.tokens) for section in sections}),
            receipt=filled.pruned.receipt,
            provider=parts.provider,
            context_window=self.limits.window,
        )

    def _count(self, text: str) -> Count:
        return self.counter.count(text) if text else Count(0)

    def _reason(self, filled: Filled, tokens: dict[str, int]) -> str:
        """Return what is wrong, in words; several things are joined."""
        dropped, left = filled.pruned.receipt.dropped, f"{tokens['history']:,} tokens of history are left"
        short = filled.below_minimum and self.limits.fits(filled.tokens)
        found = [
            self._too_large(filled, tokens),
            f"the window has no room for min_history_tokens: {left}" if short else "",
            *(f"current_message: {unit.reason}" for unit in dropped if self.tail.pins.issuperset(unit.indices)),
        ]
        return "; ".join(filter(None, found))

    def _too_large(self, filled: Filled, tokens: dict[str, int]) -> str:
        limits, count = self.limits, filled.tokens
        largest = max(tokens, key=lambda name: tokens[name])
        named = f"the largest part is {largest} with {tokens[largest]:,}"
        if not limits.fits(count):
            takes = f"{count:,} tokens" if count.high == count else f"{count:,} tokens, perhaps {count.high:,}"
            room = f"the window of {limits.window:,} leaves {max(0, limits.most or 0):,} after the response"
            return f"it takes {takes}, and {room}; {named}"
        if int(count) <= limits.budget:
            return ""
        over = f"it is {int(count) - limits.budget:,} tokens over the budget of {limits.budget:,}"
        kept = [message for message in filled.kept if message is not self.tail.current]
        if not self.min_history or all(entry.role == "system" for entry in read(kept, self.tail.provider)):
            return f"{over}: nothing else can leave; {named}"
        stays = f"the newest {tokens['history']:,} tokens of history stay, because of min_history_tokens"
        fits_without = int(count) - tokens["history"] <= limits.budget
        return f"{over}: {stays}" if fits_without else f"{over}: {stays}; it would be over without them too; {named}"


def _shared_out(counts: dict[str, Count], whole: Count) -> dict[str, Count]:
    """Return the tokens of each section so that they add up to *whole*; what is left belongs to the framing.

    Texts can take a token less together than apart, and a provider may have reported less than was counted here: then
    a section has no more than there is.
    """
    shared, left = {}, int(whole)
    for name in TAKING_ORDER:
        count = counts[name]
        shared[name] = count if int(count) <= left else Count(left, count.basis)
        left -= int(shared[name])
    shared["framing"] = Count(left, whole.basis)
    return {name: shared[name] for name in SECTIONS}


def _places(indices: tuple[int, ...]) -> str:
    first, last = indices[0], indices[-1]
    return f"message {first}" if first == last else f"messages {first} to {last}"
