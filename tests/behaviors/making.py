"""Behaviors and edges of every sort, for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from brim.behaviors import (
    BehaviorKind,
    Edge,
    EdgeKind,
    Provenance,
    Rule,
    RuleUsage,
    Status,
    When,
)
from brim.behaviors.when import ALIASES

times = st.none() | st.floats(0, 4e9)
names = st.text("abcXYZ019._/-", min_size=1, max_size=12)
tags = st.lists(st.text("abcXYZ019._-", min_size=1, max_size=8), max_size=3)
sayings = st.text(min_size=1, max_size=40).filter(lambda text: bool(text.strip()))
ids = st.text("abc012-", min_size=1, max_size=6)
keys = st.sampled_from(["file", "language", "task", "branch"]) | st.text("xyz_", min_size=1).filter(
    lambda key: key not in ALIASES
)
whens = st.dictionaries(keys, st.lists(sayings, min_size=1, max_size=3), max_size=3).map(When.of)
provenances = st.builds(
    Provenance,
    st.sampled_from(["human", "agent", "floop"]),
    at=times,
    wrong=st.text(max_size=20),
    file=st.text(max_size=9),
    task=st.text(max_size=9),
    session=st.text(max_size=9),
    note=st.text(max_size=20),
)
counts = st.integers(0, 1000)
behaviors = st.builds(
    Rule,
    ids,
    names,
    st.sampled_from(list(BehaviorKind)),
    sayings,
    summary=st.just("") | sayings,
    tags=tags,
    when=whens,
    scope=st.sampled_from(["project", "user"]),
    status=st.sampled_from(list(Status)),
    priority=st.integers(-9, 9),
    confidence=st.floats(0, 1),
    provenance=provenances,
    usage=st.builds(RuleUsage, counts, counts, counts, times),
    supersedes=st.lists(ids, max_size=2),
    superseded_by=st.none() | ids,
    variants=st.lists(st.text(max_size=20), max_size=2),
    created_at=times,
    updated_at=times,
    extra=st.text(max_size=20)
    | st.sampled_from(['{"a":1}', '{"a": 1}', '{"é":[1.5,null]}', '"x"', "[1]", "{"]),
)
edges = (
    st.tuples(ids, ids)
    .filter(lambda ends: ends[0] != ends[1])
    .flatmap(
        lambda ends: st.builds(
            Edge,
            st.just(ends[0]),
            st.just(ends[1]),
            st.sampled_from(list(EdgeKind)),
            st.floats(0, 1, exclude_min=True),
            created_at=times,
            last_activated=times,
        )
    )
)
graphs = st.tuples(
    st.lists(behaviors, max_size=4, unique_by=lambda each: each.id),
    st.lists(edges, max_size=4, unique_by=lambda each: (each.source, each.kind, each.target)),
)
"""A list of behaviors and one of edges; the edges may dangle."""
