"""The pieces that a request is put together from: retrieved texts, system text, history."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import Any

from brim.errors import InputError
from brim.messages.arguments import items_given, text_given, text_of_item
from brim.messages.assembly import DroppedItem
from brim.messages.content import user_message
from brim.messages.entries import Provider
from brim.messages.layouts import provider_of
from brim.tokens.count import Count
from brim.tokens.messages.fields import get, is_sequence, string
from brim.tokens.protocol import TokenCounter

SYSTEM_IN_MESSAGES = ("openai", "responses")
"""Providers whose system text is a message; the others take it in a field of its own."""
_OWN_TAG = re.compile(r"<(?=[^\w<>]*(?:knowledge|episodes|item)\b)", re.IGNORECASE)


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
    def of(
        cls,
        name: str,
        index: int,
        item: object,
    ) -> WindowItem:
        """Return the item at *index* of the argument *name*."""
        text = text_of_item(item)
        if text is None:
            kind = type(item).__name__
            raise InputError(
                f"{name}[{index}] must be a text, or have one in text or content, not {kind}"
            )

        source = string(get(item, "source")) or string(get(get(item, "metadata"), "source"))
        score = _score(f"{name}[{index}].score", get(item, "score"))
        written = _written(text, string(get(item, "title")), source)
        return cls(
            index,
            text,
            written,
            " ".join(source.split()),
            score,
        )

    def dropped(self, tokens: int, reason: str) -> DroppedItem:
        """Return the record that it isn't in the request."""
        return DroppedItem(
            self.index,
            self.text,
            tokens,
            reason,
        )


def _written(text: str, title: str, source: str) -> str:
    """Return *text* below its title and source, without a tag that could end its block."""
    head = title or source
    if title and source:
        head = f"{title} ({source})"

    head = " ".join(head.split())
    if head and text.strip():
        text = f"{head}\n{text}"

    return _OWN_TAG.sub("&lt;", text)


def _score(name: str, value: Any) -> float | None:
    """Return the score of an item; None if it has none."""
    if value is None:
        return None

    problem = f"{name} must be a number, not {value!r}"
    if isinstance(value, (str, bytes, bool)):
        raise InputError(problem)

    try:
        score = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(problem) from None

    return None if isnan(score) else score


@dataclass(frozen=True, slots=True)
class Chosen:
    """The items that go in, best first, with their sizes.

    And the others, with the reason.
    """

    items: tuple[tuple[WindowItem, Count], ...] = ()
    dropped: tuple[DroppedItem, ...] = ()

    @classmethod
    def of(
        cls,
        name: str,
        argument: object,
        cap: int,
        counter: TokenCounter,
    ) -> Chosen:
        """Return the items of the argument *name* that go in, up to *cap* tokens.

        *argument* is a list, or one item. An item is a text, or a dict or object with its text in
        ``text``, ``content`` or ``page_content``, and perhaps ``score``, ``title`` and ``source``.
        The best are those with the highest score, then those without one. No item is cut; a smaller
        one may go in after one that didn't.
        """
        all_items = []
        for index, item in enumerate(items_given(name, argument, single=True)):
            all_items.append(WindowItem.of(name, index, item))

        all_items.sort(key=lambda item: (item.score is None, -(item.score or 0.0)))
        items: list[tuple[WindowItem, Count]] = []
        dropped = []
        room = cap
        for item in all_items:
            if not item.written.strip():
                dropped.append(item.dropped(0, "it is empty"))
                continue

            count = counter.count(item.written)
            tokens = int(count)
            if tokens <= room:
                items.append((item, count))
                room -= tokens
                continue

            reason = f"better ones left {room:,} of {cap:,} tokens"
            if tokens > cap:
                reason = f"larger than the limit of {cap:,} tokens"

            dropped.append(item.dropped(tokens, reason))

        return cls(tuple(items), tuple(dropped))

    @property
    def tokens(self) -> Count:
        """The size of what goes in."""
        return sum((count for _, count in self.items), Count(0))

    @property
    def sources(self) -> str:
        """Where the items come from."""
        sources = dict.fromkeys(item.source for item, _ in self.items)
        return ", ".join(filter(None, sources)) or "text"

    def without_worst(self, reason: str) -> Chosen:
        """Return these items without the last, which left for *reason*."""
        item, count = self.items[-1]
        return Chosen(self.items[:-1], (*self.dropped, item.dropped(int(count), reason)))

    def block(self, tag: str) -> str:
        """Return the items as one tagged text; empty without items."""
        if not self.items:
            return ""

        texts = "\n".join(f"<item>\n{item.written}\n</item>" for item, _ in self.items)
        return f"<{tag}>\n{texts}\n</{tag}>"


@dataclass(frozen=True, slots=True)
class Parts:
    """What stands before the history: the system text, and one block of knowledge and episodes."""

    provider: Provider
    system_prompt: str
    procedure: str
    knowledge: Chosen
    episodes: Chosen
    dropped_procedure: tuple[DroppedItem, ...] = ()
    """The procedure, if it had to make way."""

    @property
    def system(self) -> str:
        """System prompt and procedure as one text."""
        return "\n\n".join(filter(None, (self.system_prompt, self.procedure)))

    @property
    def counted(self) -> list[Any]:
        """What stands before the history, as it is counted: a system text is a message, wherever it
        is sent."""
        messages: list[Any] = []
        if self.system:
            messages.append({"role": "system", "content": self.system})

        blocks = (self.knowledge.block("knowledge"), self.episodes.block("episodes"))
        text = "\n".join(filter(None, blocks))
        if text and self.provider in SYSTEM_IN_MESSAGES:
            messages.append({"role": "system", "content": text})
        elif text:
            messages.append(user_message(self.provider, text))

        return messages

    @property
    def sent(self) -> list[Any]:
        """What stands before the history in the list that is sent."""
        if self.system and self.provider not in SYSTEM_IN_MESSAGES:
            return self.counted[1:]

        return self.counted

    def with_less(self, counter: TokenCounter, reason: str) -> Parts | None:
        """Return these parts without the worst episode, or then without the procedure.

        None if neither is there.
        """
        if self.episodes.items:
            return replace(self, episodes=self.episodes.without_worst(reason))

        if self.procedure:
            tokens = int(counter.count(self.procedure))
            dropped = DroppedItem(
                0,
                self.procedure,
                tokens,
                reason,
            )
            return replace(self, procedure="", dropped_procedure=(dropped,))

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
    def of(
        cls,
        history: object,
        current: object,
        provider: Any,
        model: str | None,
    ) -> Tail:
        """Return history and current message in the shape of *provider*.

        ``auto`` is found from them and the model.
        """
        messages = list(items_given("history", history))
        if is_sequence(current) or isinstance(current, (bytes, bytearray, int, float)):
            kind = type(current).__name__
            raise InputError(f"current_message must be a text or one message, not {kind}")

        if current is None or isinstance(current, str):
            text = text_given("current_message", current)
            receiver = _provider(messages, provider, model)
            if not text:
                return cls(receiver, messages)

            return cls(
                receiver,
                messages,
                user_message(receiver, text),
                text,
            )

        receiver = _provider([*messages, current], provider, model)
        return cls(
            receiver,
            messages,
            current,
            _plain_text(current),
        )

    @property
    def messages(self) -> list[Any]:
        """All of them, in order."""
        if self.current is None:
            return self.history

        return [*self.history, self.current]

    @property
    def pins(self) -> frozenset[int]:
        """The place of the current message."""
        if self.current is None:
            return frozenset()

        return frozenset((len(self.history),))

    def completed(self, pruned: list[Any]) -> list[Any]:
        """Return the *pruned* messages with the current one, which stays as it is.

        A pruner drops the current message if it is broken, and may put a shortened copy in its
        place if it is the result of a tool.
        """
        if self.current is None or any(message is self.current for message in pruned):
            return pruned

        last_is_own = bool(pruned) and any(pruned[-1] is message for message in self.history)
        if pruned and not last_is_own:  # the pruner's copy of the current message
            return [*pruned[:-1], self.current]

        return [*pruned, self.current]


def _plain_text(message: object) -> str | None:
    """Return the text of *message*; None if it holds something else."""
    content = get(message, "content")
    if not isinstance(content, str) or not content or get(message, "tool_calls"):
        return None

    return string(content)


def _provider(messages: Sequence[Any], provider: Any, model: str | None) -> Provider:
    """Return whose shape *messages* have. Without messages, only the name of the model can tell."""
    if provider == "auto" and not messages and "gemini" in (model or "").lower():
        return "gemini"

    receiver = provider_of(messages, provider, model)
    if receiver in SYSTEM_IN_MESSAGES or not messages:
        return receiver

    if get(messages[0], "role") == "system":
        raise InputError(
            f"history: message 0 is a system message, which {receiver} takes separately: "
            "take it out, and give its text as system_prompt"
        )

    return receiver
