"""Which sentences of a conversation are a person's instructions, and which are an agent's decisions.

By form alone, in English: an instruction asks for something to be done or left, a decision names what was chosen. Of
instructions in other languages those are found that forbid or prefer something.
"""

from __future__ import annotations

import re

from brim.behaviors.behavior import BehaviorKind
from brim.behaviors.learning import infer_kind
from brim.files import data_lines
from brim.tracking.compaction import fold

LONGEST_PROMPT = 4_000
"""Characters of a prompt that are looked at: what is longer is pasted, and a paste says little about what is wanted."""

LONGEST = 300
"""Characters of one statement."""

MOST = 20
"""Statements of one message."""

_SENTENCE = re.compile(r"\n+|(?<=[.!?;])\s+")
_MARKS = " \t-*+>•\"'`(_"
_OPENERS = ("please", "also", "and", "then", "now", "ok", "okay", "so", "but", "oh", "first", "next", "finally", "just")
_PASTED = re.compile(r"^\s*(?:at |File \"|\$ |>>> |[{}<\[#/|]|\S+:\d+[:\s]|\d{4}-\d\d-\d\d)|[{};]\s*$|```")
_REQUEST = re.compile(r"(?i)(?:can|could|would|will) you\b|let'?s\b|(?:i|we)(?:'d like| want| need| would like)\b")
"""How a request opens that has no verb first."""
_REQUIRED = re.compile(r"(?i)\b(?:must|has to|have to|needs to|should)\b")
_PERSONAL = re.compile(r"(?i)^(?:i|you should see|you must have|this should have|it should have)\b")
"""What has to be is a requirement, unless it is about the one who writes or about what was expected."""
_CONDITION = re.compile(r"(?i)(?:if|when|whenever|once|before|after|until|unless|while|for|in|on|whatever)\b[^,]*,\s*")
_CHOSEN = re.compile(
    r"(?i)^decision:|\b(?:(?:i|we)(?:'ve| have)? (?:decided|chose|chosen|agreed|opted|settled|went with)"
    r"|(?:i|we)(?:'ll|'m|'re| will| am| are) (?:go(?:ing)? with|use)|let's (?:go with|use)|the plan is to)\b"
    r"|^(?:going|went) with\b|^(?:chose|decided|opted|settled)\b|^as agreed\b"
)
_MAY_CHOOSE = re.compile(r"(?i)\b(?:decision|with|chose|decided|opted|settled|agreed|plan is|use)\b")
"""Quickly tells most answers apart that choose nothing."""
_OPEN = re.compile(
    r"(?i)\?\s*$|\b(?:should (?:i|we)|would you|do you want|if you (?:want|prefer)|could|might|maybe|before i decide)\b"
)
"""What leaves a choice open."""


def instructions_in(prompt: str) -> list[str]:
    """Return the sentences of a typed *prompt* that ask for something to be done or left.

    >>> instructions_in("The login page is slow. Please never touch the migrations. Use pnpm! Why does it fail?")
    ['Please never touch the migrations.', 'Use pnpm!']
    """
    return [sentence for sentence in _sentences(prompt[:LONGEST_PROMPT]) if _asks(sentence)][:MOST]


def decisions_in(answer: str) -> list[str]:
    """Return the sentences of an agent's *answer* that say what was chosen.

    >>> decisions_in("Both work. I'll go with SQLite because it needs no server. Should we use WAL?")
    ["I'll go with SQLite because it needs no server."]
    """
    if not _MAY_CHOOSE.search(answer):
        return []
    found = [sentence.strip(_MARKS) for sentence in _sentences(answer[: 4 * LONGEST_PROMPT])]
    return [sentence for sentence in found if _CHOSEN.search(sentence) and not _OPEN.search(sentence)][:MOST]


def _sentences(text: str) -> list[str]:
    plain = re.sub(r"(?s)```.*?(?:```|\Z)", "\n", text)
    lines = [line.strip() for line in _SENTENCE.split(plain)]
    return [fold(line, LONGEST) for line in lines if len(line) > 3 and not _PASTED.search(line)]


def _asks(sentence: str) -> bool:
    plain = sentence.strip(_MARKS).replace("’", "'")
    if _REQUEST.match(plain):
        return True
    if plain.endswith("?"):
        return False
    if _REQUIRED.search(plain) and not _PERSONAL.match(plain):
        return True
    return _is_asked(plain) or _is_asked(_CONDITION.sub("", plain, count=1))


def _is_asked(clause: str) -> bool:
    """Whether *clause* opens with a verb that asks for something, or forbids or prefers something."""
    words = [word.strip(",:;.!*_").lower() for word in clause.split()]
    while words and words[0] in _OPENERS:
        words = words[1:]
    if len(words) < 2:
        return False
    return words[0] in data_lines(__file__, "asking_verbs.txt") or infer_kind(" ".join(words)) in (
        BehaviorKind.CONSTRAINT,
        BehaviorKind.PREFERENCE,
    )
