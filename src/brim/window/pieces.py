"""The pieces of a request: the history, and what precedes it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from typing import Any

from brim.errors import InputError
from brim.history import Provider
from brim.history.content import user_message
from brim.history.formats import provider_of
from brim.tokens.count import Count
from brim.tokens.messages.fields import get, is_mapping, is_sequence, string
from brim.tokens.protocol import TokenCounter
from brim.window.assembly import DroppedItem

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
    if isinstance(given, (str, bytes, bytearray)) or is_mapping(given) or not hasattr(given, "__iter__"):
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
class Item:
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
    def of(cls, name: str, index: int, given: object) -> Item:
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
        return cls(index, text, written, " ".join(source.split()), None if isnan(number) else number)

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

    kept: tuple[tuple[Item, Count], ...] = ()
    dropped: tuple[DroppedItem, ...] = ()

    @classmethod
    def of(cls, name: str, given: object, cap: int, counter: TokenCounter) -> Chosen:
        """Return the items of the argument *name* that go in, up to *cap* tokens.

        *given* is a list, or one item. An item is a text, or a dict or object with its text in ``text``, ``content`` or
        ``page_content``, and perhaps ``score``, ``title`` and ``source``. The best are those with the highest score,
        then those without one. No item is cut; a smaller one may go in after one that didn't.
        """
        items = [Item.of(name, index, one) for index, one in enumerate(listed(name, given, single=True))]
        kept: list[tuple[Item, Count]] = []
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
        return ", ".join(dict.fromkeys(item.source for item, _ in self.kept if item.source)) or "text"

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
        """What stands before the history, as it is counted: a system text is a message, wherever it is sent."""
        messages: list[Any] = [{"role": "system", "content": self.system}] if self.system else []
        text = "\n".join(filter(None, (self.knowledge.block("knowledge"), self.episodes.block("episodes"))))
        is_system = self.provider in SYSTEM_IN_MESSAGES
        block = {"role": "system", "content": text} if is_system else user_message(self.provider, text)
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
            return replace(self, episodes=Chosen(tuple(kept), (*dropped, item.dropped(int(count), reason))))
        if self.procedure:
            gone = DroppedItem(0, self.procedure, int(counter.count(self.procedure)), reason)
            return replace(self, procedure="", left_out=(gone,))
        return None


@dataclass(frozen=True, slots=True)
class Tail:
    """History and current message.

    They are pruned together, because a current message may answer a call in the history, and because the last user
    message, which no pruner drops, is then the current one and not the one before it.
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
            raise InputError(f"current_message must be a text or one message, not {type(current).__name__}")
        if current is None or isinstance(current, str):
            whose = _provider(messages, provider, model)
            said = text_in("current_message", current)
            return cls(whose, messages, user_message(whose, said), said) if said else cls(whose, messages)
        content = get(current, "content")
        text = string(content) if isinstance(content, str) and content and not get(current, "tool_calls") else None
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

        A pruner drops it if it is broken, and may put a shortened copy in its place if it is the result of a tool.
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
