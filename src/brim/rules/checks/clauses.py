"""``read_clauses``: a sentence as clauses, whose words have the meanings of one language.

A clause with a word that's in no lexicon isn't understood. That's what keeps conditions and stories
from being rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from brim.rules.checks.atoms import (
    CODE,
    FLAG_ATOM,
    PATH_ATOM,
    PIPED,
    SIGN,
    WORD,
    Atom,
    read_atoms,
)
from brim.rules.checks.lexicon import Lexicon, lexicon_of, word_parts, words_of
from brim.rules.checks.names import (
    FLAG_PATTERN,
    command_length,
    is_ordinary_word,
    is_path,
    is_program,
    is_started_here,
)
from brim.rules.checks.tokens import (
    COMMAND,
    FLAG,
    LIGHT,
    MODULE,
    PATH,
    UNKNOWN,
    RuleClause,
    Statement,
    Token,
)

_LOOKED_UP = (WORD, PATH_ATOM, FLAG_ATOM)
_CONCEPT_OF_KIND = {PATH_ATOM: PATH, FLAG_ATOM: FLAG}
_AFTER_TYPE = ("in", "is", "are", "at", "as", "for", "anywhere", "ever", "please", "unless")
"""What follows English *any* where it is the type."""
_COMMAND_WORD = re.compile(r"(?:\./)?[a-z][\w./+-]*")
_ARGUMENT = re.compile(r"[a-z][\w:.@/-]*|\.{1,3}/?\S*")
_KEYWORDS = words_of("keywords")
"""Words that begin code which isn't a command."""
_FILE_CONCEPTS = frozenset(
    ("ENVFILE", "MARKDOWN", "README", "LOCKFILE", "PACKAGE", "GENERATED", "SECRET", "TESTFILE")
)
"""What a path may mean besides itself."""
_PLACEHOLDER = re.compile(
    r"(?<=\s)(?:<[\w .|/-]+>|\[[\w .|/-]+\]|[\w.]*[\w](?:…|\.\.\.)|…|\.\.\.|v\d[\d.x]*)(?=\s|$)"
)
"""``<file>`` or ``v1.2`` in a command, which stands for any."""
_IMPORTING = re.compile(
    r"(?:import\b.*\bfrom |(?:const|let|var)\b.*\brequire\()?(?:import )?['\"]([\w@/.-]+)['\"]\)?;?"
    r"|(?:import|from) ([\w@/.-]+)(?: import .*)?"
)
"""Code that imports a module."""
_FOLDER_NAME = re.compile(r"[\w.@-]+")
_VERSION = re.compile(r"v?\d+(?:\.[\dx]+)+|v\d+")
_RUNNING = re.compile(
    r"(?i)\b(?:run|execut|ausführ|führ|ruf|lanc|ejecut|corr|exécut|rod|invok|launch|call|aufruf)\w*"
)


def read_clauses(text: str, language: str) -> list[RuleClause]:
    """Return the clauses of *text*, as words of *language*.

    >>> for clause in read_clauses("Never run npm install, it breaks", "en"):
    ...     print(clause.sign, [sorted(token.concepts) for token in clause.statement.tokens][:1])
     [['NEG']]
    , [['IT', 'LIGHT', 'PRONOUN']]
    """
    reader = _ClauseReader(lexicon_of(language), _RUNNING.search(text) is not None)
    return reader.read(read_atoms(text))


class _ClauseReader:
    """Collects the tokens of a clause until a sign ends it."""

    def __init__(self, lexicon: Lexicon, speaks_of_running: bool) -> None:
        self._lexicon = lexicon
        self._speaks_of_running = speaks_of_running
        self._clauses: list[RuleClause] = []
        self._tokens: list[Token] = []
        self._sign = ""
        self._in_parentheses = False

    def read(self, atoms: Iterable[Atom]) -> list[RuleClause]:
        """Return the clauses of *atoms*."""
        words: list[Atom] = []
        for atom in atoms:
            if atom.kind in _LOOKED_UP:
                words.append(atom)
                continue
            self._read_words(words)
            words = []
            if atom.kind == SIGN:
                self._end_clause(atom.text)
            else:
                self._tokens.append(self._quoted(atom))
        self._read_words(words)
        self._end_clause("")
        return self._clauses

    def _end_clause(self, sign: str) -> None:
        """Take the tokens so far as one clause; *sign* comes next."""
        if self._tokens:
            tokens = _with_module_names(_with_folder_names(_with_type_any(self._tokens)))
            clause = RuleClause(
                Statement(tuple(tokens)),
                self._sign,
                in_parentheses=self._in_parentheses,
                before_colon=sign == ":",
            )
            self._clauses.append(clause)
        self._tokens = []
        self._sign = sign
        if sign in ("(", ")"):
            self._in_parentheses = sign == "("

    def _read_words(self, atoms: list[Atom]) -> None:
        """Add the tokens of *atoms*, which are words, paths and options without a sign."""
        run = _WordRun(atoms, self._lexicon)
        place = 0
        while place < len(run.parts):
            token, length = run.token_at(place)
            if token.says(UNKNOWN) and self._is_bare_program(token.text):
                token = token.meaning(COMMAND)
            if _VERSION.fullmatch(token.text):
                token = token.meaning("LIGHT")
            self._begin_clause_with(token, is_last=place + length == len(run.parts))
            self._tokens.append(token)
            place += length

    def _begin_clause_with(self, token: Token, *, is_last: bool) -> None:
        """End the clause before a conjunction: *because*, or *but* with something after it."""
        if not self._tokens:
            return
        if token.says("BECAUSE"):
            self._end_clause("because")
        elif token.says("BUT") and not is_last:
            self._end_clause("but")

    def _is_bare_program(self, word: str) -> bool:
        """Whether *word* is a program that's an ordinary word too: *format it with black*."""
        return (
            is_program(word)
            and bool(self._tokens)
            and self._tokens[-1].says("BY", "MUST", "RUN", "INSTEADOF")
        )

    def _quoted(self, atom: Atom) -> Token:
        """Return the token of quoted text or code."""
        content = _PLACEHOLDER.sub("", atom.text).strip()
        if PIPED.search(content):
            return Token(frozenset(("CURLSH",)), content, content, is_quoted=True)
        module = _IMPORTING.fullmatch(content)
        if module is not None:
            name = module[1] or module[2]
            return Token(frozenset((MODULE,)), content, name, is_quoted=True)
        concepts = self._meaning_of_all(content)
        name = self._kind_of_name(content, is_code=atom.kind == CODE)
        if name == PATH:
            concepts &= _FILE_CONCEPTS
        if name != PATH or not concepts:
            concepts.add(name)
        concepts.discard("")
        if not concepts:
            concepts.add(UNKNOWN)
        return Token(frozenset(concepts), content, content, is_quoted=True)

    def _kind_of_name(self, content: str, *, is_code: bool) -> str:
        """Return whether *content* is a command, an option or a path; empty if it's none."""
        first, _, arguments = content.partition(" ")
        if is_program(first):
            return COMMAND
        if FLAG_PATTERN.fullmatch(first) and " " not in arguments:
            return FLAG
        if not arguments and is_path(content):
            return PATH
        is_word = _COMMAND_WORD.fullmatch(first) is not None
        if is_code and is_word and self._is_command(first, arguments):
            return COMMAND
        if not arguments and "/" in content:
            return PATH
        return ""

    def _meaning_of_all(self, content: str) -> set[str]:
        """Return what all of *content* says, if it's one phrase with a meaning of its own."""
        parts: list[str] = []
        content = content.lstrip("/#* ").rstrip(";")
        for word in content.removesuffix("()").removesuffix("(").replace(": ", ":").split():
            parts += word_parts(word)
        if not parts:
            return set()
        as_code = [f"`{' '.join(parts)}`"]
        meanings: set[str] = set()
        for phrase in (parts, as_code):
            length, concepts = self._lexicon.match(phrase)
            if length == len(phrase):
                meanings |= concepts - LIGHT
        return meanings

    def _is_command(self, first: str, arguments: str) -> bool:
        """Whether code with an unknown program is a command: it's run, has an option, or reads as
        a program and its subcommand."""
        if self._speaks_of_running or f" {arguments}".find(" -") >= 0:
            return True
        words = arguments.split()
        return bool(words) and first not in _KEYWORDS and all(map(_ARGUMENT.fullmatch, words))


class _WordRun:
    """Words, paths and options without a sign between them, as the parts of their words."""

    def __init__(self, atoms: list[Atom], lexicon: Lexicon) -> None:
        self._atoms = atoms
        self._lexicon = lexicon
        self.parts: list[str] = []
        self._atom_numbers: list[int] = []
        """For each part, the number of its atom."""
        for number, atom in enumerate(atoms):
            parts = [atom.text.lower()]
            if atom.kind != FLAG_ATOM:
                parts = word_parts(atom.text)
            self.parts += parts
            self._atom_numbers += [number] * len(parts)

    def token_at(self, place: int) -> tuple[Token, int]:
        """Return the token that begins with the part at *place*, and how many parts it takes.

        The longest of a name and a phrase counts. If both are as long, it may be either, but a
        phrase like ``.env`` is more than a path.
        """
        phrase_length, concepts = self._lexicon.match(self.parts, place)
        kind, name, name_length = self._name_at(place)
        length = max(phrase_length, name_length, 1)
        if name_length > phrase_length:
            concepts = frozenset((kind,))
        elif name_length == phrase_length and kind != PATH and not is_ordinary_word(name):
            concepts |= {kind}
        if not phrase_length and not name_length:
            concepts = frozenset((UNKNOWN,))
        text = " ".join(self.parts[place : place + length])
        return Token(concepts - {""}, text, name or text), length

    def _name_at(self, place: int) -> tuple[str, str, int]:
        """Return the kind and text of the name at *place*, and how many parts it takes."""
        number = self._atom_numbers[place]
        atom = self._atoms[number]
        is_inside = place > 0 and self._atom_numbers[place - 1] == number
        if is_inside:
            return "", "", 0
        if atom.kind == WORD:
            return self._command_at(number)
        if atom.kind == PATH_ATOM and is_started_here(atom.text):
            return COMMAND, atom.text, self._atom_numbers.count(number)
        return _CONCEPT_OF_KIND[atom.kind], atom.text, self._atom_numbers.count(number)

    def _command_at(self, number: int) -> tuple[str, str, int]:
        """Return the command that begins with the atom *number*, and how many parts it takes."""
        texts = [atom.text for atom in self._atoms[number:]]
        length = command_length(texts, self._is_known_word)
        is_git_alone = length == 1 and texts[0] == "git"
        if length == 0 or is_git_alone:
            return "", "", 0
        first = texts[0].lower()
        if not is_program(first):
            return COMMAND, first.split("-")[0], 1  # German: Docker-Befehle
        parts = 0
        for covered in range(number, number + length):
            parts += self._atom_numbers.count(covered)
        return COMMAND, " ".join([first, *texts[1:length]]), parts

    def _is_known_word(self, word: str) -> bool:
        """Whether *word* is a word of the language."""
        parts = word_parts(word)
        return bool(parts) and self._lexicon.match(parts)[0] == len(parts)


def _with_type_any(tokens: list[Token]) -> list[Token]:
    """Return *tokens*, where English *any* before what it belongs to isn't the type."""
    plain_tokens: list[Token] = []
    for place, token in enumerate(tokens):
        if not token.says("ANY") or not token.says("LIGHT"):
            plain_tokens.append(token)
        elif _is_before_no_noun(tokens[place + 1 :]):
            plain_tokens.append(token.meaning("ANY"))
        else:
            plain_tokens.append(token.meaning("LIGHT"))
    return plain_tokens


def _is_before_no_noun(following: list[Token]) -> bool:
    if not following:
        return True
    return following[0].text in _AFTER_TYPE or following[0].says("BAN", "ANYTYPE", "NEG")


def _with_folder_names(tokens: list[Token]) -> list[Token]:
    """Return *tokens*, where an unknown word beside *folder* is a path: *the legacy folder*."""
    if not Statement(tuple(tokens)).says("FOLDER"):
        return tokens
    named: list[Token] = []
    for place, token in enumerate(tokens):
        before = Statement(tuple(tokens[max(place - 1, 0) : place]))
        after = Statement(tuple(tokens[place + 1 : place + 2]))
        is_beside_folder = before.says("FOLDER") or after.says("FOLDER")
        is_name = token.says(UNKNOWN) and _FOLDER_NAME.fullmatch(token.value) is not None
        if is_name and is_beside_folder:
            named.append(Token(frozenset((PATH,)), token.text, f"{token.value}/"))
        else:
            named.append(token)
    return named


def _with_module_names(tokens: list[Token]) -> list[Token]:
    """Return *tokens*, where an unknown word after *import* is a module: *never import moment*."""
    named: list[Token] = []
    for token in tokens:
        if token.says(UNKNOWN) and named and named[-1].says("IMPORT"):
            named.append(token.meaning(MODULE))
        else:
            named.append(token)
    return named
