"""Reads a configuration file with the line of each key, and changes one setting without touching
the rest.

PyYAML loses comments and order, so it's only asked where things are, and the text is edited there.
The new text is parsed again, and returned only if it differs from the old one by that one change.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
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

# Which of two it is depends on how PyYAML was built.
_FASTEST: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class ConfigLoader(_FASTEST):  # type: ignore[misc]
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
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise ConfigError(f"config: {path}: not a regular file")
            if status.st_size > LARGEST_FILE:
                problem = f"larger than {LARGEST_FILE:,} bytes, so it is not a configuration"
                raise ConfigError(f"config: {path}: {problem}")
            return file.read(LARGEST_FILE)
    except UnicodeDecodeError:
        raise ConfigError(f"config: {path}: not UTF-8 text") from None
    except OSError as error:
        raise ConfigError(f"config: {path}: {error.strerror or error}") from None


def read_mapping(
    text: str, name: str, max_values: int = MOST_VALUES
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the mapping in *text*, and ``name:line`` of each of its keys, nested ones joined by
    dots.

    An empty text is an empty mapping. A key that stands twice in one mapping is an error: one of
    them would be lost. So is a text of more than *max_values* values.
    """
    lines: dict[str, str] = {}
    try:
        _check_bounds(text, name, max_values)
        loader = ConfigLoader(text)
        node = loader.get_single_node()
        if node is None or (isinstance(node, yaml.ScalarNode) and not node.value):
            return {}, {}
        if not isinstance(node, yaml.MappingNode):
            raise ConfigError(f"config: {name}:1: must be a mapping of settings (key: value)")
        _note_lines(node, "", name, lines)
        return loader.construct_document(node), lines
    except yaml.MarkedYAMLError as error:
        line = 1
        mark = error.problem_mark or error.context_mark
        if mark:
            line = mark.line + 1
        problem = error.problem or error
        raise ConfigError(f"config: {name}:{line}: not valid YAML: {problem}") from None
    except yaml.YAMLError as error:
        position = getattr(error, "position", 0)
        line = text.encode("utf-8", "replace").count(b"\n", 0, position) + 1
        problem = " ".join(str(error).split())
        raise ConfigError(f"config: {name}:{line}: not valid YAML: {problem}") from None
    except RecursionError:  # aliases of aliases nest too
        raise ConfigError(f"config: {name}: nested too deeply") from None


def _check_bounds(text: str, name: str, max_values: int) -> None:
    """Raise if *text* nests too deeply or holds too much.

    This parses step by step, so it ends early.
    """
    extent = _Extent(max_values)
    for event in yaml.parse(text, Loader=ConfigLoader):
        extent.add(event)
        problem = extent.problem()
        if problem:
            raise ConfigError(f"config: {name}:{event.start_mark.line + 1}: {problem}")


class _Extent:
    """How many values a text holds so far, and how deep it is nested."""

    def __init__(self, max_values: int) -> None:
        self._max_values = max_values
        self._values = 0
        self._sizes: dict[str, int] = {}
        """Values in what each anchor names."""
        self._open: list[tuple[str | None, int]] = []
        """Anchor of each list and mapping that hasn't ended, and the values before it."""

    def add(self, event: Any) -> None:
        """Take the next event of the parser."""
        if isinstance(event, yaml.AliasEvent):
            self._values += self._sizes.get(event.anchor or "", 1)
        elif isinstance(event, yaml.NodeEvent):
            self._add_node(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, values_before = self._open.pop()
            if anchor:
                self._sizes[anchor] = self._values - values_before

    def _add_node(self, event: Any) -> None:
        if isinstance(event, yaml.CollectionStartEvent):
            self._open.append((event.anchor, self._values))
        if event.anchor:
            self._sizes[event.anchor] = 1
            if not isinstance(event, yaml.ScalarEvent):
                # Until a list or mapping ends, its alias would hold itself.
                self._sizes[event.anchor] = self._max_values
        self._values += 1

    def problem(self) -> str:
        """Say what there is too much of; empty if nothing."""
        if self._values > self._max_values:
            too_many = f"holds more than {self._max_values:,} values"
            if self._sizes:
                return f"{too_many}, counting what aliases repeat"
            return too_many
        if len(self._open) > DEEPEST:
            return f"nested more than {DEEPEST} deep"
        return ""


def _note_lines(node: Any, prefix: str, name: str, lines: dict[str, str]) -> None:
    if not isinstance(node, yaml.MappingNode):
        return
    keys: set[str] = set()
    for key_node, value_node in node.value:
        where = f"{name}:{key_node.start_mark.line + 1}"
        if not isinstance(key_node, yaml.ScalarNode) or key_node.tag not in _KEY_TAGS:
            raise ConfigError(f"config: {where}: a key must be a text; put it in quotes")
        if key_node.value in keys:
            raise ConfigError(f"config: {where}: {prefix}{key_node.value} is set twice")
        keys.add(key_node.value)
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
    settings = {}
    for key, value in _leaves(tree, ""):
        where = _line(lines, key, path)
        try:
            settings[key] = (_checked(tree, key, value), where)
        except ValueError as error:
            problem = f"config: {where}: {error}"
            if problems is None:
                raise ConfigError(problem) from None
            problems.append(problem)
    return settings, lines


def unknown(key: str) -> str:
    """Say that *key* isn't a setting, and which one was probably meant."""
    if key in SECTIONS:
        return f"{key} is a section; there are {', '.join(_keys_in(key))}"
    similar = _similar_keys(key)
    if similar:
        return f"unknown key {key}; did you mean {' or '.join(similar)}?"
    names = _keys_in(key.rpartition(".")[0]) or _top_level_names()
    return f"unknown key {key}; there are {', '.join(names)}"


def _similar_keys(key: str) -> list[str]:
    """Return the only setting whose last word is that of *key*, or else those spelled like it."""
    name = key.rpartition(".")[2]
    same_names = [setting for setting in KNOWN if setting.rpartition(".")[2] == name]
    if len(same_names) == 1:
        return same_names
    candidates = _top_level_names()
    if "." in key:
        candidates = [setting for setting in KNOWN if "." in setting]
    return get_close_matches(key, candidates, 2, 0.75)


def _keys_in(section: str) -> list[str]:
    return [key for key in KNOWN if key.startswith(f"{section}.")]


def _top_level_names() -> list[str]:
    """Return the settings that are in no section, and the sections."""
    names = [key for key in KNOWN if "." not in key]
    return [*names, *SECTIONS]


def _leaves(tree: Mapping[str, Any], section: str) -> Iterator[tuple[str, Any]]:
    """Yield key and value of everything in *tree*, settings or not.

    An empty section yields nothing.
    """
    for name, value in tree.items():
        if section:
            yield f"{section}.{name}", value
        elif name in SECTIONS and isinstance(value, dict | None):
            yield from _leaves(value or {}, name)
        else:
            yield name, value


def _checked(tree: Mapping[str, Any], key: str, value: Any) -> Any:
    """Return the *value* of *key* in the setting's type.

    Raise ``ValueError`` that says what is wrong.
    """
    if key in SECTIONS:
        raise ValueError(f"{key} must be a section of settings, not {value!r}")
    if key not in KNOWN:
        raise ValueError(unknown(key))
    if "." in key and key in tree:
        section, _, name = key.rpartition(".")
        raise ValueError(f"write {key} as {name}: in a section {section}:")
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
    mapping = wanted
    if section:
        mapping = wanted.setdefault(section, {})
    mapping[name] = value
    scalar = _scalar(value)
    entry = _entry(root, key)
    if entry is None:
        return _agreed(_added(text, root, key, scalar), wanted, f"set {key}", path)
    value_node = entry[1]
    start = value_node.start_mark.index
    end = value_node.end_mark.index
    if start == end:  # nothing stood there
        scalar = f" {scalar}"
    elif getattr(value_node, "style", None) in ("|", ">"):
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
    lines = _with_ends(block.splitlines(), _line_end(text))
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
    if section:
        del wanted[section][name]
    else:
        del wanted[name]
    key_node, value_node = entry
    line_start = text.rfind("\n", 0, key_node.start_mark.index) + 1
    end = max(key_node.end_mark.index, _last_index(value_node))
    changed = text[:line_start] + text[_next_line(text, end) :]
    if section and _is_alone(root, section):  # a comment after the heading keeps its line
        lines = changed.splitlines(keepends=True)
        changed = "".join([line for line in lines if line.rstrip() != f"{section}:"])
    return _agreed(changed, _cleaned(wanted), f"unset {key}", path)


def _is_alone(root: Any, section: str) -> bool:
    """Whether *section* has one entry only."""
    entry = _entry(root, section)
    return entry is not None and len(entry[1].value) == 1


def _compose(text: str, path: str) -> Any:
    """Return the root of *text*, None if it's empty.

    The slow loader's marks count characters, not bytes.
    """
    read_mapping(text, path)  # says what is wrong, and where
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if isinstance(root, yaml.MappingNode):
        return root
    return None


def _entry(root: Any, key: str) -> tuple[Any, Any] | None:
    """Return the nodes of *key* and its value, or None."""
    section, _, name = key.rpartition(".")
    mapping = root
    if section:
        above = _entry(root, section)
        if above is None:
            return None
        mapping = above[1]
    if not isinstance(mapping, yaml.MappingNode):
        return None
    for key_node, value_node in mapping.value:
        if key_node.value == name:
            return key_node, value_node
    return None


def _added(text: str, root: Any, key: str, scalar: str) -> str:
    """Return *text* with one more entry: at the end of its section, or in a section of its own at
    the end."""
    section, _, name = key.rpartition(".")
    indent = ""
    if root is not None and root.value:
        indent = " " * _first_column(root)
    if not section:
        return _inserted(text, len(text), f"{indent}{name}: {scalar}")
    above = _entry(root, section)
    if above is None:
        return _inserted(text, len(text), f"{indent}{section}:", f"{indent}  {name}: {scalar}")
    heading, content = above
    index = heading.end_mark.index
    column = heading.start_mark.column + 2
    if isinstance(content, yaml.MappingNode) and content.value:
        index = _last_index(content)
        column = _first_column(content)
    return _inserted(text, index, f"{' ' * column}{name}: {scalar}")


def _first_column(mapping: Any) -> int:
    """Return the column of the first key in *mapping*."""
    first_key, _first_value = mapping.value[0]
    return int(first_key.start_mark.column)


def _inserted(text: str, index: int, *lines: str) -> str:
    """Return *text* with *lines* inserted after the line of *index*."""
    end = _line_end(text)
    at = _next_line(text, index)
    before = text[:at]
    if before.strip("\ufeff") and not before.endswith("\n"):
        before += end
    return before + _with_ends(lines, end) + text[at:]


def _with_ends(lines: Iterable[str], end: str) -> str:
    return "".join([line + end for line in lines])


def _last_index(node: Any) -> int:
    """Return where *node* ends: PyYAML ends a block where the next thing begins."""
    if isinstance(node, yaml.ScalarNode) or node.flow_style or not node.value:
        return int(node.end_mark.index)
    last = node.value[-1]
    if not isinstance(last, tuple):
        return _last_index(last)
    key_node, value_node = last
    return max(int(key_node.end_mark.index), _last_index(value_node))


def _next_line(text: str, index: int) -> int:
    """Return the start of the line after *index*; *index* itself if it is the start of a line."""
    if index and text[index - 1] == "\n":
        return index
    end = text.find("\n", index)
    if end < 0:
        return len(text)
    return end + 1


def _line_end(text: str) -> str:
    if "\r\n" in text:
        return "\r\n"
    return "\n"


def _scalar(value: object) -> str:
    """Return *value* as one line of YAML."""
    style: dict[str, Any] = {"allow_unicode": True}
    if isinstance(value, str) and not value.isprintable():
        style = {"default_style": '"'}
    text: str = yaml.safe_dump(value, width=float("inf"), **style)
    return text.removesuffix("...\n").rstrip("\n")


def _cleaned(tree: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of *tree* without empty sections."""
    cleaned = {}
    for key, value in tree.items():
        is_empty_section = value is None and key in SECTIONS
        if value != {} and not is_empty_section:
            cleaned[key] = deepcopy(value)
    return cleaned


def _agreed(changed: str, wanted: dict[str, Any], purpose: str, path: str) -> str:
    """Return the text *changed* if it says what is *wanted*; else say that *purpose* failed."""
    try:
        if _cleaned(read_mapping(changed, path)[0]) == _cleaned(wanted):
            return changed
    except ConfigError:
        pass
    problem = f"cannot {purpose} without touching something else; please edit it by hand"
    raise ConfigError(f"config: {path}: {problem}")


# One setting changed: tried first, then written ---------------------------------------------------


UNSET = object()
"""Stands for a setting that is removed from the file."""


class SettingEdit:
    """A change of *key* to *value*, or ``UNSET``, in the file of *scope* (``user`` or
    ``project``)."""

    def __init__(
        self, environ: Mapping[str, str], cwd: str | None, key: str, value: object, scope: str
    ) -> None:
        self.key = key
        self.value = value
        self.path = config_file(environ, cwd, scope)
        self._before = _text_of(self.path)
        if value is UNSET:
            self._after = without_key(self._before, key, self.path)
        else:
            self._after = with_key(self._before, key, value, self.path)
        self.config = _tried(environ, cwd, {self.path: self._after})

    @property
    def changes(self) -> bool:
        """Whether the file has to be written."""
        return self._before != self._after

    @property
    def hidden_by(self) -> str:
        """The origin of a stronger value of the setting; empty if there is none."""
        origin: str = self.config.values[self.key].origin
        if origin.startswith(f"{self.path}:"):
            return ""
        return origin

    def write(self, save: Callable[[str, str], object]) -> None:
        """Write the file with *save* (``Workspace.save_settings``), unless it would stay the
        same."""
        if not self.changes:
            return
        if _text_of(self.path) != self._before:
            raise ConfigError(
                f"config: {self.path}: it was changed by another program just now; try again"
            )
        save(self.path, self._after)

    def to_dict(self) -> dict[str, Any]:
        """Return it for ``--json``."""
        return {
            "key": self.key,
            "value": self.value,
            "file": self.path,
            "changed": self.changes,
            "hidden_by": self.hidden_by,
        }


def config_file(environ: Mapping[str, str], cwd: str | None, scope: str) -> str:
    """Return the path of the configuration file of *scope*; it may not exist."""
    paths = config_paths(environ, cwd)
    if scope not in paths:
        raise InputError(
            "not in a project: a project is a folder with .brim/ or .git in it;"
            " make one with mkdir .brim"
        )
    return paths[scope]


def _text_of(path: str) -> str:
    if not os.path.exists(path):
        return ""
    return read_text(path)


def _tried(environ: Mapping[str, str], cwd: str | None, drafts: dict[str, str]) -> Config:
    """Return the settings with *drafts*; raise if they'd be wrong, whatever the environment."""
    without_settings = dict(environ)
    for setting in KNOWN.values():
        for variable in setting.variables:
            without_settings.pop(variable, None)
    try:
        file_settings = load(without_settings, cwd, drafts=drafts)
    except BrimError as error:
        raise ConfigError(f"{''.join(drafts)} is as it was: {error}") from None
    try:
        return load(environ, cwd, drafts=drafts)
    except BrimError:  # a wrong variable is not the file's fault
        return file_settings
