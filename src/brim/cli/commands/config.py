"""``brim config`` and ``completion``: settings, and the shell."""

from __future__ import annotations

import os
from argparse import Namespace
from fnmatch import fnmatchcase
from itertools import groupby
from typing import Any

from brim.cli.asking import need_person
from brim.cli.options import add_json, check_words, command, here, one_of, option, settings
from brim.cli.output import emit, home_path, note, terminal_width
from brim.cli.rule_options import scope_option
from brim.cli.tables import heading, table
from brim.config.places import config_paths
from brim.config.settings import Setting
from brim.config.text import UNSET, SettingEdit, config_file, unknown
from brim.config.values import KNOWN, Config
from brim.errors import InputError
from brim.workspace import working_folder

NARROW = 80
"""Columns of a terminal under which a list shows less about each setting."""
TAKES = {"list": "[PATTERN]", "get": "KEY", "set": "KEY VALUE", "unset": "KEY", "path": ""}
"""What each action takes."""
SHELLS = {
    "bash": 'eval "$(brim completion bash)"  # in ~/.bashrc',
    "zsh": 'eval "$(brim completion zsh)"  # in ~/.zshrc',
    "fish": "brim completion fish | source  # in ~/.config/fish/config.fish",
}


def complete_key(prefix: str, **_: object) -> list[str]:
    """Return the settings that begin with what was typed."""
    return [key for key in KNOWN if key.startswith(prefix)]


def complete_value(prefix: str, parsed_args: Any = None, **_: object) -> list[str]:
    """Return the values that a setting can have, if they are few."""
    setting = KNOWN.get(getattr(parsed_args, "key", None) or "")
    few = (
        () if setting is None else ("true", "false") if setting.kind == "flag" else setting.choices
    )
    return [value for value in few if value.startswith(prefix)]


@command(
    option(
        "action", nargs="?", choices=list(TAKES), default="list", help="what to do (default: list)"
    ),
    option(
        "key",
        nargs="?",
        metavar="KEY",
        help="a setting; for list, a part of it or a*b",
        completer=complete_key,
    ),
    option(
        "value", nargs="?", metavar="VALUE", help="for set: its new value", completer=complete_value
    ),
    one_of(
        option("--user", **scope_option("user"), help="your own file (default for set and unset)"),
        option("--project", **scope_option("project"), help="the project's file"),
    ),
    add_json,
)
def config(options: Namespace) -> int:
    """Show and change settings, each with its source.

    The first of these that sets a value wins: a flag, an environment variable, the project's
    .brim/config.yaml, your ~/.brim/config.yaml, the default.

      list [PATTERN]   every setting with its value and where it was set
      get KEY          one value, and on standard error where it was set
      set KEY VALUE    write it to your file, or with --project to the project's
      unset KEY        remove it from that file
      path             the files that are read, lowest priority first

    brim keeps comments and order in the file, and refuses a change that would make the file
    invalid.

    Examples:
      brim config list session
      brim config get token_budget.default
      brim config set tiers.full 0.8 --project
    """
    words = [word for word in (options.key, options.value) if word is not None]
    check_words(f"brim config {options.action}", TAKES[options.action], words)
    if options.scope and options.action in ("list", "get"):
        raise InputError(
            f"config {options.action}: shows what is in force, so it takes no --{options.scope}"
        )
    if options.action in ("set", "unset"):
        need_person("changes settings")
    return {"list": _list, "get": _get, "set": _set, "unset": _unset, "path": _path}[
        options.action
    ](options)


def _list(options: Namespace) -> int:
    found, pattern = settings(), options.key or ""
    is_glob = bool(set("*?[") & set(pattern))
    shown = [
        each
        for each in KNOWN.values()
        if (fnmatchcase(each.key, pattern) if is_glob else pattern in each.key)
    ]

    def view(_: object) -> str:
        rows = [["setting", "value", "set by", "meaning"]]
        for each in shown:
            value, origin = found.values[each.key]
            rows.append([each.key, each.shown(value), home_path(origin), each.help])
        first, *rest = table(rows, optional=(3, 2) if terminal_width() < NARROW else ()).split("\n")
        groups = groupby(
            zip(shown, rest, strict=True), key=lambda pair: pair[0].key.rpartition(".")[0]
        )
        return heading(
            f"{first}\n" + "\n\n".join("\n".join(line for _, line in group) for _, group in groups)
        )

    result = {each.key: _setting_dict(each, found) for each in shown}
    nothing = "" if shown else f"no setting matches {options.key}"
    return emit(result, view if shown else "", options.as_json, nothing, code=0 if shown else 1)


def _get(options: Namespace) -> int:
    setting, found = _setting(options.key), settings()
    shown = setting.shown(found[setting.key])
    emit({"key": setting.key, **_setting_dict(setting, found)}, shown, options.as_json)
    if not options.as_json:
        note(f"set by {found.values[setting.key].origin}")
    return 0


def _set(options: Namespace) -> int:
    setting, scope = _setting(options.key), options.scope or "user"
    if setting.kind == "mapping":
        raise InputError(
            f"{setting.key} is a mapping: write it into {config_file(os.environ, working_folder(), scope)}"
        )
    try:
        value = setting.parsed(options.value)
    except ValueError as error:
        raise InputError(f"{setting.key} {error}") from None
    if scope == "project" and not setting.is_shared(value):
        raise InputError(
            f"a project's file can't set {setting.key} to {setting.shown(value)}: leave out --project"
        )
    edit = SettingEdit(os.environ, working_folder(), setting.key, value, scope)
    edit.write(here().save_settings)
    return emit(edit, show_setting, options.as_json)


def show_setting(edit: SettingEdit, *, quiet: bool = False) -> None:
    """Print the new value and, unless *quiet*, the stronger one if there is one."""
    shown = KNOWN[edit.key].shown
    print(f"{edit.key} = {shown(edit.value)}  {home_path(edit.path)}")
    if edit.hidden_by and not quiet:
        note(f"{edit.hidden_by} is stronger: {shown(edit.config[edit.key])} stays in force")


def _unset(options: Namespace) -> int:
    edit = SettingEdit(os.environ, working_folder(), options.key, UNSET, options.scope or "user")
    if not edit.changes and options.key not in KNOWN:
        raise InputError(unknown(options.key))
    edit.write(here().save_settings)
    found = edit.config.values.get(options.key)
    left = {} if found is None else {"value": found.value, "origin": found.origin}
    said = f"{options.key} is no longer set in {home_path(edit.path)}" if edit.changes else ""
    unchanged = f"{options.key} isn't set in {edit.path}; nothing was changed"
    stays = ""
    if found is not None and found.origin != "default":
        stays = (
            f"{KNOWN[options.key].shown(found.value)} is in force, set by {home_path(found.origin)}"
        )
    result = {"key": options.key, "file": edit.path, "changed": edit.changes, **left}
    return emit(result, said, options.as_json, stays, empty=unchanged)


def _path(options: Namespace) -> int:
    every = config_paths(os.environ, working_folder())
    paths = (
        {options.scope: config_file(os.environ, working_folder(), options.scope)}
        if options.scope
        else every
    )
    there = {scope: os.path.exists(path) for scope, path in paths.items()}
    view = table(
        [
            [scope, "read" if there[scope] else "not there", home_path(path)]
            for scope, path in paths.items()
        ]
    )
    if options.scope:  # for $EDITOR "$(brim config path --user)"
        view = paths[options.scope]
    files = [
        {"scope": scope, "path": path, "exists": there[scope]} for scope, path in paths.items()
    ]
    return emit({"files": files}, view, options.as_json)


def _setting(key: str) -> Setting:
    if key not in KNOWN:
        raise InputError(unknown(key))
    return KNOWN[key]


def _setting_dict(setting: Setting, found: Config) -> dict[str, object]:
    value, origin = found.values[setting.key]
    variable = setting.variables[0] if setting.variables else None
    return {"value": value, "origin": origin, "default": setting.default, "variable": variable}


# The shell ----------------------------------------------------------------------------------------


@command(option("shell", metavar="SHELL", choices=list(SHELLS), help="bash, zsh or fish"), add_json)
def completion(options: Namespace) -> int:
    """Print the script that completes commands, options and model names in SHELL.

    Examples, each for the file that your shell reads at its start:
      eval "$(brim completion bash)"      # ~/.bashrc
      eval "$(brim completion zsh)"       # ~/.zshrc
      brim completion fish | source       # ~/.config/fish/config.fish
    """
    from argcomplete.shell_integration import shellcode

    script = shellcode(["brim"], shell=options.shell)
    found = {"shell": options.shell, "script": script, "install": SHELLS[options.shell]}
    return emit(found, script, options.as_json)
