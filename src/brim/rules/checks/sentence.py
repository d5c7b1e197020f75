"""A sentence as tokens: every word has a meaning, or the sentence isn't understood.

That's what keeps conditions and stories out: *if*, *unless*, *last year* are in no lexicon.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from brim.record import PlainData
from brim.rules.checks.lexicon import Lexicon, lexicon_of, with_spaces
from brim.rules.checks.names import (
    FLAG_PATTERN,
    SUBCOMMAND_PATTERN,
    is_named_program,
    is_ordinary_word,
    is_path,
    is_program,
    path_at,
    subcommands,
)

COMMAND = "COMMAND"
FLAG = "FLAG"
PATH = "PATH"
COMMA = "COMMA"

LIGHT = frozenset(
    (
        "LIGHT",
        "USE",
        "RUN",
        "ALWAYS",
        "ONLY",
        "BUT",
        "INSTEAD",
        "UNASKED",
        "ASKED",
        "PERMITTED",
        "NEG",
        "BAN",
        "ASK",
        "DONE",
        "BEFORECOMMIT",
        "BEFOREPUSH",
        COMMA,
    )
)
"""Concepts that say how a rule holds, and not what it's about."""

_FREE_ARGUMENT = ("run", "exec", "run-script", "dlx", "x")
_SPAN = re.compile(r"`([^`]+)`|“([^”]+)”|\"([^\"]+)\"|«\s*([^»]+?)\s*»|(?<!\w)'([^']+)'(?!\w)")
_RUN = re.compile(
    r"(?i)\b(?:run|execut|ausführ|führ|ruf|lanc|ejecut|corr|exécut|rod|invok|launch)\w*"
)
_PUNCTUATION = " \t\n'\"()*_-–—…[]“”«»¡¿"


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


def read_sentence(text: str, language: str) -> list[Token] | None:
    """Return the tokens of *text* in *language*; None if a word isn't understood.

    >>> tokens = read_sentence("Never run npm install", "en")
    >>> [sorted(token.concepts) for token in tokens]
    [['NEG'], ['RUN', 'START'], ['COMMAND']]
    """
    reader = _SentenceReader(with_spaces(text, language), lexicon_of(language))
    return reader.read()


class _SentenceReader:
    """Reads *text* from left to right."""

    def __init__(self, text: str, lexicon: Lexicon) -> None:
        self._text = text
        self._lexicon = lexicon
        self._tokens: list[Token] = []

    def read(self) -> list[Token] | None:
        """Return all tokens; None at the first word that means nothing."""
        position = 0
        while position < len(self._text):
            letter = self._text[position]
            if letter in ",;:.!&/+|→=":
                is_sign = letter in ",;:"
                if is_sign and self._tokens:
                    self._tokens.append(Token(frozenset((COMMA,)), letter))
                if not is_sign and self._begins_name(position):
                    position = self._read_word(position)
                    continue
                position += 1
            elif letter in _PUNCTUATION and not self._starts_word(position):
                position += 1
            else:
                after = self._read_word(position)
                if after == position:
                    return None
                position = after
        return self._tokens

    def _begins_name(self, position: int) -> bool:
        """Whether a sign begins a name such as ``.env``."""
        if position and self._text[position - 1] not in " \t(":
            return False
        phrase_end = self._lexicon.match(self._text, position)[0]
        return phrase_end > position or self._path_at(position) != ""

    def _starts_word(self, position: int) -> bool:
        """Whether a sign begins something: an option, quoted text, ``*.md``."""
        letter = self._text[position]
        if letter in "-*":
            is_flag = letter == "-" and FLAG_PATTERN.match(self._text, position) is not None
            starts = position == 0 or self._text[position - 1] in " (\t`"
            return starts and (is_flag or self._begins_name(position))
        return letter in "\"'“«" and _SPAN.match(self._text, position) is not None

    def _read_word(self, position: int) -> int:
        """Add the token at *position*; return where it ends, *position* if there is none."""
        span = _SPAN.match(self._text, position)
        if span is not None:
            return self._read_quoted(span, position)
        ends = self._ends(position)
        end = max(ends.values())
        if end == position:
            return self._folder_name(position)
        meanings = {concept for concept, place in ends.items() if place == end}
        if "" in meanings:
            meanings.discard("")
            meanings.discard(PATH)
            meanings |= self._lexicon.match(self._text, position)[1]
        if "ANY" in meanings:  # at the end of a sentence it's no article
            meanings.discard("LIGHT")
        text = self._text[position:end]
        self._tokens.append(Token(frozenset(meanings), text, text))
        return end

    def _ends(self, position: int) -> dict[str, int]:
        """Return where a command, path, option and (without a name) phrase at *position* end."""
        flag = FLAG_PATTERN.match(self._text, position)
        return {
            "": self._lexicon.match(self._text, position)[0],
            COMMAND: self._command_end(position),
            PATH: position + len(self._path_at(position)),
            FLAG: position if flag is None else flag.end(),
        }

    def _read_quoted(self, span: re.Match[str], position: int) -> int:
        content = next(group for group in span.groups() if group)
        token = self._quoted(content.strip(), is_code=self._text[position] == "`")
        if token is None:
            return position
        self._tokens.append(token)
        return span.end()

    def _quoted(self, content: str, *, is_code: bool) -> Token | None:
        """Return the token of quoted text."""
        end, concepts = self._lexicon.match(content, 0) if content else (0, frozenset[str]())
        meanings = set[str]()
        if end == len(content):
            meanings |= concepts - LIGHT
        words = content.split()
        if not words:
            return None
        looks_run = bool(re.fullmatch(r"(?:\./)?[a-z][\w./+-]*", words[0]))
        if looks_run and (is_program(words[0]) or (is_code and self._is_run())):
            meanings.add(COMMAND)
        elif re.fullmatch(FLAG_PATTERN, words[0]) and len(words) <= 2:
            meanings.add(FLAG)
        elif len(words) == 1 and (is_path(content) or (is_code and "/" in content)):
            meanings.add(PATH)
        if content.lower() == "any" and is_code:
            meanings.add("ANY")
        if not meanings:
            return None
        return Token(frozenset(meanings), content, content)

    def _is_run(self) -> bool:
        """Whether the sentence speaks of running something, so that code is a command."""
        return _RUN.search(self._text) is not None

    def _path_at(self, position: int) -> str:
        return path_at(self._text, position)

    def _command_end(self, position: int) -> int:
        """Return where a command at *position* ends; *position* if none begins there."""
        match = re.compile(r"[A-Za-z][\w+-]*(?:\.sh)?").match(self._text, position)
        if match is None:
            return position
        written = match[0]
        if not is_named_program(written):
            written = written.split("-")[0]  # German: Docker-Befehle
        if not is_named_program(written):
            return position
        name = written.lower()
        end = position + len(written)
        count = 0
        last = name
        while end < len(self._text) and self._text[end] == " ":
            word = SUBCOMMAND_PATTERN.match(self._text, end + 1)
            if word is None or not self._is_argument(word[0], end + 1, last, name):
                break
            end = word.end()
            last = word[0]
            count += 1
        if count == 0 and is_ordinary_word(name) and written.islower():
            return position
        return end

    def _is_argument(self, word: str, position: int, last: str, program: str) -> bool:
        """Whether *word* belongs to the command before it."""
        if word[0] in "-.*":
            return last not in _FREE_ARGUMENT
        phrase_end, concepts = self._lexicon.match(self._text, position)
        is_phrase = phrase_end >= position + len(word)
        if word in subcommands().get(program, ()):
            return last == program or word in ("apply", "install", "prune", "run")
        if last in _FREE_ARGUMENT or (program in ("make", "just", "task") and last == program):
            return not is_phrase or LIGHT.isdisjoint(concepts - {"RUN"}) or word in _TARGETS
        return not is_phrase and last == program and not is_program(word)

    def _folder_name(self, position: int) -> int:
        """Read an unknown word beside *folder* as a path: *the legacy folder*."""
        match = re.compile(r"[\w.@-]+").match(self._text, position)
        if match is None:
            return position
        before = bool(self._tokens) and self._tokens[-1].says("FOLDER")
        after_position = match.end()
        while after_position < len(self._text) and self._text[after_position] in " -`":
            after_position += 1
        after = False
        if after_position < len(self._text) and after_position > match.end():
            after = "FOLDER" in self._lexicon.match(self._text, after_position)[1]
        if not before and not after:
            return position
        self._tokens.append(Token(frozenset((PATH,)), match[0], f"{match[0]}/"))
        return match.end()


_TARGETS = frozenset(
    [
        "test",
        "tests",
        "lint",
        "fmt",
        "format",
        "check",
        "build",
        "deploy",
        "dev",
        "install",
        "clean",
        "all",
    ]
)
