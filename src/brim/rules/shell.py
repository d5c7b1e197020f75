"""What a shell would run for a text: one reader for blocks, rules, tasks and dead ends.

``pieces`` are the commands as they are written, and ``programs`` says what counts of one.
``simple_commands`` are all that would run, also inside others: in subshells, ``$(...)``, backticks,
``bash -c "..."`` and after ``sudo``. Quoted text, comments and here-documents aren't commands.
Nothing is expanded: ``$X`` stays ``$X``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from brim.record import PlainData
from brim.rules.programs import BEFORE, WRAPPERS, is_setting, launched, program, run_by, steps

LONGEST = 60_000
"""Characters that are read of a text, all commands inside of others together."""
DEEPEST = 30
MOST = 2_000
"""How many commands may be inside each other, and in a text at all: reading it must not take
long."""

SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh", "ash", "fish"))
_FIND_RUNS = ("-exec", "-execdir", "-ok", "-okdir")
"""Options of ``find`` with a command after them."""
_KEYWORDS = BEFORE | frozenset(("fi", "done", "while", "until", "coproc"))
_HEADS = frozenset(("for", "case", "select", "in", "esac"))
"""Words that begin something which isn't a command itself: ``for x in a b``."""

_SIGNS = frozenset("\n;&|()<>'\"`$\\#")
"""What makes a text more than the words of one command."""
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


def pieces(text: str) -> list[ShellPiece]:
    """Return the commands in *text*, without those whose output becomes a word; ``bash -c`` is what
    it runs.

    A text that can't be parsed, such as prose, is split at its signs.

    >>> [each.words for each in pieces("cd web && A=1 sudo make 'a b' $(ls) | tee log")]
    [['cd', 'web'], ['A=1', 'sudo', 'make', 'a b', '$()'], ['tee', 'log']]
    """
    if _SIGNS.isdisjoint(text):
        words = text.split()
        if words:
            return [ShellPiece(words, [])]
        return []
    reader = _ShellReader(text)
    try:
        reader.read()
    except ValueError:
        return [ShellPiece(words, []) for words in steps(text[:LONGEST])]
    outer = []
    for piece in reader.found:
        if piece.inner:
            continue
        code = _code_in(piece.words)
        if code is None:
            outer.append(piece)
            continue
        outer += pieces(code)
        if outer:
            outer[-1].writes.extend(piece.writes)
    return outer


def unwrapped(text: str) -> str:
    """Return what the shell was given, where *text* is one call of a shell.

    >>> unwrapped("/bin/bash -lc 'make test'"), unwrapped("bash run.sh")
    ('make test', 'bash run.sh')
    """
    if "sh" not in text[:40]:
        return text
    reader = _ShellReader(text)
    try:
        reader.read()
    except ValueError:
        return text
    code = _code_in(reader.found[0].words) if len(reader.found) == 1 else None
    if code is None or reader.found[0].writes:
        return text
    return code


def simple_commands(text: str) -> list[list[str]]:
    """Return the words of each simple command in *text*, the program without its path.

    ``sudo npm install`` is there twice: with ``sudo`` and without. Raises ``ValueError`` for what
    can't be parsed.

    >>> simple_commands("cd web && A=1 /usr/bin/npm install 'a b' | tee log")
    [['cd', 'web'], ['npm', 'install', 'a b'], ['tee', 'log']]
    >>> simple_commands('bash -lc "sudo npm i" # and that is all')
    [['bash', '-lc', 'sudo npm i'], ['sudo', 'npm', 'i'], ['npm', 'i']]
    """
    ran = list[list[str]]()
    _add_all(_ShellReader(text), ran)
    return ran


def called_with(words: list[str]) -> list[list[str]]:
    """Return the simple commands of a call that is split into *words* already."""
    ran = list[list[str]]()
    _add(words, _ShellReader(""), ran)
    return ran


def _code_in(words: list[str]) -> str | None:
    """Return the text that the command *words* gives a shell to run; None if it isn't such a
    command."""
    words = launched(words)
    if words and program(words[0]) in SHELLS:
        return _code(words[1:])
    return None


def _code(words: list[str]) -> str | None:
    """Return the text that a shell with the arguments *words* runs; None if it runs a file."""
    has_code = False
    while words and words[0][:1] in ("-", "+") and len(words[0]) > 1:
        option = words[0]
        words = words[1:]
        if option in ("--rcfile", "--init-file") or (option[:2] != "--" and option[-1] in "oO"):
            words = words[1:]
        if option == "--command" or (option[:2] != "--" and "c" in option):
            has_code = True
    if has_code and words:
        return words[0]
    return None


def _add(words: list[str], reader: _ShellReader, ran: list[list[str]]) -> None:
    """Add the simple command *words*, which *reader* has read, to *ran*, and then what it runs in
    turn."""
    at = 0
    while at < len(words) and (
        words[at] in _KEYWORDS or words[at] == "function" or is_setting(words[at])
    ):
        at += 2 if words[at] == "function" else 1
    words = words[at:]
    if not words or words[0] in _HEADS:
        return
    name = program(words[0])
    ran.append([name, *words[1:]])
    if len(ran) > MOST:
        raise ValueError("too many")
    for command in _commands_given(name, words[1:]):
        _add(command, _ShellReader("", reader), ran)
    code = _code_given(name, words[1:])
    if code:
        _add_all(_ShellReader(code, reader), ran)


def _add_all(reader: _ShellReader, ran: list[list[str]]) -> None:
    """Add the commands in the text of *reader* to *ran*."""
    reader.read()
    for piece in reader.found:
        _add(piece.words, reader, ran)


def _commands_given(name: str, words: list[str]) -> Iterator[list[str]]:
    """Yield the commands among the arguments *words* of the program *name*, which runs them."""
    if name in WRAPPERS:
        wrapped = run_by(name, words)
        if wrapped:
            yield wrapped
    elif name == "find":  # one at a time: of thousands inside each other, few are read
        while starts := [words.index(option) for option in _FIND_RUNS if option in words]:
            words = words[min(starts) + 1 :]
            ends = [words.index(sign) for sign in (";", "+") if sign in words]
            yield words[: min(ends, default=None)]


def _code_given(name: str, words: list[str]) -> str | None:
    """Return the text among the arguments *words* of the program *name* that it runs as a shell
    does."""
    if name in SHELLS or name in ("su", "script"):
        return _code(words)
    if name == "eval":
        return " ".join(words)
    if name in ("pwsh", "powershell", "cmd"):
        at = next(
            (
                at
                for at, word in enumerate(words, 1)
                if word.lower() in ("-c", "-command", "/c", "/k")
            ),
            0,
        )
        if at:
            return " ".join(words[at:])
        return None
    return None


def _unescaped(letter: str) -> str:
    """Return what a backslash and *letter* are between double quotes."""
    if letter == "\n":
        return ""
    return letter if letter in '$`"\\' else f"\\{letter}"


class _ShellReader:
    """Reads *text* from left to right; ``found`` gets each piece."""

    def __init__(self, text: str, outer: _ShellReader | None = None) -> None:
        self._text = text
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
        self._documents: list[tuple[str, bool, bool, list[str]]] = []
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

    def _next(self, piece: ShellPiece) -> ShellPiece:  # noqa: C901 - one branch for each sign
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
            after = text.find("\n", self._at)
            self._at = len(text) if after < 0 else after
        elif text.startswith(("<(", ">("), self._at):
            words.append(self._substituted())
        elif (redirect := self._redirect.match(text, self._at)) is not None:
            self._at = redirect.end()
            self._redirected(redirect[0].lstrip("0123456789&"), piece)
        elif letter in "\n;&|)":
            self._at += 1
            if text.startswith(("||", "|&"), self._at - 1):
                self._at += 1
                letter = "|" if text[self._at - 1] == "&" else ";"
            self._ended(piece)
            piece = self._new(letter)
            if letter == "\n":
                self._skip_documents()
        elif letter == "(":
            piece = self._parenthesis(piece)
        else:
            words.append(self._word())
        return piece

    def _nested(self, code: str) -> None:
        inner = _ShellReader(code, self)
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
            else:
                self._at += 2 if letter == "\\" else 1
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
            self._documents.append((target, is_literal, sign == "<<-", piece.words))
        elif sign[0] == ">" and not (sign == ">&" and (target.isdecimal() or target == "-")):
            piece.writes.append(target)

    def _skip_documents(self) -> None:
        """Read over the here-documents that begin here. A shell runs the one that it is given."""
        documents = self._documents
        self._documents = []
        for end, is_literal, no_tabs, words in documents:
            lines = list[str]()
            while self._at < len(self._text):
                after = self._text.find("\n", self._at)
                after = len(self._text) if after < 0 else after
                line = self._text[self._at : after]
                self._at = after + 1
                if (line.lstrip("\t") if no_tabs else line) == end:
                    break
                lines.append(line)
            body = "\n".join(lines)
            own = called_with(words)
            if own and own[-1][0] in SHELLS and all(word.startswith("-") for word in own[-1][1:]):
                self._nested(body)
            elif not is_literal:
                inner = _ShellReader(body, self)
                inner._inner = True
                inner._quoted("")
                self.found += inner.found
