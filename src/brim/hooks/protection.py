"""What an agent may not do to brim itself: loosen it by a command, speak for its user, or edit its
files and the settings of hooks.

These blocks are built in. A person turns them off with the setting ``hooks.protect``, a project
can't.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from brim.hooks.changed_files import OPEN, ChangedWords, change_of, is_interpreter
from brim.hooks.commands_run import CommandsRun
from brim.hooks.landing import landings
from brim.hooks.loosening import loosening_command
from brim.hooks.protected_code import code_of, only_reads, without_texts
from brim.hooks.shell_paths import ShellPaths, redirected_files
from brim.hooks.state import HookWorkspace
from brim.rules.shell import RanCommand

_FEEDING = frozenset(("xargs", "parallel"))
"""Programs that put words that can't be read in place of ``{}``."""
_REMOVING = frozenset(["rm", "rmdir", "mv", "git", "trash", "rename", "chmod", "chown"])
"""Programs that change a folder with all that is in it."""
_ONLY_REMOVING = ("rm", "unlink", "trash")
_MOST_WORDS = 2_000


def protected_part(command: str | list[str], folder: str, workspace: HookWorkspace) -> str:
    """Return what of the shell *command*, run in *folder*, an agent may not do; empty if nothing.

    A command that can't be read to the end is refused if what was read names a protected file.
    """
    text = command
    if isinstance(text, list):
        text = " ".join(text)
    try:
        run = CommandsRun(command, ShellPaths(text, folder, workspace))
    except ValueError:
        paths = ShellPaths(text, folder, workspace)
        return loosening_command([], paths) or paths.named()
    paths = ShellPaths("\n".join([text, *run.lines]), folder, workspace)
    part = loosening_command(run.commands, paths) or _changed_file(run.commands, paths)
    if not part and run.is_unclear:
        part = paths.named()
    return part


def _changed_file(commands: list[RanCommand], paths: ShellPaths) -> str:
    """Return the protected file that one of *commands* may change; empty if there is none."""
    words_left = _MOST_WORDS
    for command in commands:
        paths.go(command.words)
        if command.wrappers and is_interpreter(command.wrappers[-1]):
            continue  # a module of Python, which was looked at with it
        spelled_out = _spelled_out(command, paths)
        change = change_of(replace(command, words=spelled_out, documents=(), writes=()))
        words = (*command.writes, *change.words)[:words_left]
        words_left -= len(words)
        changed = _changed_word(words, change, paths)
        changed = changed or _overlaid_folder(spelled_out, paths)
        changed = changed or _changed_by_code(command, paths)
        if changed:
            return changed
    return _changed_word(redirected_files(paths.text), ChangedWords("", ()), paths)


def _spelled_out(command: RanCommand, paths: ShellPaths) -> list[str]:
    """Return the words of *command* with the values of variables, the program without its path."""
    words = [paths.spelled_out(word) for word in command.words]
    if _FEEDING.intersection(command.wrappers):
        words = [word.replace("{}", OPEN) for word in words]
    return [words[0].rpartition("/")[2] or command.words[0], *words[1:]]


def _changed_word(words: Sequence[str], change: ChangedWords, paths: ShellPaths) -> str:
    """Return the first of *words* that is a protected file, or may be one."""
    for word in words:
        if not _is_protected(word, change, paths):
            continue
        if word == OPEN:
            return paths.named() or word
        return word
    return ""


def _overlaid_folder(words: list[str], paths: ShellPaths) -> str:
    """Return the folder in which a copied or unpacked file takes the place of a protected one."""
    for landing in landings(words[0], words[1:]):
        if paths.lands_on_steering(landing):
            return landing.folder
    return ""


def _is_protected(word: str, change: ChangedWords, paths: ShellPaths) -> bool:
    removes = change.program in _REMOVING
    only_removes = change.program in _ONLY_REMOVING
    if paths.protected(word, removes=removes, only_removes=only_removes):
        return True
    if change.is_recursive and paths.holds_steering(word, change.patterns):
        return True
    if not paths.is_unclear(word):
        return False
    return bool(paths.named()) or paths.names_parts()


def _changed_by_code(command: RanCommand, paths: ShellPaths) -> str:
    """Return the protected file that the code in *command* names, unless it only reads."""
    code = code_of(command)
    if not code:
        return ""
    is_reading = is_interpreter(command.words[0]) and only_reads(code)
    if is_reading:
        return ""
    words = [paths.spelled_out(word) for word in command.words[1:]]
    part = paths.named_in(without_texts("\n".join([code, *words])))
    if part or without_texts(code) != code:
        return part
    return paths.named()
