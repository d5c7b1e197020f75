"""Reads a text as a shell does: which simple commands stand in it, as they are written.

``shell`` says which of them would run. Quoted text, comments and here-documents aren't commands.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from brim.record import PlainData

LONGEST = 60_000
"""Characters that are read of a text, all commands inside of others together."""
DEEPEST = 30
MOST = 2_000
"""How many commands may be inside each other, and in a text at all: reading it must not take
long."""

_PLAIN = r"""[^\s;&|()<>'"`$\\]+"""
_PLAIN_WORD = r"[\w./:@%+,=-]+(?=[ \t\r\n;|)]|$)"
_PLAIN_QUOTED = r"""[^"`$\\]+"""
_REDIRECT = r"(?:\d+|&)?(?:<<<|<<-?|<>|<&|<|>>|>\||>&|>)"
_ARITHMETIC = r"\$?\(\((?:[^()]|\([^()]{0,99}\)){0,99}\)\)"


@dataclass(frozen=True)
class ShellPiece(PlainData):
    """One simple command as it is written, with the words and settings before it."""

    words: list[str]
    writes: list[str]
    """The files that its output is redirected to."""
    piped: bool = False
    """Whether it reads what the one before it prints."""
    inner: bool = False
    """Whether it stands in ``$(...)`` or the like: only its output is used."""
    documents: list[str] = field(default_factory=list)
    """The here-documents that it's given."""


class ShellReader:
    """Reads *text* from left to right; ``found`` gets each piece."""

    def __init__(
        self, text: str, runs_input: Callable[[list[str]], bool], outer: ShellReader | None = None
    ) -> None:
        """*runs_input* says whether a command runs what it's given as input, as a shell does."""
        self._text = text
        self._runs_input = runs_input
        self._at = 0
        self._depth = 0
        self._inner = False
        self.found: list[ShellPiece] = []
        self._read = [0]
        """How many characters were read, here and in what this is inside of."""
        if outer is not None:
            self._depth = outer._depth
            self._inner = outer._inner
            self._read = outer._read
        self._read[0] += len(text)
        if self._read[0] > LONGEST:
            raise ValueError("too long")
        if outer is not None:
            self._go_deeper()
        self._documents: list[tuple[str, bool, bool, ShellPiece]] = []
        """Here-documents that begin after this line: end, whether it is literal, without tabs, and
        the command."""
        self._plain_word = re.compile(_PLAIN_WORD)
        self._redirect = re.compile(_REDIRECT)

    def read(self, end: str = "") -> None:
        """Read commands up to *end*, a closing parenthesis, or up to the end of the text."""
        text = self._text
        piece = self._new()
        while self._at < len(text) and text[self._at] != end:
            piece = self._next(piece)
        self._ended(piece)
        if self._at < len(text):
            self._at += 1
        elif end:
            raise ValueError(f"no {end}")
        else:
            self._skip_documents()

    def _new(self, sign: str = "") -> ShellPiece:
        return ShellPiece([], [], sign == "|", self._inner)

    def _next(self, piece: ShellPiece) -> ShellPiece:
        """Read one thing of *piece*, which is the command so far; return the command that comes
        next."""
        text = self._text
        letter = self._text[self._at]
        words = piece.words
        if letter in " \t\r":
            self._at += 1
        elif (plain := self._plain_word.match(text, self._at)) is not None:
            self._at = plain.end()
            words.append(plain[0])
        elif text.startswith("\\\n", self._at):
            self._at += 2
        elif letter == "#":
            self._at = self._line_end()
        elif text.startswith(("<(", ">("), self._at):
            words.append(self._substituted())
        elif (redirect := self._redirect.match(text, self._at)) is not None:
            self._at = redirect.end()
            self._redirected(redirect[0].lstrip("0123456789&"), piece)
        elif letter in "\n;&|)":
            sign = self._separator()
            self._ended(piece)
            piece = self._new(sign)
            if sign == "\n":
                self._skip_documents()
        elif letter == "(":
            piece = self._parenthesis(piece)
        else:
            words.append(self._word())
        return piece

    def _separator(self) -> str:
        """Read what ends a command; return ``|`` for a pipe and ``;`` for ``||``."""
        text = self._text
        start = self._at
        self._at += 1
        if text.startswith("||", start):
            self._at += 1
            return ";"
        if text.startswith("|&", start):
            self._at += 1
            return "|"
        return text[start]

    def _line_end(self) -> int:
        """Return where the line ends that is being read."""
        end = self._text.find("\n", self._at)
        if end < 0:
            return len(self._text)
        return end

    def _nested(self, code: str) -> None:
        inner = ShellReader(code, self._runs_input, self)
        inner.read()
        self.found += inner.found

    def _go_deeper(self) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise ValueError("too deep")

    def _ended(self, piece: ShellPiece) -> None:
        """Take *piece*, which is a whole command."""
        if piece.words:
            self.found.append(piece)
            if len(self.found) > MOST:
                raise ValueError("too many")

    def _parenthesis(self, piece: ShellPiece) -> ShellPiece:
        text = self._text
        words = piece.words
        if not words and (sum_ := re.compile(_ARITHMETIC).match(text, self._at)) is not None:
            self._at = sum_.end()
        elif text[self._at + 1 :].lstrip()[:1] == ")":
            # A function: what it's called isn't a command.
            self._at = text.index(")", self._at) + 1
            return self._new()
        elif words and text[self._at - 1] == "=":
            # An array: its words aren't a command, but may hold some.
            before = len(self.found)
            self._parentheses(1)
            del self.found[max(before, len(self.found) - 1) :]
        else:
            self._ended(piece)
            self._parentheses(1)
            piece = self._new()
        return piece

    def _parentheses(self, size: int) -> None:
        """Read the commands in parentheses, whose opening has *size* characters."""
        self._at += size
        self._go_deeper()
        self.read(")")
        self._depth -= 1

    def _substituted(self) -> str:
        """Read commands of which only the output is used, after ``$(`` or the like; return what
        stands for it."""
        before = self._inner
        self._inner = True
        self._parentheses(2)
        self._inner = before
        return "$()"

    # Words ----------------------------------------------------------------------------------------

    def _word(self) -> str:
        text = self._text
        parts = list[str]()
        while self._at < len(text) and text[self._at] not in " \t\r\n;&|()<>":
            letter = text[self._at]
            if letter == "'":
                end = text.find("'", self._at + 1)
                if end < 0:
                    raise ValueError("no '")
                parts.append(text[self._at + 1 : end])
                self._at = end + 1
            elif letter == '"':
                self._at += 1
                parts.append(self._quoted())
            elif letter == "\\":
                parts.append(text[self._at + 1 : self._at + 2].replace("\n", ""))
                self._at += 2
            elif letter == "`":
                parts.append(self._backticks())
            elif letter == "$":
                parts.append(self._dollar())
            elif (plain := re.compile(_PLAIN).match(text, self._at)) is not None:
                parts.append(plain[0])
                self._at = plain.end()
            else:  # white space that a shell doesn't split at
                parts.append(letter)
                self._at += 1
        return "".join(parts)

    def _quoted(self, end: str = '"') -> str:
        """Return the text up to *end*; with an empty one, up to the end of everything."""
        text = self._text
        parts = list[str]()
        while self._at < len(text):
            letter = text[self._at]
            if letter == end:
                self._at += 1
                return "".join(parts)
            if letter == "\\":
                escaped = text[self._at + 1 : self._at + 2]
                parts.append(_unescaped(escaped))
                self._at += 2
            elif letter == "`":
                parts.append(self._backticks())
            elif letter == "$":
                parts.append(self._dollar(quoted=True))
            elif (plain := re.compile(_PLAIN_QUOTED).match(text, self._at)) is not None:
                parts.append(plain[0])
                self._at = plain.end()
            else:  # a quote in a here-document
                parts.append(letter)
                self._at += 1
        if end:
            raise ValueError(f"no {end}")
        return "".join(parts)

    def _dollar(self, *, quoted: bool = False) -> str:
        text = self._text
        after = self._text[self._at + 1 : self._at + 2]
        if after == "(":
            if (
                sum_ := re.compile(_ARITHMETIC).match(text, self._at)
            ) is not None and "$(" not in sum_[0][1:]:
                self._at = sum_.end()
                return "$(())"
            return self._substituted()
        if after == "{":
            return self._parameter()
        if after == "'" and not quoted:
            quoted_text = re.compile(r"\$'((?:\\.|[^'\\])*)'", re.DOTALL).match(text, self._at)
            if quoted_text is None:
                raise ValueError("no '")
            self._at = quoted_text.end()
            return re.sub(r"(?s)\\(.)", r"\1", quoted_text[1])
        self._at += 1
        if after == '"' and not quoted:
            return ""
        return "$"

    def _parameter(self) -> str:
        """Return ``${...}`` as it is; commands in it are found."""
        text = self._text
        start = self._at
        self._at += 2
        self._go_deeper()
        while self._at < len(text):
            letter = text[self._at]
            if letter == "}":
                self._at += 1
                self._depth -= 1
                return text[start : self._at]
            if letter == "$" and text[self._at + 1 : self._at + 2] in ("(", "{"):
                self._dollar()
            elif letter == "`":
                self._backticks()
            elif letter == "\\":
                self._at += 2
            else:
                self._at += 1
        raise ValueError("no }")

    def _backticks(self) -> str:
        code = re.compile(r"`((?:\\.|[^`\\])*)`", re.DOTALL).match(self._text, self._at)
        if code is None:
            raise ValueError("no `")
        self._at = code.end()
        before = self._inner
        self._inner = True
        self._nested(re.sub(r"\\([`\\$])", r"\1", code[1]))
        self._inner = before
        return "$()"

    # Redirections ---------------------------------------------------------------------------------

    def _redirected(self, sign: str, piece: ShellPiece) -> None:
        """Note the file that a redirection writes, or the end of a here-document."""
        text = self._text
        while text[self._at : self._at + 1] in (" ", "\t"):
            self._at += 1
        begin = self._at
        target = self._word()
        if sign in ("<<", "<<-") and target:
            is_literal = any(mark in text[begin : self._at] for mark in "'\"\\")
            self._documents.append((target, is_literal, sign == "<<-", piece))
        elif sign == ">&" and (target.isdecimal() or target == "-"):
            return  # another stream, not a file
        elif sign.startswith(">"):
            piece.writes.append(target)

    def _skip_documents(self) -> None:
        """Read over the here-documents that begin here. A shell runs the one that it is given."""
        documents = self._documents
        self._documents = []
        for end, is_literal, no_tabs, piece in documents:
            body = self._document(end, no_tabs=no_tabs)
            piece.documents.append(body)
            if self._runs_input(piece.words):
                self._nested(body)
            elif not is_literal:
                inner = ShellReader(body, self._runs_input, self)
                inner._inner = True
                inner._quoted("")
                self.found += inner.found

    def _document(self, end: str, *, no_tabs: bool) -> str:
        """Read the lines of a here-document up to the line *end*; return them."""
        lines = list[str]()
        while self._at < len(self._text):
            line_end = self._line_end()
            line = self._text[self._at : line_end]
            self._at = line_end + 1
            last_line = line
            if no_tabs:
                last_line = line.lstrip("\t")
            if last_line == end:
                break
            lines.append(line)
        return "\n".join(lines)


def _unescaped(letter: str) -> str:
    """Return what a backslash and *letter* are between double quotes."""
    if letter == "\n":
        return ""
    if letter in '$`"\\':
        return letter
    return f"\\{letter}"
