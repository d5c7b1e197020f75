"""The words in the names of files, and which files a text is about."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from brim.rules.stems import stem

_WORD = re.compile(r"[A-Z]?[^\W\d_A-Z]{2,}|[A-Z]{3,}(?![a-z])")
"""A word in a text or in a name such as ``auction_server`` or ``PaymentService``."""


def files_about(statements: Iterable[str], paths: Iterable[str]) -> set[str]:
    """Return the *paths* whose name has a word of *statements* that no other name has.

    >>> sorted(files_about(["Everything goes through Auctions.Registry."],
    ...                    ["lib/auctions/registry.ex", "lib/auctions/bid.ex"]))
    ['lib/auctions/registry.ex']
    """
    statement_words = _stems("\n".join(statements))
    words_of = {path: _stems(_stem_of(path)) for path in paths}
    counts = Counter(word for words in words_of.values() for word in words)
    about = set()
    for path, words in words_of.items():
        if any(counts[word] == 1 for word in words & statement_words):
            about.add(path)
    return about


def _stem_of(path: str) -> str:
    name = path.replace("\\", "/").rpartition("/")[2]
    return name.partition(".")[0]


def _stems(text: str) -> set[str]:
    return {stem(word.lower()) for word in _WORD.findall(text) if len(word) > 2}
