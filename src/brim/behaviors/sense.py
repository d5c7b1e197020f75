"""The words that turn or narrow the sense of a rule (``data/sense_words.txt``), and where their clauses end."""

from __future__ import annotations

from brim._light import namedtuple
from brim.behaviors import tables
from brim.behaviors.words import is_mark, is_unspaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

Found = namedtuple("Found", ("start", "end"))
"""Where a sense word stands: ``text[start:end]`` is it."""

_ENDS = frozenset(".!?;")
"""End a clause if a space follows: a dot in ``app.py`` does not."""
_FULL_ENDS = frozenset("。！？；｡…")
"""End a clause wherever they stand."""
_COMMAS = frozenset(",，、")
_AROUND = '.,;:!?()[]{}*"`'
_CLOSING = frozenset("\"'”’»)]}*_`」』）】")


def sense_words(text: str) -> list[Found]:
    """Return where sense words stand in *text*, which is one line, by their ends.

    >>> text = "Use uv, never pip (unless it's CI)"
    >>> [text[found.start : found.end] for found in sense_words(text)]
    ['never', 'unless']
    """
    singles, phrases, anywhere = _lists()
    if text.isascii():
        anywhere = tuple(filter(str.isascii, anywhere))
    found = [Found(at, at + len(sign)) for sign in anywhere for at in _places(text, sign)]
    known = list(_tokens(text))
    for i, (start, end, word) in enumerate(known):
        if word in singles:
            found.append(Found(start, end))
        for phrase in phrases.get(word, ()):
            last = i + len(phrase)
            if last <= len(known) and all(known[i + j][2] == part for j, part in enumerate(phrase)):
                found.append(Found(start, known[last - 1][1]))
    return sorted(found, key=lambda each: (each.end, each.start))


def clause_end(text: str, at: int) -> int:
    """Return where the clause that *at* stands in ends: after its sentence, or before a comma and a reason.

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
    """Whether the sign at *at* ends a sentence, and is not part of a name, a number or an abbreviation."""
    after = _with_closing(text, at + 1)
    if after < len(text) and text[after] != " " and not is_unspaced(text[after]):
        return False
    if text[at] != ".":
        return True
    begin = at
    while begin > 0 and text[begin - 1].isalpha():
        begin -= 1
    word = text[begin:at].lower()
    abbreviated = len(word) == 1 or word in tables.words("abbreviations.txt")
    return after == len(text) or not (abbreviated or text[after + 1 : after + 2].islower())


def is_reason(text: str) -> bool:
    """Whether *text*, in lower case, begins with a word that begins a reason: ``data/reason_words.txt``."""
    return any(
        text.startswith(word) and (is_unspaced(word[0]) or not text[len(word) : len(word) + 1].isalnum())
        for word in _reasons()
    )


def _places(text: str, part: str) -> Iterator[int]:
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)


def _tokens(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the words of *text* with their places; of ``n'utilise`` the whole and ``n'``."""
    at = 0
    for chunk in text.split(" "):
        start = at
        at += len(chunk) + 1
        bare = chunk.strip(_AROUND)
        if bare.isalnum():
            start += chunk.index(bare[0])
            yield start, start + len(bare), bare.lower()
        elif bare:
            yield from _parts(chunk.replace("’", "'"), start)


def _parts(chunk: str, offset: int) -> Iterator[tuple[int, int, str]]:
    begin = 0
    for end in range(len(chunk) + 1):
        if end < len(chunk) and (chunk[end].isalnum() or chunk[end] in "'_" or is_mark(chunk[end])):
            continue
        word = chunk[begin:end].lower()
        bare = word.strip("'_")
        if bare:
            start = offset + begin + word.index(bare)
            yield start, start + len(bare), bare
            if "'" in bare:
                clitic = bare.index("'") + 1
                yield start, start + clitic, bare[:clitic]
        begin = end + 1


_read: list[tuple[frozenset[str], dict[str, list[tuple[str, ...]]], tuple[str, ...]]] = []
_because: list[tuple[str, ...]] = []


def _lists() -> tuple[frozenset[str], dict[str, list[tuple[str, ...]]], tuple[str, ...]]:
    """Return the words that stand alone, the longer ones by their first part, and those found anywhere."""
    if not _read:
        singles, anywhere = set(), []
        phrases: dict[str, list[tuple[str, ...]]] = {}
        for entry in _entries("sense_words.txt"):
            parts = tuple(entry.split())
            if is_unspaced(entry[0]) or not (entry[0].isalpha()):
                anywhere.append(entry)
            elif len(parts) == 1:
                singles.add(entry)
            else:
                phrases.setdefault(parts[0], []).append(parts)
        _read.append((frozenset(singles), phrases, tuple(anywhere)))
    return _read[0]


def single_words() -> frozenset[str]:
    """Return the sense words that are one word each, of scripts with spaces."""
    return _lists()[0]


def _reasons() -> tuple[str, ...]:
    if not _because:
        _because.append(tuple(entry.lower() for entry in _entries("reason_words.txt")))
    return _because[0]


def _entries(name: str) -> list[str]:
    return list(
        dict.fromkeys(entry.strip() for line in tables.lines(name) for entry in line.split(",") if entry.strip())
    )
