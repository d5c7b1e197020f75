"""``brim config`` and ``completion``: settings, and the shell."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Sequence
from fnmatch import fnmatchcase
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
    if setting is None:
        return []
    choices: Sequence[str] = setting.choices
    if setting.kind == "flag":
        choices = ("true", "false")
    return [value for value in choices if value.startswith(prefix)]


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
    actions = {"list": _list, "get": _get, "set": _set, "unset": _unset, "path": _path}
    return actions[options.action](options)


def _list(options: Namespace) -> int:
    config = settings()
    matching = [setting for setting in KNOWN.values() if _matches(setting, options.key or "")]
    result = {setting.key: _setting_dict(setting, config) for setting in matching}
    if not matching:
        return emit(result, "", options.as_json, f"no setting matches {options.key}", code=1)
    return emit(result, lambda _: _settings_table(matching, config), options.as_json)


def _matches(setting: Setting, pattern: str) -> bool:
    if any(sign in pattern for sign in "*?["):
        return fnmatchcase(setting.key, pattern)
    return pattern in setting.key


def _settings_table(matching: Sequence[Setting], config: Config) -> str:
    """Return a table of settings, with a blank line between two sections."""
    rows = [["setting", "value", "set by", "meaning"]]
    for setting in matching:
        value, origin = config.values[setting.key]
        rows.append([setting.key, setting.shown(value), home_path(origin), setting.help])
    optional: tuple[int, ...] = ()
    if terminal_width() < NARROW:
        optional = (3, 2)
    first, *lines = table(rows, optional=optional).split("\n")
    view = [first]
    section = _section(matching[0])
    for setting, line in zip(matching, lines, strict=True):
        if _section(setting) != section:
            section = _section(setting)
            view.append("")
        view.append(line)
    return heading("\n".join(view))


def _section(setting: Setting) -> str:
    return setting.key.rpartition(".")[0]


def _get(options: Namespace) -> int:
    setting = _setting(options.key)
    config = settings()
    result = {"key": setting.key, **_setting_dict(setting, config)}
    emit(result, setting.shown(config[setting.key]), options.as_json)
    if not options.as_json:
        note(f"set by {config.values[setting.key].origin}")
    return 0


def _set(options: Namespace) -> int:
    setting = _setting(options.key)
    scope = options.scope or "user"
    if setting.kind == "mapping":
        path = config_file(os.environ, working_folder(), scope)
        raise InputError(f"{setting.key} is a mapping: write it into {path}")
    try:
        value = setting.parsed(options.value)
    except ValueError as error:
        raise InputError(f"{setting.key} {error}") from None
    if scope == "project" and not setting.is_shared(value):
        text = setting.shown(value)
        raise InputError(f"a project's file can't set {setting.key} to {text}: leave out --project")
    edit = SettingEdit(os.environ, working_folder(), setting.key, value, scope)
    edit.write(here().save_settings)
    return emit(edit, show_setting, options.as_json)


def show_setting(edit: SettingEdit, *, quiet: bool = False) -> None:
    """Print the new value and, unless *quiet*, the stronger one if there is one."""
    setting = KNOWN[edit.key]
    print(f"{edit.key} = {setting.shown(edit.value)}  {home_path(edit.path)}")
    if edit.hidden_by and not quiet:
        stronger = setting.shown(edit.config[edit.key])
        note(f"{edit.hidden_by} is stronger: {stronger} stays in force")


def _unset(options: Namespace) -> int:
    edit = SettingEdit(os.environ, working_folder(), options.key, UNSET, options.scope or "user")
    if not edit.changes and options.key not in KNOWN:
        raise InputError(unknown(options.key))
    edit.write(here().save_settings)
    result: dict[str, object] = {"key": options.key, "file": edit.path, "changed": edit.changes}
    value = edit.config.values.get(options.key)
    hint = ""
    if value is not None:
        result |= {"value": value.value, "origin": value.origin}
        if value.origin != "default":
            text = KNOWN[options.key].shown(value.value)
            hint = f"{text} is in force, set by {home_path(value.origin)}"
    view = ""
    if edit.changes:
        view = f"{options.key} is no longer set in {home_path(edit.path)}"
    empty = f"{options.key} isn't set in {edit.path}; nothing was changed"
    return emit(result, view, options.as_json, hint, empty=empty)


def _path(options: Namespace) -> int:
    paths = config_paths(os.environ, working_folder())
    if options.scope:
        paths = {options.scope: config_file(os.environ, working_folder(), options.scope)}
    files = []
    rows = []
    for scope, path in paths.items():
        exists = os.path.exists(path)
        state = "not there"
        if exists:
            state = "read"
        files.append({"scope": scope, "path": path, "exists": exists})
        rows.append([scope, state, home_path(path)])
    view = table(rows)
    if options.scope:  # for $EDITOR "$(brim config path --user)"
        view = paths[options.scope]
    return emit({"files": files}, view, options.as_json)


def _setting(key: str) -> Setting:
    if key not in KNOWN:
        raise InputError(unknown(key))
    return KNOWN[key]


def _setting_dict(setting: Setting, config: Config) -> dict[str, object]:
    value, origin = config.values[setting.key]
    variable = None
    if setting.variables:
        variable = setting.variables[0]
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
    result = {"shell": options.shell, "script": script, "install": SHELLS[options.shell]}
    return emit(result, script, options.as_json)
