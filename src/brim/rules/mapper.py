"""``ActivationTierMapper``: from activation to tiers, and from tiers to a plan that fits."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from brim.errors import InputError
from brim.record import PlainData
from brim.rules.arrangement import Arrangement, ArrangementLimits, Slot, lowest_first
from brim.rules.costs import Costs
from brim.rules.library_rule import BehaviorKind, Rule, Status
from brim.rules.plan import InjectionPlan, Item
from brim.rules.session import Session
from brim.rules.text import is_protected
from brim.rules.tiers import Tier
from brim.tokens.count import Count
from brim.tokens.counters import counter_for
from brim.tokens.protocol import TokenCounter

FLOORS = ("summary", "fit")
"""What to do with constraints that don't fit on their own."""

DETAIL = (Tier.FULL, Tier.SUMMARY, Tier.NAME_ONLY, Tier.OMITTED)


@dataclass(frozen=True)
class ActivationTierMapper(PlainData):
    """Maps activation to tiers: thresholds are inclusive. A constraint is never below Summary, at
    any activation.

    >>> ActivationTierMapper().tier(0.7, BehaviorKind.DIRECTIVE)
    <Tier.FULL: 3>
    >>> ActivationTierMapper().tier(0.02, "constraint")
    <Tier.SUMMARY: 2>
    """

    full: float = 0.7
    summary: float = 0.3
    name_only: float = 0.1

    def __post_init__(self) -> None:
        thresholds = (self.name_only, self.summary, self.full)
        numbers = all(isinstance(threshold, (int, float)) for threshold in thresholds)
        if not numbers or not 0 <= self.name_only <= self.summary <= self.full <= 1:
            values = ", ".join(map(repr, thresholds))
            raise InputError(
                f"the thresholds must be 0 <= name_only <= summary <= full <= 1, not {values}"
            )

    def tier(self, activation: float, kind: BehaviorKind | str) -> Tier:
        """Return the tier that *activation* gives to a behavior of *kind*."""
        if activation >= self.full:
            return Tier.FULL
        if activation >= self.summary or kind == BehaviorKind.CONSTRAINT:
            return Tier.SUMMARY
        if activation >= self.name_only:
            return Tier.NAME_ONLY
        return Tier.OMITTED

    def plan(
        self,
        results: Iterable[Any],
        behaviors: Mapping[str, Rule] | Iterable[Rule],
        *,
        budget: int | None = None,
        counter: TokenCounter | None = None,
        model: str | None = None,
        max_chars: int | None = None,
        fill: bool = False,
        whole: bool = False,
        session: Session | None = None,
        floor: str = "summary",
        further: int = 0,
    ) -> InjectionPlan:
        """Return what of *results* goes in within *budget* tokens and *max_chars* characters (None
        means no limit).

        *results* are activations, or any pairs of id and value. Tokens are those of *counter*, else
        of *model*, else of o200k_base. *fill* promotes the highest into what is left. *whole* tells
        each rule in full or not at all. *session* leaves out what was shown a short while ago.

        *floor* says what becomes of constraints that are too much on their own: with ``summary``
        the plan is over budget; with ``fit`` the lowest are left out, and a last line counts what
        didn't fit, plus *further*.
        """
        _check(floor, budget=budget, max_chars=max_chars)
        off = ""
        if max_chars == 0:
            off = "max_chars is 0: injection is off"
        if budget == 0:
            off = "the budget is 0: injection is off"
        planner = _Planner(
            mapper=self,
            pairs=_paired(results, behaviors),
            costs=_costs_of(counter, model),
            limits=ArrangementLimits(budget, max_chars),
            session=session,
            whole=whole,
            fill=fill,
            is_counted=floor == "fit",
            further=further,
            off=off,
        )
        scopes: tuple[str, ...] = ("project", "user")
        plan = planner.plan(scopes)
        # Another person's project must not crowd out the user's own constraints by having many.
        if plan.over_budget and len({item.behavior.scope for item in plan.included}) > 1:
            scopes = ("user",)
            plan = planner.plan(scopes)
            reason = "the project's constraints gave way to your own"
            plan = replace(plan, reasons=(*plan.reasons, reason))
        if plan.over_budget and floor == "fit":
            return planner.plan(scopes, droppable=True)
        return plan


@dataclass(frozen=True)
class _Planner(PlainData):
    """What a plan is made of; which constraints are protected is decided with the plan."""

    mapper: ActivationTierMapper
    pairs: list[tuple[Rule, float]]
    costs: Costs
    limits: ArrangementLimits
    session: Session | None
    whole: bool
    fill: bool
    is_counted: bool
    """Whether a last line counts what didn't fit, and *further* ones."""
    further: int
    off: str
    """Why injection is off; empty if it isn't."""

    def plan(self, scopes: tuple[str, ...], *, droppable: bool = False) -> InjectionPlan:
        """Plan with the constraints of *scopes* protected, *droppable* or not."""
        slots = []
        for rule, value in self.pairs:
            protected = is_protected(rule) and rule.scope in scopes
            slot = self._slot(rule, value, protected=protected)
            if droppable:
                slot.allowed = tuple(dict.fromkeys((*slot.allowed, Tier.OMITTED)))
            slots.append(slot)
        arrangement = Arrangement(
            slots, self.costs, self.limits, counted=self.is_counted, further=self.further
        )
        if not arrangement.fits():
            _demote(arrangement)
        if self.fill and not self.off and arrangement.fits():
            _fill(arrangement)
        return _plan_of(arrangement, off=self.off)

    def _slot(self, rule: Rule, value: float, *, protected: bool) -> Slot:
        """Return *rule* with every tier it may have, and why not a higher one."""
        if not rule.live:
            return _omitted(rule, value, f"it is {rule.status.value}")
        if self.off:
            return _omitted(rule, value, self.off)
        mapped, reason = self._mapped(rule, value, protected=protected)
        if mapped is Tier.OMITTED:
            return _omitted(rule, value, reason)
        lowest = Tier.SUMMARY if protected else Tier.OMITTED
        allowed = [tier for tier in DETAIL if lowest <= tier <= mapped]
        if self.whole and mapped is Tier.FULL:
            allowed = [Tier.FULL, lowest]
        if self.session is not None:
            allowed = [tier for tier in allowed if self._may_show(rule, tier)]
            if not allowed or allowed[0] is Tier.OMITTED:
                return _omitted(rule, value, self.session.why_not(rule.id))
            if Tier.OMITTED not in allowed and allowed[-1] > Tier.SUMMARY:
                allowed.append(Tier.OMITTED)
        slot = Slot(rule, value, allowed, protected=protected, reason=reason)
        if not self.whole and rule.status is not Status.PENDING:
            higher = [tier for tier in DETAIL if tier > allowed[0]]
            slot.promotable = tuple([tier for tier in higher if self._may_show(rule, tier)])
        return slot

    def _may_show(self, rule: Rule, tier: Tier) -> bool:
        if self.session is None or tier is Tier.OMITTED:
            return True
        return self.session.allows(rule.id, tier)

    def _mapped(self, rule: Rule, value: float, *, protected: bool) -> tuple[Tier, str]:
        """Return the most detailed tier that *rule* may have, and why that one."""
        mapper = self.mapper
        mapped = mapper.tier(value, BehaviorKind.DIRECTIVE)
        thresholds = {Tier.FULL: mapper.full, Tier.SUMMARY: mapper.summary}
        threshold = thresholds.get(mapped, mapper.name_only)
        reason = f"activation {value:.2f} is {'at least' if mapped else 'under'} {threshold:g}"
        if self.whole and (value > 0 or protected):
            mapped = Tier.FULL
            reason = f"activation {value:.2f}, told whole"
        elif protected and mapped < Tier.SUMMARY:
            mapped = Tier.SUMMARY
            reason = f"activation {value:.2f}; a constraint is never below summary"
        if rule.status is Status.PENDING and mapped > Tier.SUMMARY:
            mapped = Tier.SUMMARY
            reason = "not confirmed yet: at most a summary"
        return mapped, reason


def _check(floor: str, **limits: int | None) -> None:
    if floor not in FLOORS:
        raise InputError(f"unknown floor {floor!r}: it is one of {', '.join(FLOORS)}")
    for name, limit in limits.items():
        if limit is not None and (not isinstance(limit, int) or limit < 0):
            raise InputError(
                f"{name} must be a whole number from 0 on, or None for no limit, not {limit!r}"
            )


def _costs_of(counter: TokenCounter | None, model: str | None) -> Costs:
    if counter is None:
        return Costs(counter_for(model))
    if not hasattr(counter, "count"):
        problem = f"must be a TokenCounter, such as counter_for(), not {repr(counter)[:40]}"
        raise InputError(f"counter {problem}")
    return Costs(counter)


def _omitted(behavior: Rule, value: float, reason: str) -> Slot:
    return Slot(behavior, value, (Tier.OMITTED,), protected=False, reason=reason)


def _paired(
    results: Iterable[Any], behaviors: Mapping[str, Rule] | Iterable[Rule]
) -> list[tuple[Rule, float]]:
    """Return each behavior of *results* once, with its highest value; highest first, then by id."""
    if isinstance(behaviors, Mapping):
        by_id = behaviors
    else:
        by_id = {behavior.id: behavior for behavior in behaviors}
    values: dict[str, float] = {}
    for result in results:
        id, value = (result.id, result.value) if hasattr(result, "value") else tuple(result)
        if not isinstance(value, (int, float)) or not 0 <= value <= 1:
            raise InputError(f"the activation of {id!r} must be from 0 to 1, not {value!r}")
        values[id] = max(float(value), values.get(id, 0.0))
    missing = [id for id in values if id not in by_id]
    if missing:
        ids = ", ".join(map(repr, missing[:3]))
        raise InputError(f"no behavior is given for {ids}{' …' if missing[3:] else ''}")
    pairs = [(by_id[id], value) for id, value in values.items()]
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0].id))


def _plan_of(arrangement: Arrangement, *, off: str) -> InjectionPlan:
    """Return the plan of *arrangement* once it fits; *off* is why injection is off, if it is."""
    limits = arrangement.limits
    total = arrangement.total()
    over = any(slot.tier for slot in arrangement.slots) and not arrangement.fits()
    overflow = 0
    if over and limits.tokens is not None:
        overflow = max(0, int(total) - limits.tokens)
    reasons = [f"{off}, constraints too"] if off else []
    return InjectionPlan(
        items=tuple([_item(arrangement, slot) for slot in arrangement.slots]),
        total_tokens=total,
        token_budget=limits.tokens,
        characters=arrangement.characters,
        max_chars=limits.characters,
        counter=arrangement.costs.counter,
        over_budget=over,
        overflow=overflow,
        reasons=(*reasons, *_reasons(arrangement, total, over=over)),
        left_out=arrangement.left_out,
    )


def _demote(arrangement: Arrangement) -> None:
    """Demote until it fits.

    Of a counter that does not add up, the sums of lines say which tiers are cheaper, and whole
    texts are counted only to find where to stop.
    """
    steps = lowest_first(arrangement)
    if arrangement.costs.additive:
        while next(steps, None) is not None and not arrangement.fits():
            pass
        return

    start = arrangement.tiers()
    moves = [(slot, slot.tier) for slot in steps]

    def after(count: int) -> bool:
        """Go to where *count* steps lead, and say whether the whole text fits there."""
        arrangement.restore(start)
        for slot, tier in dict(moves[:count]).items():
            arrangement.move(slot, tier)
        return arrangement.fits()

    count = bisect_left(range(len(moves)), True, lo=min(1, len(moves)), key=after)
    while not after(count) and count < len(moves):  # a whole text that grows when a line leaves it
        count += 1


def _fill(arrangement: Arrangement) -> None:
    """Promote the highest activations into what is left, each as far as it goes."""
    for slot in arrangement.slots:
        for tier in (*slot.promotable, *slot.allowed):
            if tier <= slot.tier:
                break
            before = slot.tier
            arrangement.move(slot, tier)
            if arrangement.fits():
                break
            arrangement.move(slot, before)


def _item(arrangement: Arrangement, slot: Slot) -> Item:
    costs = arrangement.costs
    tokens = Count(0)
    if slot.tier is not Tier.OMITTED:
        tokens = costs.count(costs.item(slot.rule, slot.tier)[0])
    reason = slot.reason
    if slot.tier < slot.mapped:
        gone = "left out" if slot.tier is Tier.OMITTED else f"cut from {slot.mapped}"
        reason = f"{reason}; {gone}: over budget"
    elif slot.tier > slot.mapped:
        reason = f"{reason}; promoted into spare budget"
    return Item(slot.rule.id, slot.tier, slot.activation, tokens, slot.mapped, reason, slot.rule)


def _reasons(arrangement: Arrangement, total: Count, *, over: bool) -> list[str]:
    limits = arrangement.limits
    reasons = []
    cut = arrangement.further + sum(slot.tier < slot.mapped for slot in arrangement.slots)
    if cut:
        total_rules = len(arrangement.slots) + arrangement.further
        limit = _limit(arrangement)
        reasons.append(f"{cut} of {total_rules} were cut or left out to fit {limit}")
    if not over:
        return reasons
    count = sum(slot.protected for slot in arrangement.slots)
    subject = f"{count} constraints, none below summary, take"
    if count == 1:
        subject = "1 constraint, not below summary, takes"
    if limits.tokens is not None and total > limits.tokens:
        excess = int(total) - limits.tokens
        reasons.append(f"{subject} {int(total):,} tokens: {excess:,} over the budget")
    if limits.characters is not None and arrangement.characters > limits.characters:
        excess = arrangement.characters - limits.characters
        size = f"{arrangement.characters:,} characters"
        reasons.append(f"{subject} {size}: {excess:,} over max_chars")
    return reasons


def _limit(arrangement: Arrangement) -> str:
    """Return the limit that binds, in words: of two, the one that the text without it would exceed
    by more."""
    limits = arrangement.limits
    if limits.characters is None:
        return f"{limits.tokens:,} token{'s' if limits.tokens != 1 else ''}"
    if limits.tokens is None:
        return f"{limits.characters:,} characters"
    tiers = arrangement.tiers()
    arrangement.restore([slot.mapped for slot in arrangement.slots])
    by_characters = (
        arrangement.characters * limits.tokens > int(arrangement.total()) * limits.characters
    )
    arrangement.restore(tiers)
    if by_characters:
        return f"{limits.characters:,} characters (max_chars), the smaller limit"
    return f"{limits.tokens:,} tokens, the smaller limit"
