"""The simple commands that a shell would run for a text, each as its words.

Commands inside others are found too: in subshells, ``$(...)``, backticks, ``bash -c "..."`` and after ``sudo``, ``env``
and the like. Quoted text, comments and here-documents aren't commands. Nothing is expanded: ``$X`` stays ``$X``.
"""

from __future__ import annotations

import re

LONGEST = 60_000
"""Characters that are read of a text, all commands inside of others together."""
DEEPEST, MOST = 30, 2_000
"""How many commands may be inside each other, and in a text at all: reading it must not take long."""

SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh", "ash", "fish"))
_KEYWORDS = frozenset(("if", "then", "else", "elif", "fi", "do", "done", "while", "until", "!", "{", "}", "coproc"))
_HEADS = frozenset(("for", "case", "select", "in", "esac"))
"""Words that begin something which isn't a command itself: ``for x in a b``."""

_WRAPPERS: dict[str, tuple[str, int]] = {
    "sudo": ("-u -g -h -p -C -D -R -T -U -r -t --user --group --host --prompt --chdir --chroot --other-user", 0),
    "doas": ("-u -C", 0),
    "env": ("-u -C --unset --chdir", 0),
    "nice": ("-n --adjustment", 0),
    "ionice": ("-c -n --class --classdata", 0),
    "timeout": ("-s -k --signal --kill-after", 1),
    "stdbuf": ("-i -o -e --input --output --error", 0),
    "time": ("-f -o --format --output", 0),
    "xargs": ("-I -n -P -L -d -E -s -a --max-args --max-procs --delimiter --arg-file --replace", 0),
    "exec": ("-a", 0),
    "flock": ("-w -E --timeout", 1),
    "strace": ("-e -o -p -s -u", 0),
    "watch": ("-n --interval", 0),
    **dict.fromkeys(("command", "builtin", "nohup", "setsid", "chronic", "unbuffer", "caffeinate", "busybox"), ("", 0)),
}
"""Programs that run the command after them: options of theirs that have a value, and how many words come first."""

_PLAIN = re.compile(r"""[^\s;&|()<>'"`$\\]+""")
_PLAIN_WORD = re.compile(r"[\w./:@%+,=-]+(?=[ \t\r\n;|)]|$)")
_SETTING = re.compile(r"[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=")
_REDIRECT = re.compile(r"(?:\d+|&)?(?:<<<|<<-?|<>|<&|<|>>|>\||>&|>)")
_ARITHMETIC = re.compile(r"\$?\(\((?:[^()]|\([^()]{0,99}\)){0,99}\)\)")


def simple_commands(text: str) -> list[list[str]]:
    """Return the words of each simple command in *text*, the program without its path.

    ``sudo npm install`` is there twice: with ``sudo`` and without. Raises ``ValueError`` for what can't be parsed.

    >>> simple_commands("cd web && A=1 /usr/bin/npm install 'a b' | tee log")
    [['cd', 'web'], ['npm', 'install', 'a b'], ['tee', 'log']]
    >>> simple_commands('bash -lc "sudo npm i" # and that is all')
    [['bash', '-lc', 'sudo npm i'], ['sudo', 'npm', 'i'], ['npm', 'i']]
    """
    reader = _Reader(text)
    reader.read()
    return reader.found


def called_with(words: list[str]) -> list[list[str]]:
    """Return the simple commands of a call that is split into *words* already."""
    reader = _Reader("")
    reader.add(list(words))
    return reader.found


def program(word: str) -> str:
    """Return the name of the program that *word* calls, without path and ending.

    >>> program("/usr/bin/npm"), program("C:\\\\tools\\\\npm.cmd"), program("./run.sh")
    ('npm', 'npm', 'run.sh')
    """
    name = word.replace("\\", "/").rsplit("/", 1)[-1]
    return name[:-4] if name[-4:].lower() in (".exe", ".cmd", ".bat") else name


class _Reader:
    """Reads *text* from left to right; ``found`` gets each simple command."""

    def __init__(self, text: str, outer: _Reader | None = None) -> None:
        self._text, self._at = text, 0
        self._depth: int = 0 if outer is None else outer._depth
        self.found: list[list[str]] = [] if outer is None else outer.found
        self._read: list[int] = [0] if outer is None else outer._read
        """How many characters were read, here and in what this is inside of."""
        self._read[0] += len(text)
        if self._read[0] > LONGEST:
            raise ValueError("too long")
        if outer is not None:
            self._go_deeper()
        self._documents: list[tuple[str, bool, bool, list[str]]] = []
        """Here-documents that begin after this line: end, whether it is literal, without tabs, and the command."""

    def read(self, end: str = "") -> None:
        """Read commands up to *end*, a closing parenthesis, or up to the end of the text."""
        text, words = self._text, list[str]()
        while self._at < len(text) and text[self._at] != end:
            words = self._next(words)
        self._ended(words)
        if self._at < len(text):
            self._at += 1
        elif end:
            raise ValueError(f"no {end}")
        else:
            self._skip_documents()

    def _next(self, words: list[str]) -> list[str]:
        """Read one thing after *words*, which are the command so far; return what it is now."""
        text, letter = self._text, self._text[self._at]
        if letter in " \t\r":
            self._at += 1
        elif (plain := _PLAIN_WORD.match(text, self._at)) is not None:
            self._at = plain.end()
            words.append(plain[0])
        elif text.startswith("\\\n", self._at):
            self._at += 2
        elif letter == "#":
            after = text.find("\n", self._at)
            self._at = len(text) if after < 0 else after
        elif text.startswith(("<(", ">("), self._at):
            words.append(self._inner(2))
        elif (redirect := _REDIRECT.match(text, self._at)) is not None:
            self._at = redirect.end()
            self._redirected(redirect[0].lstrip("0123456789&"), words)
        elif letter in "\n;&|)":
            self._at += 1
            words = self._ended(words)
            if letter == "\n":
                self._skip_documents()
        elif letter == "(":
            words = self._parenthesis(words)
        else:
            words.append(self._word())
        return words

    def add(self, words: list[str]) -> None:
        """Add the simple command *words*, and what it runs in turn."""
        at = 0
        while at < len(words) and (words[at] in _KEYWORDS or words[at] == "function" or _SETTING.match(words[at])):
            at += 2 if words[at] == "function" else 1
        words = words[at:]
        if not words or words[0] in _HEADS:
            return
        name = program(words[0])
        self.found.append([name, *words[1:]])
        if len(self.found) > MOST:
            raise ValueError("too many")
        if len(words) < 2:
            return
        if name in _WRAPPERS:
            self._add_wrapped(name, words[1:])
        elif name in SHELLS or name in ("su", "script"):
            if (code := _code(words[1:])) is not None:
                self._nested(code)
        elif name == "eval":
            self._nested(" ".join(words[1:]))
        elif name in ("pwsh", "powershell", "cmd"):
            at = next((at for at, word in enumerate(words) if word.lower() in ("-c", "-command", "/c", "/k")), 0)
            self._nested(" ".join(words[at + 1 :]) if at else "")
        elif name == "find":
            while starts := [words.index(each) for each in ("-exec", "-execdir", "-ok", "-okdir") if each in words]:
                words = words[min(starts) + 1 :]
                ends = [words.index(each) for each in (";", "+") if each in words]
                self._deeper(words[: min(ends, default=None)])

    def _add_wrapped(self, name: str, words: list[str]) -> None:
        valued, first = _WRAPPERS[name]
        while words and words[0].startswith("-") and len(words[0]) > 1:
            option = words[0]
            if name == "command" and option in ("-v", "-V"):
                return  # it only says where the program is
            if name == "env" and option in ("-S", "--split-string") and len(words) > 1:
                self._nested(" ".join(words[1:]))
                return
            words = words[2:] if option in valued.split() else words[1:]
            if option == "--":
                break
        self._deeper(words[first:])

    def _deeper(self, words: list[str]) -> None:
        _Reader("", self).add(words)

    def _nested(self, code: str) -> None:
        _Reader(code, self).read()

    def _go_deeper(self) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise ValueError("too deep")

    def _ended(self, words: list[str]) -> list[str]:
        """Add *words*, which are a whole command, and return the list for the next one."""
        if words:
            self.add(words)
        return []

    def _parenthesis(self, words: list[str]) -> list[str]:
        text = self._text
        if not words and (sum_ := _ARITHMETIC.match(text, self._at)) is not None:
            self._at = sum_.end()
        elif text[self._at + 1 :].lstrip()[:1] == ")":  # a function: what it's called isn't a command
            self._at = text.index(")", self._at) + 1
            return []
        elif words and text[self._at - 1] == "=":  # an array
            before = len(self.found)
            self._inner(1)
            del self.found[max(before, len(self.found) - 1) :]
        else:
            words = self._ended(words)
            self._inner(1)
        return words

    def _inner(self, size: int) -> str:
        """Read the commands in parentheses, whose opening has *size* characters; return what stands for them."""
        self._at += size
        self._go_deeper()
        self.read(")")
        self._depth -= 1
        return "$()"

    # Words --------------------------------------------------------------------------------------------------------

    def _word(self) -> str:
        text, parts = self._text, list[str]()
        while self._at < len(text) and text[self._at] not in " \t\r\n;&|()<>":
            letter = text[self._at]
            if letter == "'":
                parts.append(self._up_to("'"))
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
            elif (plain := _PLAIN.match(text, self._at)) is not None:
                parts.append(plain[0])
                self._at = plain.end()
            else:  # white space that a shell doesn't split at
                parts.append(letter)
                self._at += 1
        return "".join(parts)

    def _up_to(self, quote: str) -> str:
        """Return the text in literal quotes, of which the first is here."""
        end = self._text.find(quote, self._at + 1)
        if end < 0:
            raise ValueError(f"no {quote}")
        found, self._at = self._text[self._at + 1 : end], end + 1
        return found

    def _quoted(self, end: str = '"') -> str:
        """Return the text up to *end*; with an empty one, up to the end of everything."""
        text, parts = self._text, list[str]()
        while self._at < len(text):
            letter = text[self._at]
            if letter == end:
                self._at += 1
                return "".join(parts)
            if letter == "\\":
                escaped = text[self._at + 1 : self._at + 2]
                parts.append("" if escaped == "\n" else escaped if escaped in '$`"\\' else f"\\{escaped}")
                self._at += 2
            elif letter == "`":
                parts.append(self._backticks())
            elif letter == "$":
                parts.append(self._dollar(quoted=True))
            else:
                parts.append(letter)
                self._at += 1
        if end:
            raise ValueError(f"no {end}")
        return "".join(parts)

    def _dollar(self, *, quoted: bool = False) -> str:
        text, after = self._text, self._text[self._at + 1 : self._at + 2]
        if after == "(":
            if (sum_ := _ARITHMETIC.match(text, self._at)) is not None and "$(" not in sum_[0][1:]:
                self._at = sum_.end()
                return "$(())"
            return self._inner(2)
        if after == "{":
            return self._parameter()
        if after == "'" and not quoted:
            found = re.compile(r"\$'((?:\\.|[^'\\])*)'", re.DOTALL).match(text, self._at)
            if found is None:
                raise ValueError("no '")
            self._at = found.end()
            return re.sub(r"(?s)\\(.)", r"\1", found[1])
        self._at += 1
        return "" if after == '"' and not quoted else "$"

    def _parameter(self) -> str:
        """Return ``${...}`` as it is; commands in it are found."""
        text, start = self._text, self._at
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
        found = re.compile(r"`((?:\\.|[^`\\])*)`", re.DOTALL).match(self._text, self._at)
        if found is None:
            raise ValueError("no `")
        self._at = found.end()
        self._nested(re.sub(r"\\([`\\$])", r"\1", found[1]))
        return "$()"

    # Redirections -------------------------------------------------------------------------------------------------

    def _redirected(self, sign: str, words: list[str]) -> None:
        """Read over the file of a redirection, or note the end of a here-document."""
        text = self._text
        while text[self._at : self._at + 1] in (" ", "\t"):
            self._at += 1
        begin = self._at
        target = self._word()
        if sign in ("<<", "<<-") and target:
            is_literal = any(mark in text[begin : self._at] for mark in "'\"\\")
            self._documents.append((target, is_literal, sign == "<<-", words))

    def _skip_documents(self) -> None:
        """Read over the here-documents that begin here. A shell runs the one that it is given."""
        documents, self._documents = self._documents, []
        for end, is_literal, no_tabs, words in documents:
            lines = list[str]()
            while self._at < len(self._text):
                after = self._text.find("\n", self._at)
                after = len(self._text) if after < 0 else after
                line, self._at = self._text[self._at : after], after + 1
                if (line.lstrip("\t") if no_tabs else line) == end:
                    break
                lines.append(line)
            body = "\n".join(lines)
            own = called_with(words)
            if own and own[-1][0] in SHELLS and all(word.startswith("-") for word in own[-1][1:]):
                self._nested(body)
            elif not is_literal:
                _Reader(body, self)._quoted("")


def _code(words: list[str]) -> str | None:
    """Return the text that a shell with the arguments *words* runs; None if it runs a file."""
    given = False
    while words and words[0][:1] in ("-", "+") and len(words[0]) > 1:
        option, words = words[0], words[1:]
        if option in ("--rcfile", "--init-file") or (option[:2] != "--" and option[-1] in "oO"):
            words = words[1:]
        given = given or option == "--command" or (option[:2] != "--" and "c" in option)
    return words[0] if given and words else None
