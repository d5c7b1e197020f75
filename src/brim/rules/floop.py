"""Reads the rules, conditions and edges of a ``.floop`` folder. What can't be brought over is
listed."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from brim.errors import InputError
from brim.rules.file import free_name
from brim.rules.imports import ImportedRule, proposed_state
from brim.rules.rule import KINDS
from brim.rules.rulebook import check_text, name_for
from brim.rules.source import PROJECT, USER
from brim.rules.when import read_condition

FILES = ("nodes.jsonl", "edges.jsonl")
LARGEST = 64 << 20
"""Bytes of one of its files."""
_CONDITIONS = {
    "file_path": "path",
    "file.path": "path",
    "file": "path",
    "file_ext": "ending",
    "file.ext": "ending",
    "ext": "ending",
    "file_language": "language",
    "file.language": "language",
    "language": "language",
    "task": "task",
    "branch": "branch",
    "environment": "environment",
    "env": "environment",
}
"""floop's names of conditions, and brim's."""
_EDGES = {
    "requires": "requires",
    "overrides": "overrides",
    "conflicts": "conflicts",
    "similar-to": "related",
    "learned-from": "related",
    "co-activated": "related",
}
_EVERYWHERE = {
    "environment": frozenset({"development", "dev", "local"}),
    "task": frozenset({"development", "coding", "implementation", "programming", "general", "*"}),
}
"""Values that say nothing: they are true wherever a coding agent works."""


@dataclass
class FloopFolder:
    """What a ``.floop`` folder holds."""

    rules: list[ImportedRule] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    """What was left out or changed, each with its file and line."""


def find_floop(path: str) -> str:
    """Return the folder that floop's files are in: *path*, or the ``.floop`` in it; empty if there
    is none."""
    for folder in (path, os.path.join(path, ".floop")):
        if any(os.path.isfile(os.path.join(folder, name)) for name in FILES):
            return os.path.normpath(folder)
    return ""


def read_floop(folder: str, project: str | None) -> FloopFolder:
    """Return the rules in *folder* for someone who is in *project*.

    The folder in a person's home has rules of all their projects: of these only the project's own
    are read.
    """
    result = FloopFolder()
    parent = os.path.dirname(os.path.realpath(folder))
    is_home = parent == os.path.realpath(os.path.expanduser("~"))
    usual_place = PROJECT
    if project is None or is_home:
        usual_place = USER
    project_names = None
    if project is not None and is_home:
        project_names = names_of_project(project)
    edges = _edges_by_source(folder, result)
    names: dict[str, str] = {}
    nodes: list[tuple[dict[str, Any], str]] = []
    for line, node in _records(folder, FILES[0], result):
        try:
            place = _place(node, usual_place, project_names)
            names[str(node.get("id"))] = free_name(_name(node), set(names.values()))
        except InputError as error:
            result.problems.append(f"{FILES[0]}:{line}: {error}")
        else:
            nodes.append((node, PROJECT if place == PROJECT and project is not None else USER))
    for node, place in nodes:
        id = str(node.get("id"))
        fields = _fields(node, names[id], result)
        for kind, target, weight in edges.get(id, ()):
            if target in names and target != id:
                words = names[target] if weight == 1 else f"{names[target]} {weight:g}"
                fields.setdefault(kind, []).append(words)
            else:
                result.problems.append(f"{FILES[1]}: {id} {kind} {target}: there is no such rule")
        result.rules.append(ImportedRule(names[id], fields, place, FILES[0]))
    return result


def _records(folder: str, name: str, result: FloopFolder) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects in the lines of a file, with the number of each."""
    path = os.path.join(folder, name)
    try:
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            text = file.read(LARGEST)
    except FileNotFoundError:
        return
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if isinstance(record, dict):
            yield number, record
        else:
            result.problems.append(f"{name}:{number}: can't be read, so it's left out")


def _name(node: dict[str, Any]) -> str:
    """Return the name of the rule in *node*; raise if it isn't a rule that is in force."""
    content = _inner(node, "content")
    kind = str(node.get("kind") or "behavior")
    if kind != "behavior" or content.get("kind") == "forgotten-behavior":
        raise InputError(f"it's a {kind.replace('-', ' ')}, so it's left out")
    text = _text(node)
    check_text(text)
    name = content.get("name")
    if isinstance(name, str) and name.strip():
        return name_for(name.rsplit("/", 1)[-1].replace("-", " ").replace("_", " "))
    return name_for(text)


def _text(node: dict[str, Any]) -> str:
    text = _inner(_inner(node, "content"), "content").get("canonical")
    if isinstance(text, str):
        return text.strip()
    return ""


def _place(node: dict[str, Any], usual: str, names: list[str] | None) -> str:
    """Return whose rule *node* is; raise if it belongs to another project."""
    scope = _inner(node, "metadata").get("scope")
    if not isinstance(scope, str) or not scope:
        return usual
    if scope.startswith("project:"):
        name = scope.removeprefix("project:")
        if names is not None and name not in names:
            raise InputError(f"it belongs to the project {name}: import this folder there")
        return PROJECT
    return PROJECT if scope == "local" else USER


def _fields(node: dict[str, Any], name: str, result: FloopFolder) -> dict[str, Any]:
    content = _inner(node, "content")
    texts = _inner(content, "content")
    when = _when(_inner(content, "when"), name, result)
    text = _text(node)
    fields: dict[str, Any] = {"text": text, "when": when, "checks": proposed_state(text)}
    if content.get("kind") in KINDS:
        fields["kind"] = content["kind"]
    summary = texts.get("summary")
    if isinstance(summary, str):
        fields["summary"] = " ".join(summary.split())
    tags = texts.get("tags")
    if isinstance(tags, list):
        fields["tags"] = [tag for tag in tags if isinstance(tag, str) and tag.strip()]
    avoid = _inner(texts, "structured").get("avoid")
    if isinstance(avoid, str):
        fields["instead_of"] = " ".join(avoid.split())
    return fields


def _when(conditions: dict[str, Any], name: str, result: FloopFolder) -> dict[str, Any]:
    """Return the conditions as brim has them; what brim doesn't know is a problem."""
    when: dict[str, Any] = {}
    for key, value in conditions.items():
        values = [str(part).strip() for part in (value if isinstance(value, list) else [value])]
        known_key = _CONDITIONS.get(key, "")
        if not _EVERYWHERE.get(known_key, frozenset()).isdisjoint([v.lower() for v in values]):
            continue
        if known_key == "ending":
            known_key = "path"
            values = [f"*.{ending.removeprefix('.')}" for ending in values]
        try:
            read_condition({known_key: values})
        except InputError:
            words = ", ".join(values)
            result.problems.append(
                f"{name}: when {key} is {words}: brim doesn't know that, so it's told without it"
            )
        else:
            when[known_key] = [*when.get(known_key, ()), *values]
    return when


def _edges_by_source(folder: str, result: FloopFolder) -> dict[str, list[tuple[str, str, float]]]:
    """Return the edges of each rule: kind, target and weight. One in both directions counts
    once."""
    edges: dict[str, list[tuple[str, str, float]]] = {}
    pairs: set[tuple[str, frozenset[str]]] = set()
    for line, record in _records(folder, FILES[1], result):
        source = str(record.get("source"))
        target = str(record.get("target"))
        floop_kind = str(record.get("kind", "")).lower().replace("_", "-")
        kind = _EDGES.get(floop_kind, "")
        if not kind:
            result.problems.append(f"{FILES[1]}:{line}: brim has no edge {floop_kind!r}")
            continue
        pair = (kind, frozenset((source, target)))
        if kind == "related" and pair in pairs:
            continue
        pairs.add(pair)
        weight = record.get("weight")
        if not isinstance(weight, (int, float)) or not 0 < weight <= 1:
            weight = 1.0  # floop writes 0 where there is none
        edges.setdefault(source, []).append((kind, target, float(weight)))
    return edges


def _inner(record: dict[str, Any], key: str) -> dict[str, Any]:
    value = record.get(key)
    if isinstance(value, dict):
        return value
    return {}


def names_of_project(project: str) -> list[str]:
    """Return by which names floop may know *project*: its repository's, its folder's."""
    names = [os.path.basename(os.path.realpath(project))]
    try:
        with open(os.path.join(project, ".git", "config"), encoding="utf-8") as file:
            remote = re.search(r"^\s*url\s*=\s*(\S+)$", file.read(LARGEST), re.MULTILINE)
    except (OSError, UnicodeError):
        return names
    if remote is not None:
        path = remote[1].removesuffix("/").removesuffix(".git").replace(":", "/")
        names += ["/".join(path.split("/")[-2:]), path.rsplit("/", 1)[-1]]
    return names
