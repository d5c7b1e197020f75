"""What is the smallest change that makes this history valid?

``edit`` changes a copy of a message; ``words`` says what was in one; ``draft`` holds the history while it is repaired;
``roles`` gives every message somebody who says it, ``sides`` every call and result; ``pairing`` finds which result
belongs to which call; ``stubs`` has what stands in for something missing. ``chat``, ``responses``, ``anthropic`` (with
``blocks``, ``system``, ``results``, ``order`` and ``server_tools``) and ``gemini`` (with ``parts`` and ``functions``)
repair a format each; ``mend`` runs them.
"""

from __future__ import annotations

from brim._lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.history.repairing.mend import repair

__all__ = ["repair"]

__getattr__, __dir__ = exports(__name__, {"repair": "mend"})
