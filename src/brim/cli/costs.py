"""What stored behaviors cost, counted as ``brim count`` would count them with the settings in force."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from brim.config import Config
    from brim.injection.costs import Costs
    from brim.store.scopes import Scopes


def costs_of(scopes: Scopes, ids: Collection[str], config: Config) -> Costs:
    """Return what *ids* cost: what was stored with them, unless ``brim count`` would count otherwise."""
    format, model, mode = config["injection.format"], config["model"], config["mode"]
    if mode == "auto" and not _has_its_own_vocabulary(model):
        from brim.store.model_costs import model_costs

        return model_costs(scopes, ids, format, model)
    from brim.injection.costs import CountedCosts
    from brim.tokens.counters import counter_for

    calibrations = scopes.user.calibrations if scopes.user is not None else None
    return CountedCosts(counter_for(model, mode=mode, calibrations=calibrations), format)


def _has_its_own_vocabulary(model: str | None) -> bool:
    """Whether *model* is counted with a vocabulary that costs are not stored in: an open model's, with brim[fast]."""
    from brim.injection.headings import ENCODINGS
    from brim.models.light import lookup
    from brim.tokens.native import NativeEngine

    return model is not None and lookup(model).encoding in NativeEngine.encodings - set(ENCODINGS)
