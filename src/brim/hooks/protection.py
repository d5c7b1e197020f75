"""What an agent may not do to brim itself: loosen it by a command, or edit its files and the
settings of hooks.

These blocks are built in. A person turns them off with the setting ``hooks.protect``, a project
can't.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from brim import agents
from brim.agents import TableLine, agent_named, every_agent
from brim.behaviors.programs import WRAPPERS
from brim.behaviors.shell import SHELLS
from brim.config.places import home_folder
from brim.hooks.state import HookWorkspace

_OWN_FILES = ("config.yaml", "trusted")
"""Files in a folder ``.brim`` that steer agents."""

LOOSENING: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("pause", "uninstall", "trust", "allow", "remove", "edit", "import", "ui"), ()),
    "config": ("set", "unset"),
    "limit": ("raise", "remove", "+10%", "forget", "continue", "none", "unlimited"),
    "review": ("accept",),
    "init": ("injection-only",),
}
"""Commands that allow more than before, or may, and the words that make them so. ``rules remove``
is ``remove``."""

_HARMLESS = ("--help", "-h", "--dry-run", "--list")
_REFUSED = ("limit", "restore", "review", "upgrade", "init", "run")
"""Commands that brim itself refuses where they loosen something: it has to know that an agent
asks."""
_LAUNCHERS = ("uv", "uvx", "pipx", "poetry", "pdm", "hatch", "rye", "pixi", "conda", "mise")
_OTHER_SIGNS = ("AI_AGENT", "BRIM_")
"""Variables by which brim knows that an agent asks it, and for which home."""
_HIDING = {
    "env": ("-i", "-"),
    "exec": ("-c",),
    **dict.fromkeys(("sudo", "doas", "runuser", "systemd-run"), ("",)),
}
"""Commands that run another one without those variables, and the word that makes them; empty is
always."""

_READERS = (
    *(
        "ls",
        "cat",
        "head",
        "tail",
        "less",
        "more",
        "bat",
        "stat",
        "file",
        "find",
        "fd",
        "tree",
        "wc",
        "du",
        "which",
    ),
    *(
        "grep",
        "egrep",
        "fgrep",
        "rg",
        "ag",
        "sed",
        "awk",
        "jq",
        "yq",
        "readlink",
        "realpath",
        "diff",
        "cmp",
        "cut",
    ),
    *("sort", "uniq", "echo", "printf", "test", "[", "md5sum", "sha256sum"),
)
"""Programs that only read the files they are given, unless ``_CHANGING`` says otherwise."""
_CHANGING = {
    "sed": r"-[a-zA-Z]*i|--in-place",
    "find": r"-delete|-exec|-ok|-fprint|-fls",
}
"""Options that make them change something."""
_GIT_READS = (
    "add",
    "blame",
    "check-ignore",
    "commit",
    "diff",
    "grep",
    "log",
    "ls-files",
    "show",
    "status",
)
_INSIDE = frozenset((*SHELLS, *WRAPPERS, "eval"))
"""Programs that run another one, which is among the commands too."""
_WHOLE = (".brim", *[line.folder for line in agents.TABLE])
"""Folders that hold such files: they may not be removed or moved."""
_MOST_WORDS = 2_000
_WRITTEN = r">>?\|?\s*([^\s;&|<>()]+)"
_PATH = r"[^\s'\"`=:,;()\[\]{}<>|&]+"


def changing_command(
    commands: list[list[str]], text: str, folder: str, workspace: HookWorkspace
) -> str:
    """Return the protected file that one of *commands*, run in *folder*, may change; empty if there
    is none.

    *text* is all of it, without quotes. Every file that is named counts, unless the command is
    known only to read it.
    """
    home = home_folder(workspace.environ)
    named: list[tuple[str, str]] = [("", word) for word in re.findall(_WRITTEN, text)]
    for program, *given in commands:
        if not program:  # it can't be parsed
            named += [("", word) for word in text.split()]
        elif program not in _INSIDE and _may_change(program, given):
            named += [(program, word) for word in (given[-1:] if program == "cp" else given)]
    for program, word in named[:_MOST_WORDS]:
        for each in re.findall(_PATH, word.replace("${HOME}", "~").replace("$HOME", "~")):
            path = os.path.join(folder, home + each[1:] if each[:2] in ("~", "~/") else each)
            real = os.path.realpath(path) if "\0" not in path else ""
            is_whole = program in ("rm", "mv") and os.path.basename(real) in _WHOLE
            if (
                is_whole
                or real == os.path.realpath(workspace.home)
                or is_protected(real, workspace)
            ):
                return word
    return ""


def _may_change(program: str, given: list[str]) -> bool:
    if program == "git":
        told = [
            word
            for before, word in zip(["", *given], given, strict=False)
            if before not in ("-C", "-c")
        ]
        return next((word for word in told if word[:1] != "-"), "") not in _GIT_READS
    if program in _CHANGING:
        return any(re.match(_CHANGING[program], word) for word in given)
    return program not in _READERS


def loosening_command(commands: list[list[str]], text: str) -> str:
    """Return the command of brim among *commands* that an agent may not run; empty if there is
    none.

    *text* is all of it. Setting a lower limit is fine, and brim itself refuses an agent a higher
    one; but not if the variables are taken away by which it knows an agent.
    """
    signs = [sign for agent in every_agent() for sign in agent.sign_prefixes]
    hides = any(sign in text for sign in (*signs, *_OTHER_SIGNS)) or any(
        word in ("", *words) for words in commands for word in _HIDING.get(words[0], ())
    )
    if commands and not commands[0][0]:  # it can't be parsed: every word may begin a command
        every = commands[0]
        commands = [every[at : at + 9] for at, word in enumerate(every) if word == "brim"]
    for words in commands:
        given = _given_to_brim(words)
        if given is None:
            continue
        options = given[: given.index("--")] if "--" in given else given
        if any(word in _HARMLESS for word in options):
            continue
        plain = [word for word in given if word[:1] != "-"]
        plain = plain[1:] if plain[:1] == ["rules"] else plain
        if not plain or plain == ["pause", "off"]:
            continue
        needed = LOOSENING.get(plain[0])
        loosens = needed is not None and (
            not needed or any(word.rpartition("=")[2].lstrip("-") in needed for word in given)
        )
        replaces = plain[0] == "learn" and any(word.startswith("--r") for word in given)
        refuses = replaces or (plain[0] in _REFUSED and plain != ["limit"])
        if loosens or (hides and refuses):
            return " ".join(["brim", *given])
    return ""


def _given_to_brim(words: list[str]) -> list[str] | None:
    """Return the arguments with which *words* call brim; None if they don't."""
    if words[0] == "brim":
        return words[1:]
    at = 0
    if words[0].startswith(("python", "pypy")) or words[0] == "py":
        at = words.index("-m") + 1 if "-m" in words[:-1] else 0
        return words[at + 1 :] if at and words[at].partition(".")[0] == "brim" else None
    if words[0] in _LAUNCHERS:
        names = [word.partition("@")[0].partition("[")[0] for word in words]
        return words[len(names) - names[::-1].index("brim") :] if "brim" in names else None
    return None


def is_protected(path: str, workspace: HookWorkspace) -> bool:
    """Whether *path*, absolute and with its links resolved, is brim's own or holds the settings of
    hooks."""
    if path.startswith(os.path.join(os.path.realpath(workspace.home), "")):
        return True
    folder, name = os.path.split(path)
    last = os.path.basename(folder)
    if last == ".brim" and (name in _OWN_FILES or name.startswith("brim.db")):
        return True
    return any(_holds_hooks(path, line, workspace.environ) for line in agents.TABLE)


def _holds_hooks(path: str, line: TableLine, environ: Mapping[str, str]) -> bool:
    """Whether *path* has the hooks of an agent, or brim's plugin for it."""
    places = agent_named(line.name).places
    folder, name = os.path.split(path)
    if name in line.hook_files:
        user_folder = os.path.realpath(os.path.dirname(places.user_file(environ)))
        project_folder = os.path.basename(os.path.dirname(places.project_hooks))
        if folder == user_folder or os.path.basename(folder) in (line.folder, project_folder):
            return True
    slashed = path.replace(os.sep, "/")
    if not places.plugins or places.plugins not in slashed:
        return False
    return "/brim/" in slashed or name == "extension-enablement.json"
