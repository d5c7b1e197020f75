"""Retrieved knowledge and episode snippets: which of them go in, best first, and how they are written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any

from brim.errors import InputError
from brim.tokens.messages.fields import get, is_mapping, string
from brim.window.assembly import DroppedItem

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from brim.tokens.count import Count
    from brim.tokens.counters import TokenCounter

TAGS = ("knowledge", "episodes")
_OWN_TAG = re.compile(r"<(?=[^\w<>]*(?:knowledge|episodes|item)\b)", re.IGNORECASE)
_TEXTS = ("text", "content", "page_content")


@dataclass(frozen=True, slots=True)
class Item:
    """One piece of text that was retrieved."""

    index: int
    """Its place in what was given."""
    text: str
    """The text as it was given."""
    written: str
    """The text as it goes in: title and source before it, and unable to end the block it stands in."""
    source: str
    """Where it comes from; empty if nobody said."""
    score: float | None
    """How good it is, if somebody said; more is better."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The items that go in, best first, with what each takes; and the others, with the reason."""

    kept: tuple[tuple[Item, Count], ...] = ()
    dropped: tuple[DroppedItem, ...] = ()

    def without_worst(self, reason: str) -> Chosen:
        """Return the choice without its last item."""
        item, count = self.kept[-1]
        return Chosen(self.kept[:-1], (*self.dropped, DroppedItem(item.index, item.text, int(count), reason)))


def read_items(name: str, given: object) -> list[Item]:
    """Return the items of *given*, best first: those with a score, highest first, then the others as they came.

    *given* is a list, or one item. An item is a text, or a dict or object with its text in ``text``, ``content`` or
    ``page_content``, and perhaps ``score``, ``title`` and ``source``.
    """
    items = [_item(name, index, one) for index, one in enumerate(listed(name, given, single=True))]
    return sorted(items, key=lambda item: (item.score is None, -(item.score or 0.0)))


def choose(items: Iterable[Item], cap: int, counter: TokenCounter) -> Chosen:
    """Return the items that go in up to *cap* tokens. None is cut; a smaller one may go in after one that did not."""
    kept: list[tuple[Item, Count]] = []
    dropped, left = [], cap
    for item in items:
        if not item.written.strip():
            dropped.append(DroppedItem(item.index, item.text, 0, "it is empty"))
            continue
        count = counter.count(item.written)
        tokens = int(count)
        if tokens <= left:
            kept.append((item, count))
            left -= tokens
        elif tokens > cap:
            dropped.append(DroppedItem(item.index, item.text, tokens, f"larger than the limit of {cap:,} tokens"))
        else:
            reason = f"better ones left {left:,} of {cap:,} tokens"
            dropped.append(DroppedItem(item.index, item.text, tokens, reason))
    return Chosen(tuple(kept), tuple(dropped))


def block(knowledge: Chosen, episodes: Chosen) -> str:
    """Return both as one tagged text; empty if there is nothing in either."""
    parts = []
    for tag, chosen in zip(TAGS, (knowledge, episodes), strict=True):
        if chosen.kept:
            items = "\n".join(f"<item>\n{item.written}\n</item>" for item, _ in chosen.kept)
            parts.append(f"<{tag}>\n{items}\n</{tag}>")
    return "\n".join(parts)


def listed(name: str, given: object, *, single: bool = False) -> Sequence[Any]:
    """Return *given* as a list, None as an empty one; with *single* one thing is a list of one."""
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


def _item(name: str, index: int, given: object) -> Item:
    text = _text_of(given)
    if text is None:
        raise InputError(f"{name}[{index}] must be a text, or have one in text or content, not {type(given).__name__}")
    source = string(get(given, "source")) or string(get(get(given, "metadata"), "source"))
    title = string(get(given, "title"))
    named = f"{title} ({source})" if title and source else title or source
    head = " ".join(named.split())
    written = _OWN_TAG.sub("&lt;", f"{head}\n{text}" if head and text.strip() else text)
    return Item(index, text, written, " ".join(source.split()), _score(f"{name}[{index}].score", get(given, "score")))


def _text_of(given: object) -> str | None:
    if isinstance(given, str):
        return string(given)
    return next((string(found) for name in _TEXTS if isinstance(found := get(given, name), str)), None)


def _score(name: str, given: Any) -> float | None:
    if given is None:
        return None
    try:
        if isinstance(given, (str, bytes, bool)):
            raise TypeError
        score = float(given)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} must be a number, not {given!r}") from None
    return None if isnan(score) else score
