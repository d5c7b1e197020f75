"""How a count of tokens is shown on the command line."""

from __future__ import annotations

from typing import Any

from brim.tokens.count import Count


def count_fields(count: Count) -> dict[str, Any]:
    """Return *count* for JSON."""
    fields = count.to_dict()
    return {"tokens": fields.pop("value"), **fields}


def basis_of(count: Count) -> str:
    """Return the basis of *count*, and its interval if it has one."""
    if count.low == count.high:
        return count.basis
    return f"{count.basis}, {count.low:,} to {count.high:,}"
