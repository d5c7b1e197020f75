"""What stored behaviors cost in a model's own tokens, from what was written beside them: no tokenizer is loaded."""

from __future__ import annotations

from brim.injection.costs import ENCODINGS, StoredCosts
from brim.models.light import lookup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from brim.store.scopes import Scopes
    from brim.tokens.calibrate import Ratio

    Counting = tuple[str, Ratio | None]

DEFAULT_ENCODING = "o200k_base"
"""What is counted with when no model is named, and what stands in for a vocabulary that is not public."""


def model_costs(scopes: Scopes, ids: Collection[str], format: str, model: str | None) -> StoredCosts:
    """Return the costs of *ids* in *format* for *model*: those of its own encoding, else o200k's times its ratio."""
    return costs_counted(scopes, ids, format, model, counting_of(scopes, model))


def counting_of(scopes: Scopes, model: str | None) -> Counting:
    """Return how tokens of *model* are counted from what is stored: in which encoding, and times what."""
    if model is None:
        return DEFAULT_ENCODING, None
    found = lookup(model)
    if found.resolved and found.encoding in ENCODINGS:
        return found.encoding, None
    from brim.tokens.calibrate import ANY_FAMILY, ratio_for

    family = found.encoding if found.resolved else ANY_FAMILY
    ratio = ratio_for(model, family, scopes.user.calibrations if scopes.user is not None else None)
    return found.encoding if found.encoding in ENCODINGS else DEFAULT_ENCODING, ratio


def costs_counted(
    scopes: Scopes, ids: Collection[str], format: str, model: str | None, counting: Counting
) -> StoredCosts:
    """Return the same, where it is known how *model* is counted."""
    encoding, ratio = counting
    items = scopes.line_costs(ids, format, encoding)
    return StoredCosts(items, format, encoding=encoding, ratio=ratio, counter=model or encoding)
