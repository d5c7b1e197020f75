"""Regular expressions that are made when they are first used: a hook needs few of them, and sometimes none.

``re`` and its family take a fresh process three milliseconds, and a pattern up to one more.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from re import Pattern
    from typing import Any

IGNORE_CASE, MULTILINE, DOT_ALL, ASCII = 2, 8, 16, 256
"""The flags of ``re``, whose own would have to be imported."""


def pattern(text: str, flags: int = 0) -> Pattern[str]:
    """Return the pattern *text*, which is like one of ``re``: with ``match``, ``search``, ``sub`` and so on."""
    return _Later(text, flags)  # type: ignore[return-value]


class _Later:
    def __init__(self, text: str, flags: int) -> None:
        self._made_of = text, flags

    def __getattr__(self, name: str) -> Any:
        import re

        found = getattr(re.compile(*self._made_of), name)
        setattr(self, name, found)  # the next time this is not asked
        return found
