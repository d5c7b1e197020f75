"""``brim config``, ``trust`` and ``completion``: settings, trusted projects, the shell."""

from __future__ import annotations

import os
import time
from argparse import Namespace
from collections import Counter
from fnmatch import fnmatchcase
from typing import Any

from brim.behaviors.behavior import Behavior
from brim.cli.options import (
    add_json,
    add_yes,
    check_words,
    command,
    one_of,
    option,
    says_yes,
    scope_option,
    settings,
    working_folder,
)
from brim.cli.output import counted, cut, day, emit, heading, home_path, lines, listed, note, printable, say, table
from brim.cli.rule_view import kind_of, one_line
from brim.cli.setting_edit import REMOVED, SettingEdit, config_file
from brim.config.places import config_paths, project_folder, user_folder
from brim.config.settings import Setting
from brim.config.text import KNOWN, unknown
from brim.config.values import Config
from brim.errors import InputError
from brim.store.rulebook import project_rules, project_settings
from brim.store.trust import is_trusted, trusted_projects, untrust
from brim.store.trust import trust as trust_project

TAKES = {
    "list": (" [PATTERN]", 0, 1),
    "get": (" KEY", 1, 1),
    "set": (" KEY VALUE", 2, 2),
    "unset": (" KEY", 1, 1),
    "path": ("", 0, 0),
}
"""What each action takes: how it is written, and how many words at least and at most."""
SHOWN = 20
"""Rules that are shown before the question of ``brim trust``; constraints come first."""
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
    few = () if setting is None else ("true", "false") if setting.kind == "flag" else setting.choices
    return [value for value in few if value.startswith(prefix)]


@command(
    option("action", choices=list(TAKES), help="what to do"),
    option("key", nargs="?", metavar="KEY", help="a setting; for list a part of it, or a*b", completer=complete_key),
    option("value", nargs="?", metavar="VALUE", help="for set: its new value", completer=complete_value),
    one_of(
        option("--user", **scope_option("user"), help="the user's file: the default of set and unset"),
        option("--project", **scope_option("project"), help="the project's file"),
    ),
    add_json,
)
def config(options: Namespace) -> int:
    """Show and change settings, each with its source.

    The first of these that sets a value wins: a flag, an environment variable, the project's .brim/config.yaml, your
    ~/.brim/config.yaml, the default.

      list [PATTERN]   every setting with its value and where it was set
      get KEY          one value; where it was set goes to standard error
      set KEY VALUE    write it to the user's file, or with --project to the project's
      unset KEY        take it out of that file again
      path             the files that are read, the weaker first

    Comments and order in the file stay. brim refuses a change that would make the file wrong.

    Examples:
      brim config list session
      brim config get token_budget.default
      brim config set tiers.full 0.8 --project
    """
    words = [word for word in (options.key, options.value) if word is not None]
    usage, least, most = TAKES[options.action]
    check_words(f"brim config {options.action}{usage}", words, least, most)
    if options.scope and options.action in ("list", "get"):
        raise InputError(f"config {options.action}: shows what is in force, so it takes no --{options.scope}")
    action = {"list": _list, "get": _get, "set": _set, "unset": _unset, "path": _path}[options.action]
    return action(options)


def _list(options: Namespace) -> int:
    found, pattern = settings(), options.key or ""
    is_glob = bool(set("*?[") & set(pattern))
    shown = [each for each in KNOWN.values() if (fnmatchcase(each.key, pattern) if is_glob else pattern in each.key)]

    def view(_: object) -> str:
        rows = [["setting", "value", "set by", "meaning"]]
        for each in shown:
            value, origin = found.values[each.key]
            rows.append([each.key, each.shown(value), home_path(origin), each.help])
        first, *rest = table(rows).split("\n")
        above = [setting.key.rpartition(".")[0] for setting in shown]
        for at in range(len(rest) - 1, 0, -1):
            if above[at] != above[at - 1]:
                rest.insert(at, "")
        return heading("\n".join([first, *rest]))

    if shown or options.as_json:
        emit({setting.key: _setting_dict(setting, found) for setting in shown}, view, options.as_json)
    if not shown:
        note(f"no setting matches {options.key}")
    return 0 if shown else 1


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
        raise InputError(f"{setting.key} is a mapping: write it into {config_file(scope)}")
    try:
        value = setting.parsed(options.value)
    except ValueError as error:
        raise InputError(f"{setting.key} {error}") from None
    if scope == "project" and not setting.is_shared(value):
        raise InputError(f"a project's file can't set {setting.key} to {setting.shown(value)}: leave out --project")
    edit = SettingEdit(setting.key, value, scope)
    edit.write()
    return emit(edit, SettingEdit.tell, options.as_json)


def _unset(options: Namespace) -> int:
    edit = SettingEdit(options.key, REMOVED, options.scope or "user")
    if not edit.changes and options.key not in KNOWN:
        raise InputError(unknown(options.key))
    edit.write()
    found = edit.config.values.get(options.key)
    left = {} if found is None else {"value": found.value, "origin": found.origin}
    said = f"{options.key} is no longer set in {home_path(edit.path)}" if edit.changes else ""
    emit({"key": options.key, "file": edit.path, "changed": edit.changes, **left}, said, options.as_json)
    if not edit.changes and not options.as_json:
        note(f"{options.key} isn't set in {edit.path}; nothing was changed")
    if found is not None and found.origin != "default":
        note(f"{KNOWN[options.key].shown(found.value)} is in force, set by {home_path(found.origin)}")
    return 0


def _path(options: Namespace) -> int:
    every = config_paths(os.environ, working_folder())
    paths = {options.scope: config_file(options.scope)} if options.scope else every
    there = {scope: os.path.exists(path) for scope, path in paths.items()}
    view = table([[scope, "read" if there[scope] else "not there", home_path(path)] for scope, path in paths.items()])
    if options.scope:  # for $EDITOR "$(brim config path --user)"
        view = paths[options.scope]
    files = [{"scope": scope, "path": path, "exists": there[scope]} for scope, path in paths.items()]
    return emit({"files": files}, view, options.as_json)


def _setting(key: str) -> Setting:
    if key not in KNOWN:
        raise InputError(unknown(key))
    return KNOWN[key]


def _setting_dict(setting: Setting, found: Config) -> dict[str, object]:
    value, origin = found.values[setting.key]
    variable = setting.variables[0] if setting.variables else None
    return {"value": value, "origin": origin, "default": setting.default, "variable": variable}


# Trust ----------------------------------------------------------------------------------------------------------


@command(
    option("folder", nargs="?", metavar="DIR", help="a project's folder (default: the one around here)"),
    one_of(
        option("--list", action="store_true", dest="as_list", help="list the trusted projects"),
        option("--remove", action="store_true", help="stop trusting it"),
    ),
    add_yes,
    add_json,
)
def trust(options: Namespace) -> int:
    """Let agents use this project's rules and settings.

    Anyone may have written the .brim/ folder of a project that you cloned, so hooks and servers ignore it until you
    trust this folder, once. brim first shows what that would let in. Your own constraints stay in force, whatever a
    project says. Commands that you type yourself always use the project.

    Examples:
      brim trust
      brim trust ~/shop --yes
      brim trust --list
      brim trust --remove
    """
    user = user_folder(os.environ)
    if options.as_list:
        if options.folder is not None:
            raise InputError(f"--list lists every trusted project, so it takes no {options.folder}")
        return _list_trusted(user, as_json=options.as_json)
    return _remove_trust(options, user) if options.remove else _trust(options, user)


def _list_trusted(user: str, *, as_json: bool) -> int:
    rows, projects = [["since", "project", ""]], []
    for path, at in trusted_projects(user).items():
        valid = is_trusted(path, user)
        projects.append({"project": path, "since": day(at), "valid": valid})
        gone = "" if valid else "is gone, or another folder is in its place: not trusted"
        rows.append([day(at), home_path(path), gone])
    if not projects:
        note("no trusted projects yet: run 'brim trust' in one")
    return emit({"projects": projects}, heading(table(rows)) if projects else "", as_json)


def _remove_trust(options: Namespace, user: str) -> int:
    path = os.path.realpath(options.folder if options.folder is not None else working_folder() or "/")
    if path not in trusted_projects(user):
        path = (project_folder(os.environ, path) if os.path.isdir(path) else None) or path
    was = path in trusted_projects(user)
    if was and not options.dry_run:
        untrust(path, user, now=time.time())
    said = f"{home_path(path)} {'would no longer be' if options.dry_run else 'is no longer'} trusted" if was else ""
    found = {"project": path, "trusted": was and options.dry_run, "changed": was and not options.dry_run}
    emit(found, said, options.as_json)
    if not was and not options.as_json:
        note(f"{path} wasn't trusted; nothing was changed")
    return 0 if was else 1


def _trust(options: Namespace, user: str) -> int:
    folder = options.folder if options.folder is not None else working_folder()
    if folder is None or not os.path.isdir(folder):
        raise InputError(f"{options.folder or 'the working folder'}: no such folder")
    project = project_folder(os.environ, folder)
    if project is None:
        raise InputError(f"{folder}: not a project: no .brim/ or .git in it or above it")
    already = is_trusted(project, user)
    behaviors, refused = project_rules(project, user)
    sets = project_settings(project)
    if not options.as_json:
        say(_trust_view(project, behaviors, refused, sets))
    done = already
    if not already and not options.dry_run:
        question = "Let agents be told this, and what is stored here later?"
        done = says_yes(question, yes=options.yes, no="the project is not trusted")
        if done:
            trust_project(project, user, now=time.time())
    shown = [
        {"id": each.id, "name": each.name, "kind": each.kind.value, "summary": one_line(each)} for each in behaviors
    ]
    found = {"project": project, "trusted": done, "changed": done and not already}
    found |= {"behaviors": shown, "settings": sets, "refused": refused}
    said = "already trusted" if already else "trusted now; 'brim trust --remove' undoes this"
    return emit(found, said if done else "", options.as_json, code=0 if done or options.dry_run else 1)


def _trust_view(project: str, behaviors: list[Behavior], refused: list[str], sets: dict[str, object]) -> str:
    counts = Counter(each.kind.value for each in behaviors)
    kinds = ", ".join(f"{n:,} {kind}" if kind == "episodic" else counted(n, kind) for kind, n in counts.items())
    rows, more = listed([["", kind_of(each), cut(one_line(each), 100)] for each in behaviors], SHOWN)
    shared = os.path.exists(os.path.join(project, ".brim", "behaviors.jsonl"))
    return lines(
        f"{home_path(project)}: {counted(len(behaviors), 'rule')}{f' ({kinds})' if kinds else ''}",
        table(rows) if rows else "",
        f"  {more}" if more else "",
        printable(f"  it sets {', '.join(sets)} in .brim/config.yaml") if sets else "",
        *(printable(f"  not followed: {text}") for text in refused),
        "  .brim/behaviors.jsonl is used only after 'brim rules import'" if shared else "",
    )


# The shell ------------------------------------------------------------------------------------------------------


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
