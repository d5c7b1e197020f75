"""Everything that is known about one rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from brim.behaviors.behavior import Edge, Rule
from brim.behaviors.jsonl import as_object, edge_object, iso
from brim.config import Config
from brim.store.events import RuleEvent
from brim.store.loaded import readers_of
from brim.store.rulebook import find_rule
from brim.store.scopes import Scopes
from brim.store.statistics import RuleOutcome, outcomes, tier_tokens

MOST_EVENTS = 10
"""Events of a rule that are shown."""


@dataclass(frozen=True)
class RuleDetails:
    """One rule, its connections, what happened to it, and who reads it."""

    rule: Rule
    outcome: RuleOutcome
    tokens: dict[str, int]
    edges: tuple[Edge, ...]
    neighbours: Mapping[str, Rule]
    """The rules at the ends of the edges, by id."""
    events: tuple[RuleEvent, ...]
    """The newest first."""
    file: str
    """The database that has it."""
    readers: tuple[tuple[str, str], ...]
    """Agents that read it in files of their own, each with the file."""

    def to_dict(self) -> dict[str, Any]:
        """Return it for ``--json``."""
        return {
            **as_object(self.rule),
            "outcome": self.outcome.to_dict(),
            "tokens": self.tokens,
            "edges": [edge_object(edge) for edge in self.edges],
            "events": [_event_object(event) for event in self.events],
            "file": self.file,
            "read_by": [{"agent": agent, "file": file} for agent, file in self.readers],
        }


def read_details(scopes: Scopes, text: str, config: Config) -> RuleDetails:
    """Return everything about the rule that *text* means: see ``find_rule``."""
    rule = find_rule(scopes, text)
    edges = [edge for edge in scopes.all_edges() if rule.id in (edge.source, edge.target)]
    ends = {edge.source for edge in edges} | {edge.target for edge in edges}
    store = scopes.store(rule.scope)
    return RuleDetails(
        rule,
        outcomes(scopes, [rule])[rule.id],
        tier_tokens(scopes, rule, config),
        tuple(edges),
        scopes.get_many(ends),
        tuple(store.events(behavior=rule.id, limit=MOST_EVENTS)),
        store.path,
        tuple(readers_of(scopes, rule.id)),
    )


def _event_object(event: RuleEvent) -> dict[str, Any]:
    return {**event.to_dict(), "time": iso(event.time), "detail": dict(event.detail)}
