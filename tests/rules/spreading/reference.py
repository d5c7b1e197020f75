"""Activation once more, written straight from the formula: plain dicts, every pair looked at,
nothing shared with brim.

A graph is what JSON can hold::

    {"now": 0, "context": {...}, "behaviors": [{"id", "name", "tags", "when", "uses", "last_used",
    "status"}, ...],
     "edges": [{"source", "target", "kind", "weight", "last_activated"}, ...]}

The context has the keys of conditions, each with a list of values, and ``prompt``. Words are
compared as they are written, so names, tags and prompts here are of words that have only one form.
"""

from __future__ import annotations

import math
import re
from typing import Any

Case = dict[str, Any]
TAKING = ("conflicts", "overrides")


def reference(case: Case) -> dict[str, float]:
    """Return the activation of every behavior that has one."""
    final = inhibit(settle(case))
    result = {}
    for id, x in final.items():
        y = 1 / (1 + math.exp(-10 * (x - 0.3)))
        if x > 0 and y >= 0.05:
            result[id] = y
    return result


def settle(case: Case) -> dict[str, float]:
    """Return the value of every behavior that takes part, after three steps."""
    here = {}
    for behavior in case["behaviors"]:
        if behavior.get("status", "active") in ("active", "pending"):
            seed = seed_of(behavior, case["context"], case["now"])
            if seed is not None:
                here[behavior["id"]] = seed
    edges = [e for e in case["edges"] if e["source"] in here and e["target"] in here]
    a = here
    for _ in range(3):
        b = dict(a)
        for target, old in a.items():
            for giver, value in a.items():
                sent = energies(edges, giver, target, value, case["now"], positive=True)
                b[target] = max([old, b[target], *sent])
        for giver in sorted(a):
            for target in sorted(b):
                for energy in energies(edges, giver, target, a[giver], case["now"], positive=False):
                    b[target] = max(0.0, b[target] - energy)
        a = b
    return a


def energies(
    edges: list[Case], giver: str, target: str, a: float, now: float, *, positive: bool
) -> list[float]:
    """Return what *giver* sends to *target*, edge by edge."""
    mine = [e for e in edges if (e["kind"] not in TAKING) == positive and leaves(e, giver)]
    total = math.fsum(e["weight"] for e in mine)
    sent = []
    for e in sorted(mine, key=lambda e: (e["kind"], e["source"])):
        if target in (e["source"], e["target"]) and target != giver:
            last = e.get("last_activated")
            idle = 0.0 if last is None else max(0.0, (now - last) / 3600)
            sent.append(a * 0.85 * 0.7 * e["weight"] * math.exp(-0.01 * idle) / total)
    return sent


def leaves(edge: Case, giver: str) -> bool:
    """Whether *giver* spreads over *edge*: overrides work one way, all others both ways."""
    ends = [edge["source"]] if edge["kind"] == "overrides" else [edge["source"], edge["target"]]
    return giver in ends


def inhibit(a: dict[str, float]) -> dict[str, float]:
    """Return the values after the strongest seven have pressed the others down."""
    alive = sorted((id for id in a if a[id] > 0), key=lambda id: (-a[id], id))
    if len(alive) <= 7:
        return a
    mean = math.fsum(a[id] for id in alive[:7]) / 7
    return {**a, **{id: max(0.0, a[id] - 0.15 * (mean - a[id])) for id in alive[7:]}}


def seed_of(behavior: Case, context: Case, now: float) -> float | None:
    """Return the seed of *behavior*, or None if *context* contradicts it."""
    confirmed = absent = 0
    for key, wanted in behavior.get("when", {}).items():
        known = context.get(key, [])
        if not known:
            absent += 1
        elif any(meets(key, fact, value) for fact in known for value in wanted):
            confirmed += 1
        else:
            return None
    said = set(context.get("prompt", "").lower().split())
    if said & {*behavior["name"].lower().split("-"), *behavior.get("tags", ())}:
        confirmed += 1
    total = confirmed + absent
    if total == 0:
        seed = 0.3
    elif confirmed == 0:
        return 0.0
    else:
        c = {1: 0.4, 2: 0.6, 3: 0.8, 4: 0.9}.get(total, 1.0)
        seed = 0.15 + (confirmed / total) * (c - 0.15)
    return seed * (0.85 + 0.3 * base_level(behavior.get("uses", 0), behavior.get("last_used"), now))


def base_level(n: int, last_used: float | None, now: float) -> float:
    """Return B of the formula."""
    if last_used is None:
        return 0.5
    if n == 0:
        return 0.0
    h = max(0.001, (now - last_used) / 3600)
    return 1 / (1 + math.exp(-(math.log(2 * n / math.sqrt(h)) + 1)))


def meets(key: str, fact: str, value: str) -> bool:
    """Whether *fact* is what *value* asks for: a pattern for files and branches, else a word."""
    if key not in ("file", "branch"):
        return fact.lower() == value.lower()
    parts = [re.escape(part).replace(r"\*\*/", "(.*/)?").replace(r"\*\*", ".*") for part in [value]]
    pattern = parts[0].replace(r"\*", "[^/]*").replace(r"\?", "[^/]")
    return re.fullmatch(("(.*/)?" if key == "file" else "") + pattern, fact) is not None
