"""How much speaks for giving back a fact: how it was used, and what a person's words are about."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from brim.memory.comparison import Fact
from brim.rules.stems import stem

BINDING, CHANGED, COMMAND, READ_AGAIN, LATEST, OTHER = range(6)
"""How much it matters that a fact comes back: a person's own words that go on holding, files that
changed lately or more than once, commands that ran again or failed, files that were read again or
that a person's lost words are about, files and short commands that were used once directly before
the compaction, everything else."""

LATELY = 30
"""Uses of facts after which a command, or a file that changed once, is probably done with: what a
summary leaves out then is rarely needed again."""

JUST_NOW = 15
"""The same for what was used once, and for a command that failed when it ran last."""

SHORT = 5
"""Words of a command that ran once and may run again. A longer one is about one thing only: of 22
in 87 compactions of public sessions, one ran again."""

_PASSING_FILE = re.compile(
    r"^(?:/private)?/tmp/(?:[^/]+$|claude-)"  # drafts of a message, and a client's own output
    r"|^[/~].*/\."  # plans and plugins of the agent, in a hidden folder of the home
    r"|(?:^|/)node_modules/|\$"
)
"""A path of what isn't the project's own: drafts, plans, packages, names made in a loop."""
_WORD = re.compile(r"[A-Z]?[^\W\d_A-Z]{2,}|[A-Z]{3,}(?![a-z])")
"""A word in a text or in a name such as ``auction_server`` or ``PaymentService``."""


_QUOTES = frozenset("\"'`")


class Use:
    """How a fact was used. The larger ``last``, the later."""

    __slots__ = ("changed", "fact", "fails", "fixed", "is_replaced", "last", "uses")

    def __init__(self, fact: Fact) -> None:
        self.fact = fact
        self.uses = 0
        self.last = 0
        self.changed = False
        """A file that was written or edited."""
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
        kind, text = self.fact
        age = now - self.last
        if kind == "command":
            return self._command_level(text, age)
        if kind == "file":
            return self._file_level(text, age)
        return BINDING

    def _file_level(self, path: str, age: int) -> int:
        if _PASSING_FILE.search(path):
            return OTHER
        if self.changed and (age <= LATELY or self.uses > 1):
            return CHANGED
        if self.uses > 1:
            return READ_AGAIN
        return LATEST if age <= JUST_NOW else OTHER

    def _command_level(self, command: str, age: int) -> int:
        if self.is_replaced or not _QUOTES.isdisjoint(command):
            return OTHER  # a value in quotes is a question that was answered
        ran_again = self.fixed or self.uses > 1
        if ran_again and not self.fails and age <= LATELY:
            return COMMAND
        if age > JUST_NOW:
            return OTHER
        if self.fails:
            return COMMAND
        return LATEST if len(command.split()) <= SHORT else OTHER

    def rank(self, now: int) -> tuple[int, int, int]:
        """Return what ranks lower comes back first: by level, then the most used, then the
        latest."""
        return self.level(now), -self.uses, -self.last

    def add(self, other: Use) -> None:
        """Take over the uses of *other*, which is the same fact under another name."""
        self.uses += other.uses
        self.last = max(self.last, other.last)
        self.changed = self.changed or other.changed


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
