"""A message of brim's own, in the shape that a provider takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from brim.history.types import Provider


def user_message(provider: Provider, text: str) -> dict[str, Any]:
    """Return *text* as a message of the user's."""
    return {"role": "user", "parts": [{"text": text}]} if provider == "gemini" else {"role": "user", "content": text}
