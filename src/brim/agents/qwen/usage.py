"""Reads what requests took from the lines of a session's file."""

from __future__ import annotations

from brim.agents.qwen.transcript import QwenChatReader
from brim.agents.usage import ReaderUsageLines

SIGNS = (b"qwen-code.api_response", b"chat_compression")


def usage_lines(path: str, sub_agent: str, slug: str) -> ReaderUsageLines:  # noqa: ARG001
    """Return the reader for one file."""
    return ReaderUsageLines(QwenChatReader(), SIGNS)
