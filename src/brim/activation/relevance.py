"""How much each rule has to do with a situation, from 0 to 1.

A rule is found by its terms: the stems of its text, heading, tags and name, the subjects that these
belong to, and the conditions that its words speak of. A situation has terms too: the words of
prompt, command, paths and the text being written, the subjects of the prompt, and what is known of
it. They are compared by BM25, so a term that few rules have says more. A declared condition that
the situation contradicts excludes a rule; those that its words speak of only raise or lower it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import log

from brim.activation.context import Context
from brim.activation.engine import Course, Neighbourhood
from brim.activation.parameters import DEFAULTS, Parameters
from brim.activation.source import Index, Node, filed_under, looked_up
from brim.behaviors.behavior import BehaviorKind, Rule
from brim.behaviors.tasks import subjects_of
from brim.behaviors.when import EDITING, When
from brim.behaviors.words import stems_of, words_of
from brim.record import PlainData

Facts = Mapping[str, tuple[str, ...]]

ALWAYS = ""
"""The term of a rule without declared conditions."""
ANYWHERE = "*"
"""The term of what a session is told when it begins: constraints, and rules without any condition.

It weighs more in a short rule, which comes before a long one if nothing else tells them apart: more
of them fit.
"""
INFERRED = "~"
"""What the term of an inferred condition begins with."""
LANGUAGE = "~language"
"""The term of a rule that only a programming language is a condition for: it's for every change in
it."""

SATURATION, LENGTH_SHARE, USUAL_LENGTH = 1.2, 0.75, 12.0
"""BM25's k1 and b, and the stems of a usual rule: a constant, so that a new rule doesn't change
what others weigh."""
BACKGROUND = 50
"""Rules about other things that are thought of as well. Otherwise no word would be rare among three
rules."""
CONFIRMED = 0.5
"""What an inferred condition that the situation confirms counts, as a share of a word that is as
rare."""
CONTRADICTED = 0.6
"""What is left of a score for each inferred condition that the situation contradicts."""
DECLARED = 4.0
"""The score of a declared condition that is confirmed."""
HALF = 4.0
"""The score at which relevance is one half: about that of one rare word."""
SHARE = 0.125
"""A rule is relevant from this share of the mean score of the best three."""
LEAST_OF_CALL = 3.0
"""And, for a tool call, from this score: it's told only what is surely about it."""
OF_LANGUAGE = 0.8
"""The score of a rule for the language that a change is made in, if nothing else speaks for it."""
SECTION = 0.5
"""What a rule gets of the mean score of the rules under its heading: what stands together is about
the same."""
SHORT = 1e-9
"""What a hundredth of ``ANYWHERE`` adds to the relevance of a rule that nothing else speaks for."""
PLACE = frozenset({"environment", "project_type", "branch"})
"""What a situation has whatever is done in it. It says nothing about which rule is nearer to a
prompt."""
PROJECT_LANGUAGES = frozenset(
    {
        "python",
        "rust",
        "go",
        "java",
        "kotlin",
        "scala",
        "ruby",
        "php",
        "elixir",
        "erlang",
        "swift",
        "dart",
        "haskell",
    }
)
"""Languages that a file in a project's folder tells of (``store/data/project_types.tsv``)."""
PROGRAMS = PROJECT_LANGUAGES | {
    "javascript",
    "typescript",
    "vue",
    "svelte",
    "c",
    "cpp",
    "csharp",
    "lua",
    "perl",
    "zig",
}
"""Languages that most changes are made in where they are used at all; style sheets and Dockerfiles
aren't."""
MOST = 32
"""The best that are looked at more closely: more don't fit the budget of a prompt."""


@dataclass(frozen=True)
class Relevance(PlainData):
    """How much a rule has to do with a situation, and why."""

    value: float
    """From 0 to 1."""
    score: float
    """What words and conditions add up to, without those about the place."""
    sure: bool
    """Whether it's told however near others are: a declared condition holds, or it's for every
    change."""
    words: tuple[str, ...]
    """The stems and subjects (``#ui``) that the situation shares with it, those that say most
    first."""
    declared: tuple[str, ...]
    """The keys of declared conditions that the situation confirms."""
    confirmed: tuple[str, ...]
    """The keys of inferred conditions that it confirms."""
    contradicted: tuple[str, ...]
    """The keys of those that it contradicts."""
    heading: bool = False
    """Whether the rules under its heading are near as well."""


def terms_of(behavior: Rule) -> dict[str, int]:
    """Return the terms that *behavior* is found by, each with its weight in hundredths."""

    counts: dict[str, int] = {}
    for stem in stems_of(behavior.canonical):
        counts[stem] = counts.get(stem, 0) + 1
    for stem in words_of(" ".join((behavior.heading, behavior.name, *behavior.tags))):
        counts.setdefault(stem, 1)
    room = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * sum(counts.values()) / USUAL_LENGTH)
    terms = {
        stem: max(1, round(100 * many * (SATURATION + 1) / (many + room)))
        for stem, many in counts.items()
    }
    subjects = subjects_of(counts)
    room = 1 + sum(subjects.values())  # a rule that speaks of many subjects is less about each
    terms.update({subject: 100 * many // room for subject, many in subjects.items()})
    inferred = behavior.inferred
    terms.update(dict.fromkeys(_filed(inferred, INFERRED), 100))
    terms.update(dict.fromkeys(_filed(behavior.when), 100))
    if not behavior.when.waits:
        terms[ALWAYS] = 100
        if not inferred or behavior.kind is BehaviorKind.CONSTRAINT:
            terms[ANYWHERE] = max(1, 100 - sum(counts.values()))
        elif _asks_for_language(inferred):
            terms[LANGUAGE] = 1
    return terms


def section_of(behavior: Rule) -> str:
    """Return the file and heading that *behavior* stood under; empty if there was none."""
    return f"{behavior.provenance.file}\n{behavior.heading}" if behavior.heading else ""


def _filed(when: When, mark: str = "") -> list[str]:
    return [
        f"{mark}{key}={filed_under(key, value)}"
        for key, values in when.conditions
        for value in values
    ]


def facts_filed(facts: Facts, mark: str = "") -> list[str]:
    """Return the terms of the conditions that *facts* may confirm."""
    return [
        f"{mark}{key}={text}"
        for key, values in facts.items()
        for value in values
        for text in looked_up(key, value)
    ]


def rank(
    index: Index,
    context: Context,
    *,
    now: float,
    parameters: Parameters = DEFAULTS,
    always: bool = True,
    told: Collection[str] = (),
) -> Course:
    """Return how the rules of *index* that have to do with *context* are activated.

    With *always*, constraints and rules without any condition count too, but for those that were
    *told* already.
    """
    found = relevant(index, context)
    nodes = {node.id: node for node, _ in found}
    values = {node.id: relevance.value for node, relevance in found}
    if always:
        least = (parameters.always - parameters.seed_floor) / (1 - parameters.seed_floor)
        for node, short in standing(index, told):
            nodes.setdefault(node.id, node)
            values[node.id] = max(values.get(node.id, 0.0), least + SHORT * short)
    by = {node.id: relevance for node, relevance in found}
    return Course(
        Neighbourhood(
            index, context, now, parameters, relevance=values, nodes=nodes.values(), found=by
        )
    )


def standing(index: Index, told: Collection[str] = ()) -> list[tuple[Node, int]]:
    """Return what a session is told when it begins, but for those in *told*, each with how short it
    is.

    These are the constraints and rules of *index* without a declared condition, unless the words of
    a rule that isn't a constraint speak of one.
    """
    weights = dict(index.postings((ANYWHERE,)).get(ANYWHERE, ()))
    nodes = index.nodes([id for id in weights if id not in told])
    return [(node, weights[node.id]) for node in nodes]


def relevant(index: Index, context: Context) -> list[tuple[Node, Relevance]]:
    """Return the rules of *index* that have to do with *context*, best first.

    A rule is left out if the context contradicts a condition that was declared for it.
    """
    weights, evidence = context.terms, context.evidence
    declared = facts_filed(evidence)
    asked = {
        **weights,
        **dict.fromkeys(facts_filed(evidence, INFERRED), CONFIRMED),
        **dict.fromkeys(declared, 1.0),
    }
    if EDITING in evidence.get("task", ()):
        asked[LANGUAGE] = CONFIRMED
    found = (
        sorted(index.postings(asked).items()) if asked else []
    )  # added up in the same order by every index
    many = index.count() + BACKGROUND if found else 0
    worth = {
        term: asked[term] * log(1 + (many - len(rules) + 0.5) / (len(rules) + 0.5)) / 100
        for term, rules in found
    }
    worth.update(dict.fromkeys(declared, DECLARED / 100))
    scores: dict[str, float] = {}
    for term, rules in found:
        each = worth[term]
        for id, weight in rules:
            scores[id] = scores.get(id, 0.0) + each * weight
    # Without words, only declared conditions are met, and each that is counts.
    most = MOST if weights else len(scores)
    least = min(sorted(scores.values(), reverse=True)[:most], default=0.0)
    best = [
        id for _, id in sorted([(-score, id) for id, score in scores.items() if score >= least])
    ][:most]
    means = _section_means(index, {id: scores[id] for id in best}) if context.prompt else {}
    best += [id for id in means if id not in scores]
    shared: dict[str, list[tuple[float, str]]] = {id: [] for id in best}
    for term, rules in found:
        if term in weights:
            for id, weight in rules:
                if id in shared:
                    shared[id].append((-worth[term] * weight, term))
    judged = [
        (node, _judged(node, shared[node.id], context, worth, means.get(node.id, 0.0)))
        for node in index.nodes(best)
    ]
    return _near(judged, 0.0 if context.prompt else LEAST_OF_CALL)


def _section_means(index: Index, scores: Mapping[str, float]) -> dict[str, float]:
    """Return the mean score of the section that each rule stands in, for those with one of *scores*
    in it."""
    sections: dict[str, list[str]] = {}
    for section, id in index.sections(scores) if scores else ():
        sections.setdefault(section, []).append(id)
    means: dict[str, float] = {}
    for ids in sections.values():
        means.update(dict.fromkeys(ids, sum([scores.get(id, 0.0) for id in ids]) / len(ids)))
    return means


def _judged(
    node: Node,
    shared: list[tuple[float, str]],
    context: Context,
    worth: Mapping[str, float],
    around: float,
) -> Relevance:
    """Return how relevant *node* is, now that its conditions are known and not only what they are
    filed under."""
    declared, inferred = node.when.match(context.evidence), node.inferred.match(context.evidence)
    # What isn't known with everything that speaks for a rule isn't known without it either.
    if (declared.confirmed or declared.contradicted) and node.when.match(
        context.facts
    ).contradicted:
        return Relevance(0.0, 0.0, False, (), (), (), ())
    score = SECTION * around - sum([each for each, _ in shared])
    for key, values in node.inferred.conditions:
        if key in inferred.confirmed:
            terms = [f"{INFERRED}{key}={filed_under(key, value)}" for value in values]
            score += 100 * max([worth.get(term, 0.0) for term in terms])
    places = len(PLACE.intersection(declared.confirmed))
    score = score * CONTRADICTED ** len(inferred.contradicted) + DECLARED * (
        len(declared.confirmed) - places
    )
    # A rule for every change is as near to each of them, whatever else is; one for a language is
    # only near enough.
    is_change, confirmed = EDITING in context.evidence.get("task", ()), inferred.confirmed
    if (
        is_change
        and not inferred.contradicted
        and _asks_for_language(node.inferred)
        and _is_written(node, context)
    ):
        score, confirmed = max(score, OF_LANGUAGE), ("language",)
    wanted = dict(node.inferred.conditions).get("task", ())
    sure = places + (EDITING in wanted and is_change)
    words = tuple([term for _, term in sorted(shared)])
    value = 1 - HALF / (HALF + score + DECLARED * sure)
    is_sure = bool(sure or declared.confirmed)
    return Relevance(
        value,
        score,
        is_sure,
        words,
        declared.confirmed,
        confirmed,
        inferred.contradicted,
        around > 0,
    )


def _asks_for_language(inferred: When) -> bool:
    """Whether a language of programs is the only condition that a rule's words speak of."""
    if len(inferred.conditions) != 1:
        return False
    ((key, values),) = inferred.conditions
    return key == "language" and not PROGRAMS.isdisjoint(values)


def _is_written(node: Node, context: Context) -> bool:
    """Whether the project may have files in the language of *node*, as far as its type says."""
    types, wanted = context.facts.get("project_type"), dict(node.inferred.conditions)["language"]
    return (
        not types or not PROJECT_LANGUAGES.issuperset(wanted) or not set(types).isdisjoint(wanted)
    )


def _near(judged: list[tuple[Node, Relevance]], least: float) -> list[tuple[Node, Relevance]]:
    """Return those of *judged* that are sure or near enough to the best, best first."""
    ranked = sorted(judged, key=lambda pair: (-pair[1].value, pair[0].id))
    top = sorted([relevance.score for _, relevance in ranked], reverse=True)[:3]
    least = max(least, SHARE * sum(top) / len(top)) if top else least
    return [
        (node, relevance)
        for node, relevance in ranked
        if relevance.sure or relevance.score >= least > 0
    ]
