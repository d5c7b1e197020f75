"""The resources: what a client can attach without asking a tool."""

from __future__ import annotations

import json
from dataclasses import asdict

from anyio import to_thread
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp_types import Completion

from brim.mcp import notes, rules, session
from brim.mcp.guard import guarded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mcp.server import MCPServer

    from brim.mcp.desk import Desk

TEXT = "text/markdown"
EXPAND = "brim://behaviors/expand/{id}"
MOST_COMPLETED = 50


def add_resources(server: MCPServer, desk: Desk) -> None:
    """Give *server* the resources of *desk*."""

    def active() -> str:
        return rules.active_text(desk.here())

    def expand(id: str) -> str:
        return rules.expanded_text(desk.here(), id)

    def context() -> str:
        return json.dumps(asdict(session.standing(desk.here(), desk.session, desk.agent)), ensure_ascii=False)

    def scratch() -> str:
        return notes.index_text(desk.here(), desk.session)

    for uri, function, kind, text in (
        ("brim://behaviors/active", active, TEXT, "Rules learned that matter here"),
        ("brim://context", context, "application/json", "How full the context window is"),
        ("brim://scratch", scratch, TEXT, "What was kept for after a compaction"),
    ):
        named = guarded(function, ResourceError)
        server.resource(uri, name=uri.removeprefix("brim://"), description=text, mime_type=kind)(named)
    _add_completion(server, desk)
    server.resource(EXPAND, name="behaviors/expand", description="One rule whole", mime_type=TEXT)(
        guarded(expand, ResourceNotFoundError)
    )


def _add_completion(server: MCPServer, desk: Desk) -> None:
    """Let a client complete the names of rules that it may expand."""

    async def complete(ref: object, argument: Any, _: object) -> Completion | None:
        if getattr(ref, "uri", None) != EXPAND:
            return None
        typed = str(argument.value)
        found = await to_thread.run_sync(lambda: rules.list_rules(desk.here(), typed, MOST_COMPLETED * 2).rules)
        names = [rule.name for rule in found if rule.name.startswith(typed)]
        return Completion(values=names[:MOST_COMPLETED], total=len(names), has_more=len(names) > MOST_COMPLETED)

    server.completion()(complete)  # type: ignore[no-untyped-call] # the SDK's own decorator has no types
