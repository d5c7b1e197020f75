"""The text of a configuration file, read and edited key by key.

Reading keeps the line of each key. Editing changes one key and leaves the rest as it is.

PyYAML forgets comments and order, so it only says where things are; the text itself is cut there. A text that then does
not read as the old one with that one change is never returned.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from copy import deepcopy
from difflib import get_close_matches
from typing import Any

import yaml

from brim._yaml import read_mapping
from brim.config.settings import REMOVED, SETTINGS
from brim.errors import ConfigError

LARGEST_FILE = 1_000_000
"""Bytes: a configuration is written by hand."""

KNOWN = {setting.key: setting for setting in SETTINGS}
SECTIONS = dict.fromkeys(key.rpartition(".")[0] for key in KNOWN if "." in key)
"""The names that settings stand under, in their order."""


def read_text(path: str) -> str:
    """Return the text of the file *path*, with its original line ends.

    Never waits for a pipe.
    """
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
    """Return the settings in *text* with their ``path:line``.

    Also returns the ``path:line`` of every key, at any depth.
    """
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
    """Return the error message for *key*, an unknown setting.

    It suggests the most similar setting, or lists the known ones.
    """
    section = key.rpartition(".")[0]
    if key in REMOVED:
        return f"{key} is no longer a setting"
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
        if key in REMOVED:
            continue
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
    last = key.rpartition(".")[2]
    same = [name for name in KNOWN if name.rpartition(".")[2] == last]
    if len(same) == 1:
        return same[0]
    names = [name for name in (*KNOWN, *SECTIONS) if ("." in name) is ("." in key)]
    return " or ".join(get_close_matches(key, names, 2, 0.75))


def with_key(text: str, key: str, value: object, path: str) -> str:
    """Return *text*, the content of *path*, with *key* set to *value*.

    *value* is a string, number, bool or None.
    """
    root = _compose(text, path)
    wanted = _cleaned(read_mapping(text, path)[0])
    section, _, name = key.rpartition(".")
    (wanted.setdefault(section, {}) if section else wanted)[name] = value
    entry = _entry(root, key)
    if entry is not None:
        changed = _replaced(text, entry[1], _scalar(value))
    elif section and (above := _entry(root, section)) is not None:
        changed = _with_child(text, above, name, _scalar(value))
    else:
        changed = _with_entry(text, root, section, name, _scalar(value))
    return _agreed(changed, wanted, f"set {key}", path)


def without_key(text: str, key: str, path: str) -> str:
    """Return *text*, the content of *path*, without *key*.

    Removes the key's section too if nothing else is in it.
    """
    root = _compose(text, path)
    entry = _entry(root, key)
    if entry is None:
        return text
    wanted = read_mapping(text, path)[0]
    section, _, name = key.rpartition(".")
    del (wanted[section] if section else wanted)[name]
    parent = _entry(root, section)[1] if section else root  # type: ignore[index] # the key is in it
    start, end = entry[0].start_mark.index, max(entry[0].end_mark.index, _last_index(entry[1]))
    changed = text[: text.rfind("\n", 0, start) + 1] + text[_next_line(text, end) :]
    if section and len(parent.value) == 1:
        changed = _without_heading(changed, section)
    return _agreed(changed, _cleaned(wanted), f"unset {key}", path)


def _compose(text: str, path: str) -> Any:
    """Return the root of *text*, None if nothing is in it; the slow loader, because its marks count characters."""
    read_mapping(text, path)  # says what is wrong, and where
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    return root if isinstance(root, yaml.MappingNode) else None


def _entry(root: Any, key: str) -> tuple[Any, Any] | None:
    """Return the nodes of *key* and of its value, if it is there."""
    node, found = root, None
    for name in key.split("."):
        if not isinstance(node, yaml.MappingNode):
            return None
        found = next(((mine, value) for mine, value in node.value if mine.value == name), None)
        if found is None:
            return None
        node = found[1]
    return found


def _replaced(text: str, node: Any, scalar: str) -> str:
    start, end = node.start_mark.index, node.end_mark.index
    if start == end:  # nothing stood there
        scalar = f" {scalar}"
    elif getattr(node, "style", None) in ("|", ">"):
        scalar += _line_end(text)
    return text[:start] + scalar + text[end:]


def _with_child(text: str, above: tuple[Any, Any], name: str, scalar: str) -> str:
    """Return *text* with one more entry in the section *above*."""
    key, section = above
    if isinstance(section, yaml.MappingNode) and section.value:
        indent = " " * section.value[0][0].start_mark.column
        return _inserted(text, _last_index(section), f"{indent}{name}: {scalar}")
    indent = " " * (key.start_mark.column + 2)
    return _inserted(text, key.end_mark.index, f"{indent}{name}: {scalar}")


def _with_entry(text: str, root: Any, section: str, name: str, scalar: str) -> str:
    """Return *text* with one more entry at the end, in a section of its own if it has one."""
    indent = " " * (root.value[0][0].start_mark.column if root is not None and root.value else 0)
    lines = [f"{indent}{section}:", f"{indent}  {name}: {scalar}"] if section else [f"{indent}{name}: {scalar}"]
    return _inserted(text, len(text), *lines)


def _inserted(text: str, index: int, *lines: str) -> str:
    """Return *text* with *lines* after the line that *index* stands in."""
    end = _line_end(text)
    at = _next_line(text, index)
    before = text[:at]
    if before.strip("\ufeff") and not before.endswith("\n"):
        before += end
    return before + "".join(line + end for line in lines) + text[at:]


def _without_heading(text: str, section: str) -> str:
    """Return *text* without the line of a *section* that nothing is in; a comment beside it keeps the line."""
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if line.rstrip() != f"{section}:")


def _last_index(node: Any) -> int:
    """Return where *node* ends; PyYAML says of a block that it ends where the next thing begins."""
    if isinstance(node, yaml.ScalarNode) or node.flow_style or not node.value:
        return int(node.end_mark.index)
    last = node.value[-1]
    return max(last[0].end_mark.index, _last_index(last[1])) if isinstance(last, tuple) else _last_index(last)


def _next_line(text: str, index: int) -> int:
    """Return where the line after the one with *index* begins; *index* itself, if it stands at a beginning."""
    if index and text[index - 1] == "\n":
        return index
    end = text.find("\n", index)
    return end + 1 if end >= 0 else len(text)


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _scalar(value: object) -> str:
    """Return *value* as YAML on one line, so that it is read back as what it is."""
    plain = not isinstance(value, str) or value.isprintable()
    text = yaml.safe_dump(value, width=float("inf"), allow_unicode=plain, default_style=None if plain else '"')
    return text.removesuffix("...\n").rstrip("\n")


def _cleaned(tree: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of *tree* without empty sections: they say nothing."""
    return {
        key: deepcopy(value) for key, value in tree.items() if value != {} and not (value is None and key in SECTIONS)
    }


def _agreed(changed: str, wanted: dict[str, Any], what: str, path: str) -> str:
    try:
        if _cleaned(read_mapping(changed, path)[0]) == _cleaned(wanted):
            return changed
    except ConfigError:
        pass
    raise ConfigError(f"config: {path}: cannot {what} without touching something else; please edit it by hand")
