"""Behaviors and files to test with."""

from __future__ import annotations

import sqlite3
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import strategies as st

from brim.behaviors import BehaviorKind, Edge, Provenance, Rule, RuleUsage, Status, When
from brim.behaviors.behavior import EdgeKind
from brim.store import open_store


def behavior(id: str = "b1", **fields: Any) -> Rule:
    given = {
        "name": "use-uv",
        "kind": "directive",
        "canonical": "Use uv, not pip.",
        "summary": "Use uv.",
        **fields,
    }
    return Rule(id=id, **given)


@cache
def _empty() -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder, "brim.db")
        open_store(str(path)).close()
        return path.read_bytes()


def make_store(path: Path) -> None:
    """Make a store where none is: a copy of an empty one, since making its tables takes longer than
    most tests."""
    if not path.exists():
        path.write_bytes(_empty())
        path.chmod(0o600)


def raw(path: Path | str) -> sqlite3.Connection:
    """Open a file as any other program would."""
    return sqlite3.connect(str(path), isolation_level=None)


texts = st.text(st.characters(), max_size=40).map(lambda text: text + "x")
"""Any text: control characters and halves of surrogate pairs too."""
ids = st.text(st.characters(categories=("L", "N", "P", "S")), min_size=1, max_size=12)
names = st.text("abcXYZ019._/-", min_size=1, max_size=12)
tags = st.lists(st.text("abc019._-", min_size=1, max_size=8), max_size=3)
times = st.none() | st.floats(0, 4e9)
counters = st.integers(0, 10**6)
file_parts = st.sampled_from(
    ["src", "a", "*", "**", "*.py", "*.test.ts", "app.py", "[ab].py", "?", "Makefile", ".", ""]
)
paths = st.lists(
    st.sampled_from(["src", "a", "b.py", "app.py", "x.test.ts", "Makefile", ".", "", "..."]),
    max_size=5,
)
plain = st.sampled_from(["python", "Python", "go", "Straße", "STRASSE", "c++"])


def _joined(parts: list[str]) -> str:
    return "/".join(parts)


patterns = st.lists(file_parts, min_size=1, max_size=4).map(_joined).filter(str.strip)
whens = st.builds(
    When,
    file=st.none() | st.lists(patterns, min_size=1, max_size=2),
    language=st.none() | plain,
    branch=st.none() | st.sampled_from(["main", "release/*", "feature/a", "a\\b"]),
    custom=st.dictionaries(st.sampled_from(["team", "os=x", "café"]), plain, max_size=2),
)
facts = st.fixed_dictionaries(
    {},
    optional={
        "file": st.lists(paths.map(_joined).filter(str.strip), min_size=1, max_size=2).map(tuple),
        "language": st.lists(plain, min_size=1, max_size=2).map(tuple),
        "branch": st.sampled_from(["main", "release/1", "feature/a", "a/b"]).map(
            lambda text: (text,)
        ),
        "team": plain.map(lambda text: (text,)),
    },
)
behaviors = st.builds(
    Rule,
    id=ids,
    name=names,
    kind=st.sampled_from(list(BehaviorKind)),
    canonical=texts,
    summary=st.just("") | texts,
    tags=tags,
    when=whens,
    scope=st.sampled_from(["project", "user"]),
    status=st.sampled_from(list(Status)),
    priority=st.integers(-(10**9), 10**9),
    confidence=st.floats(0, 1),
    provenance=st.builds(
        Provenance,
        st.sampled_from(["human", "agent"]),
        at=times,
        wrong=st.text(max_size=20),
        note=st.text(max_size=20),
    ),
    usage=st.builds(RuleUsage, counters, counters, counters, times),
    supersedes=st.lists(ids, max_size=2),
    superseded_by=st.none() | ids,
    variants=st.lists(texts, max_size=2),
    created_at=times,
    updated_at=times,
    extra=st.just("") | st.just('{"kept": "ünmapped"}'),
)
edges = st.builds(
    lambda ends, kind, weight, at: Edge(
        ends[0], ends[1], kind, weight, created_at=at, last_activated=at
    ),
    st.tuples(ids, ids).filter(lambda ends: ends[0] != ends[1]),
    st.sampled_from(list(EdgeKind)),
    st.floats(0.001, 1),
    times,
)
