"""Reads what requests took from the lines of a session's record."""

from __future__ import annotations

from brim.agents.gemini.transcript import GeminiTranscriptReader
from brim.agents.usage import ReaderUsageLines

SIGNS = (b'"tokens"', b'"sessionId"', b'"$set"')


def usage_lines(path: str, sub_agent: str, slug: str) -> ReaderUsageLines:  # noqa: ARG001
    """Return the reader for one file."""
    return ReaderUsageLines(GeminiTranscriptReader(), SIGNS)
