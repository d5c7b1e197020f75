"""Would the provider accept this history, and if not, where and why?

One small function per rule, one file per provider; docs/history.md has the provider's own words for each.
``shared`` holds what a rule is and the rules that all have; ``chat``, ``responses``, ``gemini`` and ``anthropic`` the
rules of each (``turns`` and ``server_tools`` belong to the last); ``check`` runs them. Nothing here knows how histories
are pruned: it is what pruners are tested against.
"""

from __future__ import annotations

from brim._lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.history.validity.check import validate

__all__ = ["validate"]

__getattr__, __dir__ = exports(__name__, {"validate": "check"})
