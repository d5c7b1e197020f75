"""What one look of ``brim doctor`` found."""

from __future__ import annotations

from brim._frozen import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

OK, OFF, WRONG = "ok", "-", "wrong"
"""It works; it is not used, or is worth knowing; it has to be corrected."""

FIX = "brim doctor --fix"


class Finding(Frozen):
    """What one look found."""

    __slots__ = ("state", "what", "text", "fix", "facts")

    state: str
    what: str
    text: str
    fix: str
    """The command that corrects it; empty if there is nothing to correct, or only a person can."""
    facts: dict[str, Any]

    def __init__(self, state: str, what: str, text: str, fix: str = "", **facts: Any) -> None:
        self._fill(state=state, what=what, text=text, fix=fix, facts=facts)
