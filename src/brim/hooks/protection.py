"""What an agent may not do to brim itself: loosen it by a command, speak for its user, or edit its
files and the settings of hooks.

These blocks are built in. A person turns them off with the setting ``hooks.protect``, a project
can't.
"""

from __future__ import annotations

import re
from dataclasses import replace

from brim.hooks.changed_files import OPEN, RUNNERS, ChangedWords, change_of, is_interpreter
from brim.hooks.loosening import loosening_command
from brim.hooks.protected_code import code_of, lines_of_shell, only_reads
from brim.hooks.shell_paths import ShellPaths, redirected_files
from brim.hooks.state import HookWorkspace
from brim.rules.shell import SHELLS, RanCommand, ran_commands

_RUNNING_INPUT = frozenset((*SHELLS, "at", "batch", "crontab"))
"""Programs that run the commands that they read."""
_RUNNING_FILES = frozenset((*SHELLS, "source", ".", "at", "batch", "crontab"))
"""Programs that run the commands in a file."""
_FEEDING = frozenset(("xargs", "parallel"))
"""Programs that put words that can't be read in place of ``{}``."""
_HERE_STRING = r"""<<<[ \t]*(\$?'[^']*'|"[^"]*"|[^\s;&|<>()]+)"""
_REMOVING = frozenset(["rm", "rmdir", "mv", "git", "trash", "rename", "chmod", "chown"])
"""Programs that change a folder with all that is in it."""
_MOST_COMMANDS = 300
_MOST_WORDS = 2_000


def protected_part(command: str | list[str], folder: str, workspace: HookWorkspace) -> str:
    """Return what of the shell *command*, run in *folder*, an agent may not do; empty if nothing.

    A command that can't be read to the end is refused if what was read names a protected file.
    """
    text = command
    if isinstance(text, list):
        text = " ".join(text)
    paths = ShellPaths(text, folder, workspace)
    try:
        commands = _all_commands(command, text)
    except ValueError:
        return loosening_command([], paths) or paths.named()
    return loosening_command(commands, paths) or _changed_file(commands, paths)


def _all_commands(command: str | list[str], text: str) -> list[RanCommand]:
    """Return the commands that *command* runs, also in the words of programs that run a line, in
    here-strings, and in scripts that it has just written."""
    here_strings = [word.strip("'\"") for word in re.findall(_HERE_STRING, text)]
    scripts: dict[str, list[str]] = {}
    commands: list[RanCommand] = []
    for command_read in ran_commands(command):
        ran = command_read
        if is_interpreter(ran.words[0]) or ran.words[0] in _RUNNING_INPUT:
            written = [text for word in ran.words[1:] for text in scripts.get(_name(word), ())]
            ran = replace(ran, documents=(*ran.documents, *here_strings, *written))
        commands.append(ran)
        for file in ran.writes:
            scripts[_name(file)] = _written_by(ran)
        for line in _lines_run(ran, scripts):
            if len(commands) < _MOST_COMMANDS:
                commands += ran_commands(line)
    return commands


def _name(file: str) -> str:
    return file.rpartition("/")[2]


def _written_by(ran: RanCommand) -> list[str]:
    """Return the texts that *ran* writes to a file."""
    if ran.words[0] in ("echo", "printf"):
        return [" ".join(ran.words[1:])]
    return list(ran.documents)


def _lines_run(ran: RanCommand, scripts: dict[str, list[str]]) -> list[str]:
    """Return the command lines that *ran* runs, apart from those that a shell is given."""
    program = ran.words[0]
    lines: list[str] = []
    if program in RUNNERS:
        lines += [re.sub(r"^\w+=", "", word) for word in ran.words[1:] if " " in word]
    if program in _RUNNING_INPUT:
        lines += [text.replace("\\n", "\n") for text in ran.documents]
    if is_interpreter(program):
        lines += lines_of_shell(code_of(ran))
    for word in ran.words if program in _RUNNING_FILES else ran.words[:1]:
        lines += scripts.get(_name(word), [])
    return lines


def _changed_file(commands: list[RanCommand], paths: ShellPaths) -> str:
    """Return the protected file that one of *commands* may change; empty if there is none."""
    words_left = _MOST_WORDS
    for command in commands:
        paths.go(command.words)
        spelled_out = [paths.spelled_out(word) for word in command.words]
        program = spelled_out[0].rpartition("/")[2] or command.words[0]
        if command.wrappers and is_interpreter(command.wrappers[-1]):
            continue  # a module of Python, which was looked at with it
        if _FEEDING.intersection(command.wrappers):
            spelled_out = [word.replace("{}", OPEN) for word in spelled_out]
        change = change_of(RanCommand([program, *spelled_out[1:]], wrappers=command.wrappers))
        for word in (*command.writes, *change.words)[:words_left]:
            words_left -= 1
            if _is_protected(word, change, paths):
                return word if word != OPEN else paths.named()
        changed = _changed_by_code(command, paths)
        if changed:
            return changed
    for word in redirected_files(paths.text):
        if _is_protected(word, ChangedWords("", ()), paths):
            return word
    return ""


def _is_protected(word: str, change: ChangedWords, paths: ShellPaths) -> bool:
    removes = change.program in _REMOVING
    if paths.protected(word, removes=removes):
        return True
    if change.is_recursive and paths.holds_steering(word, change.patterns):
        return True
    return paths.is_unclear(word) and bool(paths.named())


def _changed_by_code(command: RanCommand, paths: ShellPaths) -> str:
    """Return the protected file that the code in *command* names, unless it only reads."""
    code = code_of(command)
    if not code:
        return ""
    is_reading = is_interpreter(command.words[0]) and only_reads(code)
    if is_reading:
        return ""
    words = [paths.spelled_out(word) for word in command.words[1:]]
    return paths.named_in("\n".join([code, *words])) or paths.named()
