"""``Planner``: everything that plans for one situation are made of, read once from what is stored."""

from __future__ import annotations

from brim.activation.engine import activate
from brim.activation.parameters import Parameters
from brim.injection.mapper import ActivationTierMapper

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from brim.activation.context import Context
    from brim.config import Config
    from brim.injection.costs import Costs
    from brim.injection.plan import InjectionPlan
    from brim.injection.session import Session
    from brim.store.scopes import Scopes
    from brim.tokens.counters import Mode

START_KEY = "token_budget.default"


class Planner:
    """What matters in a situation, the behaviors themselves, and what they cost. *mode* counts in place of the
    settings' one."""

    def __init__(
        self, scopes: Scopes, config: Config, context: Context, *, now: float, mode: Mode | None = None
    ) -> None:
        self.config, self.context = config, context
        self.parameters = Parameters(**config.section("activation"))
        results = activate(scopes, context, now=now, parameters=self.parameters)
        self.behaviors = scopes.get_many([result.id for result in results])
        self.results = [result for result in results if result.id in self.behaviors]
        self.costs = costs_of(scopes, [result.id for result in self.results], config, mode=mode)

    def plan(
        self, budget: int | None, *, whole: bool = False, session: Session | None = None, limited: bool = True
    ) -> InjectionPlan:
        """Return what goes in within *budget*.

        *whole* tells everything in full or not at all, and the lowest leave first. Without *limited* it is what the
        activations alone give: no limit of characters, and no filling up.
        """
        config = self.config
        strategy = "lowest-first" if whole else config["injection.strategy"]
        return ActivationTierMapper(**config.section("tiers"), strategy=strategy).plan(
            self.results,
            self.behaviors,
            budget=budget,
            format=config["injection.format"],
            max_chars=config["injection.max_chars"] if limited else None,
            fill=config["injection.fill"] and limited and not whole,
            whole=whole,
            session=session,
            costs=self.costs,
        )


def costs_of(scopes: Scopes, ids: Collection[str], config: Config, *, mode: Mode | None = None) -> Costs:
    """Return what *ids* cost: what was stored with them, unless ``brim count`` would count otherwise."""
    format, model, mode = config["injection.format"], config["model"], mode or config["mode"]
    if mode == "auto" and not _has_its_own_vocabulary(model):
        from brim.store.model_costs import model_costs

        return model_costs(scopes, ids, format, model)
    from brim.injection.costs import CountedCosts
    from brim.tokens.counters import counter_for

    calibrations = scopes.user.calibrations if scopes.user is not None else None
    return CountedCosts(counter_for(model, mode=mode, calibrations=calibrations), format)


def _has_its_own_vocabulary(model: str | None) -> bool:
    """Whether *model* is counted with a vocabulary that costs are not stored in: an open model's, with brim[fast]."""
    from brim.injection.costs import ENCODINGS
    from brim.models.light import lookup
    from brim.tokens.engines import NativeEngine

    return model is not None and lookup(model).encoding in NativeEngine.encodings - set(ENCODINGS)
