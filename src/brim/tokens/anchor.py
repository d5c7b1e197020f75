"""Anchored counts: the provider's report plus a count of newer messages.

A conversation grows at its end. The provider has already counted all but the end, with its own
vocabulary, framing, tool texts and images; no local count is as good. On two real agent sessions
the sum was off by 0.1% in the median and by less than 4% in 99 of 100 requests. Digests identify
messages by what the provider sees of them.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Protocol

from brim.models.usage import read_response
from brim.record import PlainData
from brim.tokens.calibrate import MAX_RATIO, MIN_RATIO, CalibrationStore, learn
from brim.tokens.costs import MessageCosts, message_costs
from brim.tokens.count import PREFIX_ERROR, Count
from brim.tokens.messages.frameworks import as_blocks
from brim.tokens.protocol import TokenCounter


def digests(messages: Sequence[Any], tools: Sequence[Any] | None, model: str) -> Iterator[str]:
    """Yield the digest of each prefix, shortest first.

    Each takes in the one before it, so each message is read once.

    It ends before the first message that cannot be written down (it holds itself, or an object
    whose fields cannot be seen): nothing after it is known, which costs an anchor and never gives a
    wrong one.
    """
    try:
        rolling = _hash(model.encode("utf-8", "surrogatepass"), _canonical(list(tools or ())))
        for message in messages:
            rolling = _hash(rolling, _canonical(as_blocks(message)))
            yield rolling.hex()
    except (RecursionError, TypeError, ValueError):
        return


def _hash(before: bytes, data: bytes) -> bytes:
    return blake2b(data, digest_size=16, key=blake2b(before, digest_size=16).digest()).digest()


def _canonical(value: object) -> bytes:
    """Return *value* as bytes that are equal when the provider sees the same."""
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":")).encode()


def _plain(value: object) -> object:
    """Return *value* without what makes no difference to the provider.

    A dict and an object with the same fields are the same; a field that is None is one that is
    missing; a text is a list of one text part; and a cache mark, which clients move along with
    every request, is nothing.
    """
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, bytes | bytearray):
        return {"bytes": bytes(value).hex()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "isoformat"):  # dates and times, which frameworks put into messages
        return value.isoformat()
    plain = {}
    for key, item in _fields(value).items():
        if item is not None and key != "cache_control":
            plain[str(key)] = _plain(item)
    if "role" in plain and isinstance(plain.get("content"), str):
        plain["content"] = [{"type": "text", "text": plain["content"]}]
    return plain


def _fields(value: object) -> Mapping[str, object]:
    """Return what *value* holds; ``TypeError`` if that cannot be seen, as a guess could take two
    messages for one."""
    if type(value) is dict or isinstance(value, Mapping):  # the first is ten times as fast
        return value
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        dumped = dump()
        if isinstance(dumped, Mapping):
            return dumped
    fields = {name: getattr(value, name) for name in _slots(value) if hasattr(value, name)}
    fields.update(getattr(value, "__dict__", {}))
    if not fields:
        raise TypeError(f"cannot see into {type(value).__name__}")
    return fields


def _slots(value: object) -> Iterator[str]:
    """Yield the names of the slots of *value*'s classes."""
    for kind in type(value).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        if isinstance(slots, str):
            yield slots
        else:
            yield from slots


@dataclass(frozen=True, slots=True)
class Anchor(PlainData):
    """One report of the tokens for messages, tools and a model."""

    digest: str
    """Identifies the model, the tools and every message of the prefix, in order."""
    messages: int
    """How many messages the prefix has."""
    tokens: int
    """What the provider reported for it."""
    model: str
    """The model that reported it: another model counts otherwise."""


class AnchorStore(Protocol):
    """Where anchors are kept, by their digest."""

    def get(self, digest: str, /) -> Anchor | None:
        """Return the anchor with *digest*, or None."""

    def put(self, anchor: Anchor, /) -> None:
        """Keep *anchor*, in place of an older one with the same digest."""


class MemoryAnchorStore:
    """The last *limit* anchors used, kept in memory.

    Safe to share between threads.
    """

    def __init__(self, limit: int = 1024) -> None:
        if limit < 1:
            raise ValueError(f"limit must be at least 1, not {limit}")
        self._limit = limit
        self._anchors: dict[str, Anchor] = {}
        self._lock = threading.Lock()

    def get(self, digest: str, /) -> Anchor | None:
        """Return the anchor with *digest*, or None; it's now the newest."""
        with self._lock:
            anchor = self._anchors.pop(digest, None)
            if anchor is not None:
                self._anchors[digest] = anchor
            return anchor

    def put(self, anchor: Anchor, /) -> None:
        """Keep *anchor*.

        If there are too many, the one that wasn't used for longest is forgotten.
        """
        with self._lock:
            self._anchors.pop(anchor.digest, None)
            self._anchors[anchor.digest] = anchor
            if len(self._anchors) > self._limit:
                del self._anchors[next(iter(self._anchors))]

    def __len__(self) -> int:
        return len(self._anchors)


class AnchoredTokenCounter:
    """A counter that knows what the provider has reported.

    It promises: the count of messages that begin with a reported prefix is the report plus the
    wrapped *counter*'s count of the rest; without such a prefix it is the wrapped counter's count.
    Any change in the prefix, in the tools or of the model, and the report does not apply. Looking
    for the prefix reads each message once.

    With *calibrations* each report also teaches the model's ratio, which multiplies local tokens.
    Those are what *local* counts (the same vocabulary, not scaled), or without it the wrapped
    counter's own counts divided by the ``ratio`` it says it applied: else the ratio would be
    learned from itself. *encoding* is the model's family in the table of priors.
    """

    def __init__(
        self,
        counter: TokenCounter,
        *,
        model: str | None = None,
        anchors: AnchorStore | None = None,
        calibrations: CalibrationStore | None = None,
        local: TokenCounter | None = None,
        encoding: str | None = None,
    ) -> None:
        if calibrations is not None and local is None and not hasattr(counter, "ratio"):
            raise ValueError(
                "calibrations= needs local=, the counter that the ratio multiplies, or a counter with .ratio"
            )
        self.counter = counter
        if model is None:
            model = counter.model or ""
        if anchors is None:
            anchors = MemoryAnchorStore()
        if encoding is None:
            # For an unknown name the family that its ratio comes from, not its encoding's.
            encoding = getattr(counter, "family", None) or getattr(counter, "encoding", "")
        self.model = model
        self.anchors: AnchorStore = anchors
        self._calibrations = calibrations
        self._local = local
        self._encoding = str(encoding)

    def costs(self, messages: Sequence[Any], tools: Sequence[Any] | None = None) -> MessageCosts:
        """Return what the wrapped counter gives for each message.

        No report says what a single one takes.
        """
        return message_costs(self.counter, messages, tools)

    def count(self, text: str, /) -> Count:
        """Return the wrapped counter's count: a text alone was never reported."""
        return self.counter.count(text)

    def count_messages(self, messages: Sequence[Any], tools: Sequence[Any] | None = None) -> Count:
        """Return the longest matching report plus a count of newer messages.

        ``low`` and ``high`` hold the interval of the rest, as the wrapped counter gives it, and
        ``PREFIX_ERROR`` of the reported part to each side: in 99 of 100 requests the next report
        lies between them, if the rest does.
        """
        anchor = self._longest(list(digests(messages, tools, self.model)))
        if anchor is None:
            return self.counter.count_messages(messages, tools)
        tail = messages[anchor.messages :]
        newer = Count(0)
        if tail:
            newer = self.counter.count_messages(tail)
        margin = -(-anchor.tokens * round(PREFIX_ERROR * 100) // 100)
        low = newer.low + max(0, anchor.tokens - margin)
        high = newer.high + anchor.tokens + margin
        return Count(anchor.tokens + int(newer), "anchored", low, high, newer.note)

    def report(
        self,
        messages: Sequence[Any],
        reported_tokens: object,
        tools: Sequence[Any] | None = None,
        *,
        output_tokens: int = 0,
    ) -> Anchor | None:
        """Remember the provider's *reported_tokens* for *messages* and *tools*, or read them from
        its response.

        They are all of the input: fresh, read from the cache and written to it. When the reply is
        the last of *messages* already, give its *output_tokens* as well; otherwise it is part of
        the rest when it is appended later.

        Nothing is remembered, and None returned, when there are no messages or no tokens: such
        events say nothing.
        """
        if isinstance(reported_tokens, int):
            tokens = reported_tokens
        else:
            tokens = read_response(reported_tokens).tokens.prompt
        prefixes = list(digests(messages, tools, self.model))
        if tokens <= 0 or output_tokens < 0 or not messages or len(prefixes) != len(messages):
            return None
        anchor = Anchor(prefixes[-1], len(messages), int(tokens) + int(output_tokens), self.model)
        if self._calibrations is not None and self.anchors.get(anchor.digest) != anchor:
            before = self._longest(prefixes[:-1])
            self._teach(self._calibrations, anchor, before, messages, tools)
        self.anchors.put(anchor)
        return anchor

    def _teach(
        self,
        store: CalibrationStore,
        anchor: Anchor,
        before: Anchor | None,
        messages: Any,
        tools: Any,
        /,
    ) -> None:
        """Learn from what came since the report *before*, else from the whole.

        The difference of two reports is free of what every request has and no message shows: hidden
        system texts, framing, tool texts. A whole request has them. So nothing is learned from a
        ratio beyond all vocabularies: it speaks of something else than the vocabulary.
        """
        reported = anchor.tokens
        if before is not None:
            reported -= before.tokens
            messages = messages[before.messages :]
            tools = None
        if self._local is not None:
            local = float(self._local.count_messages(messages, tools))
        else:
            count = self.counter.count_messages(messages, tools)
            local = int(count) / self.counter.ratio.value  # type: ignore[attr-defined]
        if local > 0 and MIN_RATIO <= reported / local <= MAX_RATIO:
            learn(store, self.model, self._encoding, reported=reported, local=local)

    def _longest(self, digests: list[str]) -> Anchor | None:
        """Return the anchor of the longest of the prefixes with *digests*."""
        for digest in reversed(digests):
            anchor = self.anchors.get(digest)
            if anchor is not None:
                return anchor
        return None
