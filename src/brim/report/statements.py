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
_CHOSEN = re.compile(
    r"(?i)\b(?:decided|decision:|we agreed|agreed:|chose|i'll go with|let's go with|we'll go with|going with|went with"
    r"|opted for|settled on|the plan is to|we'll use|i'll use|let's use)\b"
)
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
    if not _CHOSEN.search(answer):
        return []
    found = _sentences(answer[: LONGEST_PROMPT * 4])
    return [sentence for sentence in found if _CHOSEN.search(sentence) and not _OPEN.search(sentence)][:MOST]


def _sentences(text: str) -> list[str]:
    plain = re.sub(r"(?s)```.*?(?:```|\Z)", "\n", text)
    lines = [line.strip() for line in _SENTENCE.split(plain)]
    return [fold(line, LONGEST) for line in lines if len(line) > 3 and not _PASTED.search(line)]


def _asks(sentence: str) -> bool:
    if sentence.endswith("?"):
        return False
    words = [word.strip(",:;.!*_").lower().replace("’", "'") for word in sentence.strip(_MARKS).split()]
    while words and words[0] in _OPENERS:
        words = words[1:]
    if len(words) < 2:
        return False
    if words[0] in data_lines(__file__, "asking_verbs.txt"):
        return True
    return infer_kind(" ".join(words)) in (BehaviorKind.CONSTRAINT, BehaviorKind.PREFERENCE)
