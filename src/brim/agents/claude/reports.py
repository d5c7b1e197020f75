"""What a line of Claude Code reports: a request, the total of a run, or a compaction.

A compaction's own request is in no line, only in the totals of ``cost-state``. The names in a
stream have underscores, those in a transcript have capitals.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brim.agents.events import Compaction, RunTotal, Usage
from brim.agents.fields import (
    count,
    first_mapping,
    flag,
    mapping,
    parsed_line,
    text,
    whole,
)
from brim.agents.lines import SYNTHETIC, Where, micro_dollars, tokens
from brim.agents.times import seconds
from brim.models.usage import Tokens

Report = Usage | RunTotal | Compaction

_UNKNOWN_AGENT = "sidechain"
"""Older transcripts mark the lines of sub-agents without saying whose they are."""

_REPORT_SIGNS = (b'"usage"', b'"cost-state"', b'"compact_boundary"')
"""A line without any of these reports nothing, and isn't parsed."""


def report_in(line: bytes) -> Report | None:
    """Return the request, total or compaction that a *line* of a transcript reports; None if it
    reports nothing."""
    if not any(sign in line for sign in _REPORT_SIGNS):
        return None
    parsed = parsed_line(line)
    if not isinstance(parsed, dict):
        return None
    return report_of(parsed)


def report_of(line: Mapping[str, Any], *, agent: str = "", at: int = 0) -> Report | None:
    """Return what a parsed *line* of a transcript reports.

    *agent* is the sub-agent whose file it is, *at* the byte where the line begins.

    This is the only place that reads the usage of a transcript. The same request may be in several
    lines and files: count it once, by ``Usage.request``, which is empty if the line names neither
    message nor request.
    """
    kind = line.get("type")
    if kind == "assistant":
        return _usage(line, where_of(line, agent, at))
    if kind == "cost-state":
        return run_total(line, where_of(line, agent, at))
    if kind == "system" and line.get("subtype") == "compact_boundary":
        return compaction_of(line, where_of(line, agent, at))
    return None


def _usage(line: Mapping[str, Any], where: Where) -> Usage | None:
    message = message_of(line)
    model = text(message, "model")
    if flag(line, "isApiErrorMessage") or model == SYNTHETIC:
        return None
    request_tokens = tokens(message.get("usage"))
    if request_tokens is None:
        return None
    return Usage(
        tokens=request_tokens,
        model=model,
        request=request_key(text(message, "id"), text(line, "requestId")),
        cost=micro_dollars(line, "costUSD"),
        **where,
    )


def run_total(line: Mapping[str, Any], where: Where) -> RunTotal | None:
    """Return what *line* says that the whole run took so far, None if it says nothing of it."""
    by_model = {}
    windows = {}
    for model, report in mapping(line, "modelUsage").items():
        by_model[model] = _model_tokens(report)
        window = count(report, "contextWindow")
        if window:
            windows[model] = window
    if "total_cost_usd" in line:
        cost = micro_dollars(line, "total_cost_usd")
    else:
        cost = micro_dollars(line, "totalCostUSD")
    usage = tokens(mapping(line, "usage")) or tokens(line)
    if cost is None and usage is None and not by_model:
        return None
    return RunTotal(cost=cost, tokens=by_model, windows=windows, usage=usage, **where)


def _model_tokens(report: object) -> Tokens:
    """Return what one model took, by its *report* in ``modelUsage``."""
    all_writes = count(report, "cacheCreationInputTokens")
    hour_writes = min(count(report, "cacheCreationEphemeral1hInputTokens"), all_writes)
    return Tokens(
        input=count(report, "inputTokens"),
        output=count(report, "outputTokens"),
        cache_read=count(report, "cacheReadInputTokens"),
        cache_write_5m=all_writes - hour_writes,
        cache_write_1h=hour_writes,
    )


def compaction_of(line: Mapping[str, Any], where: Where) -> Compaction:
    """Return the compaction that *line* reports."""
    metadata = compaction_metadata(line)
    before_key = "preTokens"
    after_key = "postTokens"
    if "pre_tokens" in metadata or "post_tokens" in metadata:
        before_key = "pre_tokens"
        after_key = "post_tokens"
    return Compaction(
        trigger=text(metadata, "trigger"),
        before=whole(metadata, before_key),
        after=whole(metadata, after_key),
        **where,
    )


def compaction_metadata(line: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what the *line* of a compaction says about it."""
    return first_mapping(line, "compact_metadata", "compactMetadata")


def where_of(line: Mapping[str, Any], file_agent: str, at: int) -> dict[str, Any]:
    """Return session, agent and time of a transcript's *line* in the file of *file_agent*."""
    return {
        "session": text(line, "sessionId") or text(line, "session_id"),
        "agent": _agent_of(line, file_agent),
        "time": seconds(line.get("timestamp")),
        "at": at,
    }


def _agent_of(line: Mapping[str, Any], file_agent: str) -> str:
    is_sidechain = line.get("isSidechain")
    if is_sidechain is False:
        return file_agent
    agent = text(line, "agentId") or file_agent
    if is_sidechain is True:
        return agent or _UNKNOWN_AGENT
    return agent


def message_of(line: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the message of *line*; a short form has its content in the line itself."""
    return mapping(line, "message") or line


def request_key(message_id: str, request_id: str) -> str:
    """Return the key by which a request is counted once."""
    if message_id and request_id:
        return f"{message_id}:{request_id}"
    return message_id or request_id
