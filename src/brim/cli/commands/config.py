"""``brim config``: the settings in force, where each comes from, and how to change one."""

from __future__ import annotations

import os

from brim.cli.output import heading, note, say, say_json, table
from brim.cli.settings import add_json, settings, working_folder
from brim.config.places import config_paths
from brim.config.text import KNOWN, read_text, unknown
from brim.config.values import load
from brim.errors import BrimError, ConfigError, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

    from brim.config.settings import Setting
    from brim.config.values import Config

ACTIONS = ("list", "get", "set", "unset", "path")
TAKES = {"list": (0, 1), "get": (1, 1), "set": (2, 2), "unset": (1, 1), "path": (0, 0)}
"""How many words each action takes after its name: at least, at most."""

HELP = """\
Show and change settings. A flag is stronger than an environment variable, that than the project's .brim/config.yaml,
that than the user's ~/.brim/config.yaml, that than the default.

  list [PATTERN]   every setting with its value and where it was set
  get KEY          one value; where it was set goes to standard error
  set KEY VALUE    write it to the user's file, or with --project to the project's
  unset KEY        take it out of that file again
  path             the files that are read, the weaker first

A file keeps its comments and its order. What would make it wrong is not written.

Examples:
  brim config list session
  brim config get token_budget.default
  brim config set tiers.full 0.8 --project
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("action", choices=ACTIONS, help="what to do")
    key: Any = parser.add_argument("key", nargs="?", metavar="KEY", help="a setting; for list a part of it, or a*b")
    key.completer = complete_key
    value: Any = parser.add_argument("value", nargs="?", metavar="VALUE", help="for set: its new value")
    value.completer = complete_value
    scope = parser.add_mutually_exclusive_group()
    text = "for set, unset and path: the user's file (set and unset: the default)"
    scope.add_argument("--user", dest="scope", action="store_const", const="user", help=text)
    text = "for set, unset and path: the project's file"
    scope.add_argument("--project", dest="scope", action="store_const", const="project", help=text)
    add_json(parser)


def run(options: Namespace) -> int:
    """Do what was asked, and return the exit code."""
    words = [word for word in (options.key, options.value) if word is not None]
    least, most = TAKES[options.action]
    if len(words) < least:
        raise InputError(f"config {options.action}: which {('key', 'value')[len(words)]}? see brim config --help")
    if len(words) > most:
        raise InputError(f"config {options.action}: {words[most]!r} is one word too many; see brim config --help")
    if options.scope and options.action in ("list", "get"):
        raise InputError(f"config {options.action}: shows what is in force, so it takes no --{options.scope}")
    action = {"list": _list, "get": _get, "set": _set, "unset": _unset, "path": _path}[options.action]
    return action(options)


def complete_key(prefix: str, **_: object) -> list[str]:
    """Return the settings that begin with what was typed."""
    return [key for key in KNOWN if key.startswith(prefix)]


def complete_value(prefix: str, parsed_args: Any = None, **_: object) -> list[str]:
    """Return the values that a setting can have, if they are few."""
    setting = KNOWN.get(getattr(parsed_args, "key", None) or "")
    few = () if setting is None else ("true", "false") if setting.kind == "flag" else setting.choices
    return [value for value in few if value.startswith(prefix)]


def _list(options: Namespace) -> int:
    config = settings()
    shown = [setting for setting in KNOWN.values() if _matches(setting.key, options.key)]
    if options.as_json:
        say_json({setting.key: _facts(setting, config) for setting in shown})
    elif shown:
        rows = [["setting", "value", "set by", "meaning"]]
        rows += [[each.key, _shown(each, config), config.values[each.key].origin, each.help] for each in shown]
        first, *lines = table(rows).split("\n")
        above = [setting.key.rpartition(".")[0] for setting in shown]
        for at in range(len(lines) - 1, 0, -1):
            if above[at] != above[at - 1]:
                lines.insert(at, "")
        say(heading("\n".join([first, *lines])))
    if not shown:
        note(f"no setting matches {options.key}")
    return 0 if shown else 1


def _get(options: Namespace) -> int:
    setting = _setting(options.key)
    config = settings()
    if options.as_json:
        say_json({"key": setting.key, **_facts(setting, config)})
    else:
        say(_shown(setting, config))
        note(f"set by {config.values[setting.key].origin}")
    return 0


def _set(options: Namespace) -> int:
    from brim.config.text import with_key

    setting = _setting(options.key)
    path = _file(options.scope or "user")
    if setting.kind == "mapping":
        raise InputError(f"{setting.key} is a mapping: write it into {path}")
    try:
        value = setting.parsed(options.value)
    except ValueError as error:
        raise InputError(f"{setting.key} {error}") from None
    before = _text(path)
    after = with_key(before, setting.key, value, path)
    config = _tried(path, after)
    if after != before:
        _write(path, before, after)
    origin = config.values[setting.key].origin
    hidden_by = "" if origin.startswith(f"{path}:") else origin
    if options.as_json:
        say_json({"key": setting.key, "value": value, "file": path, "changed": after != before, "hidden_by": hidden_by})
    else:
        say(f"{setting.key} = {setting.shown(value)}  {path}")
    if hidden_by:
        note(f"{hidden_by} is stronger: {setting.shown(config[setting.key])} stays in force")
    return 0


def _unset(options: Namespace) -> int:
    from brim.config.text import without_key

    path = _file(options.scope or "user")
    before = _text(path)
    after = without_key(before, options.key, path)
    if after == before and options.key not in KNOWN:
        raise InputError(unknown(options.key))
    config = _tried(path, after) if after != before else settings()
    if after != before:
        _write(path, before, after)
    found = config.values.get(options.key)
    if options.as_json:
        facts = {} if found is None else {"value": found.value, "origin": found.origin}
        say_json({"key": options.key, "file": path, "changed": after != before, **facts})
    elif after == before:
        note(f"{options.key} is not in {path}; nothing was changed")
    else:
        say(f"{options.key} is not set any more  {path}")
    if found is not None and found.origin != "default":
        note(f"{KNOWN[options.key].shown(found.value)} is in force, set by {found.origin}")
    return 0


def _path(options: Namespace) -> int:
    paths = {options.scope: _file(options.scope)} if options.scope else _paths()
    if options.as_json:
        say_json({"files": [{"scope": s, "path": path, "exists": os.path.exists(path)} for s, path in paths.items()]})
    elif options.scope:
        say(paths[options.scope])
    else:
        rows = [[scope, "read" if os.path.exists(path) else "not there", path] for scope, path in paths.items()]
        say(table(rows))
    return 0


def _setting(key: str) -> Setting:
    if key not in KNOWN:
        raise InputError(unknown(key))
    return KNOWN[key]


def _shown(setting: Setting, config: Config) -> str:
    return setting.shown(config[setting.key])


def _facts(setting: Setting, config: Config) -> dict[str, object]:
    value, origin = config.values[setting.key]
    variable = setting.variables[0] if setting.variables else None
    return {"value": value, "origin": origin, "default": setting.default, "variable": variable}


def _matches(key: str, pattern: str | None) -> bool:
    if not pattern:
        return True
    from fnmatch import fnmatchcase

    return fnmatchcase(key, pattern) if set("*?[") & set(pattern) else pattern in key


def _paths() -> dict[str, str]:
    return config_paths(os.environ, working_folder())


def _file(scope: str) -> str:
    paths = _paths()
    if scope not in paths:
        raise InputError("no project here: a project is a folder with .brim/ or .git in it; make one with mkdir .brim")
    return paths[scope]


def _tried(path: str, text: str) -> Config:
    """Return what would be in force if *path* held *text*; raise if that would be wrong, whatever the environment."""
    variables = {name for setting in KNOWN.values() for name in setting.variables}
    plain = {name: value for name, value in os.environ.items() if name not in variables}
    drafts = {path: text}
    try:
        found = load(plain, working_folder(), drafts=drafts)
    except BrimError as error:
        raise ConfigError(f"{path} is as it was: {error}") from None
    try:
        return load(os.environ, working_folder(), drafts=drafts)
    except BrimError:  # a wrong variable is no fault of the file
        return found


def _write(path: str, before: str, text: str) -> None:
    """Put *text* in place of what *path* held *before*."""
    from brim.cli.saving import save
    from brim.store.project import make_folder

    folder = os.path.dirname(path)
    if path == _paths().get("project") and not os.path.lexists(folder):
        from brim.cli.learned import Place

        Place().begin_project()
    try:
        make_folder(folder)
    except OSError as error:
        raise ConfigError(f"config: {folder}: cannot be made: {error.strerror or error}") from None
    if _text(path) != before:
        raise ConfigError(f"config: {path}: somebody else has just written it; please try again")
    save(path, text)


def _text(path: str) -> str:
    return read_text(path) if os.path.exists(path) else ""
