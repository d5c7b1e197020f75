"""All commands that a text would run: also behind variables and aliases, in the words of programs
that run a line, in here-strings, and in scripts, written by the text itself or not long ago.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace

from brim.hooks.arguments import operands
from brim.hooks.changed_files import RUNNERS, is_interpreter
from brim.hooks.protected_code import code_of, lines_of_shell, only_reads
from brim.hooks.protected_files import MAKEFILES, script_text
from brim.hooks.shell_paths import ShellPaths
from brim.rules.shell import SHELLS, RanCommand, ran_commands

_RUNNING_INPUT = frozenset((*SHELLS, "at", "batch", "crontab", "source", "."))
"""Programs that run the commands that they read."""
_RUNNING_FILES = frozenset((*SHELLS, "source", ".", "at", "batch", "crontab"))
"""Programs that run the commands in a file."""
_AWKS = frozenset(("awk", "gawk", "mawk"))
_MAKING = frozenset(("make", "gmake", "just"))
_HERE_STRING = r"""<<<[ \t]*(\$?'[^']*'|"[^"]*"|[^\s;&|<>()]+)"""
_SCHEDULE = r"(?m)^[ \t]*(?:@\w+|(?:[\d*/,-]+[ \t]+){4}[\d*/,-]+)[ \t]+"
"""When a line of a table of ``cron`` is run."""
_SPAWNED = r"\b(?:spawn|exec)[ \t]+(?:-\w+[ \t]+)*([^;\n\]]+)"
"""What a script of ``expect`` runs."""
_RECIPE = re.compile(r"(?m)^(?:[^\s#:=][^:=\n]*:[^=\n;]*;|[ \t]+)[@+-]*(.+)$")
"""A line of a makefile that is run."""
_MOST_COMMANDS = 300


class CommandsRun:
    """The commands that one *command* runs in a folder."""

    def __init__(self, command: str | list[str], paths: ShellPaths) -> None:
        self.commands: list[RanCommand] = []
        self._paths = paths
        self._here_strings = [word.strip("'\"") for word in re.findall(_HERE_STRING, paths.text)]
        self._scripts: dict[str, list[str]] = {}
        """The files that the commands write, by name, and what is in them."""
        self._aliases: dict[str, str] = {}
        self.scripts_read: dict[str, str] = {}
        """The scripts that were there before and are run, by path."""
        self.lines: list[str] = []
        """The texts besides the command itself that a shell runs."""
        self.is_unclear = False
        """Whether a line that is run can't be read."""
        for ran in ran_commands(command):
            self._add(ran)

    def _add(self, ran: RanCommand) -> None:
        program = ran.words[0]
        if is_interpreter(program) or program in _RUNNING_INPUT:
            texts = [*self._here_strings, *self._input_of(ran)]
            ran = replace(ran, documents=(*ran.documents, *texts))
        self._paths.go(ran.words)
        self.commands.append(ran)
        if program == "alias":
            self._alias(ran.words[1:])
        for file in ran.writes:
            self._scripts[_name(file)] = _texts_of(ran)
        if program in SHELLS:
            self.lines += [word for word in ran.words[1:] if ">" in word]
        for line in self._lines_run(ran):
            self.lines.append(line)
            self._add_line(line)

    def _input_of(self, ran: RanCommand) -> list[str]:
        """Return the texts of the files that *ran* is given: those that the commands so far have
        written, or the script of an interpreter."""
        texts = [text for word in ran.words[1:] for text in self._written(word)]
        scripts = operands(ran.words[1:])[:1]
        if texts or not scripts or not is_interpreter(ran.words[0]):
            return texts
        return self._recent(scripts[0])

    def _add_line(self, line: str) -> None:
        if len(self.commands) >= _MOST_COMMANDS:
            return
        try:
            commands = ran_commands(line)
        except ValueError:
            self.is_unclear = True
            return
        for ran in commands:
            if ran.words[0] in self._aliases or len(self.commands) >= _MOST_COMMANDS:
                self.commands.append(ran)
            else:
                self._add(ran)

    def _alias(self, words: list[str]) -> None:
        for word in words:
            name, sign, value = word.partition("=")
            if sign:
                self._aliases[name] = value

    def _written(self, file: str) -> list[str]:
        """Return the texts that the commands so far have written to *file*."""
        return self._scripts.get(_name(file), [])

    def _lines_run(self, ran: RanCommand) -> Iterator[str]:
        """Yield the command lines that *ran* runs, apart from those that a shell is given."""
        program = ran.words[0]
        arguments = ran.words[1:]
        if program in self._aliases:
            yield " ".join([self._aliases[program], *arguments])
        if program.startswith("$"):
            spelled_out = self._paths.spelled_out(program)
            if spelled_out != program and not spelled_out.startswith("$"):
                yield " ".join([spelled_out, *arguments])
        if self._hands_on(program):
            yield " ".join(arguments)
        if program in _AWKS:
            yield from lines_of_shell(" ".join(arguments))
        if program in RUNNERS:
            yield from _lines_of_runner(arguments)
        if program in _RUNNING_INPUT:
            for text in ran.documents:
                yield re.sub(_SCHEDULE, "", text.replace("\\n", "\n"))
        code = code_of(ran)
        if is_interpreter(program) and not only_reads(code):
            yield from lines_of_shell(code)
        yield from self._lines_of_scripts(ran)

    def _hands_on(self, program: str) -> bool:
        """Whether *program* is a function of the text that runs its words."""
        text = self._paths.text
        return "$@" in text and f"{program}()" in text.replace(" ", "")

    def _lines_of_scripts(self, ran: RanCommand) -> Iterator[str]:
        """Yield the scripts of a shell that *ran* runs."""
        program = ran.words[0]
        files = self._called(program)
        if program in _RUNNING_FILES:
            files = ran.words[1:]
        elif program in _MAKING:
            files = [*ran.words[1:], *MAKEFILES]
        for file in files:
            texts = self._written(file) or self._recent(file)
            for text in texts:
                if program in _MAKING:
                    yield "\n".join(_RECIPE.findall(text.replace("$$", "$")))
                else:
                    yield text

    def _called(self, program: str) -> list[str]:
        """Return the path by which the text calls *program*, if it's a file."""
        path = rf"[^\s;&|()'\"]*/{re.escape(program)}(?![\w./-])"
        match = re.search(path, self._paths.text)
        if match is None:
            return [program] if program in self._scripts else []
        return [match[0]]

    def _recent(self, file: str) -> list[str]:
        """Return what is in the script *file* if it was written not long ago."""
        path = os.path.join(self._paths.folders[-1], os.path.expanduser(file))
        if path in self.scripts_read:
            return []
        text = script_text(path)
        self.scripts_read[path] = text
        return [text] if text else []


def _lines_of_runner(arguments: list[str]) -> Iterator[str]:
    """Yield what may be command lines among the words of ``ssh``, ``tmux`` or ``expect``."""
    for at, word in enumerate(arguments):
        if _name(word) == "brim":
            yield " ".join(arguments[at:])
        if " " in word:
            yield re.sub(r"^\w+=", "", word)
            yield from re.findall(_SPAWNED, word)


def _name(file: str) -> str:
    return file.rpartition("/")[2]


def _texts_of(ran: RanCommand) -> list[str]:
    """Return the texts that *ran* writes to a file."""
    if ran.words[0] in ("echo", "printf"):
        return [" ".join(ran.words[1:]).replace("\\n", "\n").replace("\\t", "\t")]
    return list(ran.documents)
