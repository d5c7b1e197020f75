"""What Claude Code's transcript and its stream have in common.

Both have the same messages, tool calls and results. ``words`` says what a person typed in a user's
line, and ``refusal_of`` why a call wasn't carried out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from brim.agents.call import ToolCall
from brim.agents.claude.reports import compaction_metadata
from brim.agents.claude.value import TOOLS, typed_text
from brim.agents.events import Compaction, End, ModelSeen
from brim.agents.fields import (
    first_items,
    first_mapping,
    first_text,
    flag,
    items,
    mapping,
    text,
    text_of,
)
from brim.agents.lines import Bounded, LineReader, Told, is_short_for, opening_of

_REMEMBERED_PLACES = 5_000
"""Lines whose place is remembered: a compaction names the latest that it left."""

_CALL_BLOCKS = ("tool_use", "server_tool_use", "mcp_tool_use")

_DECISIONS = (
    ("permission", ("reject", "deny", "denied", "block", "permission", "hook")),
    ("interrupt", ("interrupt", "cancel", "abort")),
    ("cascade", ("sibling", "parallel")),
)
"""Parts of the words by which the client itself says that a call wasn't carried out."""

_CLIENT_FLAGS = ("isMeta", "isSynthetic", "isSidechain", "isVisibleInTranscriptOnly")
"""Flags of user lines that the client wrote itself."""


class ClaudeLineReader(LineReader):
    """Keeps the models, requests and sub-agents that were seen."""

    tools = TOOLS

    def __init__(self) -> None:
        super().__init__()
        self._requests = Told(200_000)
        self._sub_agents = Told()
        self._models = Bounded(1_000)
        self._places = Bounded(_REMEMBERED_PLACES)

    def tell_compaction(self, line: Mapping[str, Any], compaction: Compaction) -> None:
        """Tell the *compaction* of *line*, with the places of what it left in the window."""
        self.line_events.append(replace(compaction, kept=self._preserved_places(line)))

    def _preserved_places(self, line: Mapping[str, Any]) -> tuple[int, ...]:
        metadata = compaction_metadata(line)
        messages = first_mapping(metadata, "preserved_messages", "preservedMessages")
        ids = first_items(messages, "all_uuids", "allUuids", "uuids")
        if ids:
            known_ids = [id for id in ids if isinstance(id, str) and id in self._places]
            return tuple([self._places[id] for id in known_ids])
        # Older versions name only the ends.
        segment = first_mapping(metadata, "preserved_segment", "preservedSegment")
        if not segment:
            return ()
        first = self._places.get(first_text(segment, "head_uuid", "headUuid"))
        last = self._places.get(first_text(segment, "tail_uuid", "tailUuid"))
        if first is None or last is None:
            return ()
        return tuple([at for at in self._places.values() if first <= at <= last])

    def see_model(self, model: str, *, chosen: bool = False) -> None:
        """Tell the model if it is new; ``claude-x[1m]`` that was *chosen* is the ``claude-x`` of
        the answers."""
        agent = self.where["agent"]
        previous = self._models.get(agent, "")
        if not model or model == previous:
            return
        if not chosen and is_short_for(model, previous):
            return
        self._models[agent] = model
        self.tell(ModelSeen, model=model)

    def end_sub_agent(self, agent: str, status: str, answer: str) -> None:
        """Tell that the sub-agent *agent* ended, if the session has one of that id."""
        if agent in self._sub_agents and status:
            self.tell(End, agent=agent, reason=status, error=status != "completed", text=answer)

    def tell_message(self, message: Mapping[str, Any], role: str) -> None:
        """Tell the texts and the tool calls of an assistant's *message*.

        *role* is whose text it is.
        """
        id = text(message, "id")
        content = message.get("content")
        if not isinstance(content, list):
            content = [{"type": "text", "text": content}]
        for block in content:
            kind = text(block, "type")
            if kind == "text":
                self.say(role, text(block, "text"), id=id)
            elif kind in _CALL_BLOCKS:
                self.tell_call(block)

    def tell_call(self, block: Mapping[str, Any]) -> None:
        """Tell the call in a ``tool_use`` *block*."""
        name = text(block, "name")
        kind = self.tools.kind(name)
        input = mapping(block, "input")
        if kind == "edit":
            input = self.tools.normalized(kind, input)
        self.tell(ToolCall, id=text(block, "id"), name=name, kind=kind, input=input)

    def tell_results(self, line: Mapping[str, Any], content: object) -> bool:
        """Tell the tool results in the *content* of a user's *line*; return whether there are any.

        What the line says in addition to the text belongs to the result if there is only one.
        """
        if not isinstance(content, list):
            return False
        blocks = [block for block in content if text(block, "type") == "tool_result"]
        if not blocks:
            return False
        detail = None
        if len(blocks) == 1:
            detail = _detail(line)
        for block in blocks:
            self._tell_result(line, block, detail)
        sub_agent = text(line, "toolUseResult", "agentId")
        self._sub_agents.is_new(sub_agent or text(line, "tool_use_result", "agentId"))
        return True

    def _tell_result(self, line: Mapping[str, Any], block: Any, detail: object) -> None:
        id = text(block, "tool_use_id")
        answer = text_of(block.get("content"))
        failed = flag(block, "is_error")
        refusal = _declared_refusal(line, block, id)
        if not refusal and flag(detail, "interrupted"):
            refusal = "interrupt"
        if not refusal and failed:
            refusal = _refusal_among(answer, detail)
        self.result(id, answer, failed=failed, refusal=refusal, detail=detail)


def _refusal_among(*texts: object) -> str:
    """Return the refusal that the first of *texts* says; empty if none is one."""
    for answer in texts:
        if isinstance(answer, str) and refusal_of(answer):
            return refusal_of(answer)
    return ""


def _detail(line: Mapping[str, Any]) -> object:
    """Return what *line* says about a result in addition to the text that the model got."""
    detail = line.get("tool_use_result")
    if detail is None:
        detail = line.get("toolUseResult")
    return detail


# Why a call wasn't carried out --------------------------------------------------------------------


def _declared_refusal(line: Mapping[str, Any], block: Mapping[str, Any], id: str) -> str:
    """Return why the call *id* wasn't carried out, as far as the client says it in a field of its
    own."""
    metas = [meta for meta in items(line, "tool_result_meta") if text(meta, "id") == id]
    decisions = [text(meta, "permission_decision", "decision") for meta in metas]
    decisions += [text(meta, "non_execution_kind") for meta in (*metas, block)]
    decisions.append(text(line, "permissionDecision", "decision"))
    decisions.append(text(line, "nonExecutionKind"))
    for decision in decisions:
        refusal = refusal_of_decision(decision)
        if refusal:
            return refusal
    return ""


def refusal_of(answer: str) -> str:
    """Return which of ``events.REFUSALS`` the *answer* of a failed call is, empty if it is a
    failure.

    >>> refusal_of("<tool_use_error>Sibling tool call errored</tool_use_error>")
    'cascade'
    >>> refusal_of("rm: Permission denied")
    ''
    """
    opening = answer[:200].lstrip().lower().replace("\u2019", "'")
    opening = opening.removeprefix("<tool_use_error>").removeprefix("error: ")
    return opening_of(opening, __file__, "refusals.tsv")


def refusal_of_decision(word: str) -> str:
    """Return which of ``events.REFUSALS`` the client's own *word* for it is, empty for ``accept``
    and unknown words.

    >>> refusal_of_decision("user-rejected"), refusal_of_decision("accept")
    ('permission', '')
    """
    lower = word.lower()
    for refusal, signs in _DECISIONS:
        if any(sign in lower for sign in signs):
            return refusal
    return ""


# What a person typed ------------------------------------------------------------------------------


def words(line: Mapping[str, Any], content: object) -> tuple[str, bool]:
    """Return the text of a user's *line*, and whether a person typed it; then without what the
    client added.

    A slash command is what was typed: ``/model sonnet``.
    """
    everything = text_of(content)
    if not everything or _comes_from_a_machine(line):
        return everything, False
    parts = content if isinstance(content, list) else [content]
    typed = [typed_text(text_of(part)) for part in parts]
    typed = [part for part in typed if part]
    if not typed:
        return everything, False
    return "\n".join(typed), True


def _comes_from_a_machine(line: Mapping[str, Any]) -> bool:
    """Whether a user's *line* comes from a tool, the system or the client."""
    if first_text(line, "parent_tool_use_id", "sourceToolUseID"):
        return True
    return text(line, "promptSource") == "system" or is_written_by_client(line)


def is_written_by_client(line: Mapping[str, Any]) -> bool:
    """Whether the client wrote a user's *line* itself."""
    if any(flag(line, name) for name in _CLIENT_FLAGS):
        return True
    return text(line, "origin", "kind") not in ("", "human")
