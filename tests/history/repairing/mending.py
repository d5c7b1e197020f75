"""How tests of repairs ask: what came out, and what was said about it."""

from __future__ import annotations

from typing import Any

from brim.history import Provider, repair, validate


def mended(
    provider: Provider, *messages: Any, restore_calls: bool = False
) -> tuple[list[Any], list[tuple[int, str, str]]]:
    """Return the repaired messages, and index, rule and action of every change; the result is valid."""
    repaired = repair(list(messages), provider, restore_calls=restore_calls)
    assert validate(repaired.messages, provider) == []
    return repaired.messages, [(change.index, change.rule, change.action) for change in repaired.changes]


def texts(provider: Provider, *messages: Any) -> list[str]:
    """Return the texts of the changes."""
    return [change.text for change in repair(list(messages), provider).changes]
