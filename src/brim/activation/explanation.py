"""``explain``: why one behavior has its activation, in one sentence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from brim.activation.context import Context
from brim.activation.engine import Course, Neighbourhood, Seed, seed_of
from brim.activation.parameters import DEFAULTS, Parameters
from brim.activation.relevance import Relevance
from brim.activation.source import Source
from brim.errors import InputError
from brim.record import PlainData


@dataclass(frozen=True)
class Explanation(PlainData):
    """The activation of one behavior, and why it has it."""

    id: str
    value: float
    outcome: str
    """One sentence that begins with ``in:`` or ``out:``."""

    def __str__(self) -> str:
        return f"{self.id}: {self.outcome}"


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
        raise InputError(
            f"no live behavior has the id {id!r}: it is unknown, forgotten or superseded"
        )
    course = course or Course(Neighbourhood(source, context, now, parameters))
    relevance = (course.around.found or {}).get(id)
    seed = seed_of(node, context.facts, context.words, course.around.now, parameters)
    if course.around.found is not None:
        confirmed, contradicted, _ = course.around.match(node)
        value = course.around.seeds.get(id, 0.0)
        words = course.around.words(node)
        seed = replace(
            seed, value=value, confirmed=confirmed, contradicted=contradicted, words=words
        )
    return Explanation(
        id, course.values.get(id, 0.0), _outcome(id, seed, course, parameters, relevance)
    )


def _outcome(
    id: str, seed: Seed, course: Course, parameters: Parameters, relevance: Relevance | None
) -> str:
    if seed.contradicted:
        return f"out: the context contradicts {' and '.join(seed.contradicted)}"
    if course.values.get(id, 0.0) > 0:
        return f"in: {_reason(seed, relevance)}" if seed.value else "in: reached by edges only"
    if course.raw.get(id, 0.0) > 0:
        return f"out: too little, its activation is under {parameters.least:g}"
    if not any(state.get(id, 0.0) > 0 for state in course.states):
        return (
            "out: nothing here says that it applies, and no rule that applies is connected with it"
        )
    if course.states[-1].get(id, 0.0) == 0:
        return "out: a rule that contradicts or replaces it applies"
    return "out: other rules matter so much more that nothing is left for it"


def _reason(seed: Seed, relevance: Relevance | None) -> str:
    spoken = [*seed.confirmed, *(["words"] if seed.words else [])]
    if relevance is not None and not spoken:
        spoken = [*relevance.confirmed] or ["others under its heading"] * relevance.heading
    return f"confirmed by {' and '.join(spoken)}" if spoken else "it has no conditions"
