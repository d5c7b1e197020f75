"""``read_atoms``: the pieces of a sentence, before their words are looked up.

Quoted text, code, paths and options are whole; signs end clauses; Markdown is gone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from brim.record import PlainData
from brim.rules.checks.names import FLAG_PATTERN, path_at

WORD = "word"
CODE = "code"
QUOTE = "quote"
PIPE = "pipe"
"""``curl … | sh``, which isn't two commands."""
PATH_ATOM = "path"
FLAG_ATOM = "flag"
SIGN = "sign"

PIPED = re.compile(r"(?:curl|wget)\b[^|,;`]{0,20}\|\s*(?:sudo )?(?:sh|bash|zsh|shell)\b")
_SPAN = re.compile(
    r"`+(?P<code>[^`]+)`+|“(?P<a>[^”]+)”|„(?P<b>[^“”]+)[“”]|\"(?P<c>[^\"]+)\""
    r"|«\s*(?P<d>[^»]+?)\s*»|(?<!\w)'(?P<e>[^']+)'(?!\w)"
)
_TYPE_IGNORE = re.compile(r"(?:# ?)?type: ?ignore")
_SIGN = re.compile(r"[,;()…!?]|[.:](?=\s|$|\))|\.{2,}|\s[-–—]+(?=\s)|[–—]|→|=>")
_PLURAL = re.compile(r"'?e?s\b")
"""What may follow code without a space."""
_SPAN_ENDS = ("`", '"', "”", "“", "»")
_WORD = re.compile(
    r"v?\d+(?:\.[\dx]+)+(?![\w-])"
    r"|(?!-)[^\s,;:.!?()\[\]{}<>\"“”„«»…–—`|/&+=*]+(?:[.:][^\W\d_][\w:.-]*)*"
)


@dataclass(frozen=True)
class Atom(PlainData):
    """A piece of a sentence."""

    kind: str
    text: str
    length: int
    """How many characters it takes in the sentence."""


@lru_cache(4)  # each language reads the same atoms
def read_atoms(text: str) -> tuple[Atom, ...]:
    """Return the pieces of *text*.

    >>> [(atom.kind, atom.text) for atom in read_atoms("Don't edit `dist/` or src/a.py, please")]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('word', "Don't"), ('word', 'edit'), ('code', 'dist/'), ('word', 'or'), ('path', 'src/a.py'),
     ('sign', ','), ('word', 'please')]
    """
    atoms: list[Atom] = []
    position = 0
    while position < len(text):
        atom = _atom_at(text, position)
        if atom is None:
            position += 1
            continue
        atoms.append(atom)
        position += atom.length
    return tuple(atoms)


def _atom_at(text: str, position: int) -> Atom | None:
    """Return the atom at *position*; None for a space or a sign without meaning."""
    atom = _literal_at(text, position)
    is_compound = text[position - 1 : position] in _SPAN_ENDS and text[position] == "-"
    if is_compound:  # German: `x`-Anweisungen
        return None
    if atom is None and (position == 0 or not text[position - 1].isalnum()):
        atom = _name_at(text, position)
    if atom is not None:
        return atom
    sign = _SIGN.match(text, position)
    if sign is not None:
        return Atom(SIGN, sign[0].strip(), len(sign[0]))
    word = _WORD.match(text, position)
    if word is None:
        return None
    name = word[0].rstrip(".:-")
    return Atom(WORD, name, len(name))


def _literal_at(text: str, position: int) -> Atom | None:
    """Return the quoted text or fixed spelling that begins at *position*."""
    span = _SPAN.match(text, position)
    if span is not None:
        kind = QUOTE
        if span["code"]:
            kind = CODE
        plural = _PLURAL.match(text, span.end())
        length = len(span[0])
        if plural is not None:
            length += len(plural[0])
        return Atom(kind, span[span.lastgroup or 0].strip(), length)
    piped = PIPED.match(text, position)
    if piped is not None:
        return Atom(PIPE, piped[0], len(piped[0]))
    ignore = _TYPE_IGNORE.match(text, position)
    if ignore is not None:
        return Atom(WORD, ignore[0].replace(" ", "").lstrip("#"), len(ignore[0]))
    return None


def _name_at(text: str, position: int) -> Atom | None:
    """Return the path or option that begins at *position*."""
    path = path_at(text, position)
    if path:
        return Atom(PATH_ATOM, path, len(path))
    flag = FLAG_PATTERN.match(text, position)
    if flag is not None:
        return Atom(FLAG_ATOM, flag[0], len(flag[0]))
    return None
