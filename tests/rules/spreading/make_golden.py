"""``python -m tests.rules.spreading.make_golden`` writes ``golden.json``: twenty graphs and their
activations.

The numbers are those of the reference. Write the file anew only when the formula itself is changed
on purpose.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from tests.rules.spreading.reference import reference

GOLDEN = Path(__file__).with_name("golden.json")
NOW = 1_800_000_000.0
HOUR = 3600.0
DEEP = {"environment": ["moon"]}
"""A condition that no context here speaks of: such a behavior is reached by edges only."""


def one(
    id: str, when: dict[str, list[str]] | None = None, name: str = "plain", **more: Any
) -> dict[str, Any]:
    """Return a plain behavior."""
    return {"id": id, "name": name, "when": when or {}, **more}


def tie(
    source: str, target: str, kind: str = "similar-to", weight: float = 1.0, **more: Any
) -> dict[str, Any]:
    """Return a plain edge."""
    return {"source": source, "target": target, "kind": kind, "weight": weight, **more}


PYTHON = {"language": ["python"]}
TASK = {"task": ["sailing"]}
KNOWN = {
    "language": ["python"],
    "task": ["sailing"],
    "branch": ["main"],
    "project_type": ["library"],
    "colour": ["red"],
    "size": ["small"],
}
SIX = {key: [*values, "other"] for key, values in KNOWN.items()}


def first(number: int) -> dict[str, list[str]]:
    """Return the first so many of six conditions, all of which are met."""
    return dict(list(SIX.items())[:number])


Graphs = dict[str, tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]]]

GRAPHS: Graphs = {
    "nothing is known, nothing is asked": ({}, [one("a"), one("b", PYTHON)], []),
    "one to six conditions, all confirmed": (
        KNOWN,
        [one(f"n{n}", first(n)) for n in range(1, 7)],
        [],
    ),
    "some confirmed, others absent": (
        PYTHON,
        [
            one("half", {**PYTHON, **TASK}),
            one("third", {**PYTHON, **TASK, **DEEP}),
            one("none", {**TASK, **DEEP}),
        ],
        [],
    ),
    "a contradicted one is out and no edge counts it": (
        PYTHON,
        [one("a", PYTHON), one("out", {"language": ["rust"]}), one("b", DEEP), one("c", DEEP)],
        [tie("a", "out", weight=0.9), tie("a", "b", weight=0.3), tie("out", "c", "requires")],
    ),
    "files and branches are patterns": (
        {"file": ["/home/me/src/lib/app.py"], "branch": ["release/2"], "language": ["python"]},
        [
            one("tail", {"file": ["lib/*.py"]}),
            one("deep", {"file": ["src/**"], "branch": ["release/*"]}),
            one("no", {"file": ["tests/**"]}),
        ],
        [],
    ),
    "words confirm once more": (
        {**PYTHON, "prompt": "marimba kraken", "task": ["sailing"]},
        [
            one("bare", name="marimba"),
            one("both", PYTHON, name="marimba-kraken", tags=["zebra"]),
            one("tag", DEEP, tags=["kraken"]),
            one("other", DEEP, name="walrus"),
        ],
        [],
    ),
    "recent and frequent": (
        PYTHON,
        [
            one("never", PYTHON),
            one("now", PYTHON, uses=50, last_used=NOW),
            one("once", PYTHON, uses=1, last_used=NOW - 24 * HOUR),
            one("long-ago", PYTHON, uses=3, last_used=NOW - 9000 * HOUR),
            one("against", PYTHON, uses=0, last_used=NOW - HOUR),
            one("ahead", PYTHON, uses=2, last_used=NOW + 5 * HOUR),
        ],
        [],
    ),
    "a chain is walked three steps": (
        PYTHON,
        [one("a", PYTHON, uses=9, last_used=NOW - HOUR), *(one(id, DEEP) for id in "bcdef")],
        [tie(x, y, "requires", 0.8) for x, y in zip("abcde", "bcdef", strict=True)],
    ),
    "a hub shares out": (
        KNOWN,
        [one("hub", first(5)), *(one(f"leaf{n}", DEEP) for n in range(4))],
        [tie("hub", f"leaf{n}", "learned-from", 0.2 * (n + 1)) for n in range(4)],
    ),
    "edges run both ways": (
        PYTHON,
        [one("z", PYTHON), one("m", DEEP), one("a", DEEP)],
        [tie("m", "z", "requires", 0.5), tie("a", "m", "co-activated", 0.5)],
    ),
    "two edges between two": (
        PYTHON,
        [one("a", PYTHON), one("b", DEEP), one("c", DEEP)],
        [
            tie("a", "b", "requires", 0.7),
            tie("b", "a", "similar-to", 0.4),
            tie("a", "c", weight=0.2),
        ],
    ),
    "a conflict weakens both": (
        KNOWN,
        [one("strong", first(4)), one("weak", first(1)), one("third", first(2))],
        [tie("weak", "strong", "conflicts", 0.6), tie("third", "strong", "conflicts", 0.3)],
    ),
    "an override weakens one": (
        KNOWN,
        [one("new", first(3)), one("old", first(3)), one("older", first(1))],
        [
            tie("new", "old", "overrides", 0.5),
            tie("old", "older", "overrides", 1.0),
            tie("new", "older", "overrides"),
        ],
    ),
    "given and taken in one step, never under 0": (
        KNOWN,
        [one("a", first(5)), one("b", first(1)), one("c", first(2)), one("d", DEEP)],
        [
            tie("a", "b", "conflicts"),
            tie("c", "b", "conflicts", 0.9),
            tie("a", "b", "requires", 0.1),
            tie("c", "b", "overrides", 0.4),
            tie("b", "d", "requires"),
            tie("b", "c", "conflicts", 0.2),
        ],
    ),
    "edges fade while idle": (
        PYTHON,
        [one("a", PYTHON), *(one(id, DEEP) for id in "bcde")],
        [
            tie("a", "b", last_activated=NOW),
            tie("a", "c", last_activated=NOW - 24 * HOUR),
            tie("a", "d", last_activated=NOW - 500 * HOUR),
            tie("a", "e", last_activated=NOW + HOUR),
        ],
    ),
    "seven are spared, all others give way": (
        KNOWN,
        [
            *(
                one(f"k{n}", first(n % 5 + 1), uses=n, last_used=NOW - n * HOUR)
                for n in range(1, 13)
            ),
            one("always"),
        ],
        [tie("k1", "k2"), tie("k3", "always", "conflicts", 0.5)],
    ),
    "equal ones are parted by id": (PYTHON, [one(id, PYTHON) for id in "ihgfedcba"], []),
    "ids in all scripts": (
        PYTHON,
        [
            one("règle é", PYTHON),
            one("規則-1", DEEP),
            one("правило", DEEP),
            one("🙂", DEEP),
            one("Z", PYTHON),
        ],
        [
            tie("règle é", "規則-1"),
            tie("規則-1", "правило", "requires", 0.5),
            tie("🙂", "правило", "co-activated", 0.25),
            tie("Z", "règle é", "conflicts", 0.3),
            tie("🙂", "規則-1", "overrides", 0.3),
        ],
    ),
    "superseded, forgotten and missing ones carry nothing": (
        PYTHON,
        [
            one("a", PYTHON),
            one("old", PYTHON, status="superseded"),
            one("away", PYTHON, status="forgotten"),
            one("note", PYTHON, status="pending"),
            one("far", DEEP),
        ],
        [
            tie("a", "old"),
            tie("old", "far"),
            tie("away", "note", "conflicts"),
            tie("a", "missing"),
            tie("note", "far", "requires", 0.5),
            tie("a", "note", weight=0.5),
        ],
    ),
}


def tangle(seed: int = 20) -> tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]]:
    """Return a graph of forty behaviors with everything in it."""
    rng = random.Random(seed)
    kinds = ("requires", "similar-to", "learned-from", "co-activated", "conflicts", "overrides")
    ids = [f"t{number:02}" for number in range(40)]
    behaviors = []
    for id in ids:
        keys = rng.sample(sorted(SIX), rng.randrange(4))
        when = {key: [rng.choice([*KNOWN[key] * 5, "other"])] for key in keys}
        if rng.random() < 0.4:
            when |= DEEP
        used: dict[str, Any] = {}
        if rng.random() < 0.5:
            used = {"uses": rng.randrange(20), "last_used": NOW - rng.uniform(0, 900) * HOUR}
        behaviors.append(one(id, when, **used))
    triples = sorted({(*rng.sample(ids, 2), rng.choice(kinds)) for _ in range(120)})
    edges = [
        tie(
            source,
            target,
            kind,
            round(rng.uniform(0.1, 1), 3),
            last_activated=NOW - rng.uniform(0, 200) * HOUR,
        )
        for source, target, kind in triples
    ]
    return KNOWN, behaviors, edges


def golden() -> list[dict[str, Any]]:
    """Return the twenty graphs with their activations."""
    made = []
    for name, (context, behaviors, edges) in {**GRAPHS, "a tangle of forty": tangle()}.items():
        case = {
            "name": name,
            "now": NOW,
            "context": context,
            "behaviors": behaviors,
            "edges": edges,
        }
        made.append({**case, "activations": dict(sorted(reference(case).items()))})
    return made


if __name__ == "__main__":
    lines = [json.dumps(case, ensure_ascii=False) for case in golden()]
    GOLDEN.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
