"""Which value is in force: flag > environment > project file > user file > built-in default."""

from __future__ import annotations

import os.path

from brim._light import namedtuple
from brim.config.places import config_paths
from brim.config.table import ORDERED, SETTINGS
from brim.errors import ConfigError, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from brim.config.setting import Setting

DEFAULT = "default"
"""The origin of a value that nobody set."""

LOWERED = {setting.key: setting for setting in SETTINGS if setting.lowers}
"""What a project's file can only make stricter."""

Value = namedtuple("Value", ("value", "origin"))
"""A setting's value and where it was set: a flag, a variable, ``FILE:LINE``, the setting it follows, or ``default``."""


class Config:
    """The settings in force. ``config["mode"]`` is a value, ``config.values["mode"].origin`` says where it was set."""

    def __init__(self, values: Mapping[str, Value], lines: Mapping[str, str]) -> None:
        self.values = dict(values)
        self._lines = dict(lines)

    def __getitem__(self, key: str) -> Any:
        return self.values[key].value

    def section(self, name: str) -> dict[str, Any]:
        """Return the values of a section by their names in it: ``Parameters(**config.section("activation"))``."""
        start = f"{name}."
        return {key[len(start) :]: found.value for key, found in self.values.items() if key.startswith(start)}

    def where(self, problem: str) -> str:
        """Return ``FILE:LINE`` of the key that *problem* begins with, or of the nearest key above it; else nothing."""
        named = [key for key in self._lines if problem.startswith(key) and problem[len(key) : len(key) + 1] in "., "]
        return self._lines[max(named, key=len)] if named else ""


def load(
    environ: Mapping[str, str],
    cwd: str | None,
    flags: Mapping[str, object] | None = None,
    *,
    drafts: Mapping[str, str] | None = None,
) -> Config:
    """Return the settings in force in *cwd*, with *environ* and *flags* (None is a flag that was not given).

    A *cwd* of None is a folder that went away, or a project that is not trusted: no project then. *drafts* maps the
    path of a configuration file to a text that is taken in its place: so a change can be tried before it is written.
    """
    values, lines = from_files(config_paths(environ, cwd).values(), drafts or {})
    return in_force(values, lines, environ, flags or {})


def from_files(paths: Iterable[str], drafts: Mapping[str, str]) -> tuple[dict[str, Value], dict[str, str]]:
    """Return what the files set, and ``FILE:LINE`` of every key in them. Of *paths* the user's own comes first."""
    values: dict[str, Value] = {}
    lines: dict[str, str] = {}
    for at, path in enumerate(paths):
        if path not in drafts and not os.path.exists(path):
            continue
        from brim.config.reading import read_settings, read_text

        found, places = read_settings(drafts[path] if path in drafts else read_text(path), path)
        lines.update(places)
        for key, (value, origin) in found.items():
            if at and key in LOWERED and not _lowers(LOWERED[key], value, values):
                continue
            # Each file may name models of its own; one model that both name is the stronger file's, whole.
            weaker = values[key].value if key == "models" and key in values else {}
            values[key] = Value(weaker | value if key == "models" else value, origin)
    return values, lines


def _lowers(setting: Setting, value: object, values: Mapping[str, Value]) -> bool:
    """Whether a project's *value* is stricter than what the user has set, or than the default."""
    own = values.get(setting.key)
    return setting.is_lower(value, setting.default if own is None else own.value)


def in_force(
    files: Mapping[str, Value], lines: Mapping[str, str], environ: Mapping[str, str], flags: Mapping[str, object]
) -> Config:
    """Return the settings in force: what the *files* set, under *environ*, under *flags*."""
    values = {}
    for setting in SETTINGS:
        found = files.get(setting.key) or Value(setting.default, DEFAULT)
        variable = next((name for name in setting.variables if environ.get(name, "") != ""), None)
        if variable is not None:
            try:
                found = Value(setting.parsed(environ[variable]), variable)
            except ValueError as error:
                raise ConfigError(f"config: {variable}: {setting.key} {error}") from None
        if (given := flags.get(setting.key)) is not None:
            try:
                found = Value(setting.parsed(given) if isinstance(given, str) else setting.checked(given), setting.flag)
            except ValueError as error:
                raise InputError(f"{setting.flag} {error}") from None
        values[setting.key] = found
    _follow(values)
    _check_order(values)
    return Config(values, lines)


def _follow(values: dict[str, Value]) -> None:
    for setting in SETTINGS:
        if setting.follows and values[setting.key].origin == DEFAULT:
            ahead = values[setting.follows]
            if ahead.origin != DEFAULT and (ahead.value is None or ahead.value > setting.default):
                values[setting.key] = Value(ahead.value, setting.follows)


def _check_order(values: Mapping[str, Value]) -> None:
    for larger, smaller in ORDERED:
        if values[larger].value < values[smaller].value:
            set_there = [values[key].origin for key in (larger, smaller) if values[key].origin != DEFAULT]
            sizes = f"{larger} ({values[larger].value:g}) is less than {smaller} ({values[smaller].value:g})"
            raise ConfigError(f"config: {' and '.join(dict.fromkeys(set_there))}: {sizes}")
