"""Parts of a request: its system prompt, and what the model said in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from brim.messages.fitting import Fitted
from brim.tokens.messages.fields import get, is_sequence, string
from brim.tokens.messages.frameworks import as_blocks


def with_system(messages: Sequence[Any], system: Any) -> list[Any]:
    """Return *messages* as they are counted, after the *system* prompt."""
    if system is None or system == "":
        return list(messages)

    return [{"role": "system", "content": system}, *messages]


def with_text(system: Any, text: str) -> Any:
    """Return the *system* prompt with *text* at its end, in the form that it has."""
    if not text:
        return system

    if not system and (system is None or isinstance(system, str)):
        return text

    if isinstance(system, str):
        return f"{system}\n\n{text}"

    blocks = list(system) if is_sequence(system) else [system]
    return [*blocks, {"type": "text", "text": text}]


def is_answer(message: object) -> bool:
    """Whether the model wrote *message*."""
    return string(get(as_blocks(message), "role")) in ("assistant", "model")


def changes_newest_step(messages: Sequence[Any], fitted: Fitted[Any]) -> bool:
    """Whether results that the model hasn't seen yet were changed to make *messages* fit."""
    newest_answer = -1
    for at, message in enumerate(messages):
        if is_answer(message):
            newest_answer = at

    changed: set[int] = set()
    for step in fitted.receipt.steps:
        changed.update(step.indices)

    return any(at > newest_answer for at in changed)
