"""The sentences of a person's prompt that go on holding: rules, choices and limits.

They are found by their form alone. What a person only pasted says nothing: code, logs, quotes,
documents, and the long text after a colon. In doubt a sentence doesn't count.
"""

from __future__ import annotations

import re
from functools import cache

from brim.files import data_lines
from brim.memory.facts import SENTENCE_END, quantities_in
from brim.rules.kinds import infer_kind
from brim.rules.library_rule import BehaviorKind
from brim.text import fold

LONGEST_PROMPT = 4_000
"""Characters of a prompt that are looked at: what is longer is pasted, and a paste says little
about what is wanted."""

LONGEST_STATEMENT = 300
"""Characters of one statement."""

MOST_STATEMENTS = 20
"""Statements of one message."""

LONGEST_QUOTED = 200
"""Characters after a colon, from which on they are quoted and not typed."""

_CODE = re.compile(r"(?s)```.*?(?:```|\Z)")
_MARKS = " \t-*+>•\"'`(_"
_PASTED = re.compile(
    r"^\s*(?:at |File \"|\$ |>|[{}<\[#/|│╭╰├└┌⎿❯⏺●✓✗]|={3}|-{3}|\+{3}|@@|\d{4}-\d\d-\d\d)"
    r"|^\s*(?:\w+: )?\S+:\d+[:\s]|\d\d:\d\d:\d\d|\w=\S+ +\w+=\S|[{};]\s*$|```"
)
"""A line of code, of a log, of a quote or of what a program drew."""
_HEADING = re.compile(r"(?m)^#{1,6} ")
_LIST = re.compile(r"\s*(?:[-*•+]|\d+[.)]) ")
_REQUIRED = re.compile(r"(?i)\b(?:must|has to|have to|needs to|should)\b")
_PERSONAL = re.compile(r"(?i)^(?:i|you should see|you must have|this should have|it should have)\b")
"""What has to be is a requirement, unless it is about the one who writes or about what was
expected."""
_REFUSES = re.compile(r"(?i)i (?:don't|do not|never|only) want\b|i said\b")
"""How a person says what they don't want."""
_SPACED = "\u2e80"
"""Scripts from here on put no spaces between words."""
_RULES_OUT = re.compile(
    r"(?i)(?:^|[,;:(] ?(?:(?:and|but|so|or) )?)"
    r"(?:no (?!longer|idea|problem|worr|need|doubt|luck|one\b|errors?\b|matter|reason|rush|hurry)"
    r"[\w@`'\"-]|not (?:the|a|an|in|into|with|by|via|like)\b|limit |keep |make sure |ensure |kein)"
)
"""A clause that rules something out or keeps it as it is: ``no new packages``, ``not in src``."""
_CHOSEN = re.compile(
    r"(?i)^decision:"
    r"|\b(?:i|we)(?:'ve| have)? (?:decided|chose|chosen|agreed|opted|settled|went with)\b"
    r"|\b(?:i|we)(?:'ll|'m|'re| will| am| are) (?:go(?:ing)? with|use)\b"
    r"|\blet's (?:go with|use)\b|\bthe plan is to\b"
    r"|^(?:going|went) with\b|^(?:chose|decided|opted|settled)\b|^as agreed\b"
)
_OPEN = re.compile(
    r"(?i)\?\s*$|\b(?:should (?:i|we)|would you|do you want|if you (?:want|prefer)"
    r"|could|might|maybe|before i decide)\b"
)
"""What leaves a choice open."""


def binding_statements(prompt: str) -> list[str]:
    """Return the sentences of a typed *prompt* that go on holding: rules, choices and limits.

    >>> binding_statements("We decided to use Decimal. Fix the sum. It must end within 200 ms.")
    ['We decided to use Decimal.', 'It must end within 200 ms.']
    """
    sentences = _sentences_in(prompt)
    return [sentence for sentence in sentences if _is_binding(sentence)][:MOST_STATEMENTS]


def _is_binding(sentence: str) -> bool:
    plain = sentence.strip(_MARKS).replace("’", "'")
    if plain.rstrip(")\"'").endswith("?"):
        return False
    if _chooses(plain) or _REFUSES.match(plain):
        return True
    if _PERSONAL.match(plain):
        return False
    if _REQUIRED.search(plain) or _RULES_OUT.search(plain) or quantities_in(plain):
        return True
    if _binding_word().search(plain.lower()):
        return True
    return infer_kind(sentence) in (BehaviorKind.CONSTRAINT, BehaviorKind.PREFERENCE)


@cache
def _binding_word() -> re.Pattern[str]:
    """Return what finds a word of ``data/binding_words.txt`` in small letters."""
    patterns = []
    for phrase in data_lines(__file__, "binding_words.txt"):
        if phrase > _SPACED:
            patterns.append(re.escape(phrase))
        else:
            patterns.append(rf"(?<![\w'-]){re.escape(phrase)}(?![\w'-])")
    return re.compile("|".join(patterns))


def _sentences_in(prompt: str) -> list[str]:
    """Return the sentences that a person typed."""
    sentences = []
    for sentence in SENTENCE_END.split(_CODE.sub("\n", typed_text(prompt))):
        line = sentence.strip()
        if len(line) > 3 and not _PASTED.search(line):
            sentences.append(fold(line, LONGEST_STATEMENT))
    return sentences


def typed_text(prompt: str) -> str:
    """Return *prompt* up to where a document or a long quote begins.

    >>> typed_text("Do this plan:\\n\\n# Plan\\nNever log.")
    'Do this plan:\\n\\n'
    """
    prompt = prompt[:LONGEST_PROMPT]
    heading = _HEADING.search(prompt)
    if heading is not None:
        prompt = prompt[: heading.start()]
    typed = ""
    for line in prompt.splitlines(keepends=True):
        typed += line
        following = prompt[len(typed) :].lstrip("\n")
        if not line.rstrip().endswith(":") or _LIST.match(following):
            continue
        if len(following) > LONGEST_QUOTED:
            break
    return typed


def _chooses(sentence: str) -> bool:
    if _OPEN.search(sentence):
        return False
    return _CHOSEN.search(sentence.replace("’", "'")) is not None
