"""What every counter promises: the protocol ``TokenCounter``.

It is apart from the counters because importing ``typing`` would take a third of the time of a first
count.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol, runtime_checkable

from brim.errors import InputError
from brim.tokens.count import Count

Mode = Literal["auto", "approximate", "exact", "api"]
"""How to count: see ``brim.tokens.counters.MODES``."""


@runtime_checkable
class TokenCounter(Protocol):
    """Counts the tokens of text and messages.

    Each count says what it rests on.

    The rules every counter keeps:

    - it never raises on text: special-token strings are ordinary text, lone surrogates are replaced;
    - it never raises on what is in a message: parts that it does not know it counts as well as it can;
    - something that isn't a message of a known format (None, a number, another framework's class) is an ``InputError``;
    - the same input gives the same count, until something is learned from a provider's report;
    - an empty text is 0 tokens (but 1 for ``ApproximateTokenCounter``, whose rule says so).
    """

    @property
    def model(self) -> str | None:
        """The model whose tokens are counted; None for the default encoding."""

    def count(self, text: str, /) -> Count:
        """Return the number of tokens of *text*."""

    def count_messages(self, messages: Sequence[Any], tools: Sequence[Any] | None = None) -> Count:
        """Return the tokens of a request with *messages* and *tools*.

        Framing is included.
        """


def require_counter(counter: object) -> None:
    """Raise ``InputError`` if *counter* isn't one; a plain function such as ``len`` can't count
    messages."""
    if not isinstance(counter, TokenCounter):
        raise InputError(
            f"counter must be a TokenCounter, such as counter_for('gpt-4o'), not {repr(counter)[:40]}"
        )
