"""Which rules an agent reads on its own, from files such as CLAUDE.md.

An import notes the files and their rules. When a session starts, rules that are in the agent's
window already aren't told again. For that, a hook reads one row and checks each file's stamp; it
reads a file only if that has changed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from brim.activation.context import Context
from brim.config import Config
from brim.record import PlainData
from brim.store.planner import Planner
from brim.store.scopes import Scopes
from brim.store.store import Store

KEY = "rule_files"
TEXTS = "rule_file "
"""The prefix of the key for a file's texts."""
LARGEST = 2_000_000


@dataclass(frozen=True)
class RuleLoader(PlainData):
    """An *agent* that loads a file when a session starts."""

    agent: str
    folder: str = ""
    """In sessions that run in this folder or below it; empty is everywhere."""
    exact: bool = False
    """Only in the folder itself."""
    unless: tuple[str, ...] = ()
    """Not if one of these files exists."""


@dataclass(frozen=True)
class LoadedFile(PlainData):
    """A file that agents load, as of its import."""

    path: str
    stamp: tuple[int, int]
    """Modification time in nanoseconds, and size."""
    loaders: tuple[RuleLoader, ...]
    texts: dict[str, str]
    """The text of each of its rules, by id."""


def noted_files(store: Store) -> dict[str, LoadedFile]:
    """Return the files noted in *store*, by path, without the texts of their rules."""
    return {each.path: each for each in _files(store)}


def note_files(store: Store, files: Iterable[LoadedFile]) -> None:
    """Note *files* in *store*, replacing earlier notes about them. Call it inside ``writing``."""
    new = {each.path: each for each in files}
    rows = [
        [
            each.path,
            each.stamp,
            [list(loader.to_dict().values()) for loader in each.loaders],
            list(each.texts),
        ]
        for each in (noted_files(store) | new).values()
    ]
    texts = {f"{TEXTS}{path}": json.dumps(each.texts) for path, each in new.items()}
    store.database.note({**texts, KEY: json.dumps(rows)})


def agents_planner(
    scopes: Scopes,
    config: Config,
    context: Context,
    agent: str,
    folder: str,
    *,
    begins: bool,
    now: float,
) -> tuple[Planner, set[str]]:
    """Return a planner for *agent* in *folder*, and the rules left out because the agent reads them
    on its own.

    *begins* is whether a session begins; later, a prompt that needs such a rule gets it.
    """

    read = loaded_rules(scopes, agent, folder) if agent else set()
    kept: Any = {"leave": read} if begins else {"told": read}
    planner = Planner(scopes, config, context, now=now, **kept)
    return planner, {
        id for id, _ in planner.course.ranked() if id in read and id not in planner.reasons
    }


def loaded_rules(scopes: Scopes, agent: str, folder: str) -> set[str]:
    """Return the rules in files that *agent* loads when a session starts in *folder*.

    Notes in the project's file apply to the project's rules only.
    """
    folder = os.path.realpath(folder) if folder else ""
    found: set[str] = set()
    for scope, store in scopes.stores.items():
        ids = {
            id
            for file in _files(store)
            if _is_loaded(file, agent, folder)
            for id in _still_in(file, store)
        }
        if ids:
            found.update(id for id, each in scopes.sketches(ids).items() if each.scope == scope)
    return found


def readers_of(scopes: Scopes, id: str) -> list[tuple[str, str]]:
    """Return agent and path for each file with the rule *id* that an agent loads."""
    found = [
        (loader.agent, file.path)
        for store in scopes.stores.values()
        for file in _files(store)
        if id in file.texts
        for loader in file.loaders
    ]
    return list(dict.fromkeys(found))


def _files(store: Store) -> Iterator[LoadedFile]:
    try:
        for path, stamp, loaders, ids in json.loads(store.database.notes([KEY]).get(KEY, "[]")):
            every = tuple(
                [
                    RuleLoader(agent, at, exact, tuple(unless))
                    for agent, at, exact, unless in loaders
                ]
            )
            yield LoadedFile(path, tuple(stamp), every, dict.fromkeys(ids, ""))
    except (ValueError, TypeError):  # not written by brim
        return


def _is_loaded(file: LoadedFile, agent: str, folder: str) -> bool:
    for each in file.loaders:
        if each.agent != agent or (each.exact and folder != each.folder):
            continue
        below = (
            not each.folder
            or folder == each.folder
            or folder.startswith(os.path.join(each.folder, ""))
        )
        if below and not any(map(os.path.lexists, each.unless)):
            return True
    return False


def _still_in(file: LoadedFile, store: Store) -> Iterable[str]:
    """Return the ids of the rules that *file* still has."""
    try:
        now = os.stat(file.path)
        if (now.st_mtime_ns, now.st_size) == file.stamp:
            return file.texts
        if now.st_size > LARGEST:
            return ()
        with open(file.path, encoding="utf-8", errors="replace") as opened:
            content = opened.read()
        key = f"{TEXTS}{file.path}"
        texts: Any = json.loads(store.database.notes([key]).get(key, "{}"))
        return [id for id, text in texts.items() if text and text in content]
    except (OSError, ValueError, AttributeError, TypeError):
        # Gone, or not written by brim: told again.
        return ()
