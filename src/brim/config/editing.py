"""Changes one key in the text of a configuration file, and leaves every other character as it is.

PyYAML forgets comments and order, so it only says where things stand; the text itself is cut there. A text that then
does not read as the old one with that one change is never returned.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import yaml

from brim._yaml import read_mapping
from brim.config.reading import SECTIONS
from brim.errors import ConfigError

BLOCK_STYLES = ("|", ">")


def with_key(text: str, key: str, value: object, path: str) -> str:
    """Return *text*, that of the file *path*, with *key* set to *value*, a text, number, flag or None."""
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
    """Return *text*, that of the file *path*, without *key*, and without its section if nothing else is in it."""
    root = _compose(text, path)
    entry = _entry(root, key)
    if entry is None:
        return text
    wanted = read_mapping(text, path)[0]
    section, _, name = key.rpartition(".")
    del (wanted[section] if section else wanted)[name]
    parent = _entry(root, section)[1] if section else root  # type: ignore[index] # the key is in it
    changed = _cut(text, parent, entry)
    if section and len(parent.value) == 1 and root.flow_style is False and parent.flow_style is False:
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
    elif getattr(node, "style", None) in BLOCK_STYLES:
        scalar += _line_end(text)
    return text[:start] + scalar + text[end:]


def _with_child(text: str, above: tuple[Any, Any], name: str, scalar: str) -> str:
    """Return *text* with one more entry in the section *above*."""
    key, section = above
    if isinstance(section, yaml.MappingNode):
        if section.flow_style:
            return _in_braces(text, section, f"{name}: {scalar}")
        indent = " " * section.value[0][0].start_mark.column
        return _inserted(text, _last_index(section), f"{indent}{name}: {scalar}")
    indent = " " * (key.start_mark.column + 2)
    return _inserted(text, key.end_mark.index, f"{indent}{name}: {scalar}")


def _with_entry(text: str, root: Any, section: str, name: str, scalar: str) -> str:
    """Return *text* with one more entry at the end, in a section of its own if it has one."""
    if root is not None and root.flow_style:
        return _in_braces(text, root, f"{section}: {{{name}: {scalar}}}" if section else f"{name}: {scalar}")
    indent = " " * (root.value[0][0].start_mark.column if root is not None else 0)
    lines = [f"{indent}{section}:", f"{indent}  {name}: {scalar}"] if section else [f"{indent}{name}: {scalar}"]
    return _inserted(text, len(text), *lines)


def _in_braces(text: str, mapping: Any, entry: str) -> str:
    at = mapping.value[-1][1].end_mark.index if mapping.value else mapping.start_mark.index + 1
    return text[:at] + (", " if mapping.value else "") + entry + text[at:]


def _inserted(text: str, index: int, *lines: str) -> str:
    """Return *text* with *lines* after the line that *index* stands in."""
    end = _line_end(text)
    at = _next_line(text, index)
    before = text[:at]
    if before.strip("\ufeff") and not before.endswith("\n"):
        before += end
    return before + "".join(line + end for line in lines) + text[at:]


def _cut(text: str, parent: Any, entry: tuple[Any, Any]) -> str:
    """Return *text* without *entry*: its lines, or its place between two commas."""
    key, value = entry
    start, end = key.start_mark.index, max(key.end_mark.index, _last_index(value))
    if not parent.flow_style:
        return text[: text.rfind("\n", 0, start) + 1] + text[_next_line(text, end) :]
    at = next(number for number, (mine, _) in enumerate(parent.value) if mine is key)
    if at + 1 < len(parent.value):
        end = parent.value[at + 1][0].start_mark.index
    elif at:
        start = parent.value[at - 1][1].end_mark.index
    return text[:start] + text[end:]


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
