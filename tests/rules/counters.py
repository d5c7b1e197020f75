"""Counters for tests: those of brim, and some of which brim knows nothing."""

from __future__ import annotations

from brim.tokens import (
    ApproximateTokenCounter,
    ExactTokenCounter,
    TokenCounter,
    counter_for,
    estimate_tokens,
)
from brim.tokens.count import Count


class WordCounter:
    """A counter of which brim knows nothing, and which does not add up over lines."""

    model = None

    def count(self, text: str, /) -> Count:
        return Count(len(text.split()) + text.count("\n") // 2)

    def count_messages(self, messages: object, tools: object = None) -> Count:
        raise NotImplementedError


class ByteCounter(WordCounter):
    """Rounds, so that the sum over lines is more than the whole."""

    def count(self, text: str, /) -> Count:
        return Count(estimate_tokens(text))


class BlockCounter(WordCounter):
    """So coarse that a line can count as nothing, and a repeated one costs less."""

    def count(self, text: str, /) -> Count:
        return Count((len(text) + len(set(text.split("\n")))) // 8)


COUNTERS: dict[str, TokenCounter] = {
    "o200k": ExactTokenCounter(),
    "cl100k": ExactTokenCounter("gpt-4"),
    "harmony": ExactTokenCounter(encoding="o200k_harmony"),
    "claude": counter_for("claude-sonnet-4-5"),
    "approximate": ApproximateTokenCounter(),
    "words": WordCounter(),
    "bytes": ByteCounter(),
    "blocks": BlockCounter(),
}
