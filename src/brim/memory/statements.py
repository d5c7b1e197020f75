"""Instructions and decisions in what a person or an agent says.

They are found by their form alone, in English: an instruction asks for something to be done or
left, a decision names what was chosen. Of instructions in other languages those are found that
forbid or prefer something. In doubt a sentence is neither.
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

_CODE = re.compile(r"(?s)```.*?(?:```|\Z)")
_MARKS = " \t-*+>•\"'`(_"
_OPENERS = frozenset(
    [
        "please",
        "also",
        "and",
        "then",
        "now",
        "ok",
        "okay",
        "so",
        "but",
        "oh",
        "first",
        "next",
        "finally",
        "just",
    ],
)
_PASTED = re.compile(
    r"^\s*(?:at |File \"|\$ |>>> |[{}<\[#/|]|\S+:\d+[:\s]|\d{4}-\d\d-\d\d)|[{};]\s*$|```"
)
_REQUEST = re.compile(
    r"(?i)(?:can|could|would|will) you\b|let'?s\b|(?:i|we)(?:'d like| want| need| would like)\b"
)
"""How a request opens that has no verb first."""
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
_CONDITION = re.compile(
    r"(?i)(?:if|when|whenever|once|before|after|until|unless|while|for|in|on|whatever)\b[^,]*,\s*"
)
_CHOSEN = re.compile(
    r"(?i)^decision:"
    r"|\b(?:i|we)(?:'ve| have)? (?:decided|chose|chosen|agreed|opted|settled|went with)\b"
    r"|\b(?:i|we)(?:'ll|'m|'re| will| am| are) (?:go(?:ing)? with|use)\b"
    r"|\blet's (?:go with|use)\b|\bthe plan is to\b"
    r"|^(?:going|went) with\b|^(?:chose|decided|opted|settled)\b|^as agreed\b"
)
_MAY_CHOOSE = re.compile(
    r"(?i)\b(?:decision|with|chose|decided|opted|settled|agreed|plan is|use)\b"
)
"""Quickly tells most answers apart that choose nothing."""
_OPEN = re.compile(
    r"(?i)\?\s*$|\b(?:should (?:i|we)|would you|do you want|if you (?:want|prefer)"
    r"|could|might|maybe|before i decide)\b"
)
"""What leaves a choice open."""


def instructions_in(prompt: str) -> list[str]:
    """Return the sentences of a typed *prompt* that ask for something to be done or left.

    >>> instructions_in("The login page is slow. Never touch the migrations. Why does it fail?")
    ['Never touch the migrations.']
    """
    sentences = sentences_in(prompt[:LONGEST_PROMPT])
    return [sentence for sentence in sentences if _asks(sentence)][:MOST_STATEMENTS]


def decisions_in(answer: str) -> list[str]:
    """Return the sentences of an *answer* that say what was chosen.

    >>> decisions_in("Both work. I'll go with SQLite because it needs no server. Use WAL?")
    ["I'll go with SQLite because it needs no server."]
    """
    if not _MAY_CHOOSE.search(answer):
        return []
    sentences = [line.strip(_MARKS) for line in sentences_in(answer[: 4 * LONGEST_PROMPT])]
    return [sentence for sentence in sentences if _chooses(sentence)][:MOST_STATEMENTS]


def binding_statements(prompt: str) -> list[str]:
    """Return the sentences of a typed *prompt* that go on holding: rules, choices and limits.

    >>> binding_statements("We decided to use Decimal. Fix the sum. It must end within 200 ms.")
    ['We decided to use Decimal.', 'It must end within 200 ms.']
    """
    sentences = sentences_in(prompt[:LONGEST_PROMPT])
    return [sentence for sentence in sentences if _is_binding(sentence)][:MOST_STATEMENTS]


def _is_binding(sentence: str) -> bool:
    plain = sentence.strip(_MARKS).replace("’", "'")
    if plain.endswith("?"):
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


def sentences_in(text: str) -> list[str]:
    """Return the sentences of *text*, without code and what looks pasted."""
    lines = [line.strip() for line in SENTENCE_END.split(_CODE.sub("\n", text))]
    return [
        fold(line, LONGEST_STATEMENT)
        for line in lines
        if len(line) > 3 and not _PASTED.search(line)
    ]


def _chooses(sentence: str) -> bool:
    if _OPEN.search(sentence):
        return False
    return _CHOSEN.search(sentence.replace("’", "'")) is not None


def _asks(sentence: str) -> bool:
    plain = sentence.strip(_MARKS).replace("’", "'")
    if _REQUEST.match(plain):
        return True
    if plain.endswith("?"):
        return False
    if _REQUIRED.search(plain) and not _PERSONAL.match(plain):
        return True
    return _opens_with_a_verb(plain) or _opens_with_a_verb(_CONDITION.sub("", plain, count=1))


def _opens_with_a_verb(clause: str) -> bool:
    """Whether *clause* opens with a verb that asks, or forbids or prefers something."""
    words = [word.strip(",:;.!*_").lower() for word in clause.split()]
    while words and words[0] in _OPENERS:
        del words[0]
    if len(words) < 2:
        return False
    if words[0] in data_lines(__file__, "asking_verbs.txt"):
        return True
    kind = infer_kind(" ".join(words))
    return kind in (BehaviorKind.CONSTRAINT, BehaviorKind.PREFERENCE)
