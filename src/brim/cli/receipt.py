"""The receipt of a prune: a table for people, an object for scripts."""

from __future__ import annotations

import math

from brim.cli.output import listed, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brim.history import CacheEffect, Dropped, Receipt
    from brim.tokens.count import Count


NO_RESULT = " has no result"
"""A broken message names the calls that were not answered; together they are one line."""


def as_table(receipt: Receipt, target_from: str) -> str:
    """Return *receipt* as aligned lines; *target_from* says where the target comes from."""
    rows = [
        ["before", f"{receipt.before:,}", about(receipt.before)],
        ["after", f"{receipt.after:,}", about(receipt.after)],
        ["target", f"{receipt.target:,}", target_from],
    ]
    if not receipt.fits:
        rows.append(["too many", f"{receipt.over_by:,}", receipt.reason])
    dropped, more = listed([["dropped", f"{tokens:,}", what] for tokens, what in _groups(receipt.dropped)], most=12)
    rows += [*dropped, ["", "", more]] if more else dropped
    if receipt.cache is not None:
        rows += _cache(receipt.cache)
    return table(rows, right=frozenset({1}))


def as_object(receipt: Receipt) -> dict[str, Any]:
    """Return *receipt* for JSON: its fields, each count as an object."""
    fields = {name: getattr(receipt, name) for name in receipt.__dataclass_fields__}
    cache = receipt.cache
    return {
        **fields,
        "before": _count(receipt.before),
        "after": _count(receipt.after),
        "over_by": receipt.over_by,
        "dropped": [{name: getattr(unit, name) for name in unit.__dataclass_fields__} for unit in receipt.dropped],
        "cache": None
        if cache is None
        else {**{name: getattr(cache, name) for name in cache.__dataclass_fields__}, "pays_after": cache.pays_after},
    }


def about(count: Count) -> str:
    """Return what *count* rests on, and its interval."""
    return count.basis if count.low == count.high else f"{count.basis}, {count.low:,} to {count.high:,}"


def dollars(micro: int) -> str:
    """Return micro-dollars in dollars: to the cent, or if that is little to two digits that say something."""
    amount = micro / 1_000_000
    if not 0 < amount < 0.1:
        return f"${amount:,.2f}"
    return f"${amount:.{min(6, 1 - math.floor(math.log10(amount)))}f}"


def _count(count: Count) -> dict[str, Any]:
    return {"tokens": int(count), "basis": count.basis, "low": count.low, "high": count.high, "note": count.note}


def _groups(dropped: tuple[Dropped, ...]) -> list[tuple[int, str]]:
    """Return tokens and words for what left, by kind and reason, in the order in which they first appear."""
    groups: dict[tuple[str, str], list[Dropped]] = {}
    for unit in dropped:
        reason = (
            f"a call has no result{unit.reason.partition(NO_RESULT)[2]}" if NO_RESULT in unit.reason else unit.reason
        )
        groups.setdefault((unit.kind, reason), []).append(unit)
    lines = []
    for (kind, reason), units in groups.items():
        messages = sum(len(unit.indices) for unit in units)
        many = "" if messages == len(units) else f" of {messages:,} messages"
        what = f"{len(units):,} {_named(kind, len(units))}{many}"
        lines.append((sum(unit.tokens for unit in units), f"{what}: {reason}"))
    return lines


def _named(kind: str, many: int) -> str:
    name = {"step": "step"}.get(kind, f"{kind} message")
    return name if many == 1 else f"{name}s"


def _cache(cache: CacheEffect) -> list[list[str]]:
    rewrite, saving = cache.rewrite_cost, cache.saving_per_turn
    again = "moved up: written to the cache once more" + ("" if rewrite is None else f", {dollars(rewrite)} more")
    saved = "not read in any later request" + ("" if saving is None else f", {dollars(saving)} less in each")
    if cache.pays_after:
        saved += f"; pays after {cache.pays_after:,} request{'' if cache.pays_after == 1 else 's'}"
    return [
        ["cached", f"{cache.prefix_tokens:,}", "the same at the beginning: still read from the cache"],
        ["rewritten", f"{cache.rewritten_tokens:,}", again],
        ["saved", f"{cache.saved_tokens:,}", saved],
    ]
