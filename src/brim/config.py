"""Where settings come from: flag > environment > project file > user file > built-in default.

The project file is ``.brim/config.yaml`` in the nearest folder upwards that has a ``.brim/``, else at git's top level;
never the home folder's own. The user file is ``config.yaml`` in ``$BRIM_HOME``, else in ``~/.brim``. A library call
reads neither: whoever opens a door (the command line, a hook) loads the settings and hands them on.
"""

from __future__ import annotations

import os.path
from collections import namedtuple

from brim.errors import ConfigError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

LARGEST_FILE = 1_000_000
"""Bytes: a configuration is written by hand."""


class Setting:
    """One thing that can be set: of which *kind*, by which environment *variable*, and among which *choices*."""

    __slots__ = ("choices", "default", "help", "key", "kind", "variable")

    def __init__(
        self,
        key: str,
        kind: type,
        help: str,
        *,
        default: object = None,
        variable: str | None = None,
        choices: tuple[str, ...] = (),
    ) -> None:
        self.key, self.kind, self.help = key, kind, help
        self.default, self.variable, self.choices = default, variable, choices


MODES = ("auto", "approximate", "exact", "api")
"""The same as ``brim.tokens.MODES``, which stands above this file."""

SETTINGS = (
    Setting("model", str, "the model to count for when none is named", variable="BRIM_MODEL"),
    Setting(
        "mode",
        str,
        "how to count",
        default="auto",
        variable="BRIM_MODE",
        choices=MODES,
    ),
    Setting("models", dict, "models to add, or fields of known models to override", default={}),
)
"""Every setting that there is. Anything else in a file is an error."""


Value = namedtuple("Value", ("value", "origin"))
"""A setting's value and where it was set: a flag, a variable, ``FILE:LINE`` or ``default``."""


class Config:
    """The settings in force. ``config["mode"]`` is a value, ``config.values["mode"].origin`` says where it was set."""

    def __init__(self, values: Mapping[str, Value], lines: Mapping[str, str]) -> None:
        self.values = dict(values)
        self._lines = dict(lines)

    def __getitem__(self, key: str) -> Any:
        return self.values[key].value

    def where(self, problem: str) -> str:
        """Return ``FILE:LINE`` of the key that *problem* begins with, or of the nearest key above it; else nothing."""
        named = [key for key in self._lines if problem.startswith(key) and problem[len(key) : len(key) + 1] in "., "]
        return self._lines[max(named, key=len)] if named else ""


def load(environ: Mapping[str, str], cwd: str | None, flags: Mapping[str, object] | None = None) -> Config:
    """Return the settings in force in *cwd*, with *environ* and *flags* (None is a flag that was not given).

    A *cwd* of None is a folder that went away: no project then.
    """
    values = {setting.key: Value(setting.default, "default") for setting in SETTINGS}
    lines: dict[str, str] = {}
    for path in config_files(environ, cwd):
        for key, value, origin in _read(path, lines):
            # Each file may name models of its own; one model that both name is the stronger file's, whole.
            values[key] = Value(values[key].value | value if key == "models" else value, origin)
    for setting in SETTINGS:
        if setting.variable and environ.get(setting.variable, "") != "":
            text = environ[setting.variable]
            values[setting.key] = Value(_checked(setting, text, setting.variable), setting.variable)
    for key, value in (flags or {}).items():
        if value is not None:
            values[key] = Value(value, f"--{key}")
    return Config(values, lines)


def config_files(environ: Mapping[str, str], cwd: str | None) -> list[str]:
    """Return the configuration files that exist, the weaker first."""
    folders = [user_folder(environ)]
    project = project_folder(environ, cwd) if cwd is not None else None
    if project is not None and os.path.join(project, ".brim") != folders[0]:
        folders.append(os.path.join(project, ".brim"))
    return [path for folder in folders if os.path.exists(path := os.path.join(folder, "config.yaml"))]


def user_folder(environ: Mapping[str, str]) -> str:
    """Return the folder of the user's own files."""
    return environ.get("BRIM_HOME") or os.path.join(_home(environ), ".brim")


def project_folder(environ: Mapping[str, str], cwd: str) -> str | None:
    """Return the project that *cwd* lies in: the nearest folder with a ``.brim/``, else git's top level, else None."""
    # The working folder comes with its links resolved, so the home folder has to be as well.
    home, folder = os.path.realpath(_home(environ)), os.path.realpath(cwd)
    above = [folder]
    while (parent := os.path.dirname(folder)) != folder:
        folder = parent
        above.append(folder)
    for mark in (".brim", ".git"):
        for folder in above:
            if folder != home and os.path.exists(os.path.join(folder, mark)):
                return folder
    return None


def _home(environ: Mapping[str, str]) -> str:
    return os.path.abspath(environ.get("HOME") or environ.get("USERPROFILE") or os.path.expanduser("~"))


def _read(path: str, lines: dict[str, str]) -> list[tuple[str, Any, str]]:
    """Return the settings in *path* with their origin; note the line of every key, at any depth, in *lines*."""
    from brim._yaml import read_mapping

    try:
        if os.path.getsize(path) > LARGEST_FILE:
            raise ConfigError(f"config: {path}: larger than {LARGEST_FILE:,} bytes, so it is not a configuration")
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except UnicodeDecodeError:
        raise ConfigError(f"config: {path}: not UTF-8 text") from None
    except OSError as error:
        raise ConfigError(f"config: {path}: {error.strerror or error}") from None
    values, found = read_mapping(text, path)
    lines.update(found)
    known = {setting.key: setting for setting in SETTINGS}
    for key in values:
        if key not in known:
            raise ConfigError(f"config: {found[key]}: unknown key {key}; there are {', '.join(known)}")
    return [(key, _checked(known[key], value, found[key]), found[key]) for key, value in values.items()]


def _checked(setting: Setting, value: object, where: str) -> object:
    if not isinstance(value, setting.kind):
        kind = "a text" if setting.kind is str else "a mapping"
        raise ConfigError(f"config: {where}: {setting.key} must be {kind}, not {value!r}")
    if setting.choices and value not in setting.choices:
        raise ConfigError(f"config: {where}: {setting.key} must be one of {', '.join(setting.choices)}, not {value!r}")
    return value
