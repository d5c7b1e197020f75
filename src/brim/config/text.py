"""Reads a configuration file with the line of each key, and changes one setting without touching
the rest.

PyYAML loses comments and order, so it's only asked where things are, and the text is edited there.
The new text is parsed again, and returned only if it differs from the old one by that one change.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from difflib import get_close_matches
from typing import Any

import yaml

from brim.config.places import config_paths
from brim.config.values import KNOWN, Config, load
from brim.errors import BrimError, ConfigError, InputError

LARGEST_FILE = 1 << 16
"""Bytes: a configuration is written by hand, and a hook has a second in which to read it."""

MOST_VALUES = 10_000
"""Values in one file, counting each repetition by an alias: aliases of aliases would multiply
without end."""
DEEPEST = 100
"""Lists and mappings inside each other."""
LONGEST_NUMBER = 100
"""Characters: YAML reads ``1:59:59`` as a number, in a time that grows with the square of its
length."""

_FASTEST: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class ConfigLoader(_FASTEST):  # type: ignore[misc] # which of two it is depends on how PyYAML was built
    """Makes plain values only, and says where one is that it can't make."""

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        """Return the value of *node*."""
        try:
            if node.tag in _NUMBER_TAGS and len(node.value) > LONGEST_NUMBER:
                raise ValueError(
                    f"a number has at most {LONGEST_NUMBER} characters; put a text in quotes"
                )
            return super().construct_object(node, deep)
        except (ValueError, OverflowError) as error:
            raise yaml.constructor.ConstructorError(
                None, None, str(error), node.start_mark
            ) from None


_NUMBER_TAGS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
_KEY_TAGS = ("tag:yaml.org,2002:str", "tag:yaml.org,2002:merge")

SECTIONS = dict.fromkeys(key.rpartition(".")[0] for key in KNOWN if "." in key)
"""The sections of settings, in order."""


def read_text(path: str) -> str:
    """Return the text of the file *path* with its original line ends.

    A pipe is refused, not waited for.
    """

    def without_waiting(path: str, flags: int) -> int:  # a pipe may have come with a clone
        return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))

    try:
        with open(path, encoding="utf-8", newline="", opener=without_waiting) as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise ConfigError(f"config: {path}: not a regular file")
            if found.st_size > LARGEST_FILE:
                raise ConfigError(
                    f"config: {path}: larger than {LARGEST_FILE:,} bytes, so it is not a configuration"
                )
            return file.read(LARGEST_FILE)
    except UnicodeDecodeError:
        raise ConfigError(f"config: {path}: not UTF-8 text") from None
    except OSError as error:
        raise ConfigError(f"config: {path}: {error.strerror or error}") from None


def read_mapping(
    text: str, name: str, most: int = MOST_VALUES
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the mapping in *text*, and ``name:line`` of each of its keys, nested ones joined by
    dots.

    An empty text is an empty mapping. A key that stands twice in one mapping is an error: one of
    them would be lost. So is a text of more than *most* values.
    """
    lines: dict[str, str] = {}
    try:
        _check_bounds(text, name, most)
        loader = ConfigLoader(text)
        node = loader.get_single_node()
        if node is None or (isinstance(node, yaml.ScalarNode) and not node.value):
            return {}, {}
        if not isinstance(node, yaml.MappingNode):
            raise ConfigError(f"config: {name}:1: must be a mapping of settings (key: value)")
        _note_lines(node, "", name, lines)
        return loader.construct_document(node), lines
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise ConfigError(
            f"config: {name}:{line}: not valid YAML: {error.problem or error}"
        ) from None
    except yaml.YAMLError as error:
        line = text.encode("utf-8", "replace").count(b"\n", 0, getattr(error, "position", 0)) + 1
        raise ConfigError(
            f"config: {name}:{line}: not valid YAML: {' '.join(str(error).split())}"
        ) from None
    except RecursionError:  # aliases of aliases nest too
        raise ConfigError(f"config: {name}: nested too deeply") from None


def _check_bounds(text: str, name: str, most: int) -> None:
    """Raise if *text* nests too deeply or holds too much.

    This parses step by step, so it ends early.
    """
    sizes: dict[str, int] = {}
    inside: list[tuple[str | None, int]] = []
    count = 0
    for event in yaml.parse(text, Loader=ConfigLoader):
        if isinstance(event, yaml.AliasEvent):
            count += sizes.get(event.anchor or "", 1)
        elif isinstance(event, yaml.NodeEvent):
            if isinstance(event, yaml.CollectionStartEvent):
                inside.append((event.anchor, count))
            if event.anchor:  # until a list or mapping ends, its alias would hold itself
                sizes[event.anchor] = 1 if isinstance(event, yaml.ScalarEvent) else most
            count += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = inside.pop()
            if anchor:
                sizes[anchor] = count - before
        if count > most or len(inside) > DEEPEST:
            what = (
                f"nested more than {DEEPEST} deep"
                if count <= most
                else f"holds more than {most:,} values"
            )
            also = ", counting what aliases repeat" if count > most and sizes else ""
            raise ConfigError(f"config: {name}:{event.start_mark.line + 1}: {what}{also}")


def _note_lines(node: Any, prefix: str, name: str, lines: dict[str, str]) -> None:
    if not isinstance(node, yaml.MappingNode):
        return
    seen: set[str] = set()
    for key_node, value_node in node.value:
        where = f"{name}:{key_node.start_mark.line + 1}"
        if not isinstance(key_node, yaml.ScalarNode) or key_node.tag not in _KEY_TAGS:
            raise ConfigError(f"config: {where}: a key must be a text; put it in quotes")
        if key_node.value in seen:
            raise ConfigError(f"config: {where}: {prefix}{key_node.value} is set twice")
        seen.add(key_node.value)
        lines[prefix + key_node.value] = where
        _note_lines(value_node, f"{prefix}{key_node.value}.", name, lines)


def read_settings(
    text: str, path: str, problems: list[str] | None = None
) -> tuple[dict[str, tuple[Any, str]], dict[str, str]]:
    """Return the value and ``path:line`` of each setting in *text*, and ``path:line`` of every key,
    at any depth.

    A wrong key or value is an error; with *problems* it's left out and added to them.
    """
    tree, lines = read_mapping(text, path)
    found = {}
    for key, value in _leaves(tree, ""):
        where = _line(lines, key, path)
        try:
            found[key] = (_checked(tree, key, value), where)
        except ValueError as error:
            if problems is None:
                raise ConfigError(f"config: {where}: {error}") from None
            problems.append(f"config: {where}: {error}")
    return found, lines


def unknown(key: str) -> str:
    """Say that *key* isn't a setting, and which one was probably meant."""
    section, _, last = key.rpartition(".")
    within = [name for name in KNOWN if name.startswith(f"{key if key in SECTIONS else section}.")]
    if key in SECTIONS:
        return f"{key} is a section; there are {', '.join(within)}"
    near = [
        name for name in KNOWN if name.rpartition(".")[2] == last
    ]  # of the same name in another section
    if len(near) != 1:
        names = [name for name in (*KNOWN, *SECTIONS) if ("." in name) is ("." in key)]
        near = get_close_matches(key, names, 2, 0.75)
    if near:
        return f"unknown key {key}; did you mean {' or '.join(near)}?"
    return f"unknown key {key}; there are {', '.join(within or [*(name for name in KNOWN if '.' not in name), *SECTIONS])}"


def _leaves(tree: Mapping[str, Any], section: str) -> Iterator[tuple[str, Any]]:
    """Yield key and value of everything in *tree*, settings or not.

    An empty section yields nothing.
    """
    for name, value in tree.items():
        key = f"{section}.{name}" if section else name
        if name in SECTIONS and not section and isinstance(value, dict | None):
            yield from _leaves(value or {}, key)
        else:
            yield key, value


def _checked(tree: Mapping[str, Any], key: str, value: Any) -> Any:
    """Return the *value* of *key* in the setting's type.

    Raise ``ValueError`` that says what is wrong.
    """
    if key in SECTIONS:
        raise ValueError(f"{key} must be a section of settings, not {value!r}")
    if key not in KNOWN:
        raise ValueError(unknown(key))
    if "." in key and key in tree:
        above, _, last = key.rpartition(".")
        raise ValueError(f"write {key} as {last}: in a section {above}:")
    try:
        return KNOWN[key].checked(value)
    except ValueError as error:
        raise ValueError(f"{key} {error}") from None


def _line(lines: Mapping[str, str], key: str, path: str) -> str:
    """Return the line of *key*; if it comes from a YAML merge (``<<``), that of the nearest key
    above it."""
    while key and key not in lines:
        key = key.rpartition(".")[0]
    return lines.get(key or "<<", path)


def with_key(text: str, key: str, value: object, path: str) -> str:
    """Return *text*, that of the file *path*, with *key* set to *value*, a text, number, flag or
    None."""
    root = _compose(text, path)
    wanted = _cleaned(read_mapping(text, path)[0])
    section, _, name = key.rpartition(".")
    (wanted.setdefault(section, {}) if section else wanted)[name] = value
    entry, scalar = _entry(root, key), _scalar(value)
    if entry is None:
        return _agreed(_added(text, root, key, scalar), wanted, f"set {key}", path)
    start, end = entry[1].start_mark.index, entry[1].end_mark.index
    if start == end:  # nothing stood there
        scalar = f" {scalar}"
    elif getattr(entry[1], "style", None) in ("|", ">"):
        scalar += _line_end(text)
    changed = text[:start] + scalar + text[end:]
    return _agreed(changed, wanted, f"set {key}", path)


def with_block(text: str, key: str, block: str, path: str) -> str:
    """Return *text*, that of the file *path*, with the top-level *key* replaced by *block*.

    *block* is whole lines that begin with the key; it stands where the key stood, else at the end.
    """
    cleared = without_key(text, key, path)
    entry = _entry(_compose(text, path), key)
    if entry is None:
        return _inserted(cleared, len(cleared), *block.splitlines())
    start = text.rfind("\n", 0, entry[0].start_mark.index) + 1
    end = _line_end(text)
    lines = "".join(line + end for line in block.splitlines())
    return cleared[:start] + lines + cleared[start:]


def without_key(text: str, key: str, path: str) -> str:
    """Return *text*, that of the file *path*, without *key*, and without its section if nothing
    else is in it."""
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
    if section and len(parent.value) == 1:  # a comment after the heading keeps its line
        lines = changed.splitlines(keepends=True)
        changed = "".join(line for line in lines if line.rstrip() != f"{section}:")
    return _agreed(changed, _cleaned(wanted), f"unset {key}", path)


def _compose(text: str, path: str) -> Any:
    """Return the root of *text*, None if it's empty.

    The slow loader's marks count characters, not bytes.
    """
    read_mapping(text, path)  # says what is wrong, and where
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    return root if isinstance(root, yaml.MappingNode) else None


def _entry(root: Any, key: str) -> tuple[Any, Any] | None:
    """Return the nodes of *key* and its value, or None."""
    found: tuple[Any, Any] | None = (None, root)
    for name in key.split("."):
        inside = found[1].value if found and isinstance(found[1], yaml.MappingNode) else ()
        found = next((entry for entry in inside if entry[0].value == name), None)
    return found


def _added(text: str, root: Any, key: str, scalar: str) -> str:
    """Return *text* with one more entry: at the end of its section, or in a section of its own at
    the end."""
    section, _, name = key.rpartition(".")
    above = _entry(root, section) if section else None
    if above is None:
        indent = " " * (
            root.value[0][0].start_mark.column if root is not None and root.value else 0
        )
        lines = (
            [f"{indent}{section}:", f"{indent}  {name}: {scalar}"]
            if section
            else [f"{indent}{name}: {scalar}"]
        )
        return _inserted(text, len(text), *lines)
    heading, inside = above
    if isinstance(inside, yaml.MappingNode) and inside.value:
        index, column = _last_index(inside), inside.value[0][0].start_mark.column
    else:
        index, column = heading.end_mark.index, heading.start_mark.column + 2
    return _inserted(text, index, f"{' ' * column}{name}: {scalar}")


def _inserted(text: str, index: int, *lines: str) -> str:
    """Return *text* with *lines* inserted after the line of *index*."""
    end = _line_end(text)
    at = _next_line(text, index)
    before = text[:at]
    if before.strip("\ufeff") and not before.endswith("\n"):
        before += end
    return before + "".join(line + end for line in lines) + text[at:]


def _last_index(node: Any) -> int:
    """Return where *node* ends: PyYAML ends a block where the next thing begins."""
    if isinstance(node, yaml.ScalarNode) or node.flow_style or not node.value:
        return int(node.end_mark.index)
    last = node.value[-1]
    return (
        max(last[0].end_mark.index, _last_index(last[1]))
        if isinstance(last, tuple)
        else _last_index(last)
    )


def _next_line(text: str, index: int) -> int:
    """Return the start of the line after *index*; *index* itself if it is the start of a line."""
    if index and text[index - 1] == "\n":
        return index
    end = text.find("\n", index)
    return end + 1 if end >= 0 else len(text)


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _scalar(value: object) -> str:
    """Return *value* as one line of YAML."""
    plain = not isinstance(value, str) or value.isprintable()
    text = yaml.safe_dump(
        value, width=float("inf"), allow_unicode=plain, default_style=None if plain else '"'
    )
    return text.removesuffix("...\n").rstrip("\n")


def _cleaned(tree: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of *tree* without empty sections."""
    return {
        key: deepcopy(value)
        for key, value in tree.items()
        if value != {} and not (value is None and key in SECTIONS)
    }


def _agreed(changed: str, wanted: dict[str, Any], what: str, path: str) -> str:
    try:
        if _cleaned(read_mapping(changed, path)[0]) == _cleaned(wanted):
            return changed
    except ConfigError:
        pass
    raise ConfigError(
        f"config: {path}: cannot {what} without touching something else; please edit it by hand"
    )


# One setting changed: tried first, then written ---------------------------------------------------


UNSET = object()
"""Stands for a setting that is removed from the file."""


class SettingEdit:
    """A change of *key* to *value*, or ``UNSET``, in the file of *scope* (``user`` or
    ``project``)."""

    def __init__(
        self, environ: Mapping[str, str], cwd: str | None, key: str, value: object, scope: str
    ) -> None:
        self.key, self.value, self.path = key, value, config_file(environ, cwd, scope)
        self._before = _text_of(self.path)
        edited = without_key(self._before, key, self.path) if value is UNSET else None
        self._after = with_key(self._before, key, value, self.path) if edited is None else edited
        self.config = _tried(environ, cwd, {self.path: self._after})

    @property
    def changes(self) -> bool:
        """Whether the file has to be written."""
        return self._before != self._after

    @property
    def hidden_by(self) -> str:
        """The origin of a stronger value of the setting; empty if there is none."""
        origin = self.config.values[self.key].origin
        return "" if origin.startswith(f"{self.path}:") else origin

    def write(self, save: Callable[[str, str], object]) -> None:
        """Write the file with *save* (``Workspace.save_settings``), unless it would stay the
        same."""
        if self.changes and _text_of(self.path) != self._before:
            raise ConfigError(
                f"config: {self.path}: it was changed by another program just now; try again"
            )
        if self.changes:
            save(self.path, self._after)

    def to_dict(self) -> dict[str, Any]:
        """Return it for ``--json``."""
        set_to = {"key": self.key, "value": self.value, "file": self.path}
        return {**set_to, "changed": self.changes, "hidden_by": self.hidden_by}


def config_file(environ: Mapping[str, str], cwd: str | None, scope: str) -> str:
    """Return the path of the configuration file of *scope*; it may not exist."""
    paths = config_paths(environ, cwd)
    if scope not in paths:
        raise InputError(
            "not in a project: a project is a folder with .brim/ or .git in it; make one with mkdir .brim"
        )
    return paths[scope]


def _text_of(path: str) -> str:
    return read_text(path) if os.path.exists(path) else ""


def _tried(environ: Mapping[str, str], cwd: str | None, drafts: dict[str, str]) -> Config:
    """Return the settings with *drafts*; raise if they'd be wrong, whatever the environment."""
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
