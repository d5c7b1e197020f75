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

from brim.behaviors.programs import program
from brim.behaviors.shell import called_with, simple_commands
from brim.behaviors.when import alternatives, fits, matches
from brim.errors import InputError

RUN, EDIT, TOOL = "run", "edit", "tool"
KINDS = (RUN, EDIT, TOOL)
LONGEST = 300
"""Characters of one block."""
MOST = 50
"""Blocks of one rule."""

_SPLIT = re.compile(r"""[\s;&|()<>`'"$\\]+""")
_LETTERS = re.compile(r"-[A-Za-z]{1,4}")
_EVERYDAY = """
    awk bash brew bun bundle cargo cat cd chmod cmake cp curl deno docker dotnet echo find git go gradle grep head java
    kubectl ls make mkdir mvn mv node npm npx perl php pip pip3 pnpm poetry printf pwd python python3 rg ruby sed sh
    sort tail tee test touch uv wc xargs yarn zsh
"""
"""Programs that agents run all the time: to refuse all of one is rarely meant."""
_CORE = frozenset(
    ("bash", "read", "edit", "write", "apply_patch", "run_shell_command", "read_file", "write_file")
)
_ASKS = re.compile(
    r"(?i)\b(?:never|do not|don[’']t|must not)\s+(?P<what>run|use|call|execute|edit|change|touch|modify|write to)\s+"
    r"(?:the |any |files? )*(?:in |under |below )?(?P<rest>.+)",
)
_CONDITION = re.compile(
    r"(?i)[\s,](?:unless|except|without|until|before|after|when|if|on|in|for|with|while|from|but)\b(?!\s+instead)"
)


def checked_blocks(blocks: Iterable[str]) -> tuple[str, ...]:
    """Return *blocks*, each once, in one form; raise ``InputError`` for one that can't be matched.

    >>> checked_blocks(["run  npm   install", "edit dist/", "run npm install"])
    ('run npm install', 'edit dist/**')
    """
    if isinstance(blocks, str) or not hasattr(blocks, "__iter__"):
        raise InputError(
            f"blocks are a list such as ['run npm install', 'edit dist/**'], not {str(blocks)[:80]!r}"
        )
    found = tuple(dict.fromkeys(_checked(each) for each in blocks))
    if len(found) > MOST:
        raise InputError(f"a rule has at most {MOST} blocks, not {len(found):,}")
    return found


def _checked(block: str) -> str:
    kind, _, pattern = block.strip().partition(" ") if isinstance(block, str) else ("", "", "")
    pattern = pattern.strip()
    if kind in KINDS and not pattern:
        what = {
            RUN: "a command, as in 'npm install'",
            EDIT: "files, as in 'dist/**'",
            TOOL: "a tool, as in 'WebFetch'",
        }
        raise InputError(f"a block can't be empty: name {what[kind]}")
    if kind not in KINDS:
        wanted = "'run npm install', 'edit dist/**' or 'tool WebFetch'"
        raise InputError(f"a block is {wanted}, not {str(block)[:80]!r}")
    if len(block) > LONGEST or not pattern.isprintable():
        raise InputError(f"a block has at most {LONGEST} characters, in one line: {block[:80]!r}")
    if kind == RUN:
        return f"{RUN} {_checked_command(pattern)}"
    if kind == TOOL:
        if len(pattern.split()) > 1:
            raise InputError(
                f"a tool has a name without spaces, not {pattern!r}: give each its own"
            )
        return f"{TOOL} {pattern}"
    parts = pattern.replace("\\", "/").split("/")
    if ".." in parts or pattern.count("[") != pattern.count("]"):
        why = (
            "'..' leads out of a folder: name the folder itself"
            if ".." in parts
            else "a [ or ] is missing"
        )
        raise InputError(f"can't match the path {pattern!r}: {why}")
    return f"{EDIT} {pattern}**" if pattern.endswith("/") else f"{EDIT} {pattern}"


def _checked_command(pattern: str) -> str:

    try:
        words, commands = split(pattern), simple_commands(pattern)
    except ValueError as error:
        raise InputError(f"can't read the command {pattern!r}: {error}; check its quotes") from None
    is_one = bool(commands) and commands[0] == [program(words[0]), *words[1:]]
    if not is_one or not commands[0][0] or pattern.startswith("-"):
        raise InputError(
            f"{pattern!r} isn't one simple command: give 'npm install', and each other one as its own"
        )
    return pattern if _is_quoted(pattern) else " ".join(words)


def _words(pattern: str) -> list[str]:
    """Return the words of the command *pattern*, the program without its path."""
    if _is_quoted(pattern):
        return simple_commands(pattern)[0]
    first, *rest = pattern.split()
    return [program(first), *rest]


def _is_quoted(pattern: str) -> bool:
    return any(mark in pattern for mark in "'\"\\")


# Whether a call is one ----------------------------------------------------------------------------


def commands_of(command: str | list[str]) -> list[list[str]]:
    """Return the simple commands of a call. One that can't be parsed is all of its words, after an
    empty one."""
    try:
        return called_with(command) if isinstance(command, list) else simple_commands(command)
    except ValueError:
        text = command if isinstance(command, str) else " ".join(command)
        return [["", *[program(word) or word for word in _SPLIT.split(text) if word]]]


def refused_command(pattern: str, commands: list[list[str]]) -> str:
    """Return the command among *commands* (from ``commands_of``) that *pattern* refuses; empty if
    none."""
    wanted = _words(pattern)
    for words in commands:
        if not words[0]:
            if at := _place(words, wanted):
                return " ".join(words[at : at + len(wanted)])
        elif _runs(words, wanted):
            return " ".join(words)
    return ""


def _place(words: list[str], wanted: list[str]) -> int:
    """Return where *wanted* stand in *words*, one after the other; 0 if they don't."""
    starts = (
        at for at, word in enumerate(words) if word == wanted[0] or (at and fits(word, wanted[0]))
    )
    ends = ((at, words[at : at + len(wanted)]) for at in starts)
    return next(
        (at for at, found in ends if len(found) == len(wanted) and all(map(fits, found, wanted))), 0
    )


def _runs(words: list[str], wanted: list[str]) -> bool:
    """Whether *words* call the program with the arguments that are *wanted*, in their order.

    Options of the pattern may stand anywhere. Between its other words only options may stand, with
    a value each: ``git -C web push`` is ``git push``, and ``git commit -m push`` isn't.
    """
    if not fits(words[0], wanted[0]):
        return False
    given = words[1:]
    options = [word for word in wanted[1:] if len(word) > 1 and word[0] == "-"]
    if not all(_has(given, option) for option in options):
        return False
    at, is_value = 0, False
    for word in (each for each in wanted[1:] if each not in options):
        while at < len(given) and not fits(given[at], word):
            is_option = given[at][:1] == "-"
            if not is_option and not is_value:
                return False
            is_value = is_option and "=" not in given[at] and given[at] != "--"
            at += 1
        if at == len(given):
            return False
        at, is_value = at + 1, False
    return True


def _has(given: list[str], option: str) -> bool:
    """Whether *option* is among the arguments; short ones may be written together, as in ``rm
    -fr``."""
    if any(
        fits(word, option) or (option[:2] == "--" and word.startswith(f"{option}="))
        for word in given
    ):
        return True
    letters = "".join([word[1:] for word in given if _LETTERS.fullmatch(word)])
    return bool(_LETTERS.fullmatch(option)) and all(letter in letters for letter in option[1:])


def refused_path(pattern: str, path: str, *, folder: str, project: str, home: str) -> bool:
    """Whether *pattern* refuses an edit of *path*, which is relative to *folder*, as it is named or
    as it is.

    Inside of *project* the path from there counts: a folder that the project itself is in isn't
    meant. ``~`` is *home*.
    """
    named = os.path.normpath(
        os.path.join(folder, os.path.expanduser(path) if path[:1] == "~" else path)
    )
    root = os.path.realpath(project) if project else ""
    pattern = f"{home}{pattern[1:]}" if pattern.startswith("~/") else pattern
    for each in {named, os.path.realpath(named)}:
        tops = [top for top in (root, project) if top and each.startswith(f"{top}{os.sep}")]
        inside = each[len(tops[0]) + 1 :] if tops else ""
        found = each if pattern.startswith("/") or not inside else inside
        if sys.platform in ("darwin", "win32"):  # whose disks take both for one
            found, pattern = found.lower(), pattern.lower()
        for one in alternatives(pattern):
            if matches(found, one) or matches(found, f"{one.rstrip('/')}/**"):
                return True
    return False


def refused_tool(pattern: str, tool: str) -> bool:
    """Whether *pattern* refuses the *tool*. Case doesn't matter; ``*`` is any part of the name."""
    return fits(tool.lower(), pattern.lower())


# For people ---------------------------------------------------------------------------------------


def said(block: str) -> str:
    """Return *block* as it is said in a sentence.

    >>> said("run npm install"), said("edit dist/**"), said("tool WebFetch")
    ('"npm install"', 'edits of dist/**', 'the tool WebFetch')
    """
    kind, _, pattern = block.partition(" ")
    return {RUN: f'"{pattern}"', EDIT: f"edits of {pattern}"}.get(kind, f"the tool {pattern}")


def too_much(block: str) -> str:
    """Say what *block* would refuse if that is nearly everything; empty if it isn't.

    >>> too_much("edit **"), too_much("run git"), too_much("run git push"), too_much("tool Bash")
    ('every edit', 'every git command', '', 'every call of Bash')
    """
    kind, _, pattern = block.partition(" ")
    if kind == EDIT:
        paths = ("zq/xw/vu.kj", "zq.kj")
        place = {"folder": "/zy", "project": "/zy", "home": "/zy"}
        return "every edit" if all(refused_path(pattern, each, **place) for each in paths) else ""
    if kind == TOOL:
        name = "every tool" if fits("zq_xw", pattern) else f"every call of {pattern}"
        return name if fits("zq_xw", pattern) or pattern.lower() in _CORE else ""
    words = _words(pattern)
    if fits("zq_xw", words[0]):
        return "every command" if len(words) == 1 or all(fits("zq", word) for word in words) else ""
    return f"every {words[0]} command" if len(words) == 1 and words[0] in _EVERYDAY.split() else ""


def asked_for(text: str) -> str:
    """Return the block that the words of a rule ask for; empty if they don't, or hold only on a
    condition.

    >>> asked_for("Never run npm install."), asked_for("Don't edit files under dist/"), asked_for("Use pnpm")
    ('run npm install', 'edit dist/**', '')
    """
    found = _ASKS.search(text)
    if found is None:
        return ""
    rest = found["rest"].strip()
    quoted = re.match(r"([`'\"])(.+?)\1(.*)", rest)
    words = quoted[2] if quoted else re.split(r"[;:,!?]|\.(?:\s|$)|\s(?:use|instead)\b", rest)[0]
    if _CONDITION.search(f" {quoted[3] if quoted else words} "):
        return ""
    is_edit = found["what"].lower() not in ("run", "use", "call", "execute")
    is_path = "/" in words or re.search(r"\.\w{1,8}$", words)
    if is_edit and (not is_path or len(words.split()) > 1):
        return ""
    if not is_edit and not (
        quoted or re.fullmatch(r"[a-z][\w.+-]*(?: (?:--?)?[a-z][\w.:=-]*){1,3}", words)
    ):
        return ""
    try:
        return checked_blocks([f"{EDIT if is_edit else RUN} {words}"])[0]
    except InputError:
        return ""
