"""Reads what a working memory is assembled from; whatever cannot be read is an ``InputError`` that names it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brim.errors import InputError
from brim.history.fifo import FifoPruner
from brim.history.reading.detect import provider_of
from brim.history.speaking import user_message
from brim.tokens.messages.fields import get, is_sequence, string
from brim.window.items import choose, listed, read_items
from brim.window.parts import SYSTEM_IN_MESSAGES, Parts
from brim.window.tail import Tail

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from brim.history.types import Provider, Pruner
    from brim.tokens.counters import TokenCounter
    from brim.window.memory import MemoryConfig


def tail_of(history: object, current: object, provider: Any, model: str | None) -> Tail:
    """Return history and current message, in the shape of *provider*; ``auto`` is found from them and the model."""
    messages = list(listed("history", history))
    if is_sequence(current) or isinstance(current, (bytes, bytearray, int, float)):
        raise InputError(f"current_message must be a text or one message, not {type(current).__name__}")
    if current is None or isinstance(current, str):
        whose = _provider(messages, provider, model)
        said = _text("current_message", current)
        return Tail(whose, messages, user_message(whose, said), said) if said else Tail(whose, messages)
    content = get(current, "content")
    text = string(content) if isinstance(content, str) and content and not get(current, "tool_calls") else None
    return Tail(_provider([*messages, current], provider, model), messages, current, text)


def parts_of(config: MemoryConfig, counter: TokenCounter, provider: Provider, given: Mapping[str, object]) -> Parts:
    """Return what stands before the history, with knowledge and episodes up to their limits."""
    return Parts(
        provider=provider,
        system_prompt=_text("system_prompt", given["system_prompt"]),
        procedure=_text("procedure", given["procedure"]),
        knowledge=choose(read_items("knowledge", given["knowledge"]), config.max_knowledge_tokens, counter),
        episodes=choose(read_items("episodes", given["episodes"]), config.max_episode_tokens, counter),
    )


def pruner_of(given: Pruner | None) -> Pruner:
    """Return *given*, or the default."""
    if given is None:
        return FifoPruner()
    if isinstance(given, type) or not callable(getattr(given, "prune", None)):
        raise InputError(f"pruner must be a pruner such as FifoPruner(), not {str(given)[:60]}")
    return given


def tools_of(given: object) -> Sequence[Any] | None:
    """Return the tools as a list; None if there are none."""
    return list(listed("tools", given)) or None


def _text(name: str, given: object) -> str:
    """Return the text; one of spaces alone says nothing, and providers refuse it."""
    if given is None:
        return ""
    if not isinstance(given, str):
        raise InputError(f"{name} must be a text, not {type(given).__name__}")
    return string(given) if given.strip() else ""


def _provider(messages: Sequence[Any], provider: Any, model: str | None) -> Provider:
    """Return whose shape *messages* have. Where there are none, the name of the model is all there is to go by."""
    if provider == "auto" and not messages and "gemini" in (model or "").lower():
        return "gemini"
    found = provider_of(messages, provider, model)
    if found not in SYSTEM_IN_MESSAGES and messages and get(messages[0], "role") == "system":
        raise InputError(
            f"history: message 0 is a system message, which {found} takes beside the messages: "
            "take it out, and give its text as system_prompt"
        )
    return found
