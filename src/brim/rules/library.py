"""Rules of a rules file as the activation engine takes them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from brim.record import PlainData
from brim.rules.activation import Graph
from brim.rules.compiled import RuleIndex
from brim.rules.delivery import PROMPT, START, deliver
from brim.rules.fitting import Budget
from brim.rules.kinds import infer_kind
from brim.rules.library_rule import BehaviorKind, Edge, EdgeKind, Rule
from brim.rules.mapper import ActivationTierMapper
from brim.rules.plan import InjectionPlan
from brim.rules.rulebook import ACTIVE, RuleEntry
from brim.rules.session import Session
from brim.rules.situation import Situation
from brim.rules.source import NATIVE
from brim.rules.stored import StoredRule
from brim.rules.when import PATH, RUN, Condition
from brim.tokens.protocol import TokenCounter

_KEYS = {PATH: "file", RUN: "command"}
_EDGE_KINDS = {
    "related": EdgeKind.SIMILAR_TO,
    "requires": EdgeKind.REQUIRES,
    "conflicts": EdgeKind.CONFLICTS,
    "overrides": EdgeKind.OVERRIDES,
}


@dataclass(frozen=True)
class LibraryRules(PlainData):
    """Rules as the library has them, and how they are connected."""

    rules: tuple[Rule, ...]
    edges: tuple[Edge, ...]

    @cached_property
    def graph(self) -> Graph:
        """What ``activate`` spreads over."""
        return Graph(self.rules, self.edges)


def library_rules(entries: Iterable[RuleEntry]) -> LibraryRules:
    """Return those of *entries* that are in force."""
    rules: dict[str, Rule] = {}
    edges: list[Edge] = []
    for entry in entries:
        if entry.state != ACTIVE or entry.place == NATIVE or entry.name in rules:
            continue
        rules[entry.name] = library_rule(entry)
        for edge in entry.rule.edges:
            edges.append(Edge(entry.name, edge.target, _EDGE_KINDS[edge.kind], edge.weight))
    known_edges = [edge for edge in edges if edge.target in rules]
    return LibraryRules(tuple(rules.values()), tuple(known_edges))


def library_rule(entry: RuleEntry) -> Rule:
    """Return a rule of a file as a value of the library. Its name is its id."""
    written = entry.rule
    kind: str = written.kind
    if not kind:
        kind = BehaviorKind.CONSTRAINT if written.is_must else infer_kind(written.text)
    return Rule(
        written.name,
        written.name.replace(":", "-").replace(" ", "-"),
        kind,
        written.text,
        summary=written.summary,
        tags=[tag for tag in written.tags if tag.isascii()],
        when=_facts(entry.condition),
        scope=entry.place,
    )


def _facts(condition: Condition) -> dict[str, list[str]]:
    """Return *condition* as the facts that an activation compares: a key has one of its values.

    Of cases about different things, the first one is taken.
    """
    facts: dict[str, list[str]] = {}
    for case in condition.cases:
        keys = {_KEYS.get(clause.key, clause.key) for clause in case}
        if facts and keys != set(facts):
            continue
        for clause in case:
            facts.setdefault(_KEYS.get(clause.key, clause.key), []).extend(clause.values)
    return facts


# Rules in force -----------------------------------------------------------------------------------


def plan_now(
    index: RuleIndex,
    situation: Situation,
    *,
    budget: int | None,
    max_chars: int | None,
    counter: TokenCounter,
) -> InjectionPlan:
    """Return what matters in *situation*, in sections, within *budget*: what a session is told at
    its start, and what the situation brings.

    Native files are left out: whoever asks reads them.
    """
    unlimited = Session(None, None)
    start = deliver(index, START, Situation(), unlimited, Budget(budget), explain=True)
    now = deliver(index, PROMPT, situation, unlimited, Budget(None))
    values: dict[str, float] = {}
    rules: dict[str, Rule] = {}
    texts = index.texts()
    for choice in (*start.choices, *now.choices):
        if choice.rule.source == NATIVE or not choice.activation:
            continue
        values[choice.id] = max(choice.activation, values.get(choice.id, 0.0))
        rules[choice.id] = _stored_rule(choice.rule, texts[choice.rule.number])
    return ActivationTierMapper().plan(
        values.items(),
        rules,
        budget=budget,
        max_chars=max_chars,
        counter=counter,
        floor="fit",
        fill=True,
    )


def _stored_rule(stored: StoredRule, text: str) -> Rule:
    kind = BehaviorKind.CONSTRAINT if stored.protected else stored.kind
    name = stored.name.replace(":", "-").replace(" ", "-")
    return Rule(stored.digest, name, kind, text, scope=stored.source)
