"""The change of one setting in a configuration file: tried first, then written. Comments and order stay."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from brim.config.places import config_paths
from brim.config.text import KNOWN, read_text, with_key, without_key
from brim.config.values import Config, load
from brim.errors import BrimError, ConfigError, InputError

REMOVED = object()
"""The value of a setting that is taken out of the file."""


class SettingEdit:
    """*key* as it will be in the file of *scope* (``user`` or ``project``): *value*, or ``REMOVED``."""

    def __init__(self, environ: Mapping[str, str], cwd: str | None, key: str, value: object, scope: str) -> None:
        self.key, self.value, self.path = key, value, config_file(environ, cwd, scope)
        self._before = _text(self.path)
        edited = without_key(self._before, key, self.path) if value is REMOVED else None
        self._after = with_key(self._before, key, value, self.path) if edited is None else edited
        self.config = _tried(environ, cwd, {self.path: self._after})

    @property
    def changes(self) -> bool:
        """Whether the file has to be written."""
        return self._before != self._after

    @property
    def hidden_by(self) -> str:
        """Where a stronger value of the setting comes from; empty if there is none."""
        origin = self.config.values[self.key].origin
        return "" if origin.startswith(f"{self.path}:") else origin

    def write(self, save: Callable[[str, str], object]) -> None:
        """Write the file with *save* (``Workspace.save_settings``), unless it would stay the same."""
        if self.changes and _text(self.path) != self._before:
            raise ConfigError(f"config: {self.path}: it was changed by another program just now; try again")
        if self.changes:
            save(self.path, self._after)

    def to_dict(self) -> dict[str, Any]:
        """Return it for ``--json``."""
        set_to = {"key": self.key, "value": self.value, "file": self.path}
        return {**set_to, "changed": self.changes, "hidden_by": self.hidden_by}


def config_file(environ: Mapping[str, str], cwd: str | None, scope: str) -> str:
    """Return the configuration file of *scope*, whether it is there or not."""
    paths = config_paths(environ, cwd)
    if scope not in paths:
        raise InputError("not in a project: a project is a folder with .brim/ or .git in it; make one with mkdir .brim")
    return paths[scope]


def _text(path: str) -> str:
    return read_text(path) if os.path.exists(path) else ""


def _tried(environ: Mapping[str, str], cwd: str | None, drafts: dict[str, str]) -> Config:
    """Return what would be in force with *drafts*; raise if that would be wrong, whatever the environment."""
    variables = {name for setting in KNOWN.values() for name in setting.variables}
    plain = {name: value for name, value in environ.items() if name not in variables}
    try:
        found = load(plain, cwd, drafts=drafts)
    except BrimError as error:
        raise ConfigError(f"{''.join(drafts)} is as it was: {error}") from None
    try:
        return load(environ, cwd, drafts=drafts)
    except BrimError:  # a wrong variable is not the file's fault
        return found
