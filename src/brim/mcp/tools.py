"""The tools: what an agent is told of each, what it takes, and which answers are typed.

A schema is paid for in every session, so names explain themselves and a description is a line. Where an answer has a
type, models read its JSON; what is prose for a model is text. No tool takes a path: a situation is text, and files that
are named in it are compared with conditions, never opened.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations
from pydantic import Field

from brim.mcp import measuring, notes, rules, session, teaching
from brim.mcp.guard import guarded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from brim.mcp.desk import Desk

READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)

Situation = Annotated[str, Field(description="what you are doing, with files and commands")]
Id = Annotated[str, Field(description="id or name of a rule")]
Model = Annotated[str, Field(description="such as gpt-4o")]
Messages = Annotated[list[dict[str, Any]], Field(description="of any provider's format")]


def make_tools(desk: Desk) -> list[Tool]:
    """Return the tools of a server that works at *desk*."""

    def active(situation: Situation = "", task: str = "") -> str:
        return rules.active_answer(desk.here(), situation, task)

    def learn(right: str, wrong: str = "", situation: Situation = "") -> teaching.Note:
        return teaching.learn_note(desk.here(), right, wrong, situation, session=desk.session)

    def feedback(id: Id, verdict: Literal["confirmed", "overridden"], note: str = "") -> teaching.Verdict:
        return teaching.judge(desk.here(), id, verdict, note, session=desk.session)

    def list_(query: str = "", limit: Annotated[int, Field(ge=1, le=500)] = 50) -> rules.Rules:
        return rules.list_rules(desk.here(), query, limit)

    def why(id: Id, situation: Situation = "") -> str:
        return rules.why_text(desk.here(), id, situation)

    def count(text: str, model: Model = "") -> measuring.Counted:
        return measuring.count_text(desk.here(), text, model)

    def budget(messages: Messages, model: Model = "", directive: str = "") -> measuring.Room:
        return measuring.room_for(desk.here(), model, messages, directive)

    def fit(
        messages: Messages,
        tokens: Annotated[int | None, Field(ge=0)] = None,
        model: Model = "",
        strategy: Literal["fifo", "sliding", "summarize"] = "fifo",
    ) -> measuring.Fitted:
        return measuring.fit_messages(desk.here(), messages, tokens, model, strategy)

    def status() -> session.Standing:
        return session.standing(desk.here(), desk.session, desk.agent)

    def scratch(
        query: Annotated[str, Field(description="word, or number of an entry; none: the index")] = "",
        dead_end: Annotated[str, Field(description="to keep: what was tried and failed")] = "",
    ) -> str:
        if dead_end:
            return notes.keep_dead_end(desk.here(), dead_end, session=desk.session)
        if query.strip():
            return notes.search_text(desk.here(), query, desk.session)
        return notes.index_text(desk.here(), desk.session)

    return [
        _tool(active, "Rules learned here that matter for what you are about to do.", READS),
        _tool(learn, "Keep what is right, and what you did wrong, when the user corrects you.", WRITES),
        _tool(feedback, "Say whether a rule was right, or the user wanted otherwise.", WRITES),
        _tool(list_, "Find rules by a part of their name, tags or text.", READS, name="list"),
        _tool(why, "Explain why a rule matters now, or not.", READS),
        _tool(count, "Count the tokens of a text.", READS),
        _tool(budget, "How much of a model's window messages leave.", READS),
        _tool(fit, "Prune messages to a number of tokens, or the model's window, still valid.", READS),
        _tool(status, "How full your context window is, what it cost, what is kept.", READS),
        _tool(scratch, "Search what was kept for after a compaction, or keep a dead end.", WRITES),
    ]


def _tool(function: Callable[..., Any], description: str, annotations: ToolAnnotations, name: str = "") -> Tool:
    made = Tool.from_function(
        guarded(function),
        name=name or function.__name__,
        description=description,
        annotations=annotations,
        structured_output=function.__annotations__["return"] != "str",
    )
    return made.model_copy(update={"parameters": {"type": "object", **_trimmed(made.parameters)}})


def _trimmed(schema: Any) -> Any:
    """Return *schema* without the titles that only repeat its names, and without defaults that say nothing."""
    if isinstance(schema, list):
        return [_trimmed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: value for key, value in schema.items() if key != "title" and not (key == "default" and not value)}
    if "properties" in kept:
        kept["properties"] = {name: _trimmed(value) for name, value in schema["properties"].items()}
    return {key: value if key == "properties" else _trimmed(value) for key, value in kept.items()}
