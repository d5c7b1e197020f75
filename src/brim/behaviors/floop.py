"""Reads the rules, conditions and edges that floop keeps in a ``.floop`` folder. What can't be read
is listed."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from brim.behaviors.behavior import (
    LARGEST_PRIORITY,
    BehaviorKind,
    Edge,
    EdgeKind,
    Provenance,
    Rule,
    RuleUsage,
    Status,
    as_name,
    as_tag,
    checked_tags,
)
from brim.behaviors.jsonl import parsed_object, seconds_of
from brim.behaviors.tasks import known_tasks, named_task
from brim.behaviors.when import ALIASES, NOT_CI, When
from brim.behaviors.when import KEYS as CONDITIONS
from brim.errors import InputError

FLOOP_FILES = ("nodes.jsonl", "edges.jsonl")

STATUSES = {
    "behavior": Status.ACTIVE,
    "forgotten-behavior": Status.FORGOTTEN,
    "deprecated-behavior": Status.SUPERSEDED,
    "merged-behavior": Status.SUPERSEDED,
}
"""The kinds of node that are rules, and their status."""
EXTENSIONS = ("file_ext", "file.ext", "ext")
KEYS = {
    **dict.fromkeys(("file_path", "file.path", *EXTENSIONS), "file"),
    **dict.fromkeys(("file_language", "file.language"), "language"),
}
"""floop's names of conditions, and brim's."""
DEVELOPMENT = frozenset({"development", "dev", "local"})
BUILD_SERVERS = frozenset({"ci", "github-actions", "gitlab-ci", "jenkins", "circleci", "travis"})
"""Names of environments: what isn't CI is where a person works."""
EVERY_TASK = frozenset({"development", "coding", "implementation", "programming", "general", "*"})
"""Names of tasks that say nothing: whatever a coding agent does is that."""
_BEFORE_TIME = -62_000_000_000.0
"""Go writes the first day of the year 1 for a time that is not set."""


@dataclass(frozen=True)
class Unmapped:
    """Something that could not be brought over, or not as it was. *text* is the whole line that it
    is in."""

    file: str
    line: int
    what: str
    """``node`` or ``edge``, with its id where it has one."""
    why: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}: {self.why}"


@dataclass
class Floop:
    """The rules and edges of a ``.floop`` folder, and what could not be brought over."""

    behaviors: dict[str, Rule] = field(default_factory=dict)
    edges: dict[tuple[str, str, str], Edge] = field(default_factory=dict)
    unmapped: list[Unmapped] = field(default_factory=list)


def read_floop(
    nodes: Iterable[str],
    edges: Iterable[str] = (),
    *,
    scope: str = "user",
    projects: Collection[str] | None = None,
) -> Floop:
    """Return what the lines of ``nodes.jsonl`` and ``edges.jsonl`` hold.

    *scope* is where a rule belongs that does not say so. *projects* are the names of the project
    that this is for: rules of others are listed. None brings all of them over.
    """
    floop = Floop()
    for number, text, node in _records(floop, "nodes.jsonl", nodes):
        what = f"node {node.get('id')}"
        try:
            behavior, problems = _behavior(node, scope, projects)
        except (InputError, ValueError, RecursionError) as error:
            problems = [f"not brought over: {error}"]
        else:
            floop.behaviors[behavior.id] = behavior
        floop.unmapped += [
            Unmapped("nodes.jsonl", number, what, problem, text) for problem in problems
        ]
    for number, text, record in _records(floop, "edges.jsonl", edges):
        if problem := _connect(floop, record):
            what = f"edge {record.get('source')} {record.get('kind')} {record.get('target')}"
            floop.unmapped.append(Unmapped("edges.jsonl", number, what, problem, text))
    return floop


def _records(
    floop: Floop, file: str, lines: Iterable[str]
) -> Iterator[tuple[int, str, dict[str, Any]]]:
    for number, line in enumerate(lines, start=1):
        text = line.removeprefix("\ufeff").strip()
        if not text:
            continue
        try:
            yield number, text, parsed_object(text)
        except InputError as error:
            floop.unmapped.append(Unmapped(file, number, "line", f"not read: {error}", text))


def _behavior(
    node: dict[str, Any], scope: str, projects: Collection[str] | None
) -> tuple[Rule, list[str]]:
    """Return the rule that *node* is, and what is said of its conditions."""
    content = _inner(node, "content")
    metadata = _inner(node, "metadata")
    texts = _inner(content, "content")
    stats = _inner(metadata, "stats")
    kind = str(node.get("kind") or "behavior")
    if kind not in STATUSES:
        raise InputError(f"a node of the kind {kind[:40]!r}, which isn't a rule")
    canonical = texts.get("canonical")
    if not isinstance(canonical, str) or not canonical.strip():
        raise InputError("it has no canonical text")
    own = content.get("kind")
    when, problems = _when(_inner(content, "when"))
    tags = [as_tag(tag) for tag in texts.get("tags") or () if isinstance(tag, str)]
    behavior = Rule(
        str(node.get("id") or ""),
        as_name(_text(content, "name") or canonical[:60]),
        BehaviorKind(own) if own in list(BehaviorKind) else BehaviorKind.DIRECTIVE,
        canonical,
        summary=" ".join(_text(texts, "summary").split()),
        tags=checked_tags(tuple(filter(None, tags))),
        when=when,
        scope=_scope(metadata.get("scope"), scope, projects),
        status=STATUSES[kind]
        if STATUSES[kind] is not Status.ACTIVE
        else STATUSES.get(str(own), Status.ACTIVE),
        priority=int(_number(metadata, "priority", lambda n: abs(n) < LARGEST_PRIORITY, 0)),
        confidence=_number(metadata, "confidence", lambda n: 0 <= n <= 1, 0.6),
        provenance=Provenance("floop", wrong=_text(_inner(texts, "structured"), "avoid")),
        usage=_usage(stats),
        created_at=_time(stats, "created_at"),
        updated_at=_time(stats, "updated_at"),
    )
    return behavior, problems


def _scope(named: object, scope: str, projects: Collection[str] | None) -> str:
    if not isinstance(named, str) or not named:
        return scope
    project = named.removeprefix("project:") if named.startswith("project:") else ""
    if project and projects is not None and project not in projects:
        raise InputError(f"it belongs to the project {project}: import this folder there")
    return "project" if project or named == "local" else "user"


def _usage(stats: dict[str, Any]) -> RuleUsage:
    injected, confirmed, overridden = (
        int(_number(stats, f"times_{name}", lambda n: 0 <= n < LARGEST_PRIORITY, 0))
        for name in ("activated", "confirmed", "overridden")
    )
    times = [_time(stats, key) for key in ("last_activated", "last_confirmed")]
    last_used = max((time for time in times if time is not None), default=None)
    return RuleUsage(injected, confirmed, overridden, last_used)


def _connect(floop: Floop, record: dict[str, Any]) -> str:
    """Add the edge *record* to *floop*; return why not, or empty."""
    source = str(record.get("source"))
    target = str(record.get("target"))
    kind = str(record.get("kind", "")).lower().replace("_", "-")
    missing = [end for end in (source, target) if end not in floop.behaviors]
    if missing:
        return f"there is no behavior {' and no '.join(missing)}"
    if source == target:
        return "it leads to itself"
    if kind in ("deprecated-to", "merged-into"):
        old = floop.behaviors[source]
        new = floop.behaviors[target]
        status = Status.SUPERSEDED if old.live else old.status
        floop.behaviors[source] = replace(old, superseded_by=target, status=status)
        floop.behaviors[target] = replace(
            new, supersedes=tuple(dict.fromkeys((*new.supersedes, source)))
        )
        return ""
    if kind not in list(EdgeKind):
        return f"an edge of the kind {kind!r}, which brim does not know"
    weight = _number(record, "weight", lambda n: n > 0, 1)  # floop writes 0 where there is none
    times = {name: _time(record, name) for name in ("created_at", "last_activated")}
    floop.edges[source, kind, target] = Edge(source, target, kind, min(weight, 1.0), **times)
    return ""


def _when(given: dict[str, Any]) -> tuple[When, list[str]]:
    """Return the conditions as brim knows them, and what is said of those that are left out."""
    conditions: dict[str, list[str]] = {}
    problems: list[str] = []
    for key, value in given.items():
        values = [str(each).strip() for each in (value if isinstance(value, list) else [value])]
        if value is None or not all(values) or isinstance(value, dict) or not key.strip():
            continue
        name = KEYS.get(key, ALIASES.get(key, key))
        translated = _translated(name, key, values)
        if translated:
            conditions.setdefault(name, []).extend(translated)
        else:
            problems.append(
                f"when {key} is {', '.join(values)}: brim doesn't know that, so the rule is told without it"
            )
    return When.of(conditions), problems


def _translated(name: str, key: str, values: list[str]) -> list[str]:
    """Return the *values* of a condition as brim knows them; nothing if it holds everywhere or is
    never known."""
    lower = [value.lower() for value in values]
    if name not in CONDITIONS or name in ("repo", "user"):
        return []
    if name == "environment":
        in_ci = not BUILD_SERVERS.isdisjoint(lower)
        if in_ci is not DEVELOPMENT.isdisjoint(lower):
            return []
        return ["ci"] if in_ci else list(NOT_CI[1])
    if key in EXTENSIONS:
        return [f"*.{value.removeprefix('.')}" for value in values]
    return _tasks(values) if name == "task" else values


def _tasks(tasks: list[str]) -> list[str]:
    """Return *tasks* with the names by which brim knows them; nothing if one stands for all
    work."""
    if any(task.lower() in EVERY_TASK for task in tasks):
        return []
    known = [task for task in tasks if named_task(task).casefold() in known_tasks()]
    return list(dict.fromkeys(name for task in known for name in (task, named_task(task))))


def _inner(place: dict[str, Any], key: str) -> dict[str, Any]:
    value = place.get(key)
    return value if isinstance(value, dict) else {}


def _text(place: dict[str, Any], key: str) -> str:
    value = place.get(key)
    return value if isinstance(value, str) else ""


def _number(
    place: dict[str, Any], key: str, fits: Callable[[float], bool], otherwise: float
) -> float:
    value: Any = place.get(key)
    return float(value) if type(value) in (int, float) and fits(value) else float(otherwise)


def _time(place: dict[str, Any], key: str) -> float | None:
    try:
        time = seconds_of(place[key])
    except (KeyError, ValueError, ArithmeticError, AttributeError):
        return None
    return time if time > _BEFORE_TIME else None


def floop_folder(given: str) -> str:
    """Return the folder that floop's files are in: *given*, or the ``.floop`` in it; empty if there
    is none."""
    for folder in (given, os.path.join(given, ".floop")):
        if any(os.path.isfile(os.path.join(folder, name)) for name in FLOOP_FILES):
            return os.path.normpath(folder)
    return ""


def read_floop_folder(folder: str, *, scope: str, projects: Collection[str] | None = None) -> Floop:
    """Read the files of floop in *folder*; see ``read_floop``."""
    nodes, edges = (_lines_of(os.path.join(folder, name)) for name in FLOOP_FILES)
    return read_floop(nodes, edges, scope=scope, projects=projects)


def _lines_of(path: str) -> list[str]:
    """Return the lines of the file *path*; none if it is not there. A line that isn't UTF-8 becomes
    unreadable."""
    try:
        with open(path, "rb") as file:
            return file.read().decode("utf-8", "backslashreplace").split("\n")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None


def project_names(project: str) -> list[str]:
    """Return by which names floop may know *project*: its repository's, its folder's."""
    names: list[str] = []
    config = "\n".join(_lines_of(os.path.join(project, ".git", "config")))
    if remote := re.search(r"^\s*url\s*=\s*(\S+)$", config, re.MULTILINE):
        path = remote[1].removesuffix("/").removesuffix(".git").replace(":", "/")
        names += ["/".join(path.split("/")[-2:]), path.rsplit("/", 1)[-1]]
    return list(dict.fromkeys((*names, os.path.basename(os.path.realpath(project)))))
