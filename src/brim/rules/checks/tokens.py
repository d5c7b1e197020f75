"""Words with their meanings: ``Token``, ``RuleClause`` and ``Statement``.

A *clause* is what stands between two signs of a sentence. A *statement* is one or several clauses
that are read together as one rule.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile

from brim.record import PlainData

COMMAND = "COMMAND"
FLAG = "FLAG"
PATH = "PATH"
MODULE = "MODULE"
COMMA = "COMMA"
UNKNOWN = "UNKNOWN"
"""The concept of a word that's in no lexicon."""

LIGHT = frozenset(
    (
        "LIGHT",
        "USE",
        "RUN",
        "MUST",
        "ONLY",
        "CODEWORD",
        "BUT",
        "INSTEADOF",
        "EVEN",
        "NEG",
        "BAN",
        "FROZEN",
        "ME",
        "THEN",
        "ASK",
        "UNASKED",
        "PERMITTED",
        "DONE",
        "BEFORECOMMIT",
        "BEFOREPUSH",
        COMMA,
    )
)
"""Concepts that say how a rule holds, and not what it's about."""


@dataclass(frozen=True)
class Token(PlainData):
    """A word, phrase, command, option or path, and what it may mean."""

    concepts: frozenset[str]
    text: str
    value: str = ""
    """The command, option or path."""
    is_quoted: bool = False

    @property
    def is_light(self) -> bool:
        """Whether it may say nothing about the rule's object."""
        return not LIGHT.isdisjoint(self.concepts)

    @property
    def is_object(self) -> bool:
        """Whether it's something that a rule may be for or against."""
        return self.says(COMMAND) or not self.is_light

    def says(self, *concepts: str) -> bool:
        """Whether it may mean one of *concepts*."""
        return not self.concepts.isdisjoint(concepts)

    def meaning(self, *concepts: str) -> Token:
        """Return the same words, with another meaning."""
        return replace(self, concepts=frozenset(concepts))


@dataclass(frozen=True)
class Statement(PlainData):
    """The tokens of a rule, in their order.

    >>> never = Token(frozenset(("NEG",)), "never")
    >>> sudo = Token(frozenset(("SUDO", COMMAND)), "sudo", "sudo")
    >>> statement = Statement((never, sudo))
    >>> statement.says("NEG"), statement.consists_of("SUDO"), statement.values(COMMAND)
    (True, True, ['sudo'])
    """

    tokens: tuple[Token, ...]

    @cached_property
    def concepts(self) -> frozenset[str]:
        """All that its tokens may mean."""
        concepts: set[str] = set()
        for token in self.tokens:
            concepts |= token.concepts
        return frozenset(concepts)

    @property
    def words(self) -> frozenset[str]:
        """The plain words that it's written with."""
        words: set[str] = set()
        for token in self.tokens:
            words.update(token.text.split())
        return frozenset(words)

    @property
    def objects(self) -> list[Token]:
        """What it's about: the tokens that aren't light."""
        return [token for token in self.tokens if not token.is_light]

    def says(self, *concepts: str) -> bool:
        """Whether one of its tokens may mean one of *concepts*."""
        return not self.concepts.isdisjoint(concepts)

    def consists_of(self, *concepts: str) -> bool:
        """Whether it's about *concepts* and nothing else."""
        allowed = LIGHT.union(concepts)
        return not any(token.concepts.isdisjoint(allowed) for token in self.tokens)

    def values(self, concept: str) -> list[str]:
        """Return the commands, options or paths in it."""
        return [token.value for token in self.tokens if token.says(concept)]

    def without(self, *concepts: str) -> Statement:
        """Return it without the tokens that may mean one of *concepts*."""
        return Statement(tuple([token for token in self.tokens if not token.says(*concepts)]))

    def replacing(self, old: tuple[str, ...], new: str) -> Statement:
        """Return it, where each token that may mean one of *old* means *new*."""
        tokens: list[Token] = []
        for token in self.tokens:
            if token.says(*old):
                tokens.append(token.meaning(new))
            else:
                tokens.append(token)
        return Statement(tuple(tokens))

    def before(self, *concepts: str) -> tuple[Token, ...]:
        """Return its tokens before the first one that may mean one of *concepts*; all if none
        does."""
        return tuple(takewhile(lambda token: not token.says(*concepts), self.tokens))

    def after(self, concept: str) -> Statement:
        """Return what stands after the first token that may mean *concept*, up to a comma."""
        tokens: list[Token] = []
        is_after = False
        for token in self.tokens:
            if is_after and token.says(COMMA):
                break
            if is_after:
                tokens.append(token)
            is_after = is_after or token.says(concept)
        return Statement(tuple(tokens))


@dataclass(frozen=True)
class RuleClause(PlainData):
    """What stands between two signs of a sentence."""

    statement: Statement
    sign: str = ""
    """The sign or conjunction before it."""
    in_parentheses: bool = False
    before_colon: bool = False

    @property
    def is_understood(self) -> bool:
        """Whether each of its words means something."""
        return not self.statement.says(UNKNOWN)

    @property
    def unknown_words(self) -> int:
        """How many of its words mean nothing."""
        return len(self.statement.values(UNKNOWN))


def joined(clauses: list[RuleClause]) -> Statement:
    """Return *clauses* as one statement, with a comma between two of them."""
    tokens: list[Token] = []
    for clause in clauses:
        if tokens:
            tokens.append(Token(frozenset((COMMA,)), ","))
        tokens += clause.statement.tokens
    return Statement(tuple(tokens))
