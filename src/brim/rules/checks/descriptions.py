"""``described``: clauses without the words that only say what their code says too.

*Never delete branches with `git branch -D`* forbids the command: what it does is said for people.
Such words are in no lexicon, and needn't be: their place in the sentence tells what they are. A
word in any other place may limit the rule, and stays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from brim.rules.checks.lexicon import word_parts, words_of
from brim.rules.checks.tokens import (
    COMMAND,
    LIGHT,
    PATH,
    UNKNOWN,
    RuleClause,
    Statement,
    Token,
)

Tokens = list[Token]

_CONDITIONS = ("IF", "WHEN", "UNLESS", "EXCEPT", "UNTIL", "WITHOUT", "ONLY", "PAST", "NEED")
_STATES = ("TESTS", "LINTER", "FORMATTER", "BUILD", "TYPES", "PASS")
"""What a command in parentheses may check, and so is no name for it."""
_MODIFIERS = (UNKNOWN, "PLACE", "CIWORD", "NEW", "EXISTING", "GENERATED")
_SIGNS = frozenset("._()!@")
"""What only code has in it."""
_OTHER_THINGS = ("SECRET", "ENVFILE", "PRODUCTION", PATH)
"""What a rule about a text that's written may be about besides."""
_ECHO = 4
"""Letters that a word and a name must have in common at the beginning."""
_RESTRICTING = ("PREPOSITION", "PLACE", *_CONDITIONS)
"""What before *never* may say where a rule holds."""
_NOT_RUNNING = words_of("not_running")
"""Verbs that don't say that a command runs."""
_GENERAL = words_of("general")
"""Programs that do many things: a purpose limits a rule about them."""
_ADVERB_ENDINGS = ("ly", "ment", "mente", "isch", "lich")
_UNIVERSALS = words_of("universals")
_PURPOSE = ("pour", "para", "um", "just to", "in order to")
_PURPOSE_VERBS = words_of("purpose_verbs")
_PURPOSE_HEADS = ("zum", "for", "pour", "para", "beim", "to", "um")


def described(clauses: list[RuleClause]) -> list[RuleClause]:
    """Return *clauses* without descriptions.

    >>> from brim.rules.checks.clauses import read_clauses
    >>> clauses = read_clauses("Never zap branches with `git branch -D`", "en")
    >>> [token.text for token in described(clauses)[0].statement.tokens]
    ['never', 'branches', 'with', 'git branch -D']
    """
    reduced: list[RuleClause] = []
    for clause in _with_parentheses(clauses):
        tokens = list(clause.statement.tokens)
        for step in _STEPS:
            tokens = step(tokens)
        if tokens:
            reduced.append(replace(clause, statement=Statement(tuple(tokens))))
    return reduced


def _is_literal(token: Token) -> bool:
    """Whether *token* is written as code, and means one thing."""
    if token.says(UNKNOWN):
        return False
    if token.says(COMMAND):
        return " " in token.value
    return token.says(PATH) or token.is_quoted or not _SIGNS.isdisjoint(token.text)


def _is_negating(token: Token) -> bool:
    return token.says("NEG", "BAN", "ASK", "ASKING", "FROZEN")


# In parentheses -----------------------------------------------------------------------------------


def _with_parentheses(clauses: list[RuleClause]) -> list[RuleClause]:
    """Return *clauses*, where a command in parentheses stands for what is said before it."""
    reduced: list[RuleClause] = []
    for clause in clauses:
        if reduced and _explains(clause, reduced[-1]):
            light = [token for token in reduced[-1].statement.tokens if token.is_light]
            tokens = (*light, *clause.statement.tokens)
            reduced[-1] = replace(reduced[-1], statement=Statement(tokens))
        else:
            reduced.append(clause)
    return reduced


def _explains(clause: RuleClause, before: RuleClause) -> bool:
    """Whether *clause* is only the code of what the clause *before* it forbids in words."""
    if not clause.in_parentheses or not all(map(_is_literal, clause.statement.tokens)):
        return False
    if any(_is_literal(token) for token in before.statement.tokens):
        return False
    if before.statement.says(*_CONDITIONS, *_STATES, "PREPOSITION"):
        return False
    return any(_is_negating(token) or token.says("USE") for token in before.statement.tokens)


# Words around code --------------------------------------------------------------------------------


def _without_echoes(tokens: Tokens) -> Tokens:
    """Leave out words that a name has too: *the CI workflows in `.github/workflows/`*."""
    names: set[str] = set()
    for token in tokens:
        if _is_literal(token):
            for part in token.value.replace("/", " ").replace(".", " ").replace("_", " ").split():
                names.update(word_parts(part))
    remaining: Tokens = []
    for token in tokens:
        if token.says(UNKNOWN) and any(_is_echo(word, names) for word in token.text.split()):
            while remaining and remaining[-1].says(*_MODIFIERS) and not _is_literal(remaining[-1]):
                remaining.pop()
            if remaining and remaining[-1].says("PREPOSITION") and not _is_means(remaining[-1]):
                remaining.pop()
        else:
            remaining.append(token)
    return remaining


def _is_echo(word: str, names: set[str]) -> bool:
    if word in names:
        return True
    stem = word[: max(_ECHO, len(word) - 2)]
    return len(word) >= _ECHO and any(name.startswith(stem) for name in names)


def _is_means(token: Token) -> bool:
    return token.says("BY")


def _without_deeds(tokens: Tokens) -> Tokens:
    """Leave out what is done *with* a command: *never delete branches with `git branch -D`*."""
    start = _place_of(tokens, _is_negating)
    end = _place_of(tokens, _is_means, start + 1)
    if start < 0 or end < 0:
        return tokens
    deed = tokens[start + 1 : end]
    has_code = any(_is_literal(token) for token in tokens[end:])
    if not has_code or any(token.says("PREPOSITION", *_CONDITIONS) for token in deed):
        return tokens
    is_command = any(token.says(COMMAND) for token in tokens[end:])
    unknown = [token for token in deed if token.says(UNKNOWN)]
    if not is_command and (len(unknown) > 1 or any(token.says(*_OTHER_THINGS) for token in deed)):
        return tokens
    light = [token for token in deed if token.is_light]
    return [*tokens[: start + 1], *light, *tokens[end:]]


def _place_of(tokens: Tokens, test: Callable[[Token], bool], start: int = 0) -> int:
    """Return the place of the first token from *start* on that passes *test*; -1 if none does."""
    for place in range(max(start, 0), len(tokens)):
        if test(tokens[place]):
            return place
    return -1


def _without_kinds(tokens: Tokens) -> Tokens:
    """Leave out the one noun that says what code is: *the wrapper `x y`*, *`x y` calls*."""
    is_pair = len([token for token in tokens if token.says(COMMAND)]) > 1
    remaining: Tokens = []
    for place, token in enumerate(tokens):
        before = tokens[place - 1 : place] if place else []
        after = tokens[place + 1 : place + 2]
        beside = [other for other in (*before, *after) if other.is_quoted]
        is_named = any(_is_literal(other) or (is_pair and other.says(COMMAND)) for other in beside)
        is_kind = token.says(UNKNOWN) and is_named
        is_old = token.says("NEW", "EXISTING") and any(other.is_quoted for other in after)
        if token.is_quoted or not (is_kind or is_old):
            remaining.append(token)
    return remaining


def _without_subject(tokens: Tokens) -> Tokens:
    """Leave out who it is that mustn't: *contributors never `git push -f`*."""
    start = _place_of(tokens, _is_negating)
    before = tokens[: max(start, 0)]
    has_code = any(_is_literal(token) for token in tokens[start:])
    if not before or not has_code or any(token.says(*_RESTRICTING) for token in before):
        return tokens
    return [token for token in before if not token.says(UNKNOWN)] + tokens[start:]


def _without_verb(tokens: Tokens) -> Tokens:
    """Leave out an unknown verb between *never* and a command: *never whip out `git push -f`*."""
    start = _place_of(tokens, _is_negating)
    end = _place_of(tokens, _is_literal, start + 1)
    if start < 0 or end < 0 or not tokens[end].says(COMMAND) or not tokens[end].is_quoted:
        return tokens
    between = tokens[start + 1 : end]
    unknown = [token for token in between if token.says(UNKNOWN)]
    is_verb = len(unknown) == 1 and unknown[0] is between[0]
    if not is_verb or unknown[0].text in _NOT_RUNNING or _others_in(between):
        return tokens
    return [*tokens[: start + 1], *between[1:], *tokens[end:]]


def _others_in(tokens: Tokens) -> bool:
    return any(not token.is_light and not token.says(UNKNOWN) for token in tokens)


# Words that limit nothing -------------------------------------------------------------------------


def _without_universals(tokens: Tokens) -> Tokens:
    """Leave out *on any host*, *against every database*, *for any reason*."""
    remaining: Tokens = []
    is_universal = False
    for place, token in enumerate(tokens):
        is_any = token.text in _UNIVERSALS
        if is_any and place and tokens[place - 1].says("PREPOSITION", "LIGHT"):
            is_universal = True
            remaining.append(token.meaning("LIGHT"))
        elif is_universal and token.says(UNKNOWN):
            continue
        else:
            is_universal = is_universal and token.is_light and not token.says("PREPOSITION")
            remaining.append(token)
    return remaining


def _without_adverbs(tokens: Tokens) -> Tokens:
    """Leave out adverbs beside *never* and *forbidden*: *categorically forbidden*."""
    remaining: Tokens = []
    for place, token in enumerate(tokens):
        beside = [*tokens[max(place - 1, 0) : place], *tokens[place + 1 : place + 2]]
        if not _is_adverb(token) or not any(other.says("NEG", "BAN", "MUST") for other in beside):
            remaining.append(token)
    return remaining


def _is_adverb(token: Token) -> bool:
    word = token.text
    return token.says(UNKNOWN) and not token.is_quoted and word.endswith(_ADVERB_ENDINGS)


def _without_purpose(tokens: Tokens) -> Tokens:
    """Leave out what a command is for: *never `chmod 777` to fix permissions*."""
    for place, token in enumerate(tokens):
        if place and _is_purpose(tokens, place) and any(map(_is_literal, tokens[:place])):
            needed = [
                other for other in tokens[place:] if _is_literal(other) or _is_negating(other)
            ]
            if needed or any(other.says(*_CONDITIONS) for other in tokens[place + 1 :]):
                return tokens
            return tokens[:place]
        if token.says("INSTEADOF", "COMMA"):
            break
    return _without_purpose_head(tokens)


def _is_purpose(tokens: Tokens, place: int) -> bool:
    token = tokens[place]
    following = tokens[place + 1 : place + 2]
    if token.text in _PURPOSE:
        return True
    if token.says("WHEN") and any(other.says("YOU") for other in following):
        return any(other.says("INSTEADOF") for other in tokens[:place])
    return token.text == "to" and any(
        other.text.split()[0] in _PURPOSE_VERBS for other in following
    )


def _without_purpose_head(tokens: Tokens) -> Tokens:
    """Leave out *for searching* before *use `rg` instead of `grep`*."""
    if not tokens or tokens[0].text not in _PURPOSE_HEADS:
        return tokens
    end = _place_of(tokens, lambda token: token.says(COMMAND, "USE"))
    if end < 0 or not any(token.says("INSTEADOF", "NEG") for token in tokens):
        return tokens
    if any(not token.says(UNKNOWN, *LIGHT, "DELETE", "TESTS", "FILES") for token in tokens[:end]):
        return tokens
    programs = {token.value.split()[0] for token in tokens if token.says(COMMAND)}
    if not programs.isdisjoint(_GENERAL):
        return tokens
    return tokens[end:]


def _without_task_words(tokens: Tokens) -> Tokens:
    """Leave out unknown words around the end of a task: *before a task counts as done*."""
    start = _place_of(tokens, lambda token: token.says("BEFORE", "WHEN", "AFTER"))
    end = _place_of(tokens, lambda token: token.says("FINISH"), start + 1)
    if start < 0 or end < 0 or any(map(_is_literal, tokens[start:end])):
        return tokens
    remaining = tokens[:end]
    if any(token.says("TASK", "CHANGED") for token in remaining[start:]):
        remaining = [token for token in remaining if not token.says(UNKNOWN)]
    following = tokens[end:]
    is_task = any(token.says("TASK", "CHANGED") for token in following[1:])
    if is_task and not any(map(_is_literal, following)):
        following = [token for token in following if not token.says(UNKNOWN)]
    return remaining + following


_STEPS: tuple[Callable[[Tokens], Tokens], ...] = (
    _without_universals,
    _without_adverbs,
    _without_task_words,
    _without_purpose,
    _without_echoes,
    _without_deeds,
    _without_kinds,
    _without_subject,
    _without_verb,
)
