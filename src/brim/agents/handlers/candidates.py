"""What matters in a situation and may be told now: found without a lock, planned and read under one.

Of a thousand behaviors a few matter, and most of those were told a short while ago. So texts and costs are read only of
what is due, and nobody waits for a lock while it is found out that nothing is.
"""

from __future__ import annotations

from brim.activation.engine import activate
from brim.activation.parameters import Parameters
from brim.injection.mapper import ActivationTierMapper
from brim.injection.text import is_protected, says_all
from brim.injection.tiers import Tier

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    from brim.activation.context import Context
    from brim.agents.place import Place
    from brim.injection.costs import StoredCosts
    from brim.injection.plan import InjectionPlan
    from brim.injection.session import Session
    from brim.store.model_costs import Counting

OF_THE_CALL = frozenset({"file", "language", "task", "words"})
"""What a call alone can confirm: the context of one holds no prompt. The rest is of the place."""

FIRST = 48
"""So many of the strongest are costed first; where the budget ends among them, the others are never looked at."""


class Candidates:
    """The behaviors that *context* speaks for and that *session* lets through, each with its activation.

    With *of_call*, *context* is that of a call of a tool, and what matches the call rises a tier.
    """

    def __init__(
        self, place: Place, context: Context, *, model: str | None, session: Session | None, of_call: bool = False
    ) -> None:
        config = place.config
        self._scopes, self._now, self._config, self._model = place.scopes, place.now, config, model
        self._mapper = ActivationTierMapper(**config.section("tiers"), strategy=config["injection.strategy"])
        parameters = Parameters(**config.section("activation"))
        with self._scopes.reading():
            results = activate(self._scopes, context, now=place.now, parameters=parameters, reasons=of_call)
            self.active = [result.id for result in results]
            """Everything that is activated, told or not."""
            self._known: dict[str, Any] = dict(self._scopes.sketches(self.active))
        self._values: list[tuple[str, float]] = []
        self._counting: Counting | None = None
        matching = []
        for id, activation, reasons in results:
            if id not in self._known:
                continue
            value = activation
            if of_call and value > 0 and not OF_THE_CALL.isdisjoint([reason.partition(" ")[0] for reason in reasons]):
                value = self._risen(value, id)
                if is_protected(self._known[id]):
                    matching.append(id)
            tier = self._tier(value, id)
            if tier is not Tier.OMITTED and (session is None or session.allows(id, tier)):
                self._values.append((id, value))
        self.matching = tuple(matching)
        """The constraints that the call itself speaks for, strongest first."""
        if self._values:
            self._get_ready()

    def _get_ready(self) -> None:
        """Load what planning and telling take: a lock is not held, and others do not wait, while modules are found."""
        import brim.injection.text
        import brim.store.costs
        import brim.store.together  # noqa: F401
        from brim.store.model_costs import counting_of

        self._counting = counting_of(self._scopes, self._model)

    def __bool__(self) -> bool:
        return bool(self._values)

    def plan(
        self,
        budget: int | None,
        max_chars: int | None,
        session: Session | None,
        *,
        only: Collection[str] | None = None,
        max_bytes: int | None = None,
    ) -> InjectionPlan:
        """Return what goes in within *budget*, *max_chars* and *max_bytes*; of *only* these ids, if they are given."""
        plan = self._plan(budget, max_chars, session, only)
        while max_bytes is not None and plan.characters * 4 > max_bytes and not plan.over_budget:
            taken = len(self.text(plan).encode("utf-8", "replace"))
            if taken <= max_bytes:
                break
            plan = self._plan(budget, plan.characters * max_bytes // taken, session, only)
        return plan

    def _plan(
        self, budget: int | None, max_chars: int | None, session: Session | None, only: Collection[str] | None
    ) -> InjectionPlan:
        config = self._config
        values = [pair for pair in self._values if only is None or pair[0] in only]
        values, costs = self._that_may_fit(values, budget)
        ids = [id for id, _ in values]
        known: dict[str, Any] = dict(self._scopes.sketches(ids))  # as they are now: nobody changes them under a lock
        known.update(self._scopes.get_many([id for id in known if not costs.covers(id)]))
        return self._mapper.plan(
            [pair for pair in values if pair[0] in known],
            known,
            budget=budget,
            format=config["injection.format"],
            max_chars=max_chars,
            fill=config["injection.fill"],
            session=session,
            costs=costs,
        )

    def _that_may_fit(
        self, values: list[tuple[str, float]], budget: int | None
    ) -> tuple[list[tuple[str, float]], StoredCosts]:
        """Return those of *values* that can be in the plan, with their costs: what cannot is not worth planning.

        ``lowest-first`` gives up a behavior wholly before it touches a higher one, and constraints last. So one is out
        if all those before it, each in as much detail as it may have, are too much without it.
        """
        in_order = self._mapper.strategy == "lowest-first" and not self._config["injection.fill"]
        if budget is None or not in_order or len(values) <= FIRST:
            return values, self._costs(values)
        ranked = sorted(values, key=lambda pair: (-pair[1], pair[0]))
        kept = [pair for pair in ranked if is_protected(self._known[pair[0]])]
        rest = [pair for pair in ranked if not is_protected(self._known[pair[0]])]
        costs = self._costs([*kept, *rest[:FIRST]])
        units = sum(self._least(costs, *pair) for pair in kept)
        if costs.count(units) <= budget:  # else constraints give way too, and another order holds
            for at, pair in enumerate(rest[:FIRST]):
                units += self._least(costs, *pair)
                if costs.count(units) > budget:
                    return [*kept, *rest[: at + 1]], costs
        return values, self._costs(values)

    def _least(self, costs: StoredCosts, id: str, value: float) -> int:
        """Return what the behavior takes at least in as much detail as it may have: 0 if that is not stored."""
        return costs.item(self._known[id], self._tier(value, id))[0] if costs.covers(id) else 0

    def _costs(self, values: list[tuple[str, float]]) -> StoredCosts:
        from brim.store.model_costs import costs_counted, counting_of

        if self._counting is None:
            self._counting = counting_of(self._scopes, self._model)
        ids = [id for id, _ in values]
        return costs_counted(self._scopes, ids, self._config["injection.format"], self._model, self._counting)

    def text(
        self, plan: InjectionPlan, call_session: str = "", *, event: str = "", session: Session | None = None
    ) -> str:
        """Return the text of *plan*; with a session's id, note that it was told. Call it inside ``writing`` then.

        In *session* a summary that says everything is noted as the whole text, which need not follow it.
        """
        from brim.injection.text import text_of

        included = plan.included
        whole = self._scopes.get_many([item.id for item in included])
        if session is not None:
            for item in included:
                if item.tier is Tier.SUMMARY and says_all(whole[item.id]):
                    session.told_whole(item.id)
        if call_session and included:
            from brim.store.together import note_injection

            told = [whole[item.id] for item in included]
            note_injection(self._scopes, told, self.active, now=self._now, session=call_session, event=event)
        return text_of([(whole[item.id], item.tier, item.activation) for item in included], plan.format)

    def _tier(self, value: float, id: str) -> Tier:
        """Return the most detail that the behavior may have at *value*."""
        known = self._known[id]
        tier = self._mapper.tier(value, known.kind if is_protected(known) else "")
        return min(tier, Tier.SUMMARY) if known.status.value == "pending" else tier

    def _risen(self, value: float, id: str) -> float:
        """Return the activation at which the behavior stands one tier higher than at *value*."""
        mapper = self._mapper
        least = {Tier.OMITTED: mapper.name_only, Tier.NAME_ONLY: mapper.summary, Tier.SUMMARY: mapper.full}
        return max(value, least.get(self._tier(value, id), 0.0))
