"""YAML with the line of every key, so that an error can say where."""

from __future__ import annotations

from typing import Any

import yaml

from brim.errors import ConfigError

MOST_KEYS = 10_000
"""Keys in one file, each counted as often as aliases repeat it: aliases of aliases would multiply without end."""

_KEY_TAGS = ("tag:yaml.org,2002:str", "tag:yaml.org,2002:merge")
_Loader: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_mapping(text: str, name: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the mapping in *text*, and ``name:line`` of each of its keys, nested ones joined by dots.

    An empty text is an empty mapping. A key that stands twice in one mapping is an error: one of them would be lost.
    """
    lines: dict[str, str] = {}
    try:
        node = yaml.compose(text, Loader=_Loader)
        if node is None or (isinstance(node, yaml.ScalarNode) and not node.value):
            return {}, {}
        if not isinstance(node, yaml.MappingNode):
            raise ConfigError(f"config: {name}:1: must be a mapping of settings (key: value)")
        _note_lines(node, "", name, lines)
        return yaml.load(text, Loader=_Loader), lines  # noqa: S506 - both loaders are the safe ones
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise ConfigError(f"config: {name}:{line}: not valid YAML: {error.problem or error}") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"config: {name}: not valid YAML: {' '.join(str(error).split())}") from None
    except (RecursionError, ValueError) as error:
        raise ConfigError(f"config: {name}: not a configuration: {error}") from None


def _note_lines(node: Any, prefix: str, name: str, lines: dict[str, str]) -> None:
    if not isinstance(node, yaml.MappingNode):
        return
    if len(lines) > MOST_KEYS:
        raise ConfigError(f"config: {name}: more than {MOST_KEYS:,} keys, so it is not a configuration")
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
