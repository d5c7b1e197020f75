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
from brim.config.places import home_folder
from brim.hooks.state import HookWorkspace
from brim.rules.programs import WRAPPERS
from brim.rules.shell import SHELLS

_OWN_FILES = ("config.yaml", "trusted")
"""Files in a project's ``.brim`` that steer agents. Its ``rules.toml`` isn't one: it proposes rules
and decides nothing."""
_LINKED_FILES = ("rules.toml", "config.yaml", "inbox.toml", "removed.toml")
"""Files in the user's folder that people link to others, which steer agents then."""

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
    "sort",
    "uniq",
    "echo",
    "printf",
    "test",
    "[",
    "md5sum",
    "sha256sum",
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
_GOING = ("cd", "pushd")
_MOST_WORDS = 2_000
_MOST_FOLDERS = 5
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
    folders = _folders_gone_to(commands, folder, workspace)
    candidates = _files_that_may_change(commands, _shortened(text, folder, workspace))
    for program, word in candidates[:_MOST_WORDS]:
        for path in re.findall(_PATH, _shortened(word, folder, workspace)):
            for working_folder in folders:
                real = _real_path(path, working_folder, workspace)
                if _takes_whole_folder(program, real) or _is_own(real, workspace):
                    return word
    return ""


def _shortened(text: str, folder: str, workspace: HookWorkspace) -> str:
    """Return *text* with names of the home and of the *folder* that have no space: a path ends at
    one."""
    for name in ("${HOME}", "$HOME"):
        text = text.replace(name, "~")
    text = text.replace(f"{home_folder(workspace.environ)}/", "~/")
    return text.replace(f"{folder}/", "./")


def _folders_gone_to(commands: list[list[str]], folder: str, workspace: HookWorkspace) -> list[str]:
    """Return the folders that *commands* may work in: *folder*, and where they go from there."""
    folders = [folder]
    for words in commands:
        if words[0] in _GOING and len(words) > 1 and len(folders) < _MOST_FOLDERS:
            folders.append(_real_path(words[-1], folders[-1], workspace))
    return folders


def _files_that_may_change(commands: list[list[str]], text: str) -> list[tuple[str, str]]:
    """Return each file that *commands* may change, after the program that may change it."""
    files = [("", word) for word in re.findall(_WRITTEN, text)]
    for program, *arguments in commands:
        if not program:  # it can't be parsed
            files += [("", word) for word in text.split()]
            continue
        files += [(program, word) for word in _arguments_that_change(program, arguments)]
    return files


def _arguments_that_change(program: str, arguments: list[str]) -> list[str]:
    """Return the *arguments* that may be files that *program* changes."""
    if program == "cp":
        return arguments[-1:]
    if program in _INSIDE or not _may_change(program, arguments):
        return []
    return arguments


def _real_path(path: str, folder: str, workspace: HookWorkspace) -> str:
    """Return the *path* that a command in *folder* names, with its links resolved."""
    if path[:2] in ("~", "~/"):
        path = home_folder(workspace.environ) + path[1:]
    path = os.path.join(folder, path)
    if "\0" in path:
        return ""
    return os.path.realpath(path)


def _takes_whole_folder(program: str, path: str) -> bool:
    return program in ("rm", "mv") and os.path.basename(path) in _WHOLE


def _is_own(path: str, workspace: HookWorkspace) -> bool:
    return path == os.path.realpath(workspace.home) or is_protected(path, workspace)


def _may_change(program: str, arguments: list[str]) -> bool:
    if program == "git":
        return _git_command(arguments) not in _GIT_READS
    if program in _CHANGING:
        return any(re.match(_CHANGING[program], word) for word in arguments)
    return program not in _READERS


def _git_command(arguments: list[str]) -> str:
    """Return the first word that is no option, and no value of ``-C`` or ``-c``."""
    before = ""
    for word in arguments:
        if before not in ("-C", "-c") and not word.startswith("-"):
            return word
        before = word
    return ""


def loosening_command(commands: list[list[str]], text: str) -> str:
    """Return the command of brim among *commands* that an agent may not run; empty if there is
    none.

    *text* is all of it. Setting a lower limit is fine, and brim itself refuses an agent a higher
    one; but not if the variables are taken away by which it knows an agent.
    """
    hides_agent = _hides_agent(commands, text)
    if commands and not commands[0][0]:
        commands = _commands_after_brim(commands[0])
    for words in commands:
        arguments = _arguments_of_brim(words)
        if _may_loosen(arguments, hides_agent=hides_agent):
            return " ".join(["brim", *arguments])
    return ""


def _hides_agent(commands: list[list[str]], text: str) -> bool:
    """Whether the command may take away the variables by which brim knows an agent."""
    signs = list(_OTHER_SIGNS)
    for agent in every_agent():
        signs += agent.sign_prefixes
    if any(sign in text for sign in signs):
        return True
    return any(_starts_without_variables(words) for words in commands)


def _starts_without_variables(words: list[str]) -> bool:
    """Whether a command runs another one without the variables of this process."""
    hiding_words = _HIDING.get(words[0], ())
    return "" in hiding_words or not set(words).isdisjoint(hiding_words)


def _commands_after_brim(words: list[str]) -> list[list[str]]:
    """Return what may be commands of brim in *words* that can't be parsed: each may begin one."""
    return [words[place : place + 9] for place, word in enumerate(words) if word == "brim"]


def _may_loosen(arguments: list[str], *, hides_agent: bool) -> bool:
    """Whether brim, called with these *arguments*, may allow more than before."""
    if not arguments or _is_harmless(arguments):
        return False
    plain = [word for word in arguments if not word.startswith("-")]
    if plain[:1] == ["rules"]:
        plain = plain[1:]
    if not plain or plain == ["pause", "off"]:
        return False
    if _loosens(plain[0], arguments):
        return True
    return hides_agent and _is_refused_by_brim(plain, arguments)


def _is_harmless(arguments: list[str]) -> bool:
    options = arguments
    if "--" in arguments:
        options = arguments[: arguments.index("--")]
    return any(word in _HARMLESS for word in options)


def _loosens(command: str, arguments: list[str]) -> bool:
    loosening_words = LOOSENING.get(command)
    if loosening_words is None:
        return False
    if not loosening_words:
        return True
    return any(word.rpartition("=")[2].lstrip("-") in loosening_words for word in arguments)


def _is_refused_by_brim(plain: list[str], arguments: list[str]) -> bool:
    """Whether brim itself refuses the command if it knows that an agent asks."""
    if plain[0] == "learn":
        return any(word.startswith("--r") for word in arguments)  # it replaces a rule
    return plain[0] in _REFUSED and plain != ["limit"]


def _arguments_of_brim(words: list[str]) -> list[str]:
    """Return the arguments with which *words* call brim; none if they don't."""
    program = words[0]
    if program == "brim":
        return words[1:]
    if program == "py" or program.startswith(("python", "pypy")):
        return _arguments_of_module(words)
    if program in _LAUNCHERS:
        names = [word.partition("@")[0].partition("[")[0] for word in words]
        if "brim" in names:
            return words[len(names) - names[::-1].index("brim") :]
    return []


def _arguments_of_module(words: list[str]) -> list[str]:
    """Return the arguments after ``python -m brim``; none for another module."""
    if "-m" not in words[:-1]:
        return []
    at = words.index("-m") + 1
    if words[at].partition(".")[0] != "brim":
        return []
    return words[at + 1 :]


def is_protected(path: str, workspace: HookWorkspace) -> bool:
    """Whether *path*, absolute and with its links resolved, is brim's own or holds the settings of
    hooks."""
    if path.startswith(os.path.join(os.path.realpath(workspace.home), "")):
        return True
    if path in linked_files(workspace.home):
        return True
    folder, name = os.path.split(path)
    if os.path.basename(folder) == ".brim" and name in _OWN_FILES:
        return True
    return any(_holds_hooks(path, line, workspace.environ) for line in agents.TABLE)


def linked_files(home: str) -> list[str]:
    """Return where the links in the user's folder *home* lead, among the files that steer
    agents."""
    paths: list[str] = []
    for name in _LINKED_FILES:
        path = os.path.join(home, name)
        if os.path.islink(path):
            paths.append(os.path.realpath(path))
    return paths


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
