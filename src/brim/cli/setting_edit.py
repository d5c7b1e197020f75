"""Changes of one setting in a configuration file: tried first, then written. Comments and order stay."""

from __future__ import annotations

import os
from typing import Any

from brim.cli.options import here, working_folder
from brim.cli.output import home_path, note, say
from brim.config.places import config_paths
from brim.config.text import KNOWN, read_text, with_key, without_key
from brim.config.values import Config, load
from brim.errors import BrimError, ConfigError, InputError
from brim.store.project import make_folder

REMOVED = object()
"""The value of a setting that is taken out of the file."""


class SettingEdit:
    """*key* as it will be in the file of *scope* (``user`` or ``project``): *value*, or ``REMOVED``."""

    def __init__(self, key: str, value: object, scope: str) -> None:
        self.key, self.value, self.path = key, value, config_file(scope)
        self._before = _text(self.path)
        edited = without_key(self._before, key, self.path) if value is REMOVED else None
        self._after = with_key(self._before, key, value, self.path) if edited is None else edited
        self.config = _tried(self.path, self._after)

    @property
    def changes(self) -> bool:
        """Whether the file has to be written."""
        return self._before != self._after

    @property
    def hidden_by(self) -> str:
        """Where a stronger value of the setting comes from; empty if there is none."""
        origin = self.config.values[self.key].origin
        return "" if origin.startswith(f"{self.path}:") else origin

    def write(self) -> None:
        """Write the file, unless it would stay the same."""
        if not self.changes:
            return
        folder = os.path.dirname(self.path)
        if self.path == _paths().get("project") and not os.path.lexists(folder):
            here().begin_project()
        try:
            make_folder(folder)
        except OSError as error:
            raise ConfigError(f"config: {folder}: cannot be made: {error.strerror or error}") from None
        if _text(self.path) != self._before:
            raise ConfigError(f"config: {self.path}: it was changed by another program just now; try again")
        here().save_settings(self.path, self._after)

    def tell(self) -> None:
        """Print the new value, and the stronger one if there is one."""
        shown = KNOWN[self.key].shown
        say(f"{self.key} = {shown(self.value)}  {home_path(self.path)}")
        if self.hidden_by:
            note(f"{self.hidden_by} is stronger: {shown(self.config[self.key])} stays in force")

    def to_dict(self) -> dict[str, Any]:
        """Return it for ``--json``."""
        set_to = {"key": self.key, "value": self.value, "file": self.path}
        return {**set_to, "changed": self.changes, "hidden_by": self.hidden_by}


def config_file(scope: str) -> str:
    """Return the configuration file of *scope*, whether it is there or not."""
    paths = _paths()
    if scope not in paths:
        raise InputError("not in a project: a project is a folder with .brim/ or .git in it; make one with mkdir .brim")
    return paths[scope]


def _paths() -> dict[str, str]:
    return config_paths(os.environ, working_folder())


def _text(path: str) -> str:
    return read_text(path) if os.path.exists(path) else ""


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
    except BrimError:  # a wrong variable is not the file's fault
        return found
