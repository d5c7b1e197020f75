"""Rules as people write them, and their activations, made from a seed."""

from __future__ import annotations

import math
import random
import re
from functools import cache

from brim.rules import Rule

TEXTS = 1_000
"""How many different texts there are; above that they repeat, so that making them takes no longer
than planning."""
KINDS = {"directive": 45, "procedure": 20, "preference": 20, "workflow": 5, "episodic": 10}
CONSTRAINTS = 2
"""However much is learned, only a few things are forbidden."""
NOTED = 0.05
"""The share that nobody has confirmed yet."""

Pairs = list[tuple[str, float]]
Made = tuple[list[Rule], Pairs]

VERBS = (
    "Use",
    "Prefer",
    "Never use",
    "Always run",
    "Check",
    "Keep",
    "Do not edit",
    "Write",
    "Wait for",
    "Look at",
)
THINGS = (
    "`uv` for packages",
    "the fixtures in `tests/conftest.py`",
    "pathlib instead of os.path",
    "the staging database",
    "`make lint` before a commit",
    "a migration for each change of the schema",
    "the generated client",
    "feature flags from the settings module",
    "short branch names with the ticket number",
    "structured logs",
    "the retry helper around every network call",
    "one assertion per test",
)
CIRCUMSTANCES = (
    "in this repository",
    "when the API changes",
    "unless the release branch is frozen",
    "on Windows too",
    "before asking for a review",
    "even in scripts",
    "if the job runs longer than a minute",
    "while the old service is alive",
)
REASONS = (
    "The last deployment failed because of this, and nobody noticed for two days.",
    "CI does the same, so a difference shows up here first.",
    "It took an hour to find out why the cache was stale; see the notes in `docs/caching.md`.",
    "The team agreed on it in the review of the billing change.",
    "First stop the worker, then apply the change, then start the worker and read its log.",
    "It is slower, but a wrong invoice costs more than a slow one.",
)
CODE = "```sh\nuv run pytest -x --lf\nuv run ruff check src tests\n```"


@cache
def _texts() -> tuple[tuple[str, str], ...]:
    """Return rules as people write them, each with its one-liner: mostly a sentence or two,
    sometimes half a page."""
    rng = random.Random(1)
    found = []
    for _ in range(TEXTS):
        rule = f"{rng.choice(VERBS)} {rng.choice(THINGS)} {rng.choice(CIRCUMSTANCES)}."
        reasons = [rng.choice(REASONS) for _ in range(min(20, int(rng.lognormvariate(0.3, 0.9))))]
        code = [CODE] if rng.random() < 0.1 else []
        found.append(("\n".join([" ".join([rule, *reasons]), *code]), rule))
    return tuple(found)


def make(number: int, seed: int) -> Made:
    """Return behaviors and their activations.

    The engine ends with a logistic curve, so many are near 0 or 1; what is under 0.05 is 0.
    """
    rng = random.Random(seed)
    texts = rng.sample(_texts(), min(number, TEXTS))
    tags = ("git", "python", "testing", "style", "docs")
    behaviors, pairs = [], []
    for i in range(number):
        canonical, summary = texts[i % len(texts)]
        constraint = i < CONSTRAINTS
        made = Rule(
            id=f"b-{i:06}",
            name="-".join(re.findall("[a-z]+", summary.lower())[:3]) or "rule",
            kind="constraint" if constraint else rng.choices(list(KINDS), list(KINDS.values()))[0],
            canonical=canonical,
            summary=summary,
            tags=rng.sample(tags, rng.randint(0, 3)),
            status="pending" if not constraint and rng.random() < NOTED else "active",
        )
        activation = 1 / (1 + math.exp(-10 * (rng.betavariate(2, 3) - 0.3)))
        behaviors.append(made)
        pairs.append((made.id, activation if activation >= 0.05 else 0.0))
    rng.shuffle(pairs)
    return behaviors, pairs
