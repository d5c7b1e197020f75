"""What the configuration says about models, for the whole process: it goes before the table.

``configured`` checks it before it is put here, so lookups needn't.
"""

from __future__ import annotations

from collections.abc import Mapping

Override = dict[str, object]
"""What is said about one model; its ``name`` is the name as it was written."""

_overrides: dict[str, Override] = {}


def put(overrides: Mapping[str, Override]) -> None:
    """Replace all overrides by these, each under its name in lower case."""
    _overrides.clear()
    _overrides.update(overrides)


def get(key: str) -> Override | None:
    """Return the override for the lower-case name *key*.

    Its ``name`` is the name as it was written.
    """
    return _overrides.get(key)


def names() -> list[str]:
    """Return the lower-case names of all overrides."""
    return sorted(_overrides)
