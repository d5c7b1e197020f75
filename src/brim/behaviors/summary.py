"""A rule in one line that keeps its sense.

The line is the beginning of the text. It is cut to 60 characters, at a border between words, unless what is cut off
would hold a negation, a condition or an exception (``data/sense_words.txt``): then it runs to the end of the clause in
which the last such word stands. So what is cut off never holds one. The price is length: a text whose last sentence
holds such a word is its own summary. Whoever wants it shorter writes a summary.
"""

from __future__ import annotations

from brim.behaviors.graphemes import border_at_or_after, border_at_or_before, is_border
from brim.behaviors.sense import clause_end, sense_words
from brim.behaviors.words import is_unspaced

LENGTH = 60
"""Characters of a summary, the ``…`` included, where no sense is in the way."""
_SHORTEST = 20
"""A border between words before this one would leave too little: then the cut is between two characters."""
_COMPANY = 12
"""A sense word with fewer characters after it has lost what it speaks of, and counts as cut off."""
_COMPANY_UNSPACED = 8
_MARKERS = frozenset("-*+•–")
_CONTROLS = dict.fromkeys((*range(32), *range(127, 160)), " ")
_ENDINGS = frozenset(".!?;:,…。！？；：、，")


def summarize(canonical: str) -> str:
    """Return *canonical* in one line, in which every negation, condition and exception still stands.

    >>> summarize("Use uv for environments, for scripts and for installing, never pip. It is faster.")
    'Use uv for environments, for scripts and for installing, never pip. …'
    >>> summarize("# Logging\\nUse structlog for all logging in every service of the platform team")
    'Logging: Use structlog for all logging in every service of…'
    """
    text = one_line(canonical)
    if len(text) <= LENGTH:
        return text
    end = _word_border(text)
    found = [each for each in sense_words(text) if _is_lost(text, each.start, each.end, end)]
    if found:
        end = border_at_or_after(text, clause_end(text, found[-1].end))
    kept = text[:end].rstrip()
    if not text[end:].strip():
        return kept
    return f"{kept} …" if kept[-1] in _ENDINGS and found else f"{kept.rstrip(',;:')}…"


def one_line(text: str) -> str:
    """Return all of *text* as one line, without the markers of headings, lists, quotes and code fences."""
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
    """Return *line* without its markers, and the last of them, or nothing: ``#``, ``-``, ``1`` or ``>``."""
    marker = ""
    while True:
        first, space, rest = line.partition(" ")
        if not space:
            return line, marker
        if first in _MARKERS or first in ("[ ]", "[x]", "[X]"):
            marker = "-"
        elif first.strip("#") == "" or first.strip(">") == "":
            marker = first[0]
        elif first[:-1].isdecimal() and first[-1] in ".)" and len(first) < 5:
            marker = "1"
        elif line.startswith("[ ] "):
            rest = line[4:]
        else:
            return line, marker
        line = rest


def _word_border(text: str) -> int:
    """Return where to cut *text* so that at most 59 characters are left: between words if that leaves enough."""
    for least, is_word_border in ((40, _at_space), (_SHORTEST, _at_unspaced), (_SHORTEST, _at_space)):
        for at in range(LENGTH - 1, least - 1, -1):
            if is_word_border(text, at) and is_border(text, at):
                return at
    return border_at_or_before(text, LENGTH - 1) or border_at_or_after(text, LENGTH - 1)


def _at_space(text: str, at: int) -> bool:
    return text[at] == " " or text[at - 1] == " "


def _at_unspaced(text: str, at: int) -> bool:
    return is_unspaced(text[at]) or is_unspaced(text[at - 1])


def _is_lost(text: str, start: int, end: int, cut: int) -> bool:
    """Whether the sense word between *start* and *end* is cut off at *cut*, or what it speaks of is."""
    company = _COMPANY_UNSPACED if is_unspaced(text[start]) else _COMPANY
    return end > cut or (cut - end < company and clause_end(text, end) > cut)
