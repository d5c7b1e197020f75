"""Reads what requests took from the lines of a session's file."""

from __future__ import annotations

from brim.agents.copilot.transcript import CopilotEventsReader
from brim.agents.usage import ReaderUsageLines

SIGNS = (b"session.usage_record", b"session.compaction_complete", b"session.start")


def usage_lines(path: str, sub_agent: str, slug: str) -> ReaderUsageLines:  # noqa: ARG001
    """Return the reader for one file."""
    return ReaderUsageLines(CopilotEventsReader(), SIGNS)
