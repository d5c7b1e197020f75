"""Words that mean something together: *before you're done*, *unless I ask*, *not allowed*.

The tables are the same for all languages: they are about concepts, and data/words.tsv says which
words of each language mean them. Some that are easily mixed up:

- ``ASKING`` is a word such as *ask* or *approve* alone. ``ASK`` is that a person wants to be asked
  first, ``UNASKED`` what mustn't be done without, ``PERMITTED`` what may be done once they agree.
- ``NEG`` is *not* or *never*, ``BAN`` what forbids without it: *avoid*; ``BAD`` is a reason:
  *slow*.
- ``LEAVE`` is *leave* or *keep*: left to a person it forbids, left as it is it protects.
- ``LIGHT`` says nothing by itself: *please*, *anymore*.
"""

from __future__ import annotations

from dataclasses import dataclass

from brim.record import PlainData
from brim.rules.checks.tokens import COMMA, COMMAND, FLAG, LIGHT, Statement, Token

_BETWEEN = LIGHT | {"TASK", "SAY", "SELF", "YOU", "BY", "SUCHAS", "EXISTENTIAL"}
"""What may stand between the words of a construction."""
_TASK = ("TASK", "FINISH", "CHANGED")
_AROUND_TASK = (*_TASK, "LIGHT", "SAY", "YOU")


@dataclass(frozen=True)
class Construction(PlainData):
    """Concepts in their order, and what they mean together."""

    meaning: str
    """What they say; empty if only the last of them counts."""
    concepts: tuple[str, ...]
    takes_task: bool = False
    """Whether words such as *the task* after it belong to it."""


MOMENTS = (
    Construction("DONE", ("NEG", "FINISH", "WITHOUT"), takes_task=True),
    Construction("DONE", ("NEG", "FINISH", "BEFORE"), takes_task=True),
    Construction("DONE", ("NEG", "FINISH", "UNTIL"), takes_task=True),
    Construction("DONE", ("NEG", "FINISH", "UNLESS"), takes_task=True),
    Construction("DONE", ("BEFORE", "FINISH"), takes_task=True),
    Construction("DONE", ("AFTER", "FINISH"), takes_task=True),
    Construction("DONE", ("WHEN", "FINISH"), takes_task=True),
    Construction("DONE", ("AFTER", "CHANGED"), takes_task=True),
    Construction("DONE", ("ATEND",), takes_task=True),
    Construction("DONE", ("THEN", "FINISH"), takes_task=True),
    Construction("DONE", ("FINISHVERB", "BY"), takes_task=True),
    Construction("DONE", ("FINISHVERB", "NEG", "WITHOUT"), takes_task=True),
    Construction("DONE", ("FINISH", "WHEN"), takes_task=True),
    Construction("DONE", ("FINISH", "IF"), takes_task=True),
)
"""The moment at the end of a turn."""
ASKING = (
    Construction("UNASKED", ("WITHOUT", "ASKING", "BEFORE")),
    Construction("UNASKED", ("WITHOUT", "ASKING")),
    Construction("UNASKED", ("UNLESS", "ASKING")),
    Construction("UNASKED", ("UNTIL", "ASKING")),
    Construction("UNASKED", ("EXCEPT", "IF", "ASKING")),
    Construction("UNASKED", ("EXCEPT", "WHEN", "ASKING")),
    Construction("UNASKED", ("EXCEPT", "AFTER", "ASKING")),
    Construction("UNASKED", ("EXCEPT", "ASKING")),
    Construction("UNASKED", ("IF", "NEG", "ASKING")),
    Construction("UNASKED", ("SELF",)),
    Construction("PERMITTED", ("WHEN", "ASKING")),
    Construction("PERMITTED", ("IF", "ME", "ALLOW")),
    Construction("PERMITTED", ("WHEN", "ME", "ALLOW")),
    Construction("PERMITTED", ("AFTER", "ME", "ALLOW")),
    Construction("PERMITTED", ("IF", "ASKING")),
    Construction("PERMITTED", ("AFTER", "ASKING")),
    Construction("ASK", ("ASKING", "BEFORE")),
    Construction("ASK", ("REQUIRE", "ASKING")),
    Construction("ASK", ("ONLY", "ASKING")),
)
"""What a person has to say first."""
BANS = (
    Construction("BAN", ("NEG", "ALLOW")),
    Construction("BAN", ("NEG", "CAN")),
    Construction("BAN", ("CAN", "NEG")),
    Construction("BAN", ("ONLY", "CIWORD")),
    Construction("BAN", ("ONLY", "ME")),
)
"""What forbids in several words."""
OTHERS = (
    *BANS,
    Construction("BEFORECOMMIT", ("BEFORE", "COMMIT")),
    Construction("BEFOREPUSH", ("BEFORE", "PUSH")),
    Construction("", ("WHEN", "COMMIT")),
    Construction("", ("WHEN", "PUSH")),
    Construction("", ("WHEN", "TESTS")),
    Construction("", ("WHEN", "INSTALL")),
    Construction("LIGHT", ("EVEN", "IF")),
    Construction("LIGHT", ("EVEN", "WHEN")),
    Construction("LIGHT", ("NEG", "EXCEPT")),
    Construction("LIGHT", ("EXCEPT", "NEG")),
    Construction("LIGHT", ("WITHOUT", "EXCEPT")),
)


def with_constructions(statement: Statement) -> Statement:
    """Return *statement* with one token for each construction.

    >>> from brim.rules.checks.clauses import read_clauses
    >>> clause = read_clauses("Run the tests before you say you are done", "en")[0]
    >>> sorted(with_constructions(clause.statement).tokens[-1].concepts)
    ['DONE']
    """
    statement = _with_delegation(statement)
    statement = _with_bad_one(statement)
    statement = _with_each(MOMENTS, statement)
    statement = _with_distant_moment(statement)
    statement = _with_each(ASKING, statement)
    statement = _with_distant_question(statement)
    statement = _with_each(OTHERS, statement)
    statement = _with_negating_without(statement)
    return _with_negated_modal(statement)


def with_moments(statement: Statement) -> Statement:
    """Return *statement* with one token for each moment, and for each thing to ask first."""
    statement = _with_distant_moment(_with_each(MOMENTS, _with_delegation(statement)))
    return _with_each(BANS, _with_each(ASKING, statement))


def _with_each(constructions: tuple[Construction, ...], statement: Statement) -> Statement:
    """Return *statement* with one token for each of *constructions* in it."""
    tokens = statement.tokens
    for construction in constructions:
        if not statement.concepts.issuperset(construction.concepts):
            continue
        start = 0
        while start < len(tokens):
            end = _end_of(construction, tokens, start)
            if end > start:
                meaning = _token_of(construction, tokens[start:end])
                tokens = (*tokens[:start], meaning, *tokens[end:])
            start += 1
    return Statement(tokens)


def _token_of(construction: Construction, tokens: tuple[Token, ...]) -> Token:
    """Return the one token that stands for *tokens*."""
    if not construction.meaning:
        return tokens[-1]
    text = " ".join([token.text for token in tokens])
    return Token(frozenset((construction.meaning,)), text, text)


def _end_of(construction: Construction, tokens: tuple[Token, ...], start: int) -> int:
    """Return where *construction* ends that begins at *start*; *start* if none does."""
    end = start
    for concept in construction.concepts:
        if end > start:
            end = _next_with(concept, tokens, end)
        if end >= len(tokens) or not tokens[end].says(concept):
            return start
        end += 1
    if construction.takes_task:
        return _end_of_task(tokens, end)
    return end


def _next_with(concept: str, tokens: tuple[Token, ...], place: int) -> int:
    """Return the place of the next token that says *concept*, beyond words without weight."""
    for number in range(place, len(tokens)):
        token = tokens[number]
        if token.says(concept) or not token.says(*_BETWEEN):
            return number
    return len(tokens)


def _end_of_task(tokens: tuple[Token, ...], start: int) -> int:
    """Return where *the task* or *each change* ends that may stand at *start*."""
    end = start
    for number in range(start, len(tokens)):
        token = tokens[number]
        if token.says(COMMAND, "CODEWORD", COMMA) or not token.says(*_AROUND_TASK):
            break
        if token.says(*_TASK):
            end = number + 1
    return end


# Words that stand apart ---------------------------------------------------------------------------


def _with_delegation(statement: Statement) -> Statement:
    """Return *statement*, where *I push myself* and *leave pushing to me* forbid to push."""
    tokens = statement.tokens
    if statement.says("NEG", "BAN") or len(tokens) < 3:
        return statement
    first = tokens[0]
    last = tokens[-1]
    if last.says("MYSELF") and Statement(tokens[:-1]).says("ME"):  # I push myself
        return Statement((*tokens[:-1], last.meaning("NEG")))
    is_left = first.says("LEAVE", "SAY", "LIGHT") and statement.says("LEAVE")
    if is_left and last.says("ME", "PIPELINE"):  # leave pushing to me, or to CI
        return statement.without("PIPELINE").replacing(("LEAVE",), "NEG")
    return statement


def _with_bad_one(statement: Statement) -> Statement:
    """Return *statement*, where *B is slow* forbids B beside *use A*."""
    commands = statement.values(COMMAND)
    if (
        len(set(commands)) == 2
        and statement.says("USE", "RUN")
        and not statement.says("NEG", "BAN")
    ):
        return statement.replacing(("BAD",), "BAN")
    return statement


def _with_distant_moment(statement: Statement) -> Statement:
    """Return *statement*, where *only when X passes, you're done* is the end of a turn."""
    if statement.says("DONE") or not statement.says("ONLY"):
        return statement
    if not statement.says("FINISH") or not statement.says("WHEN", "IF", "AFTER"):
        return statement
    return statement.replacing(("WHEN", "IF", "AFTER", "FINISH"), "DONE")


def _with_distant_question(statement: Statement) -> Statement:
    """Return *statement*, where *before X, ask* is as *ask before X*."""
    if statement.says("ASK", "UNASKED", "PERMITTED"):
        return statement.replacing(("ASKING",), "LIGHT")  # it's said already
    if statement.says("DONE"):
        return statement  # asking before the end of a turn is about the turn
    if statement.says("BEFORE") and statement.says("ASKING"):
        return statement.replacing(("ASKING", "BEFORE"), "ASK")
    if statement.says("ONLY"):  # only X if I was asked
        return statement.replacing(("ASKING",), "PERMITTED")
    return statement


def _with_negating_without(statement: Statement) -> Statement:
    """Return *statement*, where *without X* forbids X if nothing else forbids anything."""
    if statement.says("NEG", "BAN", "DONE"):
        return statement
    if statement.says(COMMAND) and statement.after("WITHOUT").says(FLAG):
        return statement  # "`x` without `--y` hangs"
    return statement.replacing(("WITHOUT",), "NEG")


def _with_negated_modal(statement: Statement) -> Statement:
    """Return *statement*, where German *darf X nicht* is a ban, and *nothing may be changed*."""
    is_one_part = not statement.says(COMMA)
    if is_one_part and statement.says("NEG", "BAN"):
        return statement.replacing(("CAN",), "MUST")
    if statement.after("CAN").says("NEG", "ONLY", "BAN"):
        return statement.replacing(("CAN",), "MUST")
    return statement
