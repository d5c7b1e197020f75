"""Blocks: what a rule refuses. ``run npm install``, ``edit dist/**`` and ``tool WebFetch`` are one
block each.

A command is matched by whole words, a path by a glob inside its project, a tool by its name. See
docs/blocks.md.
"""

from __future__ import annotations

import os.path
import re
import sys
from collections.abc import Iterable
from shlex import split

from brim.errors import InputError
from brim.rules.globs import alternatives, fits, matches
from brim.rules.programs import program
from brim.rules.shell import called_with, simple_commands

RUN = "run"
EDIT = "edit"
TOOL = "tool"
KINDS = (RUN, EDIT, TOOL)
LONGEST = 300
"""Characters of one block."""
MOST = 50
"""Blocks of one rule."""

_SPLIT = r"""[\s;&|()<>`'"$\\]+"""
_LETTERS = r"-[A-Za-z]{1,4}"
_EVERYDAY = """
    awk bash brew bun bundle cargo cat cd chmod cmake cp curl deno docker dotnet echo find git go
    gradle grep head java kubectl ls make mkdir mvn mv node npm npx perl php pip pip3 pnpm poetry
    printf pwd python python3 rg ruby sed sh sort tail tee test touch uv wc xargs yarn zsh
"""
"""Programs that agents run all the time: to refuse all of one is rarely meant."""
_CORE = frozenset(
    ("bash", "read", "edit", "write", "apply_patch", "run_shell_command", "read_file", "write_file")
)
_EXAMPLES = {
    RUN: "a command, as in 'npm install'",
    EDIT: "files, as in 'dist/**'",
    TOOL: "a tool, as in 'WebFetch'",
}


def checked_blocks(blocks: Iterable[str]) -> tuple[str, ...]:
    """Return *blocks*, each once, in one form; raise ``InputError`` for one that can't be matched.

    >>> checked_blocks(["run  npm   install", "edit dist/", "run npm install"])
    ('run npm install', 'edit dist/**')
    """
    if isinstance(blocks, str) or not hasattr(blocks, "__iter__"):
        written = str(blocks)[:80]
        raise InputError(
            f"blocks are a list such as ['run npm install', 'edit dist/**'], not {written!r}"
        )
    checked = tuple(dict.fromkeys([_checked(block) for block in blocks]))
    if len(checked) > MOST:
        raise InputError(f"a rule has at most {MOST} blocks, not {len(checked):,}")
    return checked


def with_kind(block: str) -> str:
    """Return *block* as a person writes it in a rule, with its kind before it.

    >>> with_kind("npm install"), with_kind("dist/**"), with_kind("tool WebFetch")
    ('run npm install', 'edit dist/**', 'tool WebFetch')
    """
    words = block.split()
    if words and words[0] in KINDS:
        return block
    if len(words) == 1 and "/" in block and ("*" in block or block.endswith("/")):
        return f"{EDIT} {block}"
    return f"{RUN} {block}"


def _checked(block: str) -> str:
    if not isinstance(block, str):
        raise InputError(f"a block is a text such as 'run npm install', not {str(block)[:80]!r}")
    kind, _, pattern = block.strip().partition(" ")
    pattern = pattern.strip()
    if kind not in KINDS:
        forms = "'run npm install', 'edit dist/**' or 'tool WebFetch'"
        raise InputError(f"a block is {forms}, not {block[:80]!r}")
    if not pattern:
        raise InputError(f"a block can't be empty: name {_EXAMPLES[kind]}")
    if len(block) > LONGEST or not pattern.isprintable():
        raise InputError(f"a block has at most {LONGEST} characters, in one line: {block[:80]!r}")
    if kind == RUN:
        return f"{RUN} {_checked_command(pattern)}"
    if kind == TOOL:
        return f"{TOOL} {_checked_tool(pattern)}"
    return f"{EDIT} {_checked_path(pattern)}"


def _checked_tool(pattern: str) -> str:
    if len(pattern.split()) > 1:
        raise InputError(f"a tool has a name without spaces, not {pattern!r}: give each its own")
    return pattern


def _checked_path(pattern: str) -> str:
    if ".." in pattern.replace("\\", "/").split("/"):
        raise InputError(
            f"can't match the path {pattern!r}: '..' leads out of a folder: name the folder itself"
        )
    if pattern.count("[") != pattern.count("]"):
        raise InputError(f"can't match the path {pattern!r}: a [ or ] is missing")
    if pattern.endswith("/"):
        return f"{pattern}**"
    return pattern


def _checked_command(pattern: str) -> str:
    try:
        words = split(pattern)
        commands = simple_commands(pattern)
    except ValueError as error:
        raise InputError(f"can't read the command {pattern!r}: {error}; check its quotes") from None
    is_one = bool(commands) and commands[0] == [program(words[0]), *words[1:]]
    if not is_one or not commands[0][0] or pattern.startswith("-"):
        raise InputError(
            f"{pattern!r} isn't one simple command: give 'npm install', and each other one as its"
            " own"
        )
    if _is_quoted(pattern):
        return pattern
    return " ".join(words)


def pattern_words(pattern: str) -> list[str]:
    """Return the words of the command *pattern*, the program without its path."""
    if _is_quoted(pattern):
        return simple_commands(pattern)[0]
    words = pattern.split()
    return [program(words[0]), *words[1:]]


def _is_quoted(pattern: str) -> bool:
    return any(mark in pattern for mark in "'\"\\")


# Whether a call is one ----------------------------------------------------------------------------


def commands_of(command: str | list[str]) -> list[list[str]]:
    """Return the simple commands of a call. One that can't be parsed is all of its words, after an
    empty one."""
    try:
        if isinstance(command, list):
            return called_with(command)
        return simple_commands(command)
    except ValueError:
        text = command if isinstance(command, str) else " ".join(command)
        return [["", *[program(word) or word for word in re.split(_SPLIT, text) if word]]]


def refused_command(pattern: str, commands: list[list[str]]) -> str:
    """Return the command among *commands* (from ``commands_of``) that *pattern* refuses; empty if
    none."""
    pattern_parts = pattern_words(pattern)
    for words in commands:
        if words[0]:
            if runs(words, pattern_parts):
                return " ".join(words)
            continue
        place = _place(words, pattern_parts)
        if place:
            return " ".join(words[place : place + len(pattern_parts)])
    return ""


def _place(words: list[str], pattern: list[str]) -> int:
    """Return where the words of *pattern* stand in *words*, one after the other; 0 if they
    don't."""
    for start, word in enumerate(words):
        if word != pattern[0] and not (start and fits(word, pattern[0])):
            continue
        here_words = words[start : start + len(pattern)]
        if len(here_words) == len(pattern) and all(map(fits, here_words, pattern)):
            return start
    return 0


def runs(words: list[str], pattern: list[str]) -> bool:
    """Whether *words* call the program of *pattern* with its arguments, in their order.

    Options of the pattern may stand anywhere. Between its other words only options may stand, with
    a value each: ``git -C web push`` is ``git push``, and ``git commit -m push`` isn't.
    """
    if not fits(words[0], pattern[0]):
        return False
    arguments = words[1:]
    options = [word for word in pattern[1:] if len(word) > 1 and word[0] == "-"]
    if not all(_has_option(arguments, option) for option in options):
        return False
    at = 0
    is_value = False
    for word in pattern[1:]:
        if word in options:
            continue
        while at < len(arguments) and not fits(arguments[at], word):
            is_option = arguments[at][:1] == "-"
            if not is_option and not is_value:
                return False
            is_value = is_option and "=" not in arguments[at] and arguments[at] != "--"
            at += 1
        if at == len(arguments):
            return False
        at += 1
        is_value = False
    return True


def _has_option(arguments: list[str], option: str) -> bool:
    """Whether *option* is among the arguments; short ones may be written together, as in ``rm
    -fr``."""
    for word in arguments:
        if fits(word, option) or (option[:2] == "--" and word.startswith(f"{option}=")):
            return True
    if not re.fullmatch(_LETTERS, option):
        return False
    letters = "".join([word[1:] for word in arguments if re.fullmatch(_LETTERS, word)])
    return all(letter in letters for letter in option[1:])


def refused_path(pattern: str, path: str, *, folder: str, project: str, home: str) -> bool:
    """Whether *pattern* refuses an edit of *path*, which is relative to *folder*, as it is named or
    as it is.

    Inside of *project* the path from there counts: a folder that the project itself is in isn't
    meant. ``~`` is *home*.
    """
    full_path = os.path.join(folder, os.path.expanduser(path) if path[:1] == "~" else path)
    named_path = os.path.normpath(full_path)
    if pattern.startswith("~/"):
        pattern = f"{home}{pattern[1:]}"
    for real_or_named in {named_path, os.path.realpath(named_path)}:
        inside = _inside_project(real_or_named, project)
        is_absolute = pattern.startswith("/") or not inside
        if _is_path_meant(real_or_named if is_absolute else inside, pattern):
            return True
    return False


def _inside_project(path: str, project: str) -> str:
    """Return *path* as seen from *project*; empty if it's outside."""
    if not project:
        return ""
    for top in (os.path.realpath(project), project):
        if path.startswith(f"{top}{os.sep}"):
            return path[len(top) + 1 :]
    return ""


def _is_path_meant(path: str, pattern: str) -> bool:
    if sys.platform in ("darwin", "win32"):  # whose disks take both for one
        path = path.lower()
        pattern = pattern.lower()
    for alternative in alternatives(pattern):
        inside_folder = f"{alternative.rstrip('/')}/**"
        if matches(path, alternative) or matches(path, inside_folder):
            return True
    return False


def refused_tool(pattern: str, tool: str) -> bool:
    """Whether *pattern* refuses the *tool*. Case doesn't matter; ``*`` is any part of the name."""
    return fits(tool.lower(), pattern.lower())


# For people ---------------------------------------------------------------------------------------


def described(block: str) -> str:
    """Return *block* as a sentence names it.

    >>> described("run npm install"), described("edit dist/**"), described("tool WebFetch")
    ('"npm install"', 'edits of dist/**', 'the tool WebFetch')
    """
    kind, _, pattern = block.partition(" ")
    if not pattern:
        return "every call that breaks it"
    if kind == RUN:
        return f'"{pattern}"'
    if kind == EDIT:
        return f"edits of {pattern}"
    return f"the tool {pattern}"


def too_much(block: str) -> str:
    """Say what *block* would refuse if that is nearly everything; empty if it isn't.

    >>> too_much("edit **"), too_much("run git"), too_much("run git push"), too_much("tool Bash")
    ('every edit', 'every git command', '', 'every call of Bash')
    """
    kind, _, pattern = block.partition(" ")
    if not pattern:
        return ""
    if kind == EDIT:
        return _too_many_edits(pattern)
    if kind == TOOL:
        return _too_many_tools(pattern)
    words = pattern_words(pattern)
    is_everyday = len(words) == 1 and words[0] in _EVERYDAY.split()
    if fits("zq_xw", words[0]) and all(fits("zq", word) for word in words[1:]):
        return "every command"
    return f"every {words[0]} command" if is_everyday else ""


def _too_many_tools(pattern: str) -> str:
    if fits("zq_xw", pattern):
        return "every tool"
    if pattern.lower() in _CORE:
        return f"every call of {pattern}"
    return ""


def _too_many_edits(pattern: str) -> str:
    for path in ("zq/xw/vu.kj", "zq.kj"):
        if not refused_path(pattern, path, folder="/zy", project="/zy", home="/zy"):
            return ""
    return "every edit"
