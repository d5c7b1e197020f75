"""What every adapter takes: the arguments of ``Guard`` without the model."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, Literal, TypedDict

from brim.behaviors import Behavior
from brim.errors import InputError, UnknownPrice
from brim.guard.conversation import Call, Guard
from brim.guard.fitting import Name
from brim.history.draft import Pin
from brim.history.entries import Provider
from brim.history.pruners import Pruner
from brim.history.summarize import Summarizer
from brim.models.light import lookup
from brim.models.response import read_response
from brim.spend.ledger import Ledger
from brim.tokens.protocol import TokenCounter
from brim.window.budget import window_of

LONGEST_ANSWER = 16_384
"""Tokens of an answer if neither the caller nor the framework says how many: an answer may be a whole file."""


class Settings(TypedDict, total=False):
    """Arguments of ``Guard``, which says what each of them means."""

    ledger: str | Ledger | None
    scope: str
    limit_usd: float | str | Decimal | None
    max_output: int | None
    target: int | None
    sure: bool
    strategy: Name | Pruner | None
    summarize: Summarizer | None
    exclude_tools: Sequence[str]
    rules: Iterable[Behavior]
    rule_tokens: int
    provider: Provider | Literal["auto"]
    counter: TokenCounter | None
    pin: Pin | None
    lease: float


def longest_answer(guard: Guard, *asked: object) -> int:
    """Return how many tokens to send as ``max_tokens``: what is reserved has to be the most that a call can cost.

    That is the smallest of what *guard* and the framework (*asked*) say. If none of them does, it's what fits most
    answers: 15% of the window, at most 16,384 tokens, and never more than the model writes.
    """
    given = [each for each in (guard.max_output, *asked) if isinstance(each, int) and each > 0]
    if given:
        return min(given)
    window = window_of(guard.model)
    return min(LONGEST_ANSWER, window * 15 // 100, lookup(guard.model).max_output or window)


def settle(call: Call[Any], response: object) -> None:
    """Tell *call* what its *response* took.

    An answer isn't lost because its response doesn't say that: then this warns, and the money stays reserved.
    """
    try:
        reported = read_response(response)
        if reported.tokens.is_nothing:
            raise InputError(f"{type(response).__name__}: its usage is empty")
        call.done(reported)
    except (InputError, UnknownPrice) as error:
        kept = "its money stays reserved and counts in full when the lease ends" if call.reserved else "it isn't counted"
        warnings.warn(f"the cost of a response of {call.model} isn't known, so {kept}: {error}", stacklevel=3)
