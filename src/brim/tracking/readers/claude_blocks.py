"""What stands in the messages of Claude Code, in its stream and in its transcripts: the same blocks."""

from __future__ import annotations

from _collections_abc import Mapping

from brim.models.usage import Tokens
from brim.tracking.events import Message, RunTotal, ToolCall, ToolResult
from brim.tracking.readers.claude_refusals import refusal_of, refusal_of_decision
from brim.tracking.readers.fields import count, flag, items, mapping, micro_dollars, text, text_of, tokens, whole
from brim.tracking.readers.inputs import named
from brim.tracking.readers.tools import tool_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brim.tracking.events import Event

SYNTHETIC = "<synthetic>"
"""The model of messages that the client wrote itself."""


def spoken(message: Mapping[str, Any], role: str, where: Mapping[str, Any]) -> list[Event]:
    """Return the texts and the tool calls of an assistant's *message*; *role* is whose text it is."""
    id = text(message, "id")
    content = message.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    found: list[Event] = []
    for block in content if isinstance(content, list) else []:
        kind = text(block, "type")
        if kind == "text" and (written := text(block, "text")):
            found.append(Message(role=role, text=written, id=id, **where))
        elif kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
            found.append(call(block, where))
    return found


def call(block: Mapping[str, Any], where: Mapping[str, Any]) -> ToolCall:
    """Return the call in a ``tool_use`` *block*."""
    name, given = text(block, "name"), mapping(block, "input")
    tool = tool_of(name)
    if tool == "edit":
        given = named(tool, given)
    return ToolCall(id=text(block, "id"), name=name, tool=tool, input=given, **where)


def answered(line: Mapping[str, Any], content: object, where: Mapping[str, Any]) -> list[Event]:
    """Return the tool results in the *content* of a user's *line*.

    What the line says beside the text belongs to the result if there is only one.
    """
    blocks = [block for block in content if text(block, "type") == "tool_result"] if isinstance(content, list) else []
    detail = _either(line, "tool_use_result", "toolUseResult") if len(blocks) == 1 else None
    found: list[Event] = []
    for block in blocks:
        id, said, failed = text(block, "tool_use_id"), text_of(block.get("content")), flag(block, "is_error")
        stopped = failed or flag(detail, "interrupted")
        refusal = _decided(line, block, id) or (_refusal(said, detail) if stopped else "")
        found.append(ToolResult(id=id, text=said, error=failed, refusal=refusal, detail=detail, **where))
    return found


def run_total(line: Mapping[str, Any], where: Mapping[str, Any]) -> RunTotal | None:
    """Return what *line* says that the whole run took so far, None if it says nothing of it."""
    by_model, windows = {}, {}
    for model, used in mapping(line, "modelUsage").items():
        hour = min(count(used, "cacheCreationEphemeral1hInputTokens"), count(used, "cacheCreationInputTokens"))
        by_model[model] = Tokens(
            input=count(used, "inputTokens"),
            output=count(used, "outputTokens"),
            cache_read=count(used, "cacheReadInputTokens"),
            cache_write_5m=count(used, "cacheCreationInputTokens") - hour,
            cache_write_1h=hour,
        )
        if window := count(used, "contextWindow"):
            windows[model] = window
    cost = micro_dollars(line, "total_cost_usd")
    if cost is None:
        cost = micro_dollars(line, "totalCostUSD")
    usage = tokens(mapping(line, "usage")) or tokens(line)
    if cost is None and usage is None and not by_model:
        return None
    return RunTotal(cost=cost, tokens=by_model, windows=windows, usage=usage, **where)


def boundary(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return trigger and sizes of a compaction: the stream's names have underscores, the transcript's have capitals."""
    about = mapping(line, "compact_metadata") or mapping(line, "compactMetadata")
    before, after = whole(about, "pre_tokens"), whole(about, "post_tokens")
    return {
        "trigger": text(about, "trigger"),
        "before": whole(about, "preTokens") if before is None else before,
        "after": whole(about, "postTokens") if after is None else after,
    }


def message_of(line: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the message of *line*; a short form has its content in the line itself."""
    return mapping(line, "message") or line


def _either(line: Mapping[str, Any], *keys: str) -> Any:
    return next((found for key in keys if (found := line.get(key)) is not None), None)


def _decided(line: Mapping[str, Any], block: Mapping[str, Any], id: str) -> str:
    """Return why the call *id* was not carried out, as far as the client says it in a field of its own."""
    about = [meta for meta in items(line, "tool_result_meta") if text(meta, "id") == id]
    said = [text(meta, "permission_decision", "decision") for meta in about]
    said += [text(meta, "non_execution_kind") for meta in (*about, block)]
    said += [text(line, "permissionDecision", "decision"), text(line, "nonExecutionKind")]
    return next((refusal for word in said if (refusal := refusal_of_decision(word))), "")


def _refusal(said: str, detail: Any) -> str:
    if flag(detail, "interrupted"):
        return "interrupt"
    return refusal_of(said) or (refusal_of(detail) if isinstance(detail, str) else "")
