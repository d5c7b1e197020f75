"""Ids in a reason: enough of them to find the place, however many and however long they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST, LONGEST = 3, 60


def named(ids: Sequence[str]) -> str:
    """Return the first of *ids*, and how many more there are."""
    shown = ", ".join(each if len(each) <= LONGEST else f"{each[: LONGEST - 1]}…" for each in ids[:MOST])
    return shown if len(ids) <= MOST else f"{shown} and {len(ids) - MOST:,} more"
