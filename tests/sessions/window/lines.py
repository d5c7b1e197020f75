"""Lines as Claude Code writes them, as short as they can be."""

from __future__ import annotations

from typing import Any

from brim.agents.events import Usage
from brim.models.usage import Tokens
from brim.sessions.window.estimate import CATEGORIES, Filling

MODEL = "claude-sonnet-4-5"
"""A model with a window of 200,000 in the table."""


def result(tokens: int = 0, **fields: Any) -> dict[str, Any]:
    """The end of a run; its usage is a sum over the run's calls."""
    usage = {"input_tokens": tokens, "output_tokens": 0}
    return {"type": "result", "subtype": "success", "is_error": False, "usage": usage, **fields}


def assistant(
    id: str,
    tokens: int,
    *,
    model: str = MODEL,
    parent: str | None = None,
    session: str = "s1",
    read: int = 0,
) -> dict[str, Any]:
    """One content block of one API message."""
    usage = {
        "input_tokens": 0,
        "cache_creation_input_tokens": tokens - read,
        "cache_read_input_tokens": read,
        "output_tokens": 1,
    }
    message = {
        "id": id,
        "role": "assistant",
        "model": model,
        "content": [{"type": "text", "text": "ok"}],
    }
    return {
        "type": "assistant",
        "message": {**message, "usage": usage},
        "parent_tool_use_id": parent,
        "session_id": session,
    }


def boundary(before: int, after: int | None, *, session: str = "s1") -> dict[str, Any]:
    """A compaction."""
    about = {
        "trigger": "auto",
        "pre_tokens": before,
        **({} if after is None else {"post_tokens": after}),
    }
    return {
        "type": "system",
        "subtype": "compact_boundary",
        "session_id": session,
        "compact_metadata": about,
    }


def usage(request: str, prompt: int, *, output: int = 0, **fields: Any) -> Usage:
    """A typed report of the main thread."""
    return Usage(
        tokens=Tokens(input=prompt, output=output), request=request, **{"model": MODEL, **fields}
    )


def by_category(filling: Filling) -> dict[str, int]:
    sums = dict.fromkeys(CATEGORIES, 0)
    for part in filling.parts:
        sums[part.category] += part.tokens
    return {category: tokens for category, tokens in sums.items() if tokens}
