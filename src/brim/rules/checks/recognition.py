"""``check_for``: from the words of a rule to its check.

Each sentence is read in each language until one understands every word of it. What comes after a
colon, a dash or a comma is a reason, unless it speaks of a condition.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from brim.rules.blocks import with_kind
from brim.rules.checks.check import TURN_END, RuleCheck
from brim.rules.checks.everyday import everyday_checks
from brim.rules.checks.general import general_checks
from brim.rules.checks.lexicon import LANGUAGES
from brim.rules.checks.sentence import Token, read_sentence
from brim.rules.checks.stance import NO, stance_of
from brim.rules.shell import simple_commands

_LISTS = (
    "calls",
    "passes",
    "refused",
    "paths",
    "other_paths",
    "acts",
    "written_in",
    "written_not_in",
    "needs",
)
LONGEST = 1_000
"""Characters of a rule that are read."""

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-ZÀ-Ý¿¡`*])|\n+")
_MARKUP = re.compile(r"\*\*|__|(?<!\w)\*(?=\w)|^[\s>#*-]+|^\d+[.)]\s+|</?\w+>")
_LABEL = re.compile(r"^[\w /&()-]{2,30}:\s+(?=\S)")
_CUT = re.compile(
    r"\s*[:;,(]\s*|\s+[-–—]+\s+|\s+(?:because|since|as it|weil|denn|da|parce que|car"
    r"|porque|ya que|pois|so that|damit|para que)\s+"
)
_CONDITION = re.compile(
    r"(?i)\b(?:unless|except(?:ion|ions)?|if|when|until|however|only|otherwise|while|may|can|could"
    r"|allowed|ok|okay|fine|außer|sofern|wenn|falls|bis|solange|aber|ausnahmen?|darfst|dürfen"
    r"|sauf|quand|lorsque|mais|jusqu|excepté|peux|salvo|excepto|cuando|hasta|pero|aunque|puedes"
    r"|exceto|quando|até|mas|pode|apart from|besides|but|with the exception|you are free)\b"
)

_SCOPE = re.compile(
    r"(?i)(?:in|for|on|with|within|inside|during|at|after|before|under|from|bei|beim|im|für|nach"
    r"|vor|auf|unter|dans|pour|lors|pendant|après|avant|sur|en|para|durante|tras|al|em|no|na|ao"
    r"|após"
    r"|durante|antes|si|se|wenn|falls|sobald|quand|lorsque|cuando|quando|once|as soon)\b"
)
"""How a part begins that says where a rule holds."""


def check_for(text: str, block: Iterable[str] = (), before_done: str = "") -> RuleCheck | None:
    """Return the check of a rule; None if no call shows whether it's kept.

    *block* and *before_done* are what a person has declared.

    >>> check_for("Use pnpm, not npm").promise
    'npm install, i, add, ci, update and uninstall are stopped once, with this rule as the reason'
    >>> check_for("Prefer small functions") is None
    True
    """
    checks = _declared(block, before_done)
    checks += _recognised(text[:LONGEST])
    if not checks:
        return None
    return _merged(checks)


def _declared(block: Iterable[str], before_done: str) -> list[RuleCheck]:
    """Return the checks for what a person has declared."""
    checks: list[RuleCheck] = []
    blocks = tuple([with_kind(pattern.strip()) for pattern in block])
    if blocks:
        wording = ", ".join([pattern.removeprefix("run ") for pattern in blocks])
        checks.append(RuleCheck(name="block", refused=blocks, wording=wording))
    if before_done:
        checks.append(
            RuleCheck(name="done", needs=_needs(before_done), before=TURN_END, wording=before_done)
        )
    return checks


def _needs(command: str) -> tuple[str, ...]:
    """Return each simple command in *command*: all of them must have run."""
    try:
        commands = simple_commands(command)
    except ValueError:
        return (command,)
    patterns = [" ".join(words) for words in commands if words[0] != "cd"]
    return tuple(patterns) or (command,)


def _recognised(text: str) -> list[RuleCheck]:
    """Return the checks that the sentences of *text* ask for."""
    sentences = [part.strip() for part in _SENTENCE_END.split(text) if part.strip()]
    checks: list[RuleCheck] = []
    unread: list[str] = []
    for sentence in sentences:
        sentence_checks = _checks_of_sentence(_MARKUP.sub("", sentence).strip())
        checks += sentence_checks
        if not sentence_checks:
            unread.append(sentence)
    if any(_CONDITION.search(sentence) for sentence in unread):
        return []
    return checks


def _checks_of_sentence(sentence: str) -> list[RuleCheck]:
    if sentence.endswith("?"):
        return []
    for part in _readable_parts(sentence):
        for language in LANGUAGES:
            tokens = read_sentence(part, language)
            if not tokens:
                continue
            checks = _checks_of_tokens(tokens)
            if checks:
                return checks
    return []


def _readable_parts(sentence: str) -> Iterator[str]:
    """Yield the sentence, and what is left of it without a label before it or a reason after it."""
    yield sentence
    for cut in reversed(list(_CUT.finditer(sentence))):
        reason = sentence[cut.end() :]
        if cut.start() > 0 and not _CONDITION.search(reason):
            yield sentence[: cut.start()]
    label = _LABEL.match(sentence)
    if label is not None and not _CONDITION.search(label[0]):
        yield from _readable_parts(sentence[label.end() :])
    for cut in _CUT.finditer(sentence):
        statement = sentence[: cut.start()]
        if not _CONDITION.search(statement) and not _SCOPE.match(statement):
            yield sentence[cut.end() :]


def _checks_of_tokens(tokens: list[Token]) -> list[RuleCheck]:
    stance = stance_of(tokens)
    if not stance:
        return []
    if stance == NO:
        tokens = [_with_verb(token) for token in tokens]
    checks = everyday_checks(tokens, stance) or general_checks(tokens, stance)
    if stance.startswith("git "):
        return [replace(check, before=stance) for check in checks if check.needs]
    return checks


def _with_verb(token: Token) -> Token:
    """Return *token*, where *before a push* is asked about as a push."""
    for moment, verb in (("BEFORECOMMIT", "COMMIT"), ("BEFOREPUSH", "PUSH")):
        if token.says(moment):
            return replace(token, concepts=token.concepts | {verb})
    return token


def _merged(checks: list[RuleCheck]) -> RuleCheck:
    """Return one check for all of *checks*."""
    merged = checks[0]
    for check in checks[1:]:
        written = dict.fromkeys([text for text in (merged.written, check.written) if text])
        values: dict[str, Any] = {}
        for name in _LISTS:
            values[name] = tuple(dict.fromkeys(getattr(merged, name) + getattr(check, name)))
        merged = replace(
            merged,
            **values,
            written="|".join(written),
            in_comments=merged.in_comments or check.in_comments,
            message=merged.message or check.message,
            subject=merged.subject or check.subject,
            before=merged.before or check.before,
            wording=_joined(merged.wording, check.wording),
        )
    return merged


def _joined(first: str, second: str) -> str:
    if second in first:
        return first
    return f"{first}; {second}"
