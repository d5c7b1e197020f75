"""Reads what floop keeps in a ``.floop`` folder. Nothing is lost: what can't be mapped is listed.

What is mapped is taken out of a node; the rest is kept in ``extra``.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import filter as like
from typing import Any

from brim.behaviors.behavior import (
    LARGEST_PRIORITY,
    Behavior,
    BehaviorKind,
    Edge,
    EdgeKind,
    Provenance,
    Status,
    Usage,
    as_name,
    as_tag,
    checked_name,
    checked_tags,
)
from brim.behaviors.jsonl import compact, parsed_object, seconds_of, with_extra
from brim.behaviors.learning import id_of
from brim.behaviors.tasks import known_tasks, named_task
from brim.behaviors.when import ALIASES, NOT_CI, When
from brim.behaviors.when import KEYS as CONDITIONS
from brim.errors import InputError
from brim.files import data_map

_REPLACED = ("deprecated-to", "merged-into")
"""Edges of floop's that say that the target took the place of the source."""
_RELATIONS = ("requires", "overrides", "conflicts", "similar_to")
"""Where a node itself names others, and how they are related."""

EXTENSIONS = ("file_ext", "file.ext", "ext")

STATUSES = {
    "behavior": Status.ACTIVE,
    "forgotten-behavior": Status.FORGOTTEN,
    "deprecated-behavior": Status.SUPERSEDED,
    "merged-behavior": Status.SUPERSEDED,
}
"""The kinds of node that are behaviors, and where each stands in its life."""

KEYS = {
    **dict.fromkeys(("file_path", "file.path"), "file"),
    **dict.fromkeys(("file_language", "file.language"), "language"),
    **dict.fromkeys(EXTENSIONS, "file"),
}
"""floop's names of conditions, and brim's."""
DEVELOPMENT = frozenset({"development", "dev", "local"})
BUILD_SERVERS = frozenset({"ci", "github-actions", "gitlab-ci", "jenkins", "circleci", "travis"})
"""Names of environments: what isn't CI is where a person works."""
EVERY_TASK = frozenset({"development", "coding", "implementation", "programming", "general", "*"})
"""Names of tasks that say nothing: whatever a coding agent does is that."""
OTHERS = {
    "config.yaml": "floop's settings: see 'brim config list'",
    "sessions": "what floop has told in sessions",
    "floop.db": "floop's database: its rules are read from nodes.jsonl",
    "audit.jsonl": "floop's log",
    "events": "floop's log",
    "vectors": "floop's index, which brim doesn't need",
    "backups": "floop's backups",
}
"""What else may be in a ``.floop`` folder, and isn't read."""

_BEFORE_TIME = -62_000_000_000.0
"""Go writes the first day of the year 1 for a time that is not set."""


@dataclass(frozen=True)
class Unmapped:
    """Something that could not be brought over, or not as it was. *text* is the whole line that it is in."""

    file: str
    line: int
    what: str
    """``node``, ``edge`` or ``correction``, with its id where it has one."""
    why: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}{f':{self.line}' if self.line else ''}: {self.what}: {self.why}"


@dataclass(frozen=True)
class Floop:
    """What a ``.floop`` folder holds. Corrections that floop had not yet learned from are pending behaviors."""

    behaviors: tuple[Behavior, ...]
    edges: tuple[Edge, ...] = ()
    unmapped: tuple[Unmapped, ...] = ()


def read_floop(
    nodes: Iterable[str],
    edges: Iterable[str] = (),
    corrections: Iterable[str] = (),
    *,
    scope: str = "user",
    projects: Collection[str] | None = None,
) -> Floop:
    """Return what the lines of ``nodes.jsonl``, ``edges.jsonl`` and ``corrections.jsonl`` hold.

    *scope* is where a node belongs that does not say so: ``project`` for the ``.floop`` of a project. *projects* are
    the names of the project that this is for: rules of others are listed. None brings all of them over.
    """
    reader = _Reader(scope, projects)
    reader.read_nodes(nodes)
    for number, text, record in reader.records("edges.jsonl", edges, "edge"):
        reader.connect(number, text, record)
    reader.read_corrections(corrections)
    edges_found = tuple(edge for edge, _, _ in reader.edges.values())
    return Floop(tuple(reader.behaviors.values()), edges_found, tuple(reader.unmapped))


class _Reader:
    def __init__(self, scope: str, projects: Collection[str] | None) -> None:
        self.scope, self.projects = scope, projects
        self.behaviors: dict[str, Behavior] = {}
        self.edges: dict[tuple[str, str, str], tuple[Edge, int, str]] = {}
        self.unmapped: list[Unmapped] = []
        self.learned_from: dict[str, dict[str, None]] = {}
        """The ids of the behaviors that were learned from each correction."""
        self.file = ""

    def miss(self, line: int, what: str, why: str, text: str) -> None:
        self.unmapped.append(Unmapped(self.file, line, what, why, text))

    def records(self, file: str, lines: Iterable[str], what: str) -> Iterator[tuple[int, str, dict[str, Any]]]:
        self.file = file
        for number, line in enumerate(lines, start=1):
            text = line.removeprefix("\ufeff").rstrip("\r\n")
            if not text.strip():
                continue
            try:
                yield number, text, parsed_object(text)
            except InputError as error:
                self.miss(number, what, f"not read: {error}", text)

    def read_nodes(self, lines: Iterable[str]) -> None:
        found: dict[str, tuple[int, str, dict[str, Any]]] = {}
        for number, text, node in self.records("nodes.jsonl", lines, "node"):
            id = _id(node.get("id"), text)
            what = f"node {id}"
            if str(node.get("kind") or "behavior") not in STATUSES:
                self.miss(number, what, f"a node of the kind {str(node['kind'])[:40]!r}, which isn't a behavior", text)
                continue
            if node.get("id") == id:
                del node["id"]
            try:
                when, problems = when_of(_inner(node, "content"))
                self.behaviors[id] = self.behavior_of(node, id, when)
            except (InputError, ValueError, RecursionError) as error:
                self.miss(number, what, f"not brought over: {error}", text)
                continue
            for problem in problems:
                self.miss(number, what, problem, text)
            if id in found:
                self.miss(found[id][0], what, f"line {number} has the same id, and is used", found[id][1])
            found[id] = number, text, node
        for id, (number, text, node) in found.items():
            self.relate(number, text, id, node)

    def behavior_of(self, node: dict[str, Any], id: str, when: When) -> Behavior:
        """Return the behavior that *node* is, under *id*.

        Raises ``InputError`` if it has no text, or is another project's. What is left of *node* goes into ``extra``.
        """
        content, metadata = _inner(node, "content"), _inner(node, "metadata")
        texts, places = _inner(content, "content"), (metadata, content, node)
        stats = next((found for place in places if (found := _inner(place, "stats"))), {})
        canonical = texts.get("canonical")
        scope = self._scope(places)
        if not isinstance(canonical, str) or not canonical.strip():
            raise InputError("it has no canonical text")
        kind, status = _kind(node, content)
        behavior = Behavior(
            id,
            _name(content, canonical),
            kind,
            texts.pop("canonical"),
            summary=_line(texts, "summary"),
            tags=_tags(texts),
            when=when,
            scope=scope,
            status=status,
            priority=int(_number(places, "priority", lambda n: abs(n) < LARGEST_PRIORITY and n == int(n), 0)),
            confidence=float(_number(places, "confidence", lambda n: 0 <= n <= 1, 0.6)),
            provenance=_provenance(places, texts, canonical),
            usage=_usage(stats),
            created_at=time_of(stats, "created_at"),
            updated_at=time_of(stats, "updated_at"),
        )
        rest = pruned(node)
        return behavior.replace(extra=compact({"floop": rest})) if rest else behavior

    def _scope(self, places: tuple[dict[str, Any], ...]) -> str:
        for place in places:
            scope = place.get("scope")
            if isinstance(scope, str) and scope:
                project = scope.removeprefix("project:") if scope.startswith("project:") else ""
                if project and self.projects is not None and project not in self.projects:
                    raise InputError(f"it belongs to the project {project}: import this folder there")
                if scope in ("local", "global"):  # the others say more than brim's, and stay for ``extra``
                    del place["scope"]
                return "project" if scope == "local" or scope.startswith("project:") else "user"
        return self.scope

    def relate(self, number: int, text: str, id: str, node: dict[str, Any]) -> None:
        """Make edges of what a node says of others. It stays in its ``extra`` too, where they aren't edges."""
        content, metadata = _inner(node, "content"), _inner(node, "metadata")
        for kind in _RELATIONS:
            given = content.get(kind) or []
            for each in given if isinstance(given, list) else [given]:
                target, score = (each.get("id"), each.get("score")) if isinstance(each, dict) else (each, None)
                self.connect(number, text, {"source": id, "target": target, "kind": kind, "weight": score})
        heirs = [metadata.get(key) for key in ("replacement_id", "merged_into")]
        heir = next((each for each in heirs if isinstance(each, str)), "")
        if heir != id and heir in self.behaviors:
            self.replace(id, heir)
        for place in (node, content, metadata):
            correction = _inner(place, "provenance").get("correction_id")
            if isinstance(correction, str) and correction:
                self.learned_from.setdefault(correction, {})[id] = None

    def connect(self, number: int, text: str, record: dict[str, Any]) -> None:
        source, target = (_id(record.pop(end, None), "") for end in ("source", "target"))
        kind = str(record.pop("kind", "")).lower().replace("_", "-")
        what = f"edge {source} {kind} {target}"
        dangling = [end for end in (source, target) if end not in self.behaviors]
        if dangling:
            self.miss(number, what, f"there is no behavior {' and no '.join(dangling)}", text)
        elif source == target:
            self.miss(number, what, "it leads to itself", text)
        elif kind in _REPLACED:
            self.replace(source, target)
            self.miss(number, what, "kept as superseded_by, not as an edge", text)
        elif kind not in list(EdgeKind):
            self.miss(number, what, f"an edge of the kind {kind!r}, which brim does not know", text)
        else:
            weight, why = _weight(record)
            created_at, last = time_of(record, "created_at"), time_of(record, "last_activated")
            edge = Edge(source, target, kind, weight, created_at=created_at, last_activated=last)
            before = self.edges.get((source, kind, target))
            if before and before[0] != edge:
                self.miss(before[1], what, "it is there again, and that one is used", before[2])
            self.edges[source, kind, target] = edge, number, text
            rest = ", ".join(pruned(record))
            if why or rest:
                self.miss(number, what, why or f"kept without its {rest}", text)

    def replace(self, source: str, target: str) -> None:
        old, new = self.behaviors[source], self.behaviors[target]
        status = Status.SUPERSEDED if old.live else old.status
        self.behaviors[source] = old.replace(superseded_by=target, status=status)
        self.behaviors[target] = new.replace(supersedes=dict.fromkeys((*new.supersedes, source)))

    def read_corrections(self, lines: Iterable[str]) -> None:
        by_text: dict[str, list[str]] = {}
        for behavior in self.behaviors.values():
            by_text.setdefault(behavior.canonical, []).append(behavior.id)
        for number, text, record in self.records("corrections.jsonl", lines, "correction"):
            try:
                self.correct(text, record, by_text)
            except (InputError, ValueError, RecursionError) as error:
                self.miss(number, f"correction {record.get('id') or ''}", f"not brought over: {error}", text)

    def correct(self, text: str, record: dict[str, Any], by_text: dict[str, list[str]]) -> None:
        """Add a correction to what was learned from it; make a pending behavior of one that nothing was."""
        id, right = str(record.get("id") or ""), text_of(dict(record), "corrected_action")
        learned = self.learned_from.get(id) or by_text.get(right)
        if learned:
            changed = [_with_correction(self.behaviors[each], json.loads(text)) for each in learned]
            self.behaviors.update({each.id: each for each in changed})
        else:
            new = id_of(right)
            while new in self.behaviors:
                new = id_of(new + text)
            pending = Behavior(new, as_name(right[:60]), "directive", right, status="pending", scope=self.scope)
            self.behaviors[new] = _with_correction(pending.replace(provenance=Provenance("floop")), record)
            by_text.setdefault(right, []).append(new)


def _with_correction(behavior: Behavior, correction: dict[str, Any]) -> Behavior:
    """Return *behavior* with what *correction* says of where it comes from; what is known already is not replaced."""
    context, known = _inner(correction, "context"), behavior.provenance
    filled: dict[str, Any] = {}
    for field, place, key in (
        ("wrong", correction, "agent_action"),
        ("note", correction, "human_response"),
        ("session", correction, "conversation_id"),
        ("file", context, "file_path"),
        ("task", context, "task"),
    ):
        if getattr(known, field) in ("", place.get(key)):
            filled[field] = text_of(place, key) or getattr(known, field)
    if known.at is None:
        filled["at"] = time_of(correction, "timestamp")
    if correction.get("corrected_action") == behavior.canonical:
        del correction["corrected_action"]
    rest = pruned(correction)
    extra = with_extra(behavior.extra, {"correction": rest}) if rest else behavior.extra
    return behavior.replace(provenance=known.replace(**filled), extra=extra)


def _weight(record: dict[str, Any]) -> tuple[float, str]:
    """Return the weight, and what had to be changed about it. 0 is what floop writes where there is none."""
    weight = record.pop("weight", None)
    if weight is None or (weight == 0 and weight is not False):
        return 1.0, ""
    if type(weight) not in (int, float) or weight < 0:
        return 1.0, f"the weight {str(weight)[:40]!r} isn't one: 1 is used"
    return (float(weight), "") if weight <= 1 else (1.0, f"the weight {weight:.6g} is cut to 1")


def _id(given: object, otherwise: str) -> str:
    """Return *given* if brim can use it as an id, else one that is always the same for it."""
    id = given if isinstance(given, str) else json.dumps(given) if given is not None else ""
    try:
        return Behavior(id, "x", "directive", "x").id
    except InputError:
        return id_of(id or otherwise) if id or otherwise else ""


# The parts of a node. What is mapped is taken out of it.


def pruned(value: Any) -> Any:
    """Return *value* without what says nothing: null, and texts, lists and objects with nothing in them."""
    if isinstance(value, dict):
        return {key: kept for key, each in value.items() if (kept := pruned(each)) not in (None, "", [], {})}
    return [pruned(each) for each in value] if isinstance(value, list) else value


def time_of(place: dict[str, Any], key: str) -> float | None:
    """Return the time that *place* holds under *key*, taken out of it; nothing if there is none, or none was set."""
    try:
        time = seconds_of(place[key])
    except (KeyError, ValueError, ArithmeticError, AttributeError):
        return None
    del place[key]
    return time if time > _BEFORE_TIME else None


def text_of(place: dict[str, Any], key: str) -> str:
    """Return the text that *place* holds under *key*, taken out of it."""
    return place.pop(key) if isinstance(place.get(key), str) else ""


def when_of(content: dict[str, Any]) -> tuple[When, list[str]]:
    """Return the conditions of *content* as brim knows them, and what is said of those that are left out.

    Numbers and truth values are taken as texts. What isn't a condition, or says nothing that brim could know, stays in
    *content*: a rule that waits for it would never be told.
    """
    given = _inner(content, "when")
    found: dict[str, list[str]] = {}
    problems: list[str] = []
    for key, value in list(given.items()):
        values = [
            each.strip() if isinstance(each, str) else compact(each) if isinstance(each, (bool, int, float)) else ""
            for each in (value if isinstance(value, list) else [value])
        ]
        if not (key and key.isprintable() and values and all(values)):
            if pruned(value) not in (None, "", [], {}):
                problems.append(f"when {key[:40]!r}: its value isn't a text, so the rule is told without it")
            continue
        name = KEYS.get(key, ALIASES.get(key, key))
        known, problem = _translated(name, key, values)
        if problem:
            problems.append(f"when {key} is {', '.join(values)}: {problem}")
        if known:
            found.setdefault(name, []).extend(known)
            del given[key]
    return When.of(found), problems


def _translated(name: str, key: str, values: list[str]) -> tuple[list[str], str]:
    """Return the *values* of a condition as brim knows them; none, with the reason, if it holds everywhere or never."""
    lower = [each.lower() for each in values]
    known, problem = values, ""
    if name in ("repo", "user"):
        known, problem = [], f"brim doesn't know the {name}, so the rule is told in any"
    elif name not in CONDITIONS:
        problem = "kept, but hooks never know it, so agents won't hear the rule: 'brim rules edit' removes it"
    elif name == "environment":
        in_ci, outside = (not group.isdisjoint(lower) for group in (BUILD_SERVERS, DEVELOPMENT))
        known = [] if in_ci is outside else ["ci"] if in_ci else list(NOT_CI[1])
        problem = "" if known else "brim knows only whether this is CI, so the rule is told everywhere"
    elif key in EXTENSIONS:
        known = [f"*{each if each.startswith('.') else f'.{each}'}" for each in values]
    elif name == "task":
        known = list(dict.fromkeys(task for each in values for task in _tasks(each)))
        known = known if EVERY_TASK.isdisjoint(lower) else []
        problem = "" if known else "brim doesn't recognize this task, so the rule is told with any"
    elif name == "language" and "*" in "".join(values):
        languages = dict.fromkeys(data_map(__file__, "languages.tsv").values())
        known = [one for each in lower for one in like(languages, each)]
        problem = "" if known else "brim knows no language like that, so the rule is told with any"
    return known, problem


def _tasks(task: str) -> list[str]:
    """Return *task* with the names by which brim knows it; nothing if it doesn't."""
    if "*" in task:
        return like(known_tasks(), task.lower())
    return list(dict.fromkeys((task, named_task(task)))) if named_task(task).casefold() in known_tasks() else []


def _inner(place: dict[str, Any], key: str) -> dict[str, Any]:
    found = place.get(key)
    return found if isinstance(found, dict) else {}


def _kind(node: dict[str, Any], content: dict[str, Any]) -> tuple[BehaviorKind, Status]:
    """Return what it is and where it stands. Either may say that it was put away; that wins."""
    inner = content.get("kind")
    statuses = [STATUSES.get(str(kind), Status.ACTIVE) for kind in (node.pop("kind", ""), inner)]
    kind = BehaviorKind(content.pop("kind")) if inner in list(BehaviorKind) else BehaviorKind.DIRECTIVE
    return kind, next((status for status in statuses if status is not Status.ACTIVE), Status.ACTIVE)


def _name(content: dict[str, Any], canonical: str) -> str:
    given = content.get("name")
    name = as_name(given if isinstance(given, str) and given.strip() else canonical[:60])
    with suppress(InputError):
        name = checked_name(given)  # type: ignore[arg-type]
        del content["name"]
    return name


def _line(texts: dict[str, Any], key: str) -> str:
    value = texts.get(key)
    line = " ".join(value.split()) if isinstance(value, str) else ""
    if line == value:
        del texts[key]
    return line


def _tags(texts: dict[str, Any]) -> tuple[str, ...]:
    given = texts.get("tags")
    if not isinstance(given, list):
        return ()
    near = tuple(tag for each in given if isinstance(each, str) and (tag := as_tag(each)))
    if list(near) == given:
        del texts["tags"]
    return checked_tags(near)


def _number(places: tuple[dict[str, Any], ...], key: str, fits: Callable[[float], bool], otherwise: float) -> float:
    for place in places:
        value: Any = place.get(key)
        if type(value) in (int, float) and fits(value):
            return float(place.pop(key))
    return otherwise


def _provenance(places: tuple[dict[str, Any], ...], texts: dict[str, Any], canonical: str) -> Provenance:
    """Return where it comes from; the author, the model and the correction stay where they are, for ``extra``."""
    structured = _inner(texts, "structured")
    wrong = text_of(structured, "avoid")
    if structured.get("prefer") == canonical:
        del structured["prefer"]
    times = (time_of(_inner(place, "provenance"), "created_at") for place in places)
    return Provenance("floop", at=next((at for at in times if at is not None), None), wrong=wrong)


def _usage(stats: dict[str, Any]) -> Usage:
    fields = {"times_activated": "injected", "times_confirmed": "confirmed", "times_overridden": "overridden"}
    counts = {
        field: stats.pop(key)
        for key, field in fields.items()
        if type(stats.get(key)) is int and 0 <= stats[key] < LARGEST_PRIORITY
    }
    if stats.get("times_followed") == 0:
        del stats["times_followed"]
    times = [time_of(stats, key) for key in ("last_activated", "last_confirmed")]
    return Usage(**counts, last_used=max((time for time in times if time is not None), default=None))


FLOOP_FILES = ("nodes.jsonl", "edges.jsonl", "corrections.jsonl")


def floop_folder(given: str) -> str:
    """Return the folder that floop's files are in: *given*, or the ``.floop`` in it; empty if there is none."""
    for folder in (given, os.path.join(given, ".floop")):
        if any(os.path.isfile(os.path.join(folder, name)) for name in FLOOP_FILES):
            return os.path.normpath(folder)
    return ""


def _lines_of(path: str) -> list[str]:
    """Return the lines of the file *path*; none if it is not there. A line that isn't UTF-8 becomes unreadable."""
    try:
        with open(path, "rb") as file:
            return file.read().decode("utf-8", "backslashreplace").split("\n")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None


def read_floop_folder(folder: str, *, scope: str, projects: Collection[str] | None = None) -> Floop:
    """Read the files of floop in *folder*; see ``read_floop``. What else is there is listed."""
    nodes, edges, corrections = (_lines_of(os.path.join(folder, name)) for name in FLOOP_FILES)
    found = read_floop(nodes, edges, corrections, scope=scope, projects=projects)
    return replace(found, unmapped=(*found.unmapped, *_others(folder)))


def _others(folder: str) -> Iterator[Unmapped]:
    """Yield what else is in *folder*."""
    for name, why in OTHERS.items():
        if os.path.exists(os.path.join(folder, name)):
            yield Unmapped(name, 0, "left out", why, "")
    for place, _, names in os.walk(folder):
        for name in sorted(names):
            if name.endswith(".fpack"):
                path = os.path.relpath(os.path.join(place, name), folder).replace(os.sep, "/")
                why = "a pack: floop writes the rules of an installed one to nodes.jsonl"
                yield Unmapped(path, 0, "left out", why, "")


def project_names(project: str) -> list[str]:
    """Return by which names floop may know *project*: its own, its repository's, its folder's."""
    text = "\n".join(_lines_of(os.path.join(project, ".floop", "config.yaml")))
    found = re.findall(r"^\s+(?:id|name):\s*['\"]?([^'\"#\n]+?)['\"]?\s*(?:#.*)?$", text, re.MULTILINE)
    remote = re.search(
        r"^\s*url\s*=\s*(\S+)$", "\n".join(_lines_of(os.path.join(project, ".git", "config"))), re.MULTILINE
    )
    if remote:
        path = remote[1].removesuffix("/").removesuffix(".git").replace(":", "/")
        found += ["/".join(path.split("/")[-2:]), path.rsplit("/", 1)[-1]]
    return list(dict.fromkeys((*found, os.path.basename(os.path.realpath(project)))))
