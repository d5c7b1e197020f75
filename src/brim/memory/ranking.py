"""How much speaks for giving back a fact: how it was used, and what a person's words are about."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from brim.rules.stems import stem

BINDING, CHANGED, COMMAND, READ_AGAIN, RAN, OTHER = range(6)
"""How much it matters that a fact comes back: a person's own words that go on holding, files
that changed lately, commands that failed or ran again, files that were read again or that a
person's lost words are about, checks and latest commands that worked once, everything else."""

LATELY = 15
"""Uses of facts after which a file that changed, or a command that failed, is probably done with:
what a summary leaves out then is rarely needed again."""

LATEST = 4
"""Of the lost commands, so many of the latest come back even if they ran once and check nothing:
the earlier ones are done with."""
_WORD = re.compile(r"[A-Z]?[^\W\d_A-Z]{2,}|[A-Z]{3,}(?![a-z])")
"""A word in a text or in a name such as ``auction_server`` or ``PaymentService``."""


class Use:
    """How a fact was used. The larger ``last``, the later."""

    __slots__ = (
        "binding",
        "changed",
        "checks",
        "fails",
        "fixed",
        "is_replaced",
        "kind",
        "last",
        "named",
        "uses",
    )

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.uses = 0
        self.last = 0
        self.binding = False
        """A person's words that go on holding, or a person's answer."""
        self.changed = False
        """A file that was written or edited."""
        self.named = False
        """A file that a person named."""
        self.checks = False
        """A command that tests, builds or lints."""
        self.fails = False
        """A command that failed when it ran last."""
        self.fixed = False
        """A command that failed and then worked."""
        self.is_replaced = False
        """A command that failed, and then worked in other words."""

    def level(self, now: int) -> int:
        """Return how much it matters that this comes back: the lower, the more.

        *now* is the number of uses of all facts so far.
        """
        is_late = now - self.last <= LATELY
        if self.binding:
            return BINDING
        if self.kind == "command":
            return self._command_level(is_late=is_late)
        if self.changed:
            return CHANGED if is_late else OTHER
        if self.kind == "file" and self.uses > 1:
            return READ_AGAIN
        return OTHER

    def _command_level(self, *, is_late: bool) -> int:
        if self.fails:
            is_open = is_late and not self.is_replaced
            return COMMAND if is_open else OTHER
        if self.fixed or self.uses > 1:
            return COMMAND
        return RAN

    def rank(self, now: int) -> tuple[int, bool, int, int]:
        """Return what ranks lower comes back first.

        The level decides, then a person's words and what checks the work or was named by a person
        come first, then the most used, then the latest.
        """
        is_pointed_out = self.kind == "instruction" or self.checks or self.named
        return self.level(now), not is_pointed_out, -self.uses, -self.last

    def add(self, other: Use) -> None:
        """Take over the uses of *other*, which is the same fact under another name."""
        self.uses += other.uses
        self.last = max(self.last, other.last)
        self.changed = self.changed or other.changed
        self.named = self.named or other.named


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
