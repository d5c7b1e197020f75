"""``ActivationTierMapper``: from activation to tiers, and from tiers to a plan that fits."""

from __future__ import annotations

from _collections_abc import Mapping

from brim._frozen import Frozen
from brim.behaviors.behavior import Behavior, BehaviorKind, Status
from brim.errors import InputError
from brim.injection.arrangement import Arrangement, Limits, Slot
from brim.injection.costs import CountedCosts
from brim.injection.fitting import STRATEGIES, fit
from brim.injection.lines import is_protected
from brim.injection.sections import FORMATS
from brim.injection.tiers import Tier

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from brim.injection.costs import Costs
    from brim.injection.plan import InjectionPlan
    from brim.injection.session import Session
    from brim.tokens.counters import TokenCounter

DETAIL = (Tier.FULL, Tier.SUMMARY, Tier.NAME_ONLY, Tier.OMITTED)


class ActivationTierMapper(Frozen):
    """Maps activation to tiers: thresholds are inclusive. A constraint is never below Summary, at any activation.

    >>> ActivationTierMapper().tier(0.7, BehaviorKind.DIRECTIVE), ActivationTierMapper().tier(0.02, "constraint")
    (<Tier.FULL: 3>, <Tier.SUMMARY: 2>)
    """

    __slots__ = ("full", "summary", "name_only", "strategy")

    full: float
    summary: float
    name_only: float
    strategy: str
    """Who gives way when it is too much: ``lowest-first``, ``level`` or ``optimal``."""

    def __init__(
        self, full: float = 0.7, summary: float = 0.3, name_only: float = 0.1, strategy: str = "lowest-first"
    ) -> None:
        numbers = all(isinstance(each, (int, float)) for each in (full, summary, name_only))
        if not numbers or not 0 <= name_only <= summary <= full <= 1:
            raise InputError(
                "the thresholds must be 0 <= name_only <= summary <= full <= 1, "
                f"not {name_only!r}, {summary!r}, {full!r}"
            )
        if strategy not in STRATEGIES:
            raise InputError(f"unknown strategy {strategy!r}: it is one of {', '.join(STRATEGIES)}")
        self._fill(full=full, summary=summary, name_only=name_only, strategy=strategy)

    def tier(self, activation: float, kind: BehaviorKind | str) -> Tier:
        """Return the tier that *activation* gives to a behavior of *kind*."""
        if activation >= self.full:
            return Tier.FULL
        if activation >= self.summary or kind == BehaviorKind.CONSTRAINT:
            return Tier.SUMMARY
        return Tier.NAME_ONLY if activation >= self.name_only else Tier.OMITTED

    def plan(
        self,
        results: Iterable[Any],
        behaviors: Mapping[str, Behavior] | Iterable[Behavior],
        *,
        budget: int | None = None,
        counter: TokenCounter | None = None,
        model: str | None = None,
        format: str = "markdown",
        max_chars: int | None = None,
        fill: bool = False,
        whole: bool = False,
        session: Session | None = None,
        costs: Costs | None = None,
    ) -> InjectionPlan:
        """Return what of *results* goes in within *budget* tokens and *max_chars* characters (None is no limit).

        *results* are activations, or any pairs of id and value. Tokens are those of *counter*, else of *model*, else of
        o200k_base; *costs* takes the place of counting. *fill* promotes the highest into what is left. *whole* tells
        each behavior in full or not at all. *session* leaves out what was shown a short while ago.
        """
        if format not in FORMATS:
            raise InputError(f"unknown format {format!r}: it is one of {', '.join(FORMATS)}")
        for name, limit in (("budget", budget), ("max_chars", max_chars)):
            if limit is not None and (not isinstance(limit, int) or limit < 0):
                raise InputError(f"{name} must be a whole number from 0 on, or None for no limit, not {limit!r}")
        if costs is None:
            from brim.tokens.counters import counter_for

            costs = CountedCosts(counter_for(model) if counter is None else counter, format)
        off = "the budget" if budget == 0 else "max_chars" if max_chars == 0 else ""
        pairs = _paired(results, behaviors)

        def planned(protected: Callable[[Behavior], bool]) -> InjectionPlan:
            slots = [
                self._slot(behavior, value, session, fill=fill, whole=whole, off=off, protected=protected(behavior))
                for behavior, value in pairs
            ]
            return fit(Arrangement(slots, costs, Limits(budget, max_chars)), self.strategy, fill=fill, off=off)

        plan = planned(is_protected)
        # Somebody else's project must not crowd out the user's own constraints by having many.
        if plan.over_budget and {item.behavior.scope for item in plan.included} == {"project", "user"}:
            plan = planned(lambda behavior: is_protected(behavior) and behavior.scope == "user")
            plan = plan.changed(reasons=(*plan.reasons, "the project's constraints gave way to your own"))
        return plan

    def _slot(
        self,
        behavior: Behavior,
        value: float,
        session: Session | None,
        *,
        fill: bool,
        whole: bool,
        off: str,
        protected: bool,
    ) -> Slot:
        """Return *behavior* with every tier it may have, and why not a higher one."""

        def out(reason: str) -> Slot:
            return Slot(behavior, value, (Tier.OMITTED,), protected=False, reason=reason)

        if not behavior.live:
            return out(f"it is {behavior.status.value}")
        if off:
            return out(f"{off} is 0: injection is off")
        mapped, reason = self._mapped(behavior, value, protected=protected, whole=whole)
        if mapped is Tier.OMITTED:
            return out(reason)
        allowed = [tier for tier in DETAIL if tier <= mapped and (tier >= Tier.SUMMARY or not protected)]
        if whole and mapped is Tier.FULL:
            allowed = [Tier.FULL, Tier.SUMMARY if protected else Tier.OMITTED]
        if session is not None:
            allowed = [tier for tier in allowed if tier is Tier.OMITTED or session.allows(behavior.id, tier)]
            if not allowed or allowed[0] is Tier.OMITTED:
                return out(session.why_not(behavior.id))
            if Tier.OMITTED not in allowed and allowed[-1] > Tier.SUMMARY:
                allowed.append(Tier.OMITTED)
        slot = Slot(behavior, value, allowed, protected=protected, reason=reason)
        if fill and not whole and behavior.status is not Status.PENDING:
            slot.promotable = tuple(
                tier for tier in DETAIL if tier > allowed[0] and (session is None or session.allows(behavior.id, tier))
            )
        return slot

    def _mapped(self, behavior: Behavior, value: float, *, protected: bool, whole: bool) -> tuple[Tier, str]:
        """Return the most detailed tier that *behavior* may have, and why that one."""
        mapped = self.tier(value, BehaviorKind.DIRECTIVE)
        least = {Tier.FULL: self.full, Tier.SUMMARY: self.summary}.get(mapped, self.name_only)
        reason = f"activation {value:.2f} is {'at least' if mapped else 'under'} {least:g}"
        if whole and (value > 0 or protected):
            mapped, reason = Tier.FULL, f"activation {value:.2f}, told whole"
        elif protected and mapped < Tier.SUMMARY:
            mapped, reason = Tier.SUMMARY, f"activation {value:.2f}; a constraint is never below summary"
        if behavior.status is Status.PENDING and mapped > Tier.SUMMARY:
            mapped, reason = Tier.SUMMARY, "nobody confirmed it yet: at most a summary"
        return mapped, reason


def _paired(
    results: Iterable[Any], behaviors: Mapping[str, Behavior] | Iterable[Behavior]
) -> list[tuple[Behavior, float]]:
    """Return each behavior of *results* once, with its highest value; highest first, then by id."""
    known = behaviors if isinstance(behaviors, Mapping) else {behavior.id: behavior for behavior in behaviors}
    values: dict[str, float] = {}
    for result in results:
        id, value = (result.id, result.value) if hasattr(result, "value") else (result[0], result[1])
        if not isinstance(value, (int, float)) or not 0 <= value <= 1:
            raise InputError(f"the activation of {id!r} must be from 0 to 1, not {value!r}")
        values[id] = max(float(value), values.get(id, 0.0))
    missing = [id for id in values if id not in known]
    if missing:
        raise InputError(f"no behavior is given for {', '.join(map(repr, missing[:3]))}{' …' if missing[3:] else ''}")
    return sorted(((known[id], value) for id, value in values.items()), key=lambda pair: (-pair[1], pair[0].id))
