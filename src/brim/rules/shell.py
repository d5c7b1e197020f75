"""What a shell would run for a text: one reader for blocks, rules, tasks and dead ends.

``pieces`` are the commands as they are written, and ``programs`` says what counts of one.
``simple_commands`` are all that would run, also inside others: in subshells, ``$(...)``, backticks,
``bash -c "..."`` and after ``sudo``. ``ran_commands`` says more of each: what it's fed, where its
output goes, and what started it, also ``npx`` and ``parallel``. Quoted text, comments and
here-documents aren't commands. Nothing is expanded: ``$X`` stays ``$X``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from brim.record import PlainData
from brim.rules.programs import (
    BEFORE,
    WRAPPERS,
    is_setting,
    launched,
    launched_by,
    program,
    run_by,
    steps,
)
from brim.rules.shell_reading import LONGEST, MOST, ShellPiece, ShellReader

SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh", "ash", "fish"))
_FIND_RUNS = ("-exec", "-execdir", "-ok", "-okdir")
"""Options of ``find`` with a command after them."""
_VALUED_OF_PARALLEL = ("-j", "-a", "-n", "-N", "-S", "-P")
"""Options of ``parallel`` that a value follows."""
_VALUED_OF_SSH = (
    "-b",
    "-c",
    "-D",
    "-E",
    "-e",
    "-F",
    "-I",
    "-i",
    "-J",
    "-L",
    "-l",
    "-m",
    "-O",
    "-o",
    "-p",
    "-Q",
    "-R",
    "-S",
    "-W",
    "-w",
)
_CODE_OPTIONS = ("-c", "-command", "/c", "/k")
"""Options of the shells of Windows after which the rest is the text to run."""
_KEYWORDS = BEFORE | frozenset(("fi", "done", "while", "until", "coproc"))
_HEADS = frozenset(("for", "case", "select", "in", "esac"))
"""Words that begin something which isn't a command itself: ``for x in a b``."""

_SIGNS = frozenset("\n;&|()<>'\"`$\\#")
"""What makes a text more than the words of one command."""


@dataclass(frozen=True)
class RanCommand(PlainData):
    """One simple command that would run, and what it has to do with the others."""

    words: list[str]
    """The program without its path, and its arguments."""
    settings: tuple[str, ...] = ()
    """The variables that are set for it: ``A=1``."""
    wrappers: tuple[str, ...] = ()
    """The programs that start it, the outermost first: ``sudo``, ``npx``."""
    feeders: tuple[str, ...] = ()
    """The programs whose output it's given, through a pipe or ``$(...)``."""
    documents: tuple[str, ...] = ()
    """The texts that it's given: here-documents, also those of its feeders."""
    writes: tuple[str, ...] = ()
    """The files that its output is redirected to."""


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
    reader = _reader(text)
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
    reader = _reader(text)
    try:
        reader.read()
    except ValueError:
        return text
    if len(reader.found) != 1:
        return text
    only_piece = reader.found[0]
    code = _code_in(only_piece.words)
    if code is None or only_piece.writes:
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
    return [command.words for command in _all_commands(_reader(text), RanCommand([]))]


def called_with(words: list[str]) -> list[list[str]]:
    """Return the simple commands of a call that is split into *words* already."""
    ran = list[RanCommand]()
    _add(RanCommand(words), _reader(""), ran)
    return [command.words for command in ran]


def ran_commands(command: str | list[str]) -> list[RanCommand]:
    """Return all commands that *command*, a text or its words, would run.

    Those that ``npx``, ``uv run`` or ``parallel`` start are among them, but not what runs in a
    container. Raises ``ValueError`` for what can't be parsed.

    >>> [ran.words for ran in ran_commands("npx -y pnpm i && curl x.sh | sudo sh")]
    [['npx', '-y', 'pnpm', 'i'], ['pnpm', 'i'], ['curl', 'x.sh'], ['sudo', 'sh'], ['sh']]
    >>> ran_commands("curl x.sh | sudo sh")[-1].feeders
    ('curl',)
    """
    ran = list[RanCommand]()
    if isinstance(command, list):
        _add(RanCommand(command), _reader(""), ran, sees_launchers=True)
        return ran
    return _all_commands(_reader(command), RanCommand([]), sees_launchers=True)


def _reader(text: str, outer: ShellReader | None = None) -> ShellReader:
    return ShellReader(text, _runs_its_input, outer)


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
    place = 0
    while place < len(words) and _is_shell_option(words[place]):
        option = words[place]
        has_code = has_code or _gives_code(option)
        place += 1
        if _takes_value(option):
            place += 1
    if has_code and place < len(words):
        return words[place]
    return None


def _is_shell_option(word: str) -> bool:
    """Whether *word* is an option of a shell: ``-l``, ``+x`` or ``--norc``."""
    return word.startswith(("-", "+")) and len(word) > 1


def _gives_code(option: str) -> bool:
    """Whether *option* says that the next argument is a text to run: ``-c`` or ``-lc``."""
    if option.startswith("--"):
        return option == "--command"
    return "c" in option


def _takes_value(option: str) -> bool:
    """Whether a value follows *option*, as after ``-o`` in ``bash -o pipefail -c ls``."""
    if option.startswith("--"):
        return option in ("--rcfile", "--init-file")
    return option.endswith(("o", "O"))


def _all_commands(
    reader: ShellReader, outer: RanCommand, *, sees_launchers: bool = False
) -> list[RanCommand]:
    """Return the commands in the text of *reader*, which *outer* runs."""
    reader.read()
    ran = list[RanCommand]()
    before = list[ShellPiece]()
    for piece in reader.found:
        feeding = _feeding(piece, before)
        documents = list(piece.documents)
        for feeder in feeding:
            documents += feeder.documents
            documents += _echoed(feeder.words)
        command = RanCommand(
            piece.words,
            wrappers=outer.wrappers,
            feeders=tuple([program(feeder.words[0]) for feeder in feeding]),
            documents=tuple(documents),
            writes=tuple(piece.writes),
        )
        _add(command, reader, ran, sees_launchers=sees_launchers)
        before.append(piece)
    return ran


def _feeding(piece: ShellPiece, before: list[ShellPiece]) -> list[ShellPiece]:
    """Return those of the pieces *before* whose output *piece* is given."""
    feeding = list[ShellPiece]()
    if piece.piped and before:
        feeding.append(before[-1])
    if any("$()" in word for word in piece.words):
        for earlier in reversed(before):
            if not earlier.inner:
                break
            feeding.append(earlier)
    return feeding


def _echoed(words: list[str]) -> list[str]:
    """Return what the command *words* prints, as far as that can be read."""
    if words[0] in ("echo", "printf"):
        texts = [word for word in words[1:] if not word.startswith("-")]
        return [" ".join(texts)]
    return []


def _add(
    command: RanCommand,
    reader: ShellReader,
    ran: list[RanCommand],
    *,
    sees_launchers: bool = False,
) -> None:
    """Add *command*, which *reader* has read, to *ran*, and then what it runs in turn."""
    command = _without_opening(command)
    words = command.words
    if not words or words[0] in _HEADS:
        return
    name = program(words[0])
    command = replace(command, words=[name, *words[1:]])
    ran.append(command)
    if len(ran) > MOST:
        raise ValueError("too many")
    inside = replace(command, wrappers=(*command.wrappers, name))
    for inner_words in _commands_given(name, words[1:], sees_launchers=sees_launchers):
        inner_reader = _reader("", reader)
        inner = replace(inside, words=inner_words)
        _add(inner, inner_reader, ran, sees_launchers=sees_launchers)
    for code in _codes_given(command, sees_launchers=sees_launchers):
        code_reader = _reader(code, reader)
        ran += _all_commands(code_reader, inside, sees_launchers=sees_launchers)


def _without_opening(command: RanCommand) -> RanCommand:
    """Return *command* from its program on: without ``if``, ``A=1`` and the like before it."""
    words = command.words
    settings = list(command.settings)
    while words:
        first = words[0]
        if is_setting(first):
            settings.append(first)
        elif first == "function":
            words = words[1:]  # and its name
        elif first not in _KEYWORDS:
            break
        words = words[1:]
    return replace(command, words=words, settings=tuple(settings))


def _launched_inside(name: str, words: list[str]) -> list[list[str]]:
    """Return the command that *words* start through ``npx``, ``uv run``, ``parallel`` or the
    like."""
    if name == "parallel":
        return _run_in_parallel(words[1:])
    inner = launched_by(words)
    if inner:
        return [inner]
    return []


def _run_in_parallel(words: list[str]) -> list[list[str]]:
    """Return the command that ``parallel`` runs with *words*: it may be one text."""
    while words and words[0].startswith("-"):
        if words[0] in _VALUED_OF_PARALLEL:
            words = words[1:]
        words = words[1:]
    for sign in (":::", "::::"):
        if sign in words:
            words = words[: words.index(sign)]
    if len(words) == 1:
        return steps(words[0])
    return [words]


def _codes_given(command: RanCommand, *, sees_launchers: bool) -> list[str]:
    """Return the texts that *command* runs as a shell does."""
    name = command.words[0]
    arguments = command.words[1:]
    code = _code_given(name, arguments)
    if code:
        return [code]
    if sees_launchers and name == "ssh":
        return _code_of_ssh(arguments)
    reads_input = name in SHELLS and all(word.startswith("-") for word in arguments)
    # A here-document of its own was read with the text around it.
    if sees_launchers and reads_input and command.feeders:
        return list(command.documents)
    return []


def _code_of_ssh(words: list[str]) -> list[str]:
    """Return the text that ``ssh`` with the arguments *words* runs on the other machine."""
    place = 0
    while place < len(words) and words[place].startswith("-"):
        place += 1
        if words[place - 1] in _VALUED_OF_SSH:
            place += 1
    code = " ".join(words[place + 1 :])
    if code:
        return [code]
    return []


def _commands_given(name: str, words: list[str], *, sees_launchers: bool) -> Iterator[list[str]]:
    """Yield the commands among the arguments *words* of the program *name*, which runs them."""
    if sees_launchers:
        yield from _launched_inside(name, [name, *words])
    if name in WRAPPERS:
        wrapped = run_by(name, words)
        if wrapped:
            yield wrapped
    elif name == "find":
        yield from _run_by_find(words)


def _run_by_find(words: list[str]) -> Iterator[list[str]]:
    """Yield the commands after ``-exec`` and the like.

    One at a time: of thousands inside each other, few are read.
    """
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
        return _rest_after(_CODE_OPTIONS, words)
    return None


def _rest_after(options: tuple[str, ...], words: list[str]) -> str | None:
    """Return what follows the first of *options* among *words*; None if none is there."""
    for place, word in enumerate(words):
        if word.lower() in options:
            return " ".join(words[place + 1 :])
    return None


def _runs_its_input(words: list[str]) -> bool:
    """Whether the command *words* ends up as a shell that runs what it's given as input."""
    commands = called_with(words)
    if not commands:
        return False
    name, *arguments = commands[-1]
    return name in SHELLS and all(argument.startswith("-") for argument in arguments)
