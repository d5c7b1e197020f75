"""What matters in a situation, and what of it goes in within a budget."""

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
    from brim.mcp.here import Here
    from brim.store.scopes import Scopes
    from brim.tokens.counters import Mode
    from brim.tokens.types import TokenCounter

START_KEY = "token_budget.default"


class Planner:
    """Everything that plans for one situation are made of, read once."""

    def __init__(self, scopes: Scopes, here: Here, context: Context) -> None:
        self.config, self.context = here.config, context
        self.parameters = Parameters(**here.config.section("activation"))
        results = activate(scopes, context, now=here.now, parameters=self.parameters)
        self.behaviors = scopes.get_many([result.id for result in results])
        self.results = [result for result in results if result.id in self.behaviors]
        self._costs = _costs(scopes, list(self.behaviors), here.config)

    def plan(self, budget: int | None, *, limited: bool = True) -> InjectionPlan:
        """Return what goes in within *budget*; without *limited*, what the activations alone give."""
        config = self.config
        return ActivationTierMapper(**config.section("tiers"), strategy=config["injection.strategy"]).plan(
            self.results,
            self.behaviors,
            budget=budget,
            format=config["injection.format"],
            max_chars=config["injection.max_chars"] if limited else None,
            fill=config["injection.fill"] and limited,
            costs=self._costs,
        )


def local_counter(config: Config) -> TokenCounter:
    """Return the counter of the settings; one that would ask a provider is replaced by the best one on this machine."""
    from brim.tokens.counters import counter_for

    return counter_for(config["model"], mode=_mode(config))


def _costs(scopes: Scopes, ids: Collection[str], config: Config) -> Costs:
    """Return what *ids* cost: what was stored with them, unless the settings want another way of counting."""
    if _mode(config) == "auto":
        from brim.store.model_costs import model_costs

        return model_costs(scopes, ids, config["injection.format"], config["model"])
    from brim.injection.costs import CountedCosts

    return CountedCosts(local_counter(config), config["injection.format"])


def _mode(config: Config) -> Mode:
    mode: Mode = config["mode"]
    return "auto" if mode == "api" else mode
