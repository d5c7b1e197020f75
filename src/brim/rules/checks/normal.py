"""``normal_form``: clauses without the words that only describe what is written as code.

*Never zap branches with `git branch -D`* forbids the command; what it does is said for people. Such
words are in no lexicon, and needn't be: the phrase in which they stand tells what they are. A
clause without code stays as it is, and a condition, a place or another subject stays too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from brim.record import PlainData
from brim.rules.checks.acts import VERBS
from brim.rules.checks.constructions import with_moments
from brim.rules.checks.lexicon import plain, words_of
from brim.rules.checks.stance import is_unneeded
from brim.rules.checks.tokens import (
    COMMA,
    COMMAND,
    FLAG,
    MODULE,
    PATH,
    UNKNOWN,
    RuleClause,
    Statement,
    Token,
)

CORE = "core"
MEANS = "means"
PLACE = "place"
PURPOSE = "purpose"
CONDITION = "condition"

NEGATING = ("NEG", "BAN", "ASK", "ASKING", "UNASKED", "FROZEN")
_MOMENTS = ("DONE", "BEFORECOMMIT", "BEFOREPUSH")
_CONDITIONS = ("IF", "WHEN", "UNLESS", "EXCEPT", "UNTIL", "BEFORE", "AFTER")
_WANTING = ("USE", "RUN", "START", "MUST", "ONLY", "PREFER", "CAN")
_STANCE = (
    *NEGATING,
    *_MOMENTS,
    *_WANTING,
    "PERMITTED",
    "INSTEADOF",
    "OVER",
    "WITHOUT",
    "BUT",
    "AND",
    "BAD",
    "ME",
    "SELF",
    "CIWORD",
    "MYSELF",
    "THEN",
    COMMA,
)
"""What says how a rule holds."""
_BEGINNINGS = {
    PURPOSE: ("PURPOSE",),
    MEANS: ("BY",),
    CONDITION: _CONDITIONS,
    PLACE: ("PREPOSITION",),
}
"""What each phrase begins with."""
_UNDECIDED = ("ALLOW", "PAST", "NEED", "EXISTENTIAL")
_CALLED_OFF = ("SKIP", "MENTION", "EDIT", "READ", "IMPORT", "PIPE", "WATCH")
"""Verbs that don't say that the command after them runs."""
_NOT_RUNNING = words_of("not_running")
"""Other such verbs."""
_GENERAL = words_of("general")
"""Programs that do many things: a purpose limits a rule about them."""
_UNIVERSALS = words_of("universals")
_ECHO = 4
"""Letters that a word and a name must have in common at the beginning."""
_VERB_ENDINGS = ("en", "ern", "eln")
"""How German verbs end, which stand behind their object."""
_NAME = re.compile(r"[a-z0-9]+")
_SIGNS = frozenset("._()!@")
"""What only code has in it."""


@dataclass(frozen=True)
class Phrase(PlainData):
    """A part of a clause, by the word that begins it: *with …*, *in …*, *to …*."""

    role: str
    tokens: tuple[Token, ...]

    @property
    def has_code(self) -> bool:
        """Whether it names something as it's written in code."""
        return any(map(is_code, self.tokens))


def is_code(token: Token) -> bool:
    """Whether *token* is a command, path, option or text as it's written."""
    if token.says(UNKNOWN):
        return False
    return (
        token.says(COMMAND, PATH, FLAG, MODULE)
        or token.is_quoted
        or not _SIGNS.isdisjoint(token.text)
    )


def is_specific(token: Token) -> bool:
    """Whether *token* means one thing: ``git push`` does, and ``git`` doesn't."""
    return is_code(token) and (not token.says(COMMAND) or " " in token.value)


def names_choice(tokens: Iterable[Token]) -> bool:
    """Whether *tokens* name two programs that do one thing each: *trash instead of rm*."""
    commands = {token.value for token in tokens if token.says(COMMAND)}
    return len(commands) > 1 and commands.isdisjoint(_GENERAL)


def normal_form(clauses: list[RuleClause]) -> list[RuleClause]:
    """Return *clauses* without descriptions.

    >>> from brim.rules.checks.clauses import read_clauses
    >>> clauses = read_clauses("Never zap branches with `git branch -D`", "en")
    >>> [token.text for token in normal_form(clauses)[0].statement.tokens]
    ['never', 'with', 'git branch -D']
    """
    reducer = _Reducer(clauses)
    normal: list[RuleClause] = []
    for clause in _with_explanations(clauses):
        statement = reducer.reduced(_without_universals(with_moments(clause.statement)))
        if statement.tokens:
            normal.append(replace(clause, statement=statement))
    return normal


# In parentheses -----------------------------------------------------------------------------------


def _with_explanations(clauses: list[RuleClause]) -> list[RuleClause]:
    """Return *clauses*, where code in parentheses stands for what is said before it."""
    explained: list[RuleClause] = []
    for clause in clauses:
        if explained and _explains(clause, explained[-1]):
            explained[-1] = _explained_by(clause, explained[-1])
        elif explained and _goes_on(clause, explained[-1]):
            tokens = explained[-1].statement.tokens + clause.statement.tokens
            explained[-1] = replace(clause, sign=explained[-1].sign, statement=Statement(tokens))
        else:
            explained.append(clause)
    return explained


def _explains(clause: RuleClause, before: RuleClause) -> bool:
    """Whether *clause* is only the code of what the clause *before* it speaks of."""
    if not clause.in_parentheses or not all(map(is_specific, clause.statement.tokens)):
        return False
    if before.statement.says(*_CONDITIONS, *_STATES):
        return False
    return before.in_parentheses or not any(map(is_specific, before.statement.tokens))


def _explained_by(clause: RuleClause, before: RuleClause) -> RuleClause:
    """Return the clause *before*, with the code of *clause* for what it names."""
    tokens = before.statement.tokens
    if before.in_parentheses:  # `a`, `b`
        tokens += clause.statement.tokens
        return replace(before, statement=Statement(tokens))
    stance = [token for token in tokens if token.is_light or token.says(*_STANCE)]
    explained = Statement((*stance, *clause.statement.tokens))
    return replace(before, statement=explained, in_parentheses=True)


def _goes_on(clause: RuleClause, before: RuleClause) -> bool:
    """Whether *clause* is the rest of the one *before*, which ended with code in parentheses."""
    is_rest = clause.sign == ")" and before.in_parentheses
    return is_rest and not before.statement.says(*NEGATING) and clause.statement.says(*NEGATING)


_STATES = ("TESTS", "LINTER", "FORMATTER", "BUILD", "TYPES", "PASS")
"""What a command in parentheses may check, and so is no name for it."""


# Phrases ------------------------------------------------------------------------------------------


def phrases_of(statement: Statement) -> list[Phrase]:
    """Return the phrases of *statement*.

    >>> from brim.rules.checks.clauses import read_clauses
    >>> statement = read_clauses("Never zap refs on Mars with `git branch -D`", "en")[0].statement
    >>> [phrase.role for phrase in phrases_of(statement)]
    ['core', 'place', 'means']
    """
    phrases: list[Phrase] = []
    tokens: list[Token] = []
    role = CORE
    has_code = False
    for place, token in enumerate(statement.tokens):
        is_infinitive = place > 0 and statement.tokens[place - 1].says("NEG")  # *not to be …*
        new_role = _role_of(token, role, has_code=has_code and not is_infinitive)
        if tokens and new_role:
            phrases.append(Phrase(role, tuple(tokens)))
            tokens = []
        if new_role:
            role = new_role
        has_code = has_code or is_code(token)
        tokens.append(token)
    return [*phrases, Phrase(role, tuple(tokens))]


def _role_of(token: Token, role: str, *, has_code: bool) -> str:
    """Return the role of the phrase that *token* begins within one with *role*; empty if none."""
    if is_code(token):
        return ""
    for new_role, concepts in _BEGINNINGS.items():
        if token.says(*concepts) and (has_code or new_role != PURPOSE):
            return new_role
    if role != CORE and token.says(*NEGATING, *_MOMENTS, "MUST", "INSTEADOF", "BUT", COMMA):
        return CORE
    return ""


def _without_universals(statement: Statement) -> Statement:
    """Return *statement* without *on any host*, *against every database*, *for any reason*."""
    limiting: list[Token] = []
    is_universal = False
    for token in statement.tokens:
        if _is_universal(token) and limiting and limiting[-1].says("PREPOSITION", "LIGHT"):
            is_universal = True
            limiting.append(token.meaning("LIGHT"))
        elif not is_universal or not token.says(UNKNOWN):
            is_universal = is_universal and token.is_light and not token.says("PREPOSITION")
            limiting.append(token)
    return Statement(tuple(limiting))


def _is_universal(token: Token) -> bool:
    return token.text in _UNIVERSALS and not token.is_quoted and not token.says("ANY", "TODO")


# Descriptions -------------------------------------------------------------------------------------


class _Reducer:
    """Leaves out descriptions in the clauses of one sentence."""

    def __init__(self, clauses: list[RuleClause]) -> None:
        tokens = [token for clause in clauses for token in clause.statement.tokens]
        self._is_question = any(token.says("ASKING") for token in tokens)
        self._is_choice = names_choice(tokens)
        self._names: set[str] = set()
        for token in filter(is_specific, tokens):
            words = _NAME.findall(plain(token.value))
            self._names.update([word for word in words if len(word) > 2 or word[-1].isdigit()])

    def reduced(self, statement: Statement) -> Statement:
        """Return *statement* without descriptions; as it is if it isn't about code."""
        if not self._is_about_code(statement) or self._tells_something_else(statement):
            return statement
        tokens: list[Token] = []
        for phrase in phrases_of(statement):
            tokens += self._reduced_phrase(phrase, statement)
        return Statement(tuple(tokens))

    def _is_about_code(self, statement: Statement) -> bool:
        if statement.says(*_MOMENTS):
            return any(token.says(COMMAND, PATH) for token in statement.tokens)
        return any(map(self._is_anchor, statement.tokens))

    def _is_anchor(self, token: Token) -> bool:
        return is_specific(token) or (self._is_choice and token.says(COMMAND) and token.is_quoted)

    def _reduced_phrase(self, phrase: Phrase, statement: Statement) -> tuple[Token, ...]:
        """Return what limits a rule in *phrase* of *statement*."""
        if phrase.role == PURPOSE and not phrase.has_code:
            return ()
        if phrase.role == PLACE and not phrase.has_code:
            return self._without_echo(phrase)
        if phrase.role == CONDITION and not self._asks_before(statement):
            return phrase.tokens
        return self._without_descriptions(phrase, statement)

    def _asks_before(self, statement: Statement) -> bool:
        return self._is_question and statement.says("BEFORE")

    def _without_descriptions(self, phrase: Phrase, statement: Statement) -> tuple[Token, ...]:
        has_command = statement.says(COMMAND) and self._is_about_code(statement)
        is_subject = _is_path_subject(statement)
        deed = _is_deed(statement)
        limiting: list[Token] = []
        for place, token in enumerate(phrase.tokens):
            is_subject = is_subject and not token.says(*NEGATING)
            is_marker = phrase.role == CONDITION and place == 0
            is_limit = phrase.role == CORE and _may_limit(phrase.tokens, place)
            if is_marker or is_limit or _may_be_argument(phrase.tokens, place):
                limiting.append(token)
            elif deed and token.says("ASKING"):
                continue
            elif not _is_description(token, is_any=has_command or is_subject):
                limiting.append(token)
        return tuple(limiting)

    def _without_echo(self, phrase: Phrase) -> tuple[Token, ...]:
        """Return *phrase*; nothing of it if a name has its words too: *in the workflows, …*."""
        if any(_is_echo(token.text, self._names) for token in phrase.tokens[1:]):
            return ()
        return phrase.tokens

    def _tells_something_else(self, statement: Statement) -> bool:
        """Whether *statement* isn't for or against what it names, or only for some of its calls."""
        if any(token.says(*_UNDECIDED) and not token.says("AFTER") for token in statement.tokens):
            return True
        if not statement.says(*_STANCE) and not self._asks_before(statement):
            return True
        if statement.says("WHOLE", "SINGLE") and statement.says("TESTS", "TESTFILE"):
            return True
        return (
            is_unneeded(statement)
            or _calls_off(statement)
            or _has_other_subject(statement)
            or _tells_of_code(statement)
        )


def _is_path_subject(statement: Statement) -> bool:
    """Whether it names a path and then forbids something: *`dist/` is output and never edited*."""
    for token in statement.tokens:
        if token.says(*NEGATING):
            return False
        if token.says(PATH):
            return statement.says(*NEGATING)
    return False


def _is_deed(statement: Statement) -> bool:
    """Whether it forbids to do something with a command: *don't fix permissions with …*."""
    phrases = phrases_of(statement)
    return statement.says("NEG") and any(p.role == MEANS and p.has_code for p in phrases)


def _may_be_argument(tokens: tuple[Token, ...], place: int) -> bool:
    """Whether the unknown word at *place* may belong to the command before it."""
    before = tokens[place - 1 : place] if place else ()
    is_after_command = any(token.says(COMMAND) and not token.is_quoted for token in before)
    return is_after_command and tokens[place].says(UNKNOWN)


def _may_limit(tokens: tuple[Token, ...], place: int) -> bool:
    """Whether the unknown word at *place* follows *never C*, and so may say when or how often."""
    if not tokens[place].says(UNKNOWN) or tokens[place].text.endswith(_VERB_ENDINGS):
        return False
    is_negated = False
    for token in tokens[:place]:
        if is_negated and is_code(token):
            return True
        is_negated = is_negated or token.says("NEG")
    return False


def _is_description(token: Token, *, is_any: bool) -> bool:
    """Whether *token* only says what code is or does: an unknown word, or any word."""
    if is_code(token) or token.says(COMMAND, *_STANCE):
        return False
    return is_any or token.says(UNKNOWN)


def _is_echo(word: str, names: set[str]) -> bool:
    if word in names:
        return True
    stem = word[: max(_ECHO, len(word) - 2)]
    return len(word) >= _ECHO and any(name.startswith(stem) for name in names)


# What is left as it is ----------------------------------------------------------------------------


def _calls_off(statement: Statement) -> bool:
    """Whether its verb doesn't say that a command runs: *never skip `npm test`*."""
    for phrase in phrases_of(statement):
        is_called_off = False
        for token in phrase.tokens:
            if is_called_off and token.says(COMMAND) and phrase.role == CORE:
                return True
            if token.text in _NOT_RUNNING or token.says(*_CALLED_OFF):
                is_called_off = not token.says(*_WANTING, *NEGATING)
    return False


def _has_other_subject(statement: Statement) -> bool:
    """Whether somebody else acts: *the linter never complains about `any`*."""
    if statement.says("MUST", "CAN", "BAN", "FROZEN"):
        return False
    if any(phrase.role == MEANS and phrase.has_code for phrase in phrases_of(statement)):
        return False
    if statement.tokens[0].says("PURPOSE"):
        return False
    for token in statement.tokens:
        if is_code(token) or token.says(*NEGATING, *_WANTING, *_MOMENTS, "BEFORE"):
            return False
        if not token.is_light and not token.says("FILES", "GENERATED", "YOU", "TASK"):
            return True
    return False


def _tells_of_code(statement: Statement) -> bool:
    """Whether it says what code doesn't do: *`npm ci` does not zap*."""
    has_code = False
    is_negated = False
    for token in statement.tokens:
        if is_negated and is_code(token):
            return False
        is_verb = token.says("RUN", "LEAVE", "ADD", *VERBS) and not token.says("CHANGED")
        if is_negated and not token.is_light and not is_verb:
            return True
        is_negated = is_negated or (has_code and token.says("NEG"))
        has_code = has_code or is_code(token)
    return False
