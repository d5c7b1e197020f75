"""Puts a request together from its pieces, and accounts for every token in it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from typing import Any

from brim.errors import InputError
from brim.messages import Provider, Pruned, Pruner
from brim.messages.assembly import SECTIONS, Assembly, DroppedItem, WindowSection
from brim.messages.content import user_message
from brim.messages.draft import draft, whole_number
from brim.messages.formats import provider_of, read
from brim.models.light import input_within, lookup
from brim.models.names import clean
from brim.models.overrides import window_of
from brim.tokens.costs import message_costs
from brim.tokens.count import Count
from brim.tokens.messages.fields import get, is_mapping, is_sequence, string
from brim.tokens.protocol import TokenCounter

ROUNDS = 8
"""How often a history is pruned again because the whole is still too large; the last time nothing
of it is spared."""
NO_ROOM = "no room for it next to what must stay"
TAKING_ORDER = ("current_message", "system_prompt", "procedure", "knowledge", "episodes", "history")
"""Which section gets its tokens first where there are fewer than were counted."""


@dataclass(frozen=True, slots=True)
class WindowLimits:
    """What a request may take, the response not included."""

    window: int | None
    """The model's window; None if unknown."""
    most: int | None
    """What the provider takes: more is an error. None if the window is unknown."""
    budget: int
    """What it should take: never more than ``most``, never negative."""

    @classmethod
    def of(
        cls, model: str | None, context_window: object, budget: int, reserve: int
    ) -> WindowLimits:
        """Return the limits of a request to *model*: *budget*, and the window less the *reserve*
        for the response.

        *context_window* outranks the model's window. The window of an unknown model is a guess, so
        it limits nothing; one that was reported does. Some models keep a part of the window for the
        response alone.
        """
        window = most_input = None
        if context_window is not None:
            window = most_input = whole_number(
                "context_window", context_window, 1, "a whole number of tokens"
            )
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
        """Whether the provider takes a request of *count* tokens, even at the top of its
        interval."""
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
    limits: WindowLimits
    min_history: int
    pruner: Pruner
    tools: Sequence[Any] | None
    tail: Tail

    def assemble(self, parts: Parts) -> Assembly:
        """Return the request with as much of the history as fits.

        Episodes and then the procedure make way for the minimum history; it makes way for the
        window alone.
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

        ``min_history_tokens`` is for the conversation: the current message and OpenAI's system
        messages, which stay anyway, don't count towards it.
        """
        messages, provider = self.tail.messages, parts.provider
        anyway = set(self.tail.pins)
        if provider in SYSTEM_IN_MESSAGES:
            anyway.update(
                entry.index for entry in read(messages, provider) if entry.role == "system"
            )
        at_least = self.min_history + sum(
            message_costs(self.counter, [messages[at] for at in sorted(anyway)]).each
        )
        pin = self.tail.pins
        work = draft(
            messages, at_least, counter=self.counter, model=self.model, provider=provider, pin=pin
        )
        return frozenset(work.indices(work.newest()))

    def _measured(self, parts: Parts, kept: Collection[int]) -> Count:
        """Return the size of the request with the messages at the places *kept*."""
        messages = self.tail.messages
        request = [*parts.counted, *(messages[at] for at in sorted(kept))]
        return message_costs(self.counter, request, self.tools).count(range(len(request)))

    def _fill(self, parts: Parts, minimum: frozenset[int]) -> Filled:
        """Prune the history so that the whole request is within its limits, as its own counter
        counts it."""
        limits, before, messages = self.limits, parts.counted, self.tail.messages
        # Where the minimum history can't stay whole, the request may take all that the window
        # holds.
        widest = limits.budget if limits.most is None else max(0, limits.most)
        taken = sum(message_costs(self.counter, before).each)
        whose: dict[str, Any] = {
            "model": self.model,
            "provider": parts.provider,
            "counter": self.counter,
        }
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
            elif (
                int(tokens) > limit and pruned.fits
            ):  # the sizes of messages didn't add up to that of the whole
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
            current = (
                costs.alone([at_current]) if tail.text is None else self.counter.count(tail.text)
            )
        left = tuple(
            DroppedItem(
                unit.indices[0], f"{unit.kind}: {_places(unit.indices)}", unit.tokens, unit.reason
            )
            for unit in filled.pruned.receipt.dropped
            if not tail.pins.issuperset(unit.indices)
        )
        prompt, procedure, knowledge, episodes = (
            parts.system_prompt,
            parts.procedure,
            parts.knowledge,
            parts.episodes,
        )
        rows: dict[str, tuple[Count, int, str, tuple[DroppedItem, ...]]] = {
            "system_prompt": (self._count(prompt), int(bool(prompt)), "text", ()),
            "procedure": (self._count(procedure), int(bool(procedure)), "text", parts.left_out),
            "knowledge": (
                knowledge.tokens,
                len(knowledge.kept),
                knowledge.sources,
                knowledge.dropped,
            ),
            "episodes": (episodes.tokens, len(episodes.kept), episodes.sources, episodes.dropped),
            "history": (
                costs.alone(history) if history else Count(0),
                len(history),
                "messages",
                left,
            ),
            "current_message": (
                current,
                int(tail.current is not None),
                "text" if tail.text else "message",
                (),
            ),
        }
        counts = {name: row[0] for name, row in rows.items()}
        framing = "roles, tags, priming, tools" if self.tools else "roles, tags, priming"
        sections = []
        for name, count in _shared_out(counts, filled.tokens).items():
            _, items, source, dropped = rows.get(name, (None, 0, framing, ()))
            share = int(count) / budget if budget else 0.0
            sections.append(
                WindowSection(
                    name, count, share, source if items or name == "framing" else "", items, dropped
                )
            )
        return Assembly(
            messages=[*parts.sent, *filled.kept],
            system=parts.system,
            sections=tuple(sections),
            tokens=filled.tokens,
            budget=budget,
            history_budget=max(
                0, budget - sum(int(count) for name, count in counts.items() if name != "history")
            ),
            fits=self.limits.fits(filled.tokens),
            reason=self._reason(
                filled, {section.name: int(section.tokens) for section in sections}
            ),
            receipt=filled.pruned.receipt,
            provider=parts.provider,
            context_window=self.limits.window,
        )

    def _count(self, text: str) -> Count:
        return self.counter.count(text) if text else Count(0)

    def _reason(self, filled: Filled, tokens: dict[str, int]) -> str:
        """Return what is wrong, in words; several things are joined."""
        dropped, left = (
            filled.pruned.receipt.dropped,
            f"{tokens['history']:,} tokens of history are left",
        )
        short = filled.below_minimum and self.limits.fits(filled.tokens)
        found = [
            self._too_large(filled, tokens),
            f"the window has no room for min_history_tokens: {left}" if short else "",
            *(
                f"current_message: {unit.reason}"
                for unit in dropped
                if self.tail.pins.issuperset(unit.indices)
            ),
        ]
        return "; ".join(filter(None, found))

    def _too_large(self, filled: Filled, tokens: dict[str, int]) -> str:
        limits, count = self.limits, filled.tokens
        largest = max(tokens, key=lambda name: tokens[name])
        named = f"the largest part is {largest} with {tokens[largest]:,}"
        if not limits.fits(count):
            takes = (
                f"{count:,} tokens"
                if count.high == count
                else f"{count:,} tokens, perhaps {count.high:,}"
            )
            room = f"the window of {limits.window:,} leaves {max(0, limits.most or 0):,} after the response"
            return f"it takes {takes}, and {room}; {named}"
        if int(count) <= limits.budget:
            return ""
        over = f"it is {int(count) - limits.budget:,} tokens over the budget of {limits.budget:,}"
        kept = [message for message in filled.kept if message is not self.tail.current]
        if not self.min_history or all(
            entry.role == "system" for entry in read(kept, self.tail.provider)
        ):
            return f"{over}: nothing else can leave; {named}"
        stays = f"the newest {tokens['history']:,} tokens of history stay, because of min_history_tokens"
        fits_without = int(count) - tokens["history"] <= limits.budget
        return (
            f"{over}: {stays}"
            if fits_without
            else f"{over}: {stays}; it would be over without them too; {named}"
        )


def _shared_out(counts: dict[str, Count], whole: Count) -> dict[str, Count]:
    """Return the tokens of each section so that they add up to *whole*; what is left belongs to the
    framing.

    Texts can take a token less together than apart, and a provider may have reported less than was
    counted here: then a section has no more than there is.
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


# The pieces ---------------------------------------------------------------------------------------

SYSTEM_IN_MESSAGES = ("openai", "responses")
"""Providers whose system text is a message; the others take it in a field of its own."""
_OWN_TAG = re.compile(r"<(?=[^\w<>]*(?:knowledge|episodes|item)\b)", re.IGNORECASE)


def listed(name: str, given: object, *, single: bool = False) -> Sequence[Any]:
    """Return *given* as a list, None as an empty one.

    With *single* one thing is a list of one.
    """
    if given is None:
        return ()
    if isinstance(given, (list, tuple)) and not hasattr(given, "_fields"):
        return given
    if single and (isinstance(given, str) or is_mapping(given) or _text_of(given) is not None):
        return [given]
    if (
        isinstance(given, (str, bytes, bytearray))
        or is_mapping(given)
        or not hasattr(given, "__iter__")
    ):
        raise InputError(f"{name} must be a list, not {type(given).__name__}")
    several: Iterable[Any] = given
    return list(several)


def text_in(name: str, given: object) -> str:
    """Return a text.

    One of spaces alone says nothing, and providers refuse it.
    """
    if given is not None and not isinstance(given, str):
        raise InputError(f"{name} must be a text, not {type(given).__name__}")
    return string(given) if given and given.strip() else ""


@dataclass(frozen=True, slots=True)
class WindowItem:
    """One piece of retrieved text."""

    index: int
    """Its place in what was given."""
    text: str
    """The text as it was given."""
    written: str
    """The text as it goes in: with title and source, and unable to end the block it stands in."""
    source: str
    """Where it comes from; empty if unknown."""
    score: float | None
    """How good it is, if known; more is better."""

    @classmethod
    def of(cls, name: str, index: int, given: object) -> WindowItem:
        """Return the item at *index* of the argument *name*."""
        text = _text_of(given)
        if text is None:
            what = f"must be a text, or have one in text or content, not {type(given).__name__}"
            raise InputError(f"{name}[{index}] {what}")
        source = string(get(given, "source")) or string(get(get(given, "metadata"), "source"))
        title = string(get(given, "title"))
        head = " ".join((f"{title} ({source})" if title and source else title or source).split())
        written = _OWN_TAG.sub("&lt;", f"{head}\n{text}" if head and text.strip() else text)
        score: Any = get(given, "score")
        try:
            number = nan if score is None else float(score)
        except (TypeError, ValueError, OverflowError):
            number = None
        if number is None or isinstance(score, (str, bytes, bool)):
            raise InputError(f"{name}[{index}].score must be a number, not {score!r}")
        return cls(
            index, text, written, " ".join(source.split()), None if isnan(number) else number
        )

    def dropped(self, tokens: int, reason: str) -> DroppedItem:
        """Return the record that it isn't in the request."""
        return DroppedItem(self.index, self.text, tokens, reason)


def _text_of(given: object) -> str | None:
    if isinstance(given, str):
        return string(given)
    found = (get(given, name) for name in ("text", "content", "page_content"))
    return next((string(text) for text in found if isinstance(text, str)), None)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The items that go in, best first, with their sizes.

    And the others, with the reason.
    """

    kept: tuple[tuple[WindowItem, Count], ...] = ()
    dropped: tuple[DroppedItem, ...] = ()

    @classmethod
    def of(cls, name: str, given: object, cap: int, counter: TokenCounter) -> Chosen:
        """Return the items of the argument *name* that go in, up to *cap* tokens.

        *given* is a list, or one item. An item is a text, or a dict or object with its text in
        ``text``, ``content`` or ``page_content``, and perhaps ``score``, ``title`` and ``source``.
        The best are those with the highest score, then those without one. No item is cut; a smaller
        one may go in after one that didn't.
        """
        items = [
            WindowItem.of(name, index, one)
            for index, one in enumerate(listed(name, given, single=True))
        ]
        kept: list[tuple[WindowItem, Count]] = []
        dropped, left = [], cap
        for item in sorted(items, key=lambda item: (item.score is None, -(item.score or 0.0))):
            if not item.written.strip():
                dropped.append(item.dropped(0, "it is empty"))
                continue
            count = counter.count(item.written)
            tokens = int(count)
            if tokens <= left:
                kept.append((item, count))
                left -= tokens
            elif tokens > cap:
                dropped.append(item.dropped(tokens, f"larger than the limit of {cap:,} tokens"))
            else:
                dropped.append(item.dropped(tokens, f"better ones left {left:,} of {cap:,} tokens"))
        return cls(tuple(kept), tuple(dropped))

    @property
    def tokens(self) -> Count:
        """The size of what goes in."""
        return sum((count for _, count in self.kept), Count(0))

    @property
    def sources(self) -> str:
        """Where the items come from."""
        return (
            ", ".join(dict.fromkeys(item.source for item, _ in self.kept if item.source)) or "text"
        )

    def block(self, tag: str) -> str:
        """Return the items as one tagged text; empty without items."""
        items = "\n".join(f"<item>\n{item.written}\n</item>" for item, _ in self.kept)
        return f"<{tag}>\n{items}\n</{tag}>" if items else ""


@dataclass(frozen=True, slots=True)
class Parts:
    """What stands before the history: the system text, and one block of knowledge and episodes."""

    provider: Provider
    system_prompt: str
    procedure: str
    knowledge: Chosen
    episodes: Chosen
    left_out: tuple[DroppedItem, ...] = ()
    """The procedure, if it had to make way."""

    @property
    def system(self) -> str:
        """System prompt and procedure as one text."""
        return "\n\n".join(filter(None, (self.system_prompt, self.procedure)))

    @property
    def counted(self) -> list[Any]:
        """What stands before the history, as it is counted: a system text is a message, wherever it
        is sent."""
        messages: list[Any] = [{"role": "system", "content": self.system}] if self.system else []
        text = "\n".join(
            filter(None, (self.knowledge.block("knowledge"), self.episodes.block("episodes")))
        )
        is_system = self.provider in SYSTEM_IN_MESSAGES
        block = (
            {"role": "system", "content": text} if is_system else user_message(self.provider, text)
        )
        return [*messages, block] if text else messages

    @property
    def sent(self) -> list[Any]:
        """What stands before the history in the list that is sent."""
        messages = self.counted
        return messages[1:] if self.system and self.provider not in SYSTEM_IN_MESSAGES else messages

    def with_less(self, counter: TokenCounter, reason: str) -> Parts | None:
        """Return these parts without the worst episode, or then without the procedure.

        None if neither is there.
        """
        if self.episodes.kept:
            (*kept, (item, count)), dropped = self.episodes.kept, self.episodes.dropped
            return replace(
                self, episodes=Chosen(tuple(kept), (*dropped, item.dropped(int(count), reason)))
            )
        if self.procedure:
            gone = DroppedItem(0, self.procedure, int(counter.count(self.procedure)), reason)
            return replace(self, procedure="", left_out=(gone,))
        return None


@dataclass(frozen=True, slots=True)
class Tail:
    """History and current message.

    They are pruned together, because a current message may answer a call in the history, and
    because the last user message, which no pruner drops, is then the current one and not the one
    before it.
    """

    provider: Provider
    """Whose shape they have."""
    history: list[Any]
    current: Any = None
    """The message; None if there is none."""
    text: str | None = None
    """Its text; None if it holds something else."""

    @classmethod
    def of(cls, history: object, current: object, provider: Any, model: str | None) -> Tail:
        """Return history and current message in the shape of *provider*.

        ``auto`` is found from them and the model.
        """
        messages = list(listed("history", history))
        if is_sequence(current) or isinstance(current, (bytes, bytearray, int, float)):
            raise InputError(
                f"current_message must be a text or one message, not {type(current).__name__}"
            )
        if current is None or isinstance(current, str):
            whose = _provider(messages, provider, model)
            said = text_in("current_message", current)
            return (
                cls(whose, messages, user_message(whose, said), said)
                if said
                else cls(whose, messages)
            )
        content = get(current, "content")
        text = (
            string(content)
            if isinstance(content, str) and content and not get(current, "tool_calls")
            else None
        )
        return cls(_provider([*messages, current], provider, model), messages, current, text)

    @property
    def messages(self) -> list[Any]:
        """All of them, in order."""
        return self.history if self.current is None else [*self.history, self.current]

    @property
    def pins(self) -> frozenset[int]:
        """The place of the current message."""
        return frozenset() if self.current is None else frozenset((len(self.history),))

    def completed(self, kept: list[Any]) -> list[Any]:
        """Return *kept* with the current message, which stays as it is.

        A pruner drops it if it is broken, and may put a shortened copy in its place if it is the
        result of a tool.
        """
        if self.current is None or any(message is self.current for message in kept):
            return kept
        copied = kept and not any(kept[-1] is message for message in self.history)
        return [*kept[:-1], self.current] if copied else [*kept, self.current]


def _provider(messages: Sequence[Any], provider: Any, model: str | None) -> Provider:
    """Return whose shape *messages* have. Without messages, only the name of the model can tell."""
    if provider == "auto" and not messages and "gemini" in (model or "").lower():
        return "gemini"
    found = provider_of(messages, provider, model)
    if found not in SYSTEM_IN_MESSAGES and messages and get(messages[0], "role") == "system":
        raise InputError(
            f"history: message 0 is a system message, which {found} takes separately: "
            "take it out, and give its text as system_prompt"
        )
    return found
