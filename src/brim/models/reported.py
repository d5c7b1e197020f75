"""Windows that agents or providers reported, and the ones that their errors name.

The table of models says what a model can hold. A status line, a run's result or an overflow error
says what this account, host and settings really give. Such a window is stored under the name that
it was reported for: in memory, unless ``remember_in`` is given a store that outlives the process.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Protocol

from brim.errors import InputError
from brim.files import data_rows
from brim.models.names import clean


class WindowStore(Protocol):
    """A store for reported windows.

    Names come in lower case. An unknown name gives ``None``, never an error.
    """

    def get(self, name: str, /) -> int | None:
        """Return the window that was last put for *name*."""

    def put(self, name: str, tokens: int, /) -> None:
        """Store *tokens* as the window of *name*."""


class MemoryWindowStore(dict[str, int]):
    """Reported windows for as long as the process runs."""

    def put(self, name: str, tokens: int, /) -> None:
        """Store *tokens* as the window of *name*."""
        self[name] = tokens

    def __repr__(self) -> str:
        return f"MemoryWindowStore({super().__repr__()})"


_store: WindowStore = MemoryWindowStore()


def remember_in(store: WindowStore) -> WindowStore:
    """Let ``model`` and ``lookup`` use *store*; return the previous one."""
    global _store  # noqa: PLW0603 - one store for the process, as the docstring says
    before = _store
    _store = store
    return before


def report_window(name: str, tokens: int, store: WindowStore | None = None) -> None:
    """Remember a window of *tokens* for the model *name*.

    Uses *store*, or else the store of this process.
    """
    if type(tokens) is not int or tokens < 1:
        raise InputError(
            f"the reported window of {name[:80]!r} must be a positive whole number, not {tokens!r}"
        )
    if store is None:
        store = _store
    key = clean(name)
    if key:
        store.put(key, tokens)


def window_of(key: str) -> int:
    """Return the window reported for the lower-case name *key*, or 0."""
    if not key:
        return 0
    return _store.get(key) or 0


_SMALLEST = 256
_LARGEST = 100_000_000
_LONGEST_ERROR = 20_000


def window_from_error(text: str) -> int | None:
    """Return the token limit that an overflow error names.

    Returns ``None`` if *text* isn't such an error.

    The texts of Anthropic, OpenAI, Gemini, xAI, GitHub Copilot, Kimi, Alibaba, vLLM, OpenRouter, LM
    Studio, llama.cpp and Mistral are known, each with its source in ``data/overflow.tsv``. OpenAI's
    *configured limit* is the maximum input of a model that splits its window, not the sum.

    >>> window_from_error("prompt is too long: 210000 tokens > 200000 maximum")
    200000
    """
    if not isinstance(text, str):
        return None
    for pattern in _patterns():
        match = pattern.search(text[:_LONGEST_ERROR])
        if match is None:
            continue
        digits = match[1].replace(",", "")
        if 0 < len(digits) < 10 and _SMALLEST <= int(digits) <= _LARGEST:
            return int(digits)
    return None


@cache
def _patterns() -> list[re.Pattern[str]]:
    rows = data_rows(__file__, "overflow.tsv")
    return [re.compile(row[0], re.IGNORECASE | re.ASCII) for row in rows]
