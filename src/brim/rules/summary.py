"""A rule in one line that keeps its sense.

The line is the beginning of the text. It is cut to 60 characters, at a border between words, unless
that cuts off a negation, a condition or an exception (``data/sense_words.txt``), or some of the
clause that it turns: then it runs to the end of that clause. The price is length: a text whose last
sentence holds such a word is its own summary, and so is one that would hardly get shorter. To have
it shorter, write a summary.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from unicodedata import category

from brim.files import data_lines
from brim.record import PlainData
from brim.rules.stems import is_unspaced
from brim.text import border_at_or_after, border_at_or_before, is_border

LENGTH = 60
"""Characters of a summary, the ``…`` included, where no sense is in the way."""
_SHORTEST = 20
"""A border between words before this one would leave too little: then the cut is between two
characters."""
SHORTER = 0.75
"""The share of the text from which on a summary isn't worth having: then it's the whole text."""
_CONTROLS = dict.fromkeys((*range(32), *range(127, 160)), " ")
_MARKS = tuple("#>-*+•–[")
_MARKED = r"(?:([#>])\1*|([-*+•–]|\[[xX]\])|(\d{1,3}[.)])|\[ \]) "
"""A marker at the beginning of a line, and above what one that isn't a number begins with."""
_ENDINGS = frozenset(".!?;:,…。！？；：、，")


@lru_cache(256)
def summarize(canonical: str) -> str:
    """Return *canonical* in one line, in which every negation, condition and exception still
    stands.

    >>> summarize("Use uv for environments, for scripts and for installing, never pip. It is faster, by a lot.")
    'Use uv for environments, for scripts and for installing, never pip. …'
    >>> summarize("# Logging\\nUse structlog for all logging in every service of the platform team, and of ours")
    'Logging: Use structlog for all logging in every service of…'
    """
    text = one_line(canonical)
    if len(text) <= LENGTH:
        return text
    end = _word_border(text)
    # Words that are cut off, or turn a clause of which some is.
    found = [each for each in sense_words(text) if clause_end(text, each.end) > end]
    if found:
        end = border_at_or_after(text, clause_end(text, found[-1].end))
    kept = text[:end].rstrip()
    if len(kept) > SHORTER * len(text):
        return text
    return f"{kept} …" if kept[-1] in _ENDINGS and found else f"{kept.rstrip(',;:')}…"


def one_line(text: str) -> str:
    """Return all of *text* as one line, without the markers of headings, lists, quotes and code
    fences."""
    parts: list[str] = []
    glue = ""
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        content, marker = _unmarked(" ".join(line.translate(_CONTROLS).split()))
        if not content or content.startswith(("```", "~~~")):
            glue = glue if glue == ": " else "; "
            continue
        if parts:
            glue = "; " if marker and glue == " " else glue
            parts.append(" " if parts[-1][-1] in _ENDINGS else glue)
        parts.append(content)
        glue = ": " if marker == "#" else " "
    return "".join(parts) or " ".join(text.split())


def _unmarked(line: str) -> tuple[str, str]:
    """Return *line* without its markers, and the last of them, or nothing: ``#``, ``-``, ``1`` or
    ``>``."""
    marker = ""
    # A hook needn't compile the pattern for lines without a marker.
    while line.startswith(_MARKS) or line[:1].isdecimal():
        match = re.match(_MARKED, line)
        if match is None:
            break
        marker = _marker_of(match) or marker
        line = line[match.end() :]
    return line, marker


def _marker_of(match: re.Match[str]) -> str:
    heading, bullet, number = match.groups()
    if heading:
        return str(heading)
    if bullet:
        return "-"
    if number:
        return "1"
    return ""


def _word_border(text: str) -> int:
    """Return where to cut *text* so that at most 59 characters are left: between words if that
    leaves enough."""
    for least, spaced in ((40, True), (_SHORTEST, False), (_SHORTEST, True)):
        for at in range(LENGTH - 1, least - 1, -1):
            sides = text[at - 1 : at + 1]
            if (" " in sides if spaced else any(map(is_unspaced, sides))) and is_border(text, at):
                return at
    return border_at_or_before(text, LENGTH - 1) or border_at_or_after(text, LENGTH - 1)


# Words that turn or narrow the sense of a rule, and where their clauses end.


@dataclass(frozen=True)
class SummaryMatch(PlainData):
    """Where a sense word is: ``text[start:end]``."""

    start: int
    end: int


class Spaces(dict[int, int]):
    """For ``str.translate``: letters, digits and accents stay, everything else that isn't in it
    becomes a space."""

    def __missing__(self, code: int) -> int:
        character = chr(code)
        stays = character.isalnum()
        if character >= "\u0300" and category(character)[0] == "M":
            stays = True  # an accent or vowel sign belongs to what is before it
        self[code] = code if stays else 0x20
        return self[code]


_ENDS = frozenset(".!?;")
"""End a clause if a space follows: a dot in ``app.py`` does not."""
_FULL_ENDS = frozenset("。！？；｡…")
"""End a clause wherever they stand."""
_COMMAS = frozenset(",，、")
_INSIDE_WORDS = Spaces({ord(sign): ord(sign) for sign in "'_"})
_CLOSING = frozenset("\"'”’»)]}*_`」』）】")


def sense_words(text: str) -> list[SummaryMatch]:
    """Return where sense words stand in *text*, which is one line, by their ends.

    >>> text = "Use uv, never pip (unless it's CI)"
    >>> [text[found.start : found.end] for found in sense_words(text)]
    ['never', 'unless']
    """
    singles, phrases, anywhere = _lists(text.isascii())
    found = [
        SummaryMatch(at, at + len(sign))
        for sign in anywhere
        if sign in text
        for at in range(len(text))
        if text.startswith(sign, at)
    ]
    known = list(_tokens(text))
    for i, (start, end, word) in enumerate(known):
        if word in singles:
            found.append(SummaryMatch(start, end))
        for phrase in phrases.get(word, ()):
            last = i + len(phrase)
            if last <= len(known) and all(known[i + j][2] == part for j, part in enumerate(phrase)):
                found.append(SummaryMatch(start, known[last - 1][1]))
    return sorted(found, key=lambda each: (each.end, each.start))


def clause_end(text: str, at: int) -> int:
    """Return where the clause that *at* stands in ends: after its sentence, or before a comma and a
    reason.

    What a colon introduces belongs to the clause, all items of it. In doubt the clause is longer.
    """
    items = False
    for here in range(at, len(text)):
        character = text[here]
        if character in ":：" and text[here + 1 : here + 2] in (" ", ""):
            items = True
        elif character in _COMMAS and is_reason(text[here + 1 : here + 40].lstrip().lower()):
            return here
        elif items and character in ";；":
            continue
        elif character in _FULL_ENDS or (character in _ENDS and _closes(text, here)):
            return _with_closing(text, here + 1)
    return len(text)


def _with_closing(text: str, at: int) -> int:
    while at < len(text) and (text[at] in _CLOSING or text[at] in _ENDS or text[at] in _FULL_ENDS):
        at += 1
    return at


def _closes(text: str, at: int) -> bool:
    """Whether the sign at *at* ends a sentence, and is not part of a name, a number or an
    abbreviation."""
    after = _with_closing(text, at + 1)
    if after < len(text) and text[after] != " " and not is_unspaced(text[after]):
        return False
    if text[at] != ".":
        return True
    if after == len(text):
        return True
    word = _word_before(text, at)
    if len(word) == 1 or word in _abbreviations():
        return False
    return not text[after + 1 : after + 2].islower()


def _word_before(text: str, at: int) -> str:
    """Return the letters right before *at*, in lower case. No abbreviation has more than 20."""
    start = at
    while start > max(0, at - 20):
        sign = text[start - 1]
        if not sign.isalnum() or sign.isdecimal():
            break
        start -= 1
    return text[start:at].lower()


def is_reason(text: str) -> bool:
    """Whether *text*, in lower case, begins with a word that begins a reason:
    ``data/reason_words.txt``."""
    return any(
        text.startswith(word)
        and (is_unspaced(word[0]) or not text[len(word) : len(word) + 1].isalnum())
        for word in map(str.lower, _entries("reason_words.txt"))
    )


def _tokens(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the words of *text* with their places; of ``n'utilise`` the whole and ``n'``."""
    at = 0
    for part in text.replace("’", "'").translate(_INSIDE_WORDS).split(" "):
        if written := part.strip("'_"):
            start, word = at + part.index(written), written.lower()
            yield start, start + len(written), word
            if "'" in word:
                clitic = word.index("'") + 1
                yield start, start + clitic, word[:clitic]
        at += len(part) + 1


@cache
def _abbreviations() -> frozenset[str]:
    return frozenset(" ".join(data_lines(__file__, "abbreviations.txt")).split())


@cache
def _lists(
    ascii_only: bool,
) -> tuple[frozenset[str], dict[str, list[tuple[str, ...]]], tuple[str, ...]]:
    """Return the single words, the phrases by their first word, and the signs that are found
    anywhere.

    With *ascii_only*, those that a text in ASCII can have: a hook then has less to do.
    """
    entries = _entries("sense_words.txt")
    if ascii_only:
        entries = tuple([entry for entry in entries if entry.isascii()])
    anywhere = tuple(
        [entry for entry in entries if not entry[0].isalpha() or is_unspaced(entry[0])]
    )
    several = [tuple(entry.split()) for entry in entries if " " in entry and entry not in anywhere]
    phrases: dict[str, list[tuple[str, ...]]] = {}
    for parts in several:
        phrases.setdefault(parts[0], []).append(parts)
    return frozenset(entries).difference(anywhere, map(" ".join, several)), phrases, anywhere


@cache
def _entries(name: str) -> tuple[str, ...]:
    """Return the entries of ``data/<name>``, which are separated by a comma and a space."""
    return tuple(dict.fromkeys(", ".join(data_lines(__file__, name)).split(", ")))
