"""Reads what requests took from the lines of a rollout."""

from __future__ import annotations

from brim.agents.codex.transcript import CodexRolloutReader
from brim.agents.usage import ReaderUsageLines

SIGNS = (b'"token_', b'"turn_id"', b'"turn_context"', b'"session_meta"', b'"thread_settings')
"""Lines that name a turn show where a parent's history ends."""


def usage_lines(path: str, sub_agent: str, slug: str) -> ReaderUsageLines:  # noqa: ARG001
    """Return the reader for one file."""
    return ReaderUsageLines(CodexRolloutReader(), SIGNS)
