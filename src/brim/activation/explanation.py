"""``explain``: why one behavior has its activation.

The explanation is read off the run that gives the number: the same neighbourhood, states and shares.
"""

from __future__ import annotations

from brim.activation.engine import (
    SECONDS,
    Course,
    Neighbourhood,
    Seed,
    base_factor,
    base_level,
    confirming,
    seed_of,
)
from brim.activation.parameters import DEFAULTS
from brim.behaviors.when import NOT_CI
from brim.errors import InputError
from brim.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from brim.activation.context import Context
    from brim.activation.parameters import Parameters
    from brim.activation.relevance import Relevance
    from brim.activation.source import Node, Source


class Condition(Record):
    """How the context meets one condition."""

    key: str
    wanted: tuple[str, ...]
    known: tuple[str, ...]
    """What the context says; if the condition is confirmed, only what confirms it."""
    verdict: str
    """``confirmed``, ``contradicted`` or ``absent``."""

    def __str__(self) -> str:
        wanted = " or ".join(self.wanted)
        if self.verdict == "absent":
            return f"{wanted}: absent, the context does not say"
        joint = "by" if self.verdict == "confirmed" else "it is"
        return f"{wanted}: {self.verdict}, {joint} {' or '.join(self.known)}"


class Flow(Record):
    """What came over one edge in one step."""

    giver: str
    kind: str
    energy: float
    """Above 0 it was offered, and the largest offer counts; below 0 it was taken away."""
    weight: float
    freshness: float
    """What is left of the edge after the hours in which nothing went over it, from 0 to 1."""

    def text(self, names: Mapping[str, str]) -> str:
        """Return the flow as one line, with *names* for ids."""
        sign = "-" if self.energy < 0 else "+"
        faded = "" if self.freshness == 1 else f", {self.freshness:.0%} fresh"
        giver = names.get(self.giver, self.giver)
        return f"{sign} {abs(self.energy):.3f} {self.kind} {giver} (weight {self.weight:g}{faded})"


class Step(Record):
    """One step of spreading, as one behavior saw it."""

    before: float
    flows: tuple[Flow, ...]
    after: float

    def __str__(self) -> str:
        return f"{self.after:.3f}, no change" if self.before == self.after else f"{self.before:.3f} to {self.after:.3f}"


class Explanation(Record):
    """Why a behavior has its activation. Prints as aligned lines; ``to_dict`` is for JSON."""

    id: str
    value: float
    """The activation, exactly as ``activate`` gives it; 0 if it isn't among its results."""
    outcome: str
    """The explanation in one sentence."""
    conditions: tuple[Condition, ...]
    words: tuple[str, ...]
    """The stems that the situation shares with it."""
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
    relevance: float | None = None
    """How much it has to do with the situation, from 0 to 1; None if conditions and words alone decide."""
    inferred: tuple[Condition, ...] = ()
    """The conditions that its own words speak of, which speak for or against it and never exclude it."""

    def text(self, names: Mapping[str, str] | None = None) -> str:
        """Return the explanation as lines, with *names* for ids."""
        names = names or {}
        rows = [(condition.key, str(condition)) for condition in self.conditions] or [("conditions", "none")]
        rows += [("its words", f"{each.key} {each}") for each in self.inferred]
        if self.words:
            rows.append(("words", f"{', '.join(self.words)}: confirmed"))
        if self.relevance is not None:
            rows.append(("relevance", f"{self.relevance:.3f}"))
        rows.append(("seed", self._seed()))
        # The steps that changed something; if none did, the first in which anything came.
        coming = [(number, step) for number, step in enumerate(self.steps, 1) if step.flows]
        for number, step in [each for each in coming if each[1].before != each[1].after] or coming[:1]:
            rows.append((f"step {number}", str(step)))
            rows += [("", flow.text(names)) for flow in step.flows]
        if self.inhibition > 0:
            rows.append(("inhibition", f"- {self.inhibition:.3f}, the strongest have {self.top_mean:.3f}"))
        rows += [("raw", f"{self.raw:.3f}"), ("activation", f"{self.value:.3f}")]
        width = max(len(label) for label, _ in rows)
        head = f"{names.get(self.id, self.id)}: {self.outcome}"
        return "\n".join([head, *(f"  {label.ljust(width)}  {text}" for label, text in rows)])

    def _seed(self) -> str:
        if not self.seed:
            return "none"
        history = "never used"
        if self.idle_hours is not None:
            times = "once" if self.uses == 1 else f"{self.uses} times"
            history = f"used {times}, last {self.idle_hours:.1f} hours ago"
        return f"{self.unweighted:.3f} x {self.factor:.3f} ({history}) = {self.seed:.3f}"

    def __str__(self) -> str:
        return self.text()


def explain(
    source: Source,
    context: Context,
    id: str,
    *,
    now: float | datetime,
    parameters: Parameters = DEFAULTS,
    course: Course | None = None,
) -> Explanation:
    """Return why the live behavior *id* has its activation in *context*, or why it has none.

    *course* is how it was found, if that was by ``brim.activation.relevance.rank``.
    """
    node = next(iter(source.nodes([id])), None)
    if node is None:
        raise InputError(f"no live behavior has the id {id!r}: it is unknown, forgotten or superseded")
    course = course or Course(Neighbourhood(source, context, now, parameters))
    around = course.around
    if around.found is None:
        seed = seed_of(node, context.facts, context.words, around.now, parameters)
    else:
        level = base_level(node.uses, node.last_used, around.now, parameters)
        factor, value = base_factor(level, parameters), around.seeds.get(id, 0.0)
        seed = Seed(value, *around.match(node), around.words(node), value / factor if factor else 0.0, level, factor)
    by = (around.found or {}).get(id)
    steps = tuple(_step(course, number, id) for number in range(parameters.steps))
    raw, value = course.raw.get(id, 0.0), course.values.get(id, 0.0)
    return Explanation(
        id=id,
        value=value,
        outcome=_outcome(seed, steps, raw, value, parameters, by=by),
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
        relevance=by.value if by is not None else None,
        inferred=_inferred(node, context) if around.found is not None else (),
    )


def _inferred(node: Node, context: Context) -> tuple[Condition, ...]:
    match, known = node.inferred.match(context.evidence), context.evidence
    verdicts = {**dict.fromkeys(match.confirmed, "confirmed"), **dict.fromkeys(match.contradicted, "contradicted")}
    return tuple(
        Condition(key, wanted, known.get(key, ()), verdicts.get(key, "absent"))
        for key, wanted in node.inferred.conditions
    )


def _conditions(node: Node, seed: Seed, context: Context) -> tuple[Condition, ...]:
    found = []
    for key, wanted in node.when.conditions:
        known, verdict = context.facts.get(key, ()), "contradicted" if key in seed.contradicted else "absent"
        if key in seed.confirmed:
            known, verdict = confirming(node.when, key, context.facts), "confirmed"
        elif (key, wanted) == NOT_CI and verdict == "absent":
            known, verdict = known or ("CI not set",), "confirmed"
        found.append(Condition(key, wanted, known, verdict))
    return tuple(found)


def _step(course: Course, number: int, id: str) -> Step:
    """Return what arrived at *id* in the step after state *number*: offers first, then what was taken."""
    before, around = course.states[number], course.around
    flows: dict[int, list[Flow]] = {1: [], -1: []}
    for giver in sorted(giver for giver, value in before.items() if value > 0):
        for ways, sign in ((around.gives[giver], 1), (around.takes[giver], -1)):
            for receiver, kind, _, share, edge in ways:
                if receiver == id:
                    energy = sign * (before[giver] * share)
                    flows[sign].append(Flow(giver, kind, energy, edge.weight, around.freshness(edge)))
    return Step(before.get(id, 0.0), (*flows[1], *flows[-1]), course.states[number + 1].get(id, 0.0))


def _outcome(
    seed: Seed, steps: tuple[Step, ...], raw: float, value: float, parameters: Parameters, *, by: Relevance | None
) -> str:
    """Say in one sentence why it is in or out."""
    if seed.contradicted:
        return f"out: the context contradicts {' and '.join(seed.contradicted)}"
    if value > 0:
        spoken = [*seed.confirmed, *(["words"] if seed.words else [])]
        if by is not None and not spoken:
            spoken = [*by.confirmed] or ["others under its heading"] * by.heading
        reason = f"confirmed by {' and '.join(spoken)}" if spoken else "it has no conditions"
        return f"in: {reason if seed.value else 'reached by edges only'}"
    if raw > 0:
        return f"out: too little, its activation is under {parameters.least:g}"
    if seed.value == 0 and not any(flow.energy > 0 for step in steps for flow in step.flows):
        return "out: nothing here says that it applies, and no rule that applies is connected with it"
    if steps and steps[-1].after == 0:
        return "out: a rule that contradicts or replaces it applies"
    return "out: other rules matter so much more that nothing is left for it"
