"""What stored behaviors cost in a model's own tokens, from what was written beside them: no tokenizer is loaded."""

from __future__ import annotations

from brim.injection.costs import StoredCosts
from brim.injection.headings import ENCODINGS
from brim.models.light import lookup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from brim.store.scopes import Scopes

DEFAULT_ENCODING = "o200k_base"
"""What is counted with when no model is named, and what stands in for a vocabulary that is not public."""


def model_costs(scopes: Scopes, ids: Collection[str], format: str, model: str | None) -> StoredCosts:
    """Return the costs of *ids* in *format* for *model*: those of its own encoding, else o200k's times its ratio."""
    encoding, ratio = DEFAULT_ENCODING, None
    if model is not None:
        from brim.tokens.calibrate import ANY_FAMILY, ratio_for

        found = lookup(model)
        if found.resolved and found.encoding in ENCODINGS:
            encoding = found.encoding
        else:
            family = found.encoding if found.resolved else ANY_FAMILY
            ratio = ratio_for(model, family, scopes.user.calibrations if scopes.user is not None else None)
            encoding = found.encoding if found.encoding in ENCODINGS else DEFAULT_ENCODING
    items = scopes.line_costs(ids, format, encoding)
    return StoredCosts(items, format, encoding=encoding, ratio=ratio, counter=model or encoding)
