"""A sentence as clauses, and a clause as tokens: what each word, name and command may mean.

A word that's in no lexicon is a token too, with the concept ``UNKNOWN``: a clause that has one
isn't understood, so conditions and stories are no rules.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from brim.record import PlainData
from brim.rules.checks.lexicon import Lexicon, lexicon_of, word_parts
from brim.rules.checks.names import (
    FLAG_PATTERN,
    command_length,
    is_path,
    is_program,
    path_at,
)

COMMAND = "COMMAND"
FLAG = "FLAG"
PATH = "PATH"
COMMA = "COMMA"
UNKNOWN = "UNKNOWN"

LIGHT = frozenset(
    (
        "LIGHT",
        "USE",
        "RUN",
        "MUST",
        "ONLY",
        "CODEWORD",
        "BUT",
        "INSTEADOF",
        "EVEN",
        "NEG",
        "BAN",
        "FROZEN",
        "ME",
        "THEN",
        "ASK",
        "ASKED",
        "UNASKED",
        "PERMITTED",
        "DONE",
        "BEFORECOMMIT",
        "BEFOREPUSH",
        COMMA,
    )
)
"""Concepts that say how a rule holds, and not what it's about."""

_SPAN = re.compile(
    r"`+([^`]+)`+|“([^”]+)”|„([^“”]+)[“”]|\"([^\"]+)\"|«\s*([^»]+?)\s*»|(?<!\w)'([^']+)'(?!\w)"
)
_PIPED = re.compile(r"(?:curl|wget)\b[^|,;`]{0,20}\|\s*(?:sudo )?(?:sh|bash|zsh|shell)\b")
_TYPE_IGNORE = re.compile(r"(?:# ?)?type: ?ignore")
_SIGN = re.compile(r"[,;()…!?]|[.:](?=\s|$|\))|\.{2,}|\s[-–—]+(?=\s)|[–—]|→|=>")
_WORD = re.compile(r"(?!-)[^\s,;:.!?()\[\]{}<>\"“”„«»…–—`|/&+=*]+(?:[.:][^\W\d_][\w:.-]*)*")
_AFTER_TYPE = ("in", "is", "are", "at", "as", "for", "anywhere", "ever", "please", "unless")
"""What follows English *any* where it is the type."""
_COMMAND_WORD = re.compile(r"(?:\./)?[a-z][\w./+-]*")
_RUNNING = re.compile(
    r"(?i)\b(?:run|execut|ausführ|führ|ruf|lanc|ejecut|corr|exécut|rod|invok|launch|call|aufruf)\w*"
)


@dataclass(frozen=True)
class Token(PlainData):
    """A word, phrase, command, option or path, and what it may mean."""

    concepts: frozenset[str]
    text: str
    value: str = ""
    """The command, option or path."""

    @property
    def is_light(self) -> bool:
        """Whether it may say nothing about the rule's object."""
        return not LIGHT.isdisjoint(self.concepts)

    def says(self, *concepts: str) -> bool:
        """Whether it may mean one of *concepts*."""
        return not self.concepts.isdisjoint(concepts)


@dataclass(frozen=True)
class Clause(PlainData):
    """What stands between two signs of a sentence."""

    tokens: tuple[Token, ...]
    sign: str = ""
    """The sign or conjunction before it."""
    in_parentheses: bool = False
    before_colon: bool = False

    @property
    def is_understood(self) -> bool:
        """Whether each of its words means something."""
        return not any(token.says(UNKNOWN) for token in self.tokens)

    def says(self, *concepts: str) -> bool:
        """Whether one of its words may mean one of *concepts*."""
        return any(token.says(*concepts) for token in self.tokens)


@dataclass(frozen=True)
class Atom(PlainData):
    """A piece of a sentence, before it's looked up: a ``word``, ``code`` and so on."""

    kind: str
    text: str


def read_clauses(text: str, language: str) -> list[Clause]:
    """Return the clauses of *text*, as words of *language*.

    >>> for clause in read_clauses("Never run npm install, it breaks", "en"):
    ...     print(clause.sign, [sorted(token.concepts) for token in clause.tokens][:2])
     [['NEG'], ['RUN', 'START']]
    , [['LIGHT'], ['UNKNOWN']]
    """
    atoms = read_atoms(text)
    reader = _ClauseReader(atoms, lexicon_of(language), _RUNNING.search(text) is not None)
    return reader.read()


def read_atoms(text: str) -> list[Atom]:
    """Return the pieces of *text*; quotes and Markdown are gone."""
    atoms: list[Atom] = []
    position = 0
    while position < len(text):
        atom, length = _atom_at(text, position)
        if atom is not None:
            atoms.append(atom)
        position += max(length, 1)
    return atoms


def _atom_at(text: str, position: int) -> tuple[Atom | None, int]:
    """Return the atom at *position* and its length; None for a space or a sign without meaning."""
    span = _SPAN.match(text, position)
    if span is not None:
        content = next(group for group in span.groups() if group)
        kind = "code" if text[position] == "`" else "quote"
        return Atom(kind, content.strip()), len(span[0])
    piped = _PIPED.match(text, position)
    if piped is not None:
        return Atom("pipe", piped[0]), len(piped[0])
    ignore = _TYPE_IGNORE.match(text, position)
    if ignore is not None:
        return Atom("word", ignore[0].replace(" ", "").lstrip("#")), len(ignore[0])
    if position == 0 or not text[position - 1].isalnum():
        name = _name_at(text, position)
        if name is not None:
            return name, len(name.text)
    sign = _SIGN.match(text, position)
    if sign is not None:
        return Atom("sign", sign[0].strip()), len(sign[0])
    word = _WORD.match(text, position)
    if word is not None:
        name = word[0].rstrip(".:-")
        return Atom("word", name), len(name)
    return None, 1


def _name_at(text: str, position: int) -> Atom | None:
    """Return the path or option that begins at *position*."""
    path = path_at(text, position)
    if path:
        return Atom("path", path)
    flag = FLAG_PATTERN.match(text, position)
    if flag is not None:
        return Atom("flag", flag[0])
    return None


class _ClauseReader:
    """Looks up *atoms* from left to right."""

    def __init__(self, atoms: list[Atom], lexicon: Lexicon, speaks_of_running: bool) -> None:
        self._atoms = atoms
        self._lexicon = lexicon
        self._speaks_of_running = speaks_of_running
        self._clauses: list[Clause] = []
        self._tokens: list[Token] = []
        self._sign = ""
        self._depth = 0
        self._parts: list[str] = []
        self._atom_of_part: list[int] = []

    def read(self) -> list[Clause]:
        """Return the clauses."""
        number = 0
        while number < len(self._atoms):
            atom = self._atoms[number]
            if atom.kind == "sign":
                self._end_clause(atom.text)
                number += 1
            elif atom.kind in ("code", "quote", "pipe"):
                self._tokens.append(self._quoted(atom))
                number += 1
            else:
                number = self._read_words(number)
        self._end_clause("")
        return self._clauses

    def _end_clause(self, sign: str) -> None:
        """Take the tokens so far as one clause; *sign* comes next."""
        if self._tokens:
            clause = Clause(
                tuple(_named_folders(_without_article_any(self._tokens))),
                self._sign,
                in_parentheses=self._depth > 0,
                before_colon=sign == ":",
            )
            self._clauses.append(clause)
        self._tokens = []
        self._sign = sign
        if sign == "(":
            self._depth += 1
        elif sign == ")":
            self._depth = 0

    def _read_words(self, first: int) -> int:
        """Read the names and words from the atom *first* on; return the atom after them."""
        last = first
        self._parts = []
        self._atom_of_part = []
        while last < len(self._atoms) and self._atoms[last].kind in ("word", "path", "flag"):
            atom = self._atoms[last]
            parts = [atom.text.lower()]
            if atom.kind != "flag":
                parts = word_parts(atom.text)
            self._parts += parts
            self._atom_of_part += [last] * len(parts)
            last += 1
        place = 0
        while place < len(self._parts):
            place += self._read_token(place)
        return last

    def _read_token(self, place: int) -> int:
        """Add the token at the part *place*; return how many parts it takes."""
        length, concepts = self._lexicon.match(self._parts, place)
        number = self._atom_of_part[place]
        atom = self._atoms[number]
        is_first = place == 0 or self._atom_of_part[place - 1] != number
        name_length = 0
        name = ""
        kind = atom.kind.upper()
        if is_first and atom.kind == "word":
            kind = COMMAND
            name, name_length = self._command(place, number)
        elif is_first:
            name = atom.text
            name_length = self._atom_of_part.count(number)
        if name_length > length:
            concepts = frozenset((kind,))
        elif name_length == length and kind != PATH and name_length:
            concepts |= {kind}
        if name == "git":
            name_length = 0
        length = max(length, name_length)
        if length == 0 and self._is_bare_program(atom.text):
            concepts = frozenset((COMMAND,))
            length = 1
        elif length == 0:
            concepts = frozenset((UNKNOWN,))
            length = 1
        text = " ".join(self._parts[place : place + length])
        if "BECAUSE" in concepts and self._tokens:
            self._end_clause("because")
        elif "BUT" in concepts and self._tokens and not self._is_last(place + length):
            self._end_clause("but")
        self._tokens.append(Token(concepts, text, name or text))
        return length

    def _is_bare_program(self, word: str) -> bool:
        """Whether *word* is a program that's an ordinary word too: *format it with black*."""
        return is_program(word) and bool(self._tokens) and self._tokens[-1].says("BY", "MUST")

    def _is_last(self, place: int) -> bool:
        return place >= len(self._parts)

    def _command(self, place: int, number: int) -> tuple[str, int]:
        """Return the command that begins with the atom *number*, and how many parts it takes."""
        following = [self._atoms[number].text]
        last = self._atom_of_part[-1]
        for atom in self._atoms[number + 1 : last + 1]:
            following.append(atom.text)
        words = command_length(following, self._is_known_word)
        if words == 0:
            return "", 0
        if words == 1 and "-" in following[0] and not is_program(following[0].lower()):
            return following[0].split("-")[0].lower(), 1  # German: Docker-Befehle
        atoms = range(number, number + words)
        parts = [part_atom for part_atom in self._atom_of_part if part_atom in atoms]
        command = " ".join([following[0].lower(), *following[1:words]])
        return command, len(parts)

    def _is_known_word(self, word: str) -> bool:
        """Whether *word* is a word of the language, and not one that only commands have."""
        parts = word_parts(word)
        return bool(parts) and self._lexicon.match(parts)[0] == len(parts)

    def _quoted(self, atom: Atom) -> Token:
        """Return the token of quoted text."""
        content = atom.text
        if _PIPED.search(content):
            return Token(frozenset(("CURLSH",)), content, content)
        words = content.split() or [""]
        concepts = self._concepts_of_all(content)
        is_code = atom.kind == "code"
        looks_run = _COMMAND_WORD.fullmatch(words[0]) is not None
        is_file = len(words) == 1 and is_path(content) and not is_program(content)
        if not is_file and looks_run and (is_program(words[0]) or (is_code and self._is_command(words))):
            concepts.add(COMMAND)
        elif FLAG_PATTERN.fullmatch(words[0]) and len(words) <= 2:
            concepts.add(FLAG)
        elif not concepts and (is_file or (len(words) == 1 and "/" in content)):
            concepts.add(PATH)
        if not concepts:
            concepts.add(UNKNOWN)
        return Token(frozenset(concepts), content, content)

    def _concepts_of_all(self, content: str) -> set[str]:
        """Return what all of *content* says, if it's one phrase with a meaning of its own."""
        parts: list[str] = []
        for word in content.removesuffix("()").removesuffix("(").replace(": ", ":").split():
            parts += word_parts(word)
        if not parts:
            return set()
        length, concepts = self._lexicon.match(parts)
        if length < len(parts):
            return set()
        return set(concepts - LIGHT)

    def _is_command(self, words: list[str]) -> bool:
        """Whether code with an unknown program is a command: it's run, or has an option."""
        return self._speaks_of_running or any(word.startswith("-") for word in words[1:])


def _without_article_any(tokens: list[Token]) -> list[Token]:
    """Return *tokens*, where English *any* before what it belongs to isn't the type."""
    plain_tokens: list[Token] = []
    for place, token in enumerate(tokens):
        if token.says("ANY") and token.says("LIGHT"):
            following = tokens[place + 1 : place + 2]
            is_type = not following or following[0].text in _AFTER_TYPE
            is_type = is_type or following[0].says("BAN", "ANYTYPE", "NEG")
            token = replace(token, concepts=frozenset(("ANY" if is_type else "LIGHT",)))
        plain_tokens.append(token)
    return plain_tokens


def _named_folders(tokens: list[Token]) -> list[Token]:
    """Return *tokens*, where an unknown word beside *folder* is a path: *the legacy folder*."""
    named: list[Token] = []
    for place, token in enumerate(tokens):
        neighbours = [*tokens[max(place - 1, 0) : place], *tokens[place + 1 : place + 2]]
        is_name = token.says(UNKNOWN) and re.fullmatch(r"[\w.@-]+", token.value) is not None
        if is_name and any(neighbour.says("FOLDER") for neighbour in neighbours):
            token = Token(frozenset((PATH,)), token.text, f"{token.value}/")
        named.append(token)
    return named
