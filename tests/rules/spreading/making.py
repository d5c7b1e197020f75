"""Graphs for the tests: as the plain values that the reference reads, and as the values of brim."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import strategies as st

from brim.rules import Context, Edge, EdgeKind, Graph, Rule, RuleUsage

NOW = 1_800_000_000.0
HOUR = 3600.0

FACTS = {
    "language": ("python", "rust"),
    "task": ("juggling", "sailing"),
    "environment": ("ci", "laptop"),
    "file": ("src/app.py", "docs/guide.md"),
    "branch": ("main", "release/2"),
    "colour": ("red", "blue"),
}
WANTED = {
    **FACTS,
    "file": ("**/*.py", "src/*.py", "docs/**", "guide.md", "*.rs"),
    "branch": ("main", "release/*", "*"),
}
WORDS = ("kraken", "marimba", "zebra", "walrus")


def behaviors_of(case: dict[str, Any]) -> list[Rule]:
    """Return the behaviors of a plain case."""
    return [
        Rule(
            id=one["id"],
            name=one["name"],
            kind="directive",
            canonical="Do it so.",
            tags=one.get("tags", ()),
            when=one.get("when"),
            status=one.get("status", "active"),
            usage=RuleUsage(injected=one.get("uses", 0), last_used=one.get("last_used")),
        )
        for one in case["behaviors"]
    ]


def edges_of(case: dict[str, Any]) -> list[Edge]:
    """Return the edges of a plain case."""
    return [
        Edge(
            one["source"],
            one["target"],
            one["kind"],
            one["weight"],
            last_activated=one.get("last_activated"),
        )
        for one in case["edges"]
    ]


def graph_of(case: dict[str, Any]) -> Graph:
    """Return the graph of a plain case."""
    return Graph(behaviors_of(case), edges_of(case))


def context_of(case: dict[str, Any]) -> Context:
    """Return the context of a plain case: all its facts given, so that nothing is inferred."""
    facts = {key: value for key, value in case["context"].items() if key != "prompt"}
    return Context(prompt=case["context"].get("prompt", ""), custom=facts)


def _some(rng: random.Random, values: tuple[str, ...]) -> list[str]:
    return rng.sample(values, rng.randint(1, min(2, len(values))))


def _behavior(rng: random.Random, id: str) -> dict[str, Any]:
    keys = rng.sample(sorted(WANTED), rng.choice((0, 0, 1, 1, 1, 2, 2, 3, 4, 5)))
    return {
        "id": id,
        "name": rng.choice(WORDS),
        "tags": rng.sample(WORDS, rng.randrange(2)),
        "when": {key: _some(rng, WANTED[key]) for key in keys},
        "uses": rng.randrange(40),
        "last_used": rng.choice((None, NOW - rng.uniform(-1, 5000) * HOUR)),
        "status": rng.choice(
            ("active", "active", "active", "active", "pending", "superseded", "forgotten")
        ),
    }


def make(size: int, ties: int, seed: int) -> dict[str, Any]:
    """Return a plain case with *size* behaviors, all sorts of edges between them, and some that
    dangle."""
    rng = random.Random(seed)
    ids = [f"b{number}" for number in range(size)]
    triples = {
        (*rng.sample([*ids, "gone"], 2), str(rng.choice(list(EdgeKind)))) for _ in range(ties)
    }
    edges = [
        {
            "source": source,
            "target": target,
            "kind": kind,
            "weight": rng.choice((0.05, 0.3, 0.5, 1.0)),
            "last_activated": rng.choice((None, NOW - rng.uniform(-1, 500) * HOUR)),
        }
        for source, target, kind in sorted(triples)
    ]
    context: dict[str, Any] = {
        key: _some(rng, FACTS[key]) for key in rng.sample(sorted(FACTS), rng.randrange(6))
    }
    context["prompt"] = " ".join(rng.sample(WORDS, rng.randrange(3)))
    context.setdefault("task", ["sailing"])  # so that none is inferred from the prompt
    context.setdefault("language", ["python"])  # nor from the file
    return {
        "now": NOW,
        "context": context,
        "behaviors": [_behavior(rng, id) for id in ids],
        "edges": edges,
    }


def cases() -> st.SearchStrategy[dict[str, Any]]:
    """Return plain cases of up to 14 behaviors and 30 edges."""
    return st.builds(make, st.integers(1, 14), st.integers(0, 30), st.integers(0, 2**32))
