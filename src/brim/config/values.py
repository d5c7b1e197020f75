"""The settings in force: flag > environment > project file > user file > built-in default.

A project's file never changes how the user's own rules and limits work: ``Config.yours`` has the
settings without it. Hooks pass *problems*: then a wrong setting is left out and noted there,
instead of raising an error.

Hooks read a cache, so that they needn't import YAML: one small JSON file per project in the user's
folder. It holds what the *files* set, never the environment, and the stamp (size, times, inode) of
every file that was looked for, even if it was missing. A file that changed a moment ago could
change again without a new stamp, so it's cached a little later. A cache that is missing, broken,
out of date or read-only only costs time.
"""

from __future__ import annotations

import json
import os
import time
from collections import namedtuple
from collections.abc import Iterable, Mapping
from typing import Any

from brim.config.places import config_paths, user_folder
from brim.config.settings import ORDERED, SETTINGS, Setting
from brim.errors import ConfigError, InputError
from brim.files import replace_file, sha256_hex

Files = tuple[dict[str, dict[str, "Value"]], dict[str, str]]
"""The settings of each file, by ``user`` and ``project``, and ``FILE:LINE`` of every key."""
Problems = dict[str, str]
"""The first problem with each of ``user`` and ``project``."""

FORMAT = 3
"""The format of a cache; another one is replaced."""

SETTLING = 2.0
"""Seconds after which a second change gets another time stamp: file systems have coarse clocks."""

DEFAULT = "default"
"""The origin of a value that isn't set."""

KNOWN = {setting.key: setting for setting in SETTINGS}

Value = namedtuple("Value", ("value", "origin"))
"""A setting's value and where it was set: a flag, a variable, ``FILE:LINE``, the setting it
follows, or ``default``."""

DEFAULTS = {setting.key: Value(setting.default, DEFAULT) for setting in SETTINGS}


class Config:
    """The settings in force: ``config["mode"]``.

    ``config.values["mode"].origin`` says where it was set.
    """

    def __init__(
        self,
        values: Mapping[str, Value],
        lines: Mapping[str, str],
        yours: Mapping[str, Value] | None = None,
        ignored: Mapping[str, str] | None = None,
    ) -> None:
        self.values = dict(values)
        self._lines = dict(lines)
        self.yours = self if yours is None else Config(yours, lines)
        """The settings without the project's file: the user's own rules are planned under them."""
        self.ignored = dict(ignored or {})
        """Settings in the project's file that only the user can set, and their ``FILE:LINE``."""

    def __getitem__(self, key: str) -> Any:
        return self.values[key].value

    def section(self, name: str) -> dict[str, Any]:
        """Return the values of a section, by name: ``Session(**config.section("session"))``."""
        start = f"{name}."
        return {
            key[len(start) :]: found.value
            for key, found in self.values.items()
            if key.startswith(start)
        }

    def where(self, problem: str) -> str:
        """Return ``FILE:LINE`` of the key that *problem* begins with, or of the nearest key above
        it; else empty."""
        named = [
            key
            for key in self._lines
            if problem.startswith(key) and problem[len(key) : len(key) + 1] in "., "
        ]
        return self._lines[max(named, key=len)] if named else ""


def load(
    environ: Mapping[str, str],
    cwd: str | None,
    flags: Mapping[str, object] | None = None,
    *,
    drafts: Mapping[str, str] | None = None,
) -> Config:
    """Return the settings in force in *cwd*, with *environ* and *flags* (None means that a flag
    isn't given).

    Without *cwd* (it was deleted, or its project isn't trusted), there's no project. *drafts* maps
    the path of a configuration file to a text that is read instead, to try a change before it is
    written.
    """
    return in_force(*from_files(config_paths(environ, cwd), drafts or {}), environ, flags or {})


def from_files(
    paths: Mapping[str, str], drafts: Mapping[str, str], problems: Problems | None = None
) -> Files:
    """Return the settings in the files in *paths*, by ``user`` and ``project``, and ``FILE:LINE``
    of every key."""
    files: dict[str, dict[str, Value]] = {}
    lines: dict[str, str] = {}
    for scope, path in paths.items():
        if path not in drafts and not os.path.exists(path):
            continue
        from brim.config.text import read_settings, read_text

        wrong: list[str] | None = None if problems is None else []
        try:
            found, places = read_settings(
                drafts[path] if path in drafts else read_text(path), path, wrong
            )
        except ConfigError as error:
            _note(problems, scope, str(error))
            continue
        for problem in wrong or ():
            _note(problems, scope, problem)
        lines.update(places)
        files[scope] = {key: Value(*each) for key, each in found.items()}
    return files, lines


def _note(problems: Problems | None, scope: str, problem: str) -> None:
    """Note a *problem* with the settings of *scope*; without *problems*, raise it."""
    if problems is None:
        raise ConfigError(problem) from None
    problems.setdefault(scope, problem)


def in_force(
    files: Mapping[str, Mapping[str, Value]],
    lines: Mapping[str, str],
    environ: Mapping[str, str],
    flags: Mapping[str, object],
    problems: Problems | None = None,
) -> Config:
    """Return the settings in force: *flags* over *environ* over *files*."""
    own, merged = files.get("user", {}), dict(files.get("user", {}))
    yours, ignored = (
        _values(own, environ, flags, instead=DEFAULTS, scope="user", problems=problems),
        {},
    )
    for key, (value, origin) in files.get("project", {}).items():
        setting, weaker = KNOWN[key], own.get(key, DEFAULTS[key]).value
        if not setting.is_shared(value):
            ignored[key] = origin
        elif not setting.lowers or setting.is_lower(value, weaker):
            # Each file may name its own models. If both name one, the stronger file's entry
            # replaces the other.
            merged[key] = Value(weaker | value if key == "models" else value, origin)
    if merged == own:
        return Config(yours, lines, ignored=ignored)
    values = _values(merged, environ, flags, instead=yours, scope="project", problems=problems)
    return Config(values, lines, yours, ignored)


def _values(
    files: Mapping[str, Value],
    environ: Mapping[str, str],
    flags: Mapping[str, object],
    *,
    instead: Mapping[str, Value],
    scope: str,
    problems: Problems | None,
) -> dict[str, Value]:
    """Return each setting's value; those of *instead* where settings contradict each other."""
    values = {
        setting.key: _value_of(setting, files, environ, flags, problems) for setting in SETTINGS
    }
    for setting in SETTINGS:
        ahead = values.get(setting.follows)
        if ahead is None or ahead.origin == DEFAULT or values[setting.key].origin != DEFAULT:
            continue
        if ahead.value is None or ahead.value > setting.default:
            values[setting.key] = Value(ahead.value, setting.follows)
    for larger, smaller in ORDERED:
        if values[larger].value < values[smaller].value:
            set_there = [
                values[key].origin for key in (larger, smaller) if values[key].origin != DEFAULT
            ]
            sizes = f"{larger} ({values[larger].value:g}) is less than {smaller} ({values[smaller].value:g})"
            _note(problems, scope, f"config: {' and '.join(dict.fromkeys(set_there))}: {sizes}")
            section = larger.partition(".")[0]
            values.update(
                {
                    key: instead[key]
                    for pair in ORDERED
                    for key in pair
                    if key.startswith(f"{section}.")
                }
            )
    return values


def _value_of(
    setting: Setting,
    files: Mapping[str, Value],
    environ: Mapping[str, str],
    flags: Mapping[str, object],
    problems: Problems | None,
) -> Value:
    """Return the value of *setting* from its strongest source: flag, variable, file or default."""
    flag = flags.get(setting.key)
    if flag is not None:
        try:
            value = setting.parsed(flag) if isinstance(flag, str) else setting.checked(flag)
        except ValueError as error:
            raise InputError(f"{setting.flag} {error}") from None
        return Value(value, setting.flag)
    for variable in setting.variables:
        text = environ.get(variable, "")
        if not text:
            continue
        try:
            return Value(setting.parsed(text), variable)
        except ValueError as error:
            _note(problems, "user", f"config: {variable}: {setting.key} {error}")
            break
    return files.get(setting.key) or DEFAULTS[setting.key]


def load_cached(
    environ: Mapping[str, str],
    cwd: str | None,
    flags: Mapping[str, object] | None = None,
    *,
    now: float | None = None,
    problems: Problems | None = None,
) -> Config:
    """Return the same as ``load``, but read YAML only if a file has changed since the last time.

    Nothing is written if there are no settings files, or no user folder. *now* is in seconds since
    1970; None asks the clock. With *problems*, a wrong setting is left out and noted there; if a
    file can't be read at all, the settings that were read last stay in force.
    """
    paths = config_paths(environ, cwd)
    stamps, cache = _stamps(paths.values()), cache_path(user_folder(environ), list(paths.values()))
    found: Files = {}, {}
    wrong: Problems = {}
    if any(stamp[1:] for stamp in stamps):
        of, kept, noted = _read(cache, paths.values())
        if of == stamps:
            found, wrong = kept, noted
        else:
            found = from_files(paths, {}, wrong)
            found[0].update(
                {
                    scope: kept[0][scope]
                    for scope in wrong
                    if scope in kept[0] and scope not in found[0]
                }
            )
            moment = time.time() if now is None else now
            is_settled = all(
                abs(moment - stamp[3] / 1e9) > SETTLING for stamp in stamps if stamp[1:]
            )
            if is_settled and stamps == _stamps(paths.values()):
                # Otherwise the text may be another one.
                _write(cache, stamps, found, wrong)
    for scope, problem in wrong.items():
        _note(problems, scope, problem)
    return in_force(*found, environ, flags or {}, problems)


def cache_path(folder: str, paths: list[str]) -> str:
    """Return the cache for *paths* in the user's *folder*.

    If two share a name, their stamps differ.
    """
    return os.path.join(folder, "cache", f"config-{sha256_hex(os.fsencode(paths[-1]))[:8]}.json")


def _stamps(paths: Iterable[str]) -> list[list[Any]]:
    """Return path, size, times and inode of each file; only the path if it's missing."""
    stamps: list[list[Any]] = []
    for path in paths:
        try:
            found = os.stat(path)
        except OSError:
            stamps.append([path])
        else:
            # Anyone can set back a file's mtime, but not its ctime.
            stamps.append([path, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino])
    return stamps


def _read(cache: str, paths: Iterable[str]) -> tuple[list[Any], Files, Problems]:
    """Return the stamps, settings and problems in *cache*."""
    try:
        with open(cache, encoding="utf-8") as file:
            kept = json.loads(file.read())
        if kept["format"] != FORMAT or [stamp[0] for stamp in kept["stamps"]] != list(paths):
            return [], ({}, {}), {}
        # Each value is checked again: another version of brim may have written it.
        files = {
            str(scope): {
                key: Value(KNOWN[key].checked(value), str(origin))
                for key, (value, origin) in values.items()
            }
            for scope, values in kept["files"].items()
        }
        lines, wrong = (
            {str(key): str(text) for key, text in kept[name].items()}
            for name in ("lines", "problems")
        )
        return kept["stamps"], (files, lines), wrong
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return [], ({}, {}), {}


def _write(cache: str, stamps: list[list[Any]], found: Files, wrong: Problems) -> None:
    """Write *cache* as a whole, or not at all."""
    kept = {
        "format": FORMAT,
        "stamps": stamps,
        "files": found[0],
        "lines": found[1],
        "problems": wrong,
    }
    try:
        text = json.dumps(kept)
        if not os.path.isdir(os.path.dirname(cache)):
            os.mkdir(os.path.dirname(cache), 0o700)
        replace_file(cache, text.encode(), durable=False)
    except (OSError, ValueError, TypeError):
        # No folder, no room, no right to write, or a value that JSON has not.
        return
