"""Turns a configuration file into values, each with the line where it stands."""

from __future__ import annotations

import os
import stat

from brim.config.table import SETTINGS
from brim.errors import ConfigError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

LARGEST_FILE = 1_000_000
"""Bytes: a configuration is written by hand."""

KNOWN = {setting.key: setting for setting in SETTINGS}
SECTIONS = dict.fromkeys(key.rpartition(".")[0] for key in KNOWN if "." in key)
"""The names that settings stand under, in their order."""


def read_text(path: str) -> str:
    """Return the text of the file *path*, with its line ends as they are."""
    try:
        with open(path, encoding="utf-8", newline="", opener=_unwaiting) as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise ConfigError(f"config: {path}: not a regular file")
            if found.st_size > LARGEST_FILE:
                raise ConfigError(f"config: {path}: larger than {LARGEST_FILE:,} bytes, so it is not a configuration")
            return file.read(LARGEST_FILE)
    except UnicodeDecodeError:
        raise ConfigError(f"config: {path}: not UTF-8 text") from None
    except OSError as error:
        raise ConfigError(f"config: {path}: {error.strerror or error}") from None


def _unwaiting(path: str, flags: int) -> int:
    """Open *path* without waiting for what a pipe may bring: it may have come with a clone."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def read_settings(text: str, path: str) -> tuple[dict[str, tuple[Any, str]], dict[str, str]]:
    """Return the value and ``path:line`` of each setting in *text*, and ``path:line`` of every key, at any depth."""
    from brim._yaml import read_mapping

    tree, lines = read_mapping(text, path)
    found = {}
    for key, value in _leaves(tree, "", lines, path):
        where = _line(lines, key, path)
        try:
            found[key] = (KNOWN[key].checked(value), where)
        except ValueError as error:
            raise ConfigError(f"config: {where}: {key} {error}") from None
    return found, lines


def unknown(key: str) -> str:
    """Return what is said of *key*, which is no setting: the one that was probably meant, or those that there are."""
    section = key.rpartition(".")[0]
    if key in SECTIONS:
        return f"{key} is a section; there are {', '.join(name for name in KNOWN if name.startswith(f'{key}.'))}"
    near = _nearest(key)
    if near:
        return f"unknown key {key}; did you mean {near}?"
    names = [name for name in KNOWN if name.startswith(f"{section}.")] if section in SECTIONS else []
    names = names or [*(name for name in KNOWN if "." not in name), *SECTIONS]
    return f"unknown key {key}; there are {', '.join(names)}"


def _leaves(tree: Mapping[str, Any], section: str, lines: Mapping[str, str], path: str) -> Iterator[tuple[str, Any]]:
    for name, value in tree.items():
        key = f"{section}.{name}" if section else name
        if "." in name and key in KNOWN:
            above, _, last = key.rpartition(".")
            raise ConfigError(f"config: {_line(lines, key, path)}: write {key} as {last}: in a section {above}:")
        if key in KNOWN and "." not in name:
            yield key, value
        elif key not in SECTIONS:
            raise ConfigError(f"config: {_line(lines, key, path)}: {unknown(key)}")
        elif isinstance(value, dict):
            yield from _leaves(value, key, lines, path)
        elif value is not None:  # a section whose lines are all commented out is none
            raise ConfigError(f"config: {_line(lines, key, path)}: {key} must be a section of settings, not {value!r}")


def _line(lines: Mapping[str, str], key: str, path: str) -> str:
    """Return where *key* stands; of what came by a YAML merge (``<<``), where the nearest key above it does."""
    while key and key not in lines:
        key = key.rpartition(".")[0]
    return lines.get(key or "<<", path)


def _nearest(key: str) -> str:
    """Return the setting of the same name in another section, else the one or two that are spelled most like *key*."""
    from difflib import get_close_matches

    last = key.rpartition(".")[2]
    same = [name for name in KNOWN if name.rpartition(".")[2] == last]
    if len(same) == 1:
        return same[0]
    names = [name for name in (*KNOWN, *SECTIONS) if ("." in name) is ("." in key)]
    return " or ".join(get_close_matches(key, names, 2, 0.75))
