"""``explain``: the whole account of one behavior's activation.

It is read off the very run that gives the number: the same neighbourhood, states and shares.
"""

from __future__ import annotations

from brim._frozen import Frozen
from brim.activation.parameters import DEFAULTS
from brim.activation.seeds import SECONDS, confirming, seed_of
from brim.activation.spread import Course, Neighbourhood, squashed
from brim.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from brim.activation.context import Context
    from brim.activation.parameters import Parameters
    from brim.activation.seeds import Seed
    from brim.activation.source import Node, Source


class Condition(Frozen):
    """What became of one condition."""

    __slots__ = ("key", "wanted", "known", "verdict")

    key: str
    wanted: tuple[str, ...]
    known: tuple[str, ...]
    """What the context says; if the condition is confirmed, only what confirms it."""
    verdict: str
    """``confirmed``, ``contradicted`` or ``absent``."""

    def __init__(self, key: str, wanted: tuple[str, ...], known: tuple[str, ...], verdict: str) -> None:
        self._fill(key=key, wanted=wanted, known=known, verdict=verdict)


class Flow(Frozen):
    """What came over one edge in one step."""

    __slots__ = ("giver", "kind", "energy", "weight", "freshness")

    giver: str
    kind: str
    energy: float
    """Above 0 it was offered, and the largest offer counts; under 0 it was taken away."""
    weight: float
    freshness: float
    """What is left of the edge after the hours in which nothing went over it, from 0 to 1."""

    def __init__(self, giver: str, kind: str, energy: float, weight: float, freshness: float) -> None:
        self._fill(giver=giver, kind=kind, energy=energy, weight=weight, freshness=freshness)


class Step(Frozen):
    """One step of spreading, as one behavior saw it."""

    __slots__ = ("before", "flows", "after")

    before: float
    flows: tuple[Flow, ...]
    after: float

    def __init__(self, before: float, flows: tuple[Flow, ...], after: float) -> None:
        self._fill(before=before, flows=flows, after=after)


class Explanation(Frozen):
    """Why a behavior has the activation that it has. Prints itself; ``to_dict`` is for JSON."""

    __slots__ = (
        "id",
        "value",
        "outcome",
        "conditions",
        "words",
        "uses",
        "idle_hours",
        "unweighted",
        "base_level",
        "factor",
        "seed",
        "steps",
        "top_mean",
        "inhibition",
        "raw",
    )

    id: str
    value: float
    """The activation, exactly as ``activate`` gives it; 0 if it is not among its results."""
    outcome: str
    """The account in one sentence."""
    conditions: tuple[Condition, ...]
    words: tuple[str, ...]
    """The stems that prompt or command share with its name and tags."""
    uses: int
    idle_hours: float | None
    """Hours since the last use; None if it was never used."""
    unweighted: float
    """The seed before recency and frequency."""
    base_level: float
    factor: float
    """What recency and frequency multiply the seed by."""
    seed: float
    steps: tuple[Step, ...]
    top_mean: float | None
    """The mean of the strongest; None if there are too few for inhibition."""
    inhibition: float
    """What was lost to the strongest."""
    raw: float
    """What the curve is applied to."""

    def __init__(
        self,
        *,
        id: str,
        value: float,
        outcome: str,
        conditions: tuple[Condition, ...],
        words: tuple[str, ...],
        uses: int,
        idle_hours: float | None,
        unweighted: float,
        base_level: float,
        factor: float,
        seed: float,
        steps: tuple[Step, ...],
        top_mean: float | None,
        inhibition: float,
        raw: float,
    ) -> None:
        self._fill(
            id=id,
            value=value,
            outcome=outcome,
            conditions=conditions,
            words=words,
            uses=uses,
            idle_hours=idle_hours,
            unweighted=unweighted,
            base_level=base_level,
            factor=factor,
            seed=seed,
            steps=steps,
            top_mean=top_mean,
            inhibition=inhibition,
            raw=raw,
        )

    def to_dict(self) -> dict[str, object]:
        """Return the fields as plain values."""
        return {name: _plain(getattr(self, name)) for name in self.__slots__}

    def text(self, names: Mapping[str, str] | None = None) -> str:
        """Return the account as lines, with *names* for ids where there are any."""
        from brim.activation.account import account

        return account(self, names or {})

    def __str__(self) -> str:
        return self.text()


def explain(
    source: Source, context: Context, id: str, *, now: float | datetime, parameters: Parameters = DEFAULTS
) -> Explanation:
    """Return why the live behavior *id* has the activation that it has in *context*, or why it has none."""
    node = next(iter(source.nodes([id])), None)
    if node is None:
        raise InputError(f"no live behavior has the id {id!r}: it is unknown, forgotten or superseded")
    around = Neighbourhood(source, context, now, parameters)
    seed = seed_of(node, context.facts, context.words, around.now, parameters)
    course = Course(around)
    steps = tuple(_step(course, number, id) for number in range(parameters.steps))
    raw = course.raw.get(id, 0.0)
    value = squashed(raw, parameters)
    return Explanation(
        id=id,
        value=value,
        outcome=_outcome(seed, steps, raw, value, parameters),
        conditions=_conditions(node, seed, context),
        words=seed.words,
        uses=node.uses,
        idle_hours=None if node.last_used is None else max(0.0, (around.now - node.last_used) / SECONDS),
        unweighted=seed.unweighted,
        base_level=seed.base_level,
        factor=seed.factor,
        seed=seed.value,
        steps=steps,
        top_mean=course.top_mean,
        inhibition=course.states[-1].get(id, 0.0) - raw,
        raw=raw,
    )


def _conditions(node: Node, seed: Seed, context: Context) -> tuple[Condition, ...]:
    found = []
    for key, wanted in node.when.conditions:
        if key in seed.confirmed:
            found.append(Condition(key, wanted, confirming(node.when, key, context.facts), "confirmed"))
        else:
            verdict = "contradicted" if key in seed.contradicted else "absent"
            found.append(Condition(key, wanted, context.facts.get(key, ()), verdict))
    return tuple(found)


def _step(course: Course, number: int, id: str) -> Step:
    """Return what arrived at *id* in the step after state *number*: offers first, then what was taken."""
    before = course.states[number]
    around = course.around
    offered: list[Flow] = []
    taken: list[Flow] = []
    for giver in sorted(giver for giver, value in before.items() if value > 0):
        for ways, sign, flows in ((around.gives[giver], 1, offered), (around.takes[giver], -1, taken)):
            for receiver, kind, _, share, edge in ways:
                if receiver == id:
                    energy = sign * (before[giver] * share)
                    flows.append(Flow(giver, kind, energy, edge.weight, around.freshness(edge)))
    return Step(before.get(id, 0.0), (*offered, *taken), course.states[number + 1].get(id, 0.0))


def _outcome(seed: Seed, steps: tuple[Step, ...], raw: float, value: float, parameters: Parameters) -> str:
    """Say in one sentence why it is in or out."""
    if seed.contradicted:
        return f"out: the context contradicts {' and '.join(seed.contradicted)}"
    if value == 0:
        return f"out: {_lack(seed, steps, raw, parameters)}"
    if seed.value == 0:
        return "in: reached by edges only"
    spoken = [*seed.confirmed, *(["words"] if seed.words else [])]
    return f"in: confirmed by {' and '.join(spoken)}" if spoken else "in: it has no conditions"


def _lack(seed: Seed, steps: tuple[Step, ...], raw: float, parameters: Parameters) -> str:
    if raw > 0:
        return f"too little, its activation is under {parameters.least:g}"
    if seed.value == 0 and not any(flow.energy > 0 for step in steps for flow in step.flows):
        return "nothing confirms it, and no edge leads to it from anything that matters now"
    if steps and steps[-1].after == 0:
        return "conflicts and overrides took everything away"
    return "the strongest left nothing of it"


def _plain(value: object) -> object:
    if isinstance(value, Frozen):
        return {name: _plain(getattr(value, name)) for name in value.__slots__}
    return [_plain(each) for each in value] if isinstance(value, tuple) else value
