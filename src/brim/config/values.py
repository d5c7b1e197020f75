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

LIMITS = "limits"
"""Not taken from the cache if the file has a mistake: a copy of them is newer (``money.settings``).
"""
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
        self.yours = self
        """The settings without the project's file: the user's own rules are planned under them."""
        if yours is not None:
            self.yours = Config(yours, lines)
        self.ignored = dict(ignored or {})
        """Settings in the project's file that only the user can set, and their ``FILE:LINE``."""

    def __getitem__(self, key: str) -> Any:
        return self.values[key].value

    def section(self, name: str) -> dict[str, Any]:
        """Return the values of a section, by name: ``Session(**config.section("session"))``."""
        values = {}
        for key, value in self.values.items():
            section, _, name_in_section = key.partition(".")
            if section == name and name_in_section:
                values[name_in_section] = value.value
        return values

    def where(self, problem: str) -> str:
        """Return ``FILE:LINE`` of the key that *problem* begins with, or of the nearest key above
        it; else empty."""
        nearest = ""
        for key in self._lines:
            begins_with_key = problem.startswith(key) and problem[len(key) : len(key) + 1] in "., "
            if begins_with_key and len(key) > len(nearest):
                nearest = key
        return self._lines.get(nearest, "")


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
    files, lines = from_files(config_paths(environ, cwd), drafts or {})
    return in_force(files, lines, environ, flags or {})


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

        mistakes: list[str] | None = None
        if problems is not None:
            mistakes = []
        try:
            text = drafts.get(path)
            if text is None:
                text = read_text(path)
            settings, places = read_settings(text, path, mistakes)
        except ConfigError as error:
            _note(problems, scope, str(error))
            continue
        for mistake in mistakes or ():
            _note(problems, scope, mistake)
        lines.update(places)
        files[scope] = {}
        for key, (value, origin) in settings.items():
            files[scope][key] = Value(value, origin)
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
    user_file = files.get("user", {})
    users_own = _values(
        user_file, environ, flags, instead=DEFAULTS, scope="user", problems=problems
    )
    merged = dict(user_file)
    ignored = {}
    for key, (value, origin) in files.get("project", {}).items():
        setting = KNOWN[key]
        users_value = user_file.get(key, DEFAULTS[key]).value
        if not setting.is_shared(value):
            ignored[key] = origin
        elif key == "models":
            # Each file may name its own models. If both name one, the stronger file's entry
            # replaces the other.
            merged[key] = Value(users_value | value, origin)
        elif not setting.lowers or setting.is_lower(value, users_value):
            merged[key] = Value(value, origin)
    if merged == user_file:
        return Config(users_own, lines, ignored=ignored)
    values = _values(merged, environ, flags, instead=users_own, scope="project", problems=problems)
    return Config(values, lines, users_own, ignored)


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
    values = {}
    for setting in SETTINGS:
        values[setting.key] = _value_of(setting, files, environ, flags, problems)
    _follow(values)
    for larger, smaller in ORDERED:
        if values[larger].value < values[smaller].value:
            _note(problems, scope, _contradiction(values, larger, smaller))
            section = larger.partition(".")[0]
            for key in _ordered_keys(section):
                values[key] = instead[key]
    return values


def _follow(values: dict[str, Value]) -> None:
    """Raise settings that aren't set to the value of the setting that each follows."""
    for setting in SETTINGS:
        if not setting.follows or values[setting.key].origin != DEFAULT:
            continue
        leader = values[setting.follows]
        if leader.origin == DEFAULT:
            continue
        is_higher = leader.value is None or leader.value > setting.default
        if is_higher:
            values[setting.key] = Value(leader.value, setting.follows)


def _contradiction(values: Mapping[str, Value], larger: str, smaller: str) -> str:
    """Say that *larger* is less than *smaller*, and where they are set."""
    origins = []
    for key in (larger, smaller):
        origin = values[key].origin
        if origin != DEFAULT and origin not in origins:
            origins.append(origin)
    large = f"{larger} ({values[larger].value:g})"
    small = f"{smaller} ({values[smaller].value:g})"
    return f"config: {' and '.join(origins)}: {large} is less than {small}"


def _ordered_keys(section: str) -> set[str]:
    """Return the settings of *section* that are in ``ORDERED``."""
    keys: set[str] = set()
    for pair in ORDERED:
        keys.update(pair)
    return {key for key in keys if key.startswith(f"{section}.")}


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
        return _flag_value(setting, flag)
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


def _flag_value(setting: Setting, flag: object) -> Value:
    try:
        if isinstance(flag, str):
            return Value(setting.parsed(flag), setting.flag)
        return Value(setting.checked(flag), setting.flag)
    except ValueError as error:
        raise InputError(f"{setting.flag} {error}") from None


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
    if now is None:
        now = time.time()
    files, lines, mistakes = _files_by_cache(paths, user_folder(environ), now)
    for scope, mistake in mistakes.items():
        _note(problems, scope, mistake)
    return in_force(files, lines, environ, flags or {}, problems)


def _files_by_cache(
    paths: Mapping[str, str], user_folder: str, now: float
) -> tuple[dict[str, dict[str, Value]], dict[str, str], Problems]:
    """Return the settings in the files in *paths*, the line of each key, and what is wrong.

    They come from the cache if no file has changed since it was written.
    """
    stamps = _stamps(paths.values())
    mistakes: Problems = {}
    if not any(map(_exists, stamps)):
        return {}, {}, mistakes
    cache = cache_path(user_folder, list(paths.values()))
    cached_stamps, (cached_files, cached_lines), cached_mistakes = _read(cache, paths.values())
    if cached_stamps == stamps:
        return cached_files, cached_lines, cached_mistakes
    files, lines = from_files(paths, {}, mistakes)
    for scope in mistakes:
        if scope in cached_files and scope not in files:
            files[scope] = cached_files[scope]
            files[scope].pop(LIMITS, None)
    # If a file has changed meanwhile, the text may be another one than that of the stamps.
    if _are_settled(stamps, now) and stamps == _stamps(paths.values()):
        _write(cache, stamps, (files, lines), mistakes)
    return files, lines, mistakes


def _exists(stamp: list[Any]) -> bool:
    """Whether there is a file with this stamp."""
    return len(stamp) > 1


def _are_settled(stamps: list[list[Any]], now: float) -> bool:
    """Whether every file would get another stamp if it was changed *now*."""
    changed_at = [stamp[3] / 1e9 for stamp in stamps if _exists(stamp)]
    return all(abs(now - moment) > SETTLING for moment in changed_at)


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
            status = os.stat(path)
        except OSError:
            stamps.append([path])
            continue
        # Anyone can set back a file's mtime, but not its ctime.
        times = [status.st_mtime_ns, status.st_ctime_ns]
        stamps.append([path, status.st_size, *times, status.st_ino])
    return stamps


def _read(cache: str, paths: Iterable[str]) -> tuple[list[Any], Files, Problems]:
    """Return the stamps, settings and problems in *cache*."""
    try:
        with open(cache, encoding="utf-8") as file:
            cached = json.loads(file.read())
        cached_paths = [stamp[0] for stamp in cached["stamps"]]
        if cached["format"] != FORMAT or cached_paths != list(paths):
            return [], ({}, {}), {}
        files: dict[str, dict[str, Value]] = {}
        for scope, values in cached["files"].items():
            files[str(scope)] = _checked_values(values)
        lines = _texts(cached["lines"])
        return cached["stamps"], (files, lines), _texts(cached["problems"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return [], ({}, {}), {}


def _checked_values(values: Mapping[str, Any]) -> dict[str, Value]:
    """Return the *values* of a cache, checked again: another version may have written them."""
    checked = {}
    for key, (value, origin) in values.items():
        checked[key] = Value(KNOWN[key].checked(value), str(origin))
    return checked


def _texts(mapping: Mapping[Any, Any]) -> dict[str, str]:
    return {str(key): str(text) for key, text in mapping.items()}


def _write(cache: str, stamps: list[list[Any]], content: Files, problems: Problems) -> None:
    """Write *cache* as a whole, or not at all."""
    files, lines = content
    cached = {
        "format": FORMAT,
        "stamps": stamps,
        "files": files,
        "lines": lines,
        "problems": problems,
    }
    try:
        text = json.dumps(cached)
        if not os.path.isdir(os.path.dirname(cache)):
            os.mkdir(os.path.dirname(cache), 0o700)
        replace_file(cache, text.encode(), durable=False)
    except (OSError, ValueError, TypeError):
        # No folder, no room, no right to write, or a value that JSON has not.
        return
