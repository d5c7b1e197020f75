"""What a conversation costs when its history is trimmed before every request.

A provider's cache holds the previous request's prompt. The messages at the beginning of a request
that are the same, byte for byte, as those at the beginning of the one before are read from the
cache; everything after the first difference is written to it anew. A trimmer that moves its cut at
every step pays the write price for nearly all of its prompt, one that moves it seldom pays the read
price; they differ by a factor of 12.5 ($3.75 and $0.30 per million tokens). Output and tools are
left out: they are the same for everyone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from brim.models import cost
from brim.tokens import TokenCounter
from histories import History, Message
from trimmers import PRICED, Trimmer

SHARE = 0.3
"""The limit of every request, as a share of the tokens that the whole conversation ends with."""

Usable = Callable[[list[Message], Sequence[Message], int], bool]
Size = Callable[[Message], int]


@dataclass
class Bill:
    """What one trimmer's requests came to."""

    dollars: list[float | None] = field(default_factory=list)
    """Per conversation; None where it was not measured."""
    read: int = 0
    written: int = 0
    requests: int = 0
    usable: int = 0
    """Requests that a provider accepts, that fit, and that still hold the last user message."""
    errors: int = 0

    @property
    def total(self) -> float:
        """Dollars, over everything that was measured."""
        return sum(dollars for dollars in self.dollars if dollars is not None)

    def ratio(self, other: Bill) -> float:
        """How many times as much as *other* this cost, over the conversations that both were
        measured on."""
        both = [
            (a, b)
            for a, b in zip(self.dollars, other.dollars, strict=True)
            if a is not None and b is not None
        ]
        return sum(a for a, _ in both) / sum(b for _, b in both)


def replay(
    conversations: Sequence[History],
    trimmers: Sequence[Trimmer],
    counter: TokenCounter,
    size: Size,
    usable: Usable,
    say: Callable[[str], None],
) -> dict[str, Bill]:
    """Send every request of every conversation through every trimmer, one after the other, as an
    agent would."""
    bills = {trimmer.name: Bill() for trimmer in trimmers}
    for number, history in enumerate(conversations):
        say(f"replay: conversation {number + 1} of {len(conversations)}")
        limit = int(sum(map(size, history.messages)) * SHARE)
        for trimmer in trimmers:
            bill = bills[trimmer.name]
            if number % min(trimmer.every, 4):
                bill.dollars.append(None)
            else:
                bill.dollars.append(
                    _conversation(history, trimmer, counter, limit, bill, size, usable)
                )
    return bills


def _conversation(
    history: History,
    trimmer: Trimmer,
    counter: TokenCounter,
    limit: int,
    bill: Bill,
    size: Size,
    usable: Usable,
) -> float:
    """Add the requests of one conversation to *bill*, and return its dollars."""
    trim = trimmer.start(counter)
    cached: list[str] = []
    micros = 0
    for prompt in history.requests():
        bill.requests += 1
        try:
            sent, _ = trim(prompt, limit)
        except Exception:  # an agent would then send what it has
            bill.errors += 1
            sent = prompt
        bill.usable += usable(prompt, sent, limit)
        texts = [json.dumps(message, ensure_ascii=False) for message in sent]
        same = next(
            (i for i, (a, b) in enumerate(zip(texts, cached, strict=False)) if a != b), None
        )
        kept = min(len(texts), len(cached)) if same is None else same
        read, written = sum(map(size, sent[:kept])), sum(map(size, sent[kept:]))
        usage = {
            "input_tokens": 0,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": written,
        }
        micros += cost(usage, PRICED) or 0
        bill.read += read
        bill.written += written
        cached = texts
    return int(micros) / 1e6


def cheapest(bills: dict[str, Bill]) -> str | None:
    """Return who cost least, of those measured on everything and nearly always usable: to send
    nothing is cheap."""
    fair = [
        name
        for name, bill in bills.items()
        if None not in bill.dollars and bill.usable > 0.95 * bill.requests
    ]
    return min(fair, key=lambda name: bills[name].total, default=None)
