"""The best plan there is, exactly: an oracle for what the mapper's plans are worth. It needs numpy,
and no brim mapper.

A plan is worth the sum of activation times fidelity. Each rule takes one tier; a heading is paid
once for its section. Whether ``ALSO_LEARNED`` is open is tried both ways; then each other section
is solved by itself, and joined to the rest by how many tokens both take: dynamic programming over
tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from brim.rules import Rule, StoredCosts, Tier
from brim.rules.sections import Section, section_of
from brim.rules.text import is_protected
from brim.rules.tiers import FIDELITY

Option = tuple[int, float]
"""Tokens and value."""
Table = Any
"""The most value within each number of tokens."""
NAMES, NOTES = Section.ALSO_LEARNED, Section.UNCONFIRMED_NOTES


def best_value(behaviors: Iterable[Rule], most: Mapping[str, Tier], values: Mapping[str, float],
               costs: StoredCosts, budget: int) -> float:  # fmt: skip
    """Return what no plan within *budget* tokens exceeds, if each rule may have the tiers up to its
    own of *most*."""
    sections: dict[Section, list[dict[Tier, Option]]] = {section: [] for section in Section}
    for behavior in behaviors:
        options = _options(behavior, most[behavior.id], values[behavior.id], costs)
        if options.keys() != {Tier.OMITTED}:
            sections[section_of(behavior.kind, behavior.status, Tier.FULL)].append(options)
    only_notes = budget - costs.frame(0, only_notes=True)[0]
    everything = budget - costs.frame(0)[0]
    found = [
        0.0
        if all(_is_optional(options) for rules in sections.values() for options in rules)
        else -np.inf
    ]
    if only_notes >= 0 and all(_is_optional(options) for section in Section if section != NOTES
                               for options in sections[section]):  # fmt: skip
        found.append(
            _opened(np.zeros(only_notes + 1), sections[NOTES], costs.heading(NOTES)[0])[-1]
        )
    if everything >= 0:
        found += [
            _best(sections, costs, everything, with_names=with_names)
            for with_names in (False, True)
        ]
    return float(max(found))


def _options(behavior: Rule, most: Tier, value: float, costs: StoredCosts) -> dict[Tier, Option]:
    """Return the tiers that *behavior* may have, with their tokens and values."""
    least = Tier.SUMMARY if is_protected(behavior) else Tier.OMITTED
    options = {
        tier: (costs.item(behavior, tier)[0], value * FIDELITY[tier])
        for tier in Tier
        if least <= tier <= most
    }
    return {**options, Tier.OMITTED: (0, 0.0)} if least is Tier.OMITTED else options


def _is_optional(options: Mapping[Tier, Option]) -> bool:
    return Tier.OMITTED in options


def _best(sections: Mapping[Section, list[dict[Tier, Option]]], costs: StoredCosts, room: int,
          *, with_names: bool) -> float:  # fmt: skip
    """Return the most value with a list of names or without one."""
    table = np.zeros(room + 1)
    if with_names:
        table = _shifted(table, costs.heading(NAMES)[0])
    for section in Section:
        rules = sections[section]
        if section == NAMES or not rules:
            continue
        heading = costs.heading(section)[0]
        if section == NOTES:
            table = np.maximum(table, _opened(table, rules, heading))
            continue
        named = rules if with_names else [_without(options, Tier.NAME_ONLY) for options in rules]
        closed = [
            {tier: option for tier, option in options.items() if tier < Tier.SUMMARY}
            for options in named
        ]
        opened = _opened(table, named, heading)
        table = np.maximum(_chosen(table, closed), opened) if all(closed) else opened
    return float(table[-1])


def _without(options: Mapping[Tier, Option], left_out: Tier) -> dict[Tier, Option]:
    return {tier: option for tier, option in options.items() if tier is not left_out}


def _opened(table: Table, rules: list[dict[Tier, Option]], heading: int) -> Table:
    return _chosen(_shifted(table, heading), rules)


def _chosen(table: Table, rules: list[dict[Tier, Option]]) -> Table:
    """Return *table* after each of *rules* has taken the best of its options."""
    for options in rules:
        table = np.maximum.reduce(
            [_shifted(table, tokens) + value for tokens, value in options.values()]
        )
    return table


def _shifted(table: Table, tokens: int) -> Table:
    """Return *table* with *tokens* spent."""
    spent = np.full_like(table, -np.inf)
    if tokens < len(table):
        spent[tokens:] = table[: len(table) - tokens]
    return spent
