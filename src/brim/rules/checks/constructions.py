"""Words that mean something together: *before you're done*, *unless I ask*, *not allowed*.

The table is the same for all languages: it's about concepts, and data/words.tsv says them in each.
"""

from __future__ import annotations

from dataclasses import dataclass

from brim.record import PlainData
from brim.rules.checks.sentence import COMMA, LIGHT, Token

_BETWEEN = LIGHT | {"TASK", "SAY", "SELF", "YOU", "BY"}
"""What may stand between the words of a construction."""


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
    Construction("DONE", ("FINISH", "BY"), takes_task=True),
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
    Construction("PERMITTED", ("IF", "ASKING")),
    Construction("PERMITTED", ("AFTER", "ASKING")),
    Construction("ASK", ("ASKING", "BEFORE")),
    Construction("ASK", ("REQUIRE", "ASKING")),
)
"""What a person has to say first."""
OTHERS = (
    Construction("BEFORECOMMIT", ("BEFORE", "COMMIT")),
    Construction("BEFOREPUSH", ("BEFORE", "PUSH")),
    Construction("BAN", ("NEG", "ALLOW")),
    Construction("BAN", ("NEG", "CAN")),
    Construction("BAN", ("CAN", "NEG")),
    Construction("", ("WHEN", "COMMIT")),
    Construction("", ("WHEN", "PUSH")),
    Construction("", ("WHEN", "TESTS")),
    Construction("", ("WHEN", "INSTALL")),
    Construction("BAN", ("ONLY", "CIWORD")),
    Construction("LIGHT", ("EVEN", "IF")),
    Construction("LIGHT", ("EVEN", "WHEN")),
    Construction("LIGHT", ("NEG", "EXCEPT")),
    Construction("LIGHT", ("WITHOUT", "EXCEPT")),
)


def with_constructions(tokens: list[Token]) -> list[Token]:
    """Return *tokens* with one token for each construction.

    >>> from brim.rules.checks.sentence import read_clauses
    >>> tokens = list(read_clauses("Run the tests before you say you are done", "en")[0].tokens)
    >>> sorted(with_constructions(tokens)[-1].concepts)
    ['DONE']
    """
    tokens = _with_each(MOMENTS, _with_delegation(tokens))
    tokens = _with_distant_asking(_with_each(ASKING, _with_distant_finish(tokens)))
    tokens = _with_each(OTHERS, tokens)
    return _with_negation_of_modals(_with_negating_without(tokens))


def _with_each(constructions: tuple[Construction, ...], tokens: list[Token]) -> list[Token]:
    for construction in constructions:
        start = 0
        while start < len(tokens):
            end = _end_of(construction, tokens, start)
            if end > start:
                text = " ".join([token.text for token in tokens[start:end]])
                meaning = Token(frozenset((construction.meaning,)), text, text)
                if not construction.meaning:
                    meaning = tokens[end - 1]
                tokens = [*tokens[:start], meaning, *tokens[end:]]
            start += 1
    return tokens


def _end_of(construction: Construction, tokens: list[Token], start: int) -> int:
    """Return where *construction* ends that begins at *start*; *start* if none does."""
    end = start
    for number, concept in enumerate(construction.concepts):
        if number > 0:
            end = _next_with(concept, tokens, end)
        if end >= len(tokens) or not tokens[end].says(concept):
            return start
        end += 1
    if construction.takes_task:
        return _end_of_task(tokens, end)
    return end


def _next_with(concept: str, tokens: list[Token], place: int) -> int:
    """Return the place of the next token that says *concept*, beyond words without weight."""
    while place < len(tokens):
        token = tokens[place]
        if token.says(concept) or not (token.says(*_BETWEEN)):
            return place
        place += 1
    return place


def _end_of_task(tokens: list[Token], end: int) -> int:
    """Return where *the task* or *each change* ends that may stand at *end*."""
    place = end
    while place < len(tokens) and tokens[place].says("TASK", "LIGHT", "FINISH", "SAY", "YOU", "CHANGED"):
        is_object = tokens[place].says("COMMAND", "CODEWORD") or tokens[place].says(COMMA)
        if is_object:
            break
        place += 1
        if tokens[place - 1].says("TASK", "FINISH", "CHANGED"):
            end = place
    return end


def _with_distant_asking(tokens: list[Token]) -> list[Token]:
    """Return *tokens*, where *before X, ask* is as *ask before X*."""
    if any(token.says("ASK", "UNASKED", "PERMITTED") for token in tokens):
        return [_with_meaning(token, "ASKING", "LIGHT") for token in tokens]
    says_before = any(token.says("BEFORE") for token in tokens)
    asks = any(token.says("ASKING") for token in tokens)
    if not says_before or not asks or any(token.says("DONE") for token in tokens):
        return tokens
    plain_tokens: list[Token] = []
    for token in tokens:
        if token.says("BEFORE", "ASKING"):
            token = Token(frozenset(("ASK",)), token.text, token.value)
        plain_tokens.append(token)
    return plain_tokens


def _with_distant_finish(tokens: list[Token]) -> list[Token]:
    """Return *tokens*, where *only when X passes, you're done* is the moment at the end."""
    is_moment = any(token.says("DONE") for token in tokens)
    has_both = any(token.says("FINISH") for token in tokens) and any(
        token.says("WHEN", "IF") for token in tokens
    )
    if is_moment or not has_both or not any(token.says("ONLY") for token in tokens):
        return tokens
    plain_tokens: list[Token] = []
    for token in tokens:
        if token.says("WHEN", "IF", "FINISH"):
            token = Token(frozenset(("DONE",)), token.text, token.value)
        plain_tokens.append(token)
    return plain_tokens


def _with_negating_without(tokens: list[Token]) -> list[Token]:
    """Return *tokens*, where *without X* forbids X if nothing else forbids anything."""
    if any(token.says("NEG", "BAN", "DONE", "UNASKED") for token in tokens):
        return tokens
    return [_with_meaning(token, "WITHOUT", "NEG") for token in tokens]


def _with_negation_of_modals(tokens: list[Token]) -> list[Token]:
    """Return *tokens*, where German *darf X nicht* is a ban, whatever stands between."""
    places = [place for place, token in enumerate(tokens) if token.says("CAN")]
    if not places:
        return tokens
    rest = tokens[places[0] :]
    for place, token in enumerate(rest):
        if token.says(COMMA):
            return tokens
        if token.says("NEG", "ONLY", "BAN") and place > 0:
            return [_with_meaning(token, "CAN", "MUST") for token in tokens]
    return tokens


def _with_delegation(tokens: list[Token]) -> list[Token]:
    """Return *tokens*, where *I push myself* and *leave pushing to me* forbid to push."""
    if any(token.says("NEG", "BAN") for token in tokens) or len(tokens) < 3:
        return tokens
    first = tokens[0]
    last = tokens[-1]
    if last.says("MYSELF") and any(token.says("ME") for token in tokens[:-1]):
        return [*tokens[:-1], Token(frozenset(("NEG",)), last.text, last.value)]
    if first.says("LEAVE") and last.says("ME"):
        return [Token(frozenset(("NEG",)), first.text, first.value), *tokens[1:]]
    return tokens


def _with_meaning(token: Token, old: str, new: str) -> Token:
    """Return *token*, which means *new* if it meant *old*."""
    if token.says(old):
        return Token(frozenset((new,)), token.text, token.value)
    return token
