"""Which command allows more than before, says something in its user's name, or takes brim away?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile

from brim.agents import AGENTS, every_agent
from brim.hooks.arguments import has_option, operands
from brim.hooks.changed_files import OPEN, is_interpreter, is_reader
from brim.hooks.protected_code import code_of, runs_brim
from brim.hooks.shell_paths import ShellPaths
from brim.rules.shell import SHELLS, RanCommand

LOOSENING: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("pause", "uninstall", "trust", "allow", "remove", "edit", "import", "ui"), ()),
    "config": ("set", "unset"),
    "limit": ("raise", "remove", "forget", "continue", "none", "unlimited"),
    "review": ("accept",),
    "init": ("injection-only",),
    "add": ("human",),
    "clean": (),
    "rebuild": (),
}
"""Commands that allow more than before, or may, and the words that make them so. ``rules remove``
is ``remove``."""

_PERCENT_MORE = re.compile(r"\+\d+%")
"""What lets a limit go on."""
_HARMLESS = ("--help", "-h", "--dry-run", "--list")
_REFUSED = ("limit", "restore", "review", "upgrade", "init", "run")
"""Commands that brim itself refuses where they loosen something: it has to know that an agent
asks."""
_LAUNCHERS = ("uv", "uvx", "pipx", "poetry", "pdm", "hatch", "rye", "pixi", "conda", "mise")
_INSTALLERS = ("pip", "uv", "pipx", "conda", "mamba", "brew", "poetry", "pdm", "rye", "pixi")
_REMOVING = frozenset(("uninstall", "remove", "disable"))
_HOOK_PROGRAMS = ("hook", "statusline", "hook.py", "statusline.py")
_OTHER_SIGNS = ("AI_AGENT", "BRIM_")
"""Variables by which brim knows that an agent asks it, and for which home."""
_ELSEWHERE = ("ssh", "tmux", "screen", "at", "batch", "crontab")
"""Programs that run commands in another environment."""
_HIDING = {
    "env": ("-i", "-", "--ignore-environment"),
    "exec": ("-c",),
    **dict.fromkeys(("sudo", "doas", "runuser", "systemd-run", *_ELSEWHERE), ("",)),
}
"""Commands that run another one without those variables, and the word that makes them; empty is
always."""
_SETTERS = ("export", "declare", "set", "setenv", "setx", "launchctl", "systemctl", "tmux")
"""Programs that set a variable for what is started later."""
_WITHOUT_SETTINGS = ("--bare", "--setting-sources", "--pure")
_HOOKS_OFF = r"disableAllHooks|\bhooks\s*=\s*[f{\[]|\{.*\bhooks\b"
"""Settings on a command line that take the place of an agent's hooks."""
_HOME = "HOME="
_SUBSHELL_HOME = r"(?<!\$)\([^()]*\bHOME="
_TEMPORARY = r"\$\(mktemp\b|`mktemp\b"
_PROFILES = r"(?:rc|profile|env\w*|ENV_FILE|login|\.fish|environment)[\"']?$"
"""How files are called from which shells take variables."""
_MOST_ARGUMENTS = 9


def loosening_command(commands: list[RanCommand], paths: ShellPaths) -> str:
    """Return the one of *commands* that an agent may not run; empty if there is none. *paths* has
    all of the text; without commands it can't be parsed, and every word may begin one.

    Setting a lower limit is fine, and brim itself refuses an agent a higher one; but not if the
    variables are taken away by which it knows an agent.
    """
    calls = [[paths.spelled_out(word) for word in command.words] for command in commands]
    hides_agent = _hides_agent(calls, paths.text)
    if not commands:
        words = re.split(r"[\s;&|()<>`'\"$\\]+", paths.text)
        calls = [
            words[at : at + _MOST_ARGUMENTS] for at, word in enumerate(words) if word == "brim"
        ]
    other_homes = _with_other_home(commands, paths)
    for number, words in enumerate(calls):
        arguments = _arguments_of_brim(words, paths.text)
        if number not in other_homes and _is_refused(arguments, hides_agent=hides_agent):
            return " ".join(["brim", *arguments])
        if _uninstalls(words):
            return " ".join(words)
    for command in commands:
        if _acts_as_brim(command, paths):
            return " ".join(command.words)
    return _without_hooks(commands, paths)


def _with_other_home(commands: list[RanCommand], paths: ShellPaths) -> set[int]:
    """Return which of *commands*, by their places, run with another home than the person's: brim
    changes nothing of theirs there."""
    places: set[int] = set()
    if _HOME not in paths.text or "BRIM_" in paths.text:
        return places
    if re.search(_SUBSHELL_HOME, paths.text):
        return places
    is_other = False
    is_inside = False
    for place, command in enumerate(commands):
        program = command.words[0]
        if program in ("export", "declare"):
            is_other = _is_other_home(command.words[1:], paths, is_other=is_other)
        is_run_there = is_inside and _is_run_by_shell(command)
        is_inside = False
        if is_run_there or _is_other_home(command.settings, paths, is_other=is_other):
            places.add(place)
            is_inside = is_run_there or program in SHELLS
    return places


def _is_run_by_shell(command: RanCommand) -> bool:
    """Whether a shell that was started with it as its text runs *command*."""
    return bool(command.wrappers) and command.wrappers[-1] in SHELLS


def _is_other_home(settings: Iterable[str], paths: ShellPaths, *, is_other: bool) -> bool:
    """Whether *settings* set another home; without one, it stays as it was."""
    for setting in settings:
        if not setting.startswith(_HOME):
            continue
        folder = paths.spelled_out(setting.removeprefix(_HOME))
        if folder == OPEN:
            return re.search(_TEMPORARY, paths.text) is not None
        if "$" in folder or "`" in folder:
            return re.match(_TEMPORARY, folder) is not None
        return folder.startswith("/") and not paths.protected(f"{folder}/.brim")
    return is_other


def _is_refused(arguments: list[str], *, hides_agent: bool) -> bool:
    """Whether an agent may not call brim with *arguments*."""
    if _is_harmless(arguments):
        return False
    plain = _without_rooms(operands(arguments))
    if plain == ["pause", "off"]:
        return False
    if not plain:
        return OPEN in arguments
    if plain[0].startswith("$"):  # it can't be read
        return True
    if _loosens(plain[0], arguments):
        return True
    return hides_agent and _is_refused_by_brim(plain, arguments)


def _without_rooms(plain: list[str]) -> list[str]:
    """Return the words from the command on, without ``rules`` or ``memory`` before it."""
    if plain[:1] == ["memory"]:
        return _memory_command(plain)
    if plain[:1] == ["rules"]:
        return plain[1:]
    return plain


def _memory_command(plain: list[str]) -> list[str]:
    """Return the words from the command of ``brim memory`` on: values of options may stand before
    it."""
    for at, word in enumerate(plain):
        if word in ("add", "clean") or (word == "rebuild" and plain[at + 1 :]):
            return plain[at:]
    return ["memory"]


def _hides_agent(calls: list[list[str]], text: str) -> bool:
    """Whether the command may take away the variables by which brim knows an agent."""
    if _names_sign(text):
        return True
    return any(_runs_without_signs(words) for words in calls)


def _names_sign(text: str) -> bool:
    """Whether *text* names a variable by which brim knows an agent."""
    signs = list(_OTHER_SIGNS)
    for agent in every_agent():
        signs += agent.sign_prefixes
    return any(sign in text for sign in signs)


def _runs_without_signs(words: list[str]) -> bool:
    """Whether *words* run a command in an environment without those variables."""
    hiding_words = _HIDING.get(words[0], ())
    return not {"", *words}.isdisjoint(hiding_words)


def _is_harmless(arguments: list[str]) -> bool:
    options = list(takewhile(lambda word: word != "--", arguments))
    return not arguments or not set(options).isdisjoint(_HARMLESS)


def _loosens(command: str, arguments: list[str]) -> bool:
    if command not in LOOSENING:
        return False
    loosening_words = LOOSENING[command]
    if not loosening_words:
        return True
    parts = "=".join(arguments).split("=")
    return any(_is_loosening(part.lstrip("-"), loosening_words) for part in parts)


def _is_loosening(word: str, loosening_words: tuple[str, ...]) -> bool:
    return word in loosening_words or _PERCENT_MORE.fullmatch(word) is not None


def _is_refused_by_brim(plain: list[str], arguments: list[str]) -> bool:
    """Whether brim itself refuses the command if it knows that an agent asks."""
    if plain[0] == "learn":
        return has_option("--r", arguments)  # it replaces a rule
    return plain[0] in _REFUSED and plain != ["limit"]


# Ways to call brim --------------------------------------------------------------------------------


def _arguments_of_brim(words: list[str], text: str) -> list[str]:
    """Return the arguments with which *words* call brim; none if they don't."""
    program = words[0]
    if program.rpartition("/")[2] == "brim":
        return words[1:]
    if program.startswith("$") and re.search(r"\bbrim\b", text):
        return words[1:]  # perhaps: $(which brim)
    if is_interpreter(program):
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


def _uninstalls(words: list[str]) -> bool:
    """Whether *words* uninstall brim."""
    program = words[0].rstrip("0123456789.")
    if program in AGENTS and "brim" in words:
        return not _REMOVING.isdisjoint(words)
    if is_interpreter(words[0]) and "pip" in words:
        program = "pip"
    if program not in _INSTALLERS or _REMOVING.isdisjoint(words):
        return False
    return has_option(r"brim(?:[\[=<>~!@].*)?$", words[1:])


def _acts_as_brim(command: RanCommand, paths: ShellPaths) -> bool:
    """Whether *command* runs brim's hooks, where an agent would: it could say that a person wrote
    something."""
    program = command.words[0]
    if program in _HOOK_PROGRAMS and paths.names_launcher():
        return True
    if program == "brim":
        return "xargs" in command.wrappers
    if not is_interpreter(program):
        return False
    return has_option(r"brim\.hooks", command.words) or runs_brim(code_of(command))


# Agents without hooks -----------------------------------------------------------------------------


def _without_hooks(commands: list[RanCommand], paths: ShellPaths) -> str:
    """Return what lets an agent run without brim's hooks: a setting, now or for every shell."""
    names: set[str] = set()
    for command in commands:
        names |= _names_set_by(command)
        if command.words[0] in AGENTS and _has_no_hooks(command.words, names):
            return " ".join(command.words)
        if "BRIM_DISABLE" in paths.text and _disables_later(command):
            return " ".join(command.words)
    return ""


def _names_set_by(command: RanCommand) -> set[str]:
    """Return the variables that *command* sets for itself, or for what is run later."""
    settings = [*command.settings]
    if command.words[0] in ("export", "env"):
        settings += [word for word in command.words if "=" in word]
    return {setting.partition("=")[0] for setting in settings}


def _disables_later(command: RanCommand) -> bool:
    """Whether *command* switches brim off for what is started later."""
    if command.words[0] in _SETTERS and has_option("(?s:.*)BRIM_DISABLE", command.words):
        return True
    return has_option("(?s:.*)BRIM_DISABLE=", command.words) and _is_kept(command)


def _has_no_hooks(words: Sequence[str], names: set[str]) -> bool:
    """Whether an agent is started with other settings than its user's; *names* are the variables
    that are set by then."""
    options = {word.partition("=")[0] for word in words}
    if not options.isdisjoint(_WITHOUT_SETTINGS) or {"--disable", "hooks"} <= options:
        return True
    if has_option(rf"(?s:.*)(?:{_HOOKS_OFF})", words):
        return True
    places = {"HOME", *[agent.places.variable for agent in every_agent()]}
    return not places.isdisjoint(names) or has_option("BRIM_", list(names))


def _is_kept(command: RanCommand) -> bool:
    """Whether what *command* prints is kept where a shell reads it."""
    files = [*command.writes]
    if not is_reader(command.words[0]):
        files += command.words[1:]
    return has_option(f"(?s:.*){_PROFILES}", files)
