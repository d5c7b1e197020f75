"""What the tests of assembling share: a counter that counts words, and histories of known size."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from brim.messages import Assembly, MemoryConfig, Provider, WorkingMemory
from brim.tokens import Count


class Words:
    """A word is a token; 3 to prime the answer, 4 for each message."""

    model: str | None = None

    def count(self, text: str, /) -> Count:
        return Count(len(text.split()))

    def count_messages(self, messages: Any, tools: Any = None) -> Count:
        return Count(
            3
            + 10 * len(tools or ())
            + sum(4 + len(self._text(message).split()) for message in messages)
        )

    def _text(self, message: Any) -> str:
        if isinstance(message, SimpleNamespace):
            message = vars(message)
        content = message.get("content", message.get("parts")) or ""
        return (
            content
            if isinstance(content, str)
            else " ".join(part.get("text", "") for part in content)
        )


def words(count: int, word: str = "word") -> str:
    return " ".join([word] * count)


def talk(turns: int, size: int = 6, provider: Provider = "openai") -> list[dict[str, Any]]:
    """Turns of two messages, each of *size* words, which Words counts as *size* + 4."""
    roles = ("user", "model" if provider == "gemini" else "assistant")
    texts = [f"{role}-{turn} {words(size - 1)}" for turn in range(turns) for role in roles]
    return [
        {"role": roles[at % 2], "parts": [{"text": text}]}
        if provider == "gemini"
        else {"role": roles[at % 2], "content": text}
        for at, text in enumerate(texts)
    ]


def memory(
    most: int = 100_000, *, reserve: int = 0, least: int = 0, **options: Any
) -> WorkingMemory:
    caps = {
        name: options.pop(name)
        for name in ("max_knowledge_tokens", "max_episode_tokens")
        if name in options
    }
    config = MemoryConfig(
        max_working_memory_tokens=most, output_reserve=reserve, min_history_tokens=least, **caps
    )  # fmt: skip
    return WorkingMemory(config, **{"counter": Words(), **options})


def request_of(assembly: Assembly) -> list[Any]:
    """The request as it is counted: the system text is a message, wherever it is sent."""
    beside = assembly.system and assembly.provider in ("anthropic", "gemini")
    return (
        [{"role": "system", "content": assembly.system}, *assembly.messages]
        if beside
        else assembly.messages
    )


def said(assembly: Assembly) -> list[str]:
    return [str(message.get("content", message.get("parts"))) for message in assembly.messages]
