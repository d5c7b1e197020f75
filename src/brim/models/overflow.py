"""Reads the window out of a provider's error: a request that was too long tells how long it may be."""

from __future__ import annotations

import re
from functools import cache

from brim.models.files import read

_SMALLEST, _LARGEST = 256, 100_000_000
_LONGEST_ERROR = 20_000


def window_from_error(text: str) -> int | None:
    """Return the maximum number of tokens that an overflow error names, or ``None`` if *text* is no such error.

    The texts of Anthropic, OpenAI, Gemini, xAI, GitHub Copilot, Kimi, Alibaba, vLLM, OpenRouter, LM Studio, llama.cpp
    and Mistral are known, each with its source in ``data/overflow.tsv``. OpenAI's *configured limit* is the maximum
    input of a model that splits its window, not the sum.

    >>> window_from_error("prompt is too long: 210000 tokens > 200000 maximum")
    200000
    """
    if not isinstance(text, str):
        return None
    for pattern in _patterns():
        found = pattern.search(text[:_LONGEST_ERROR])
        digits = found[1].replace(",", "") if found else ""
        if 0 < len(digits) < 10 and _SMALLEST <= int(digits) <= _LARGEST:
            return int(digits)
    return None


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    lines = read("overflow.tsv").decode().split("\n")
    rows = [line.partition("\t")[0] for line in lines if line and not line.startswith("#")]
    return tuple(re.compile(row, re.IGNORECASE | re.ASCII) for row in rows)
