"""The server: tools and resources at one desk, over whatever a client comes in by."""

from __future__ import annotations

import json
import time

from anyio import wrap_file
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.stdio import stdio_server
from mcp_types import CallToolResult, TextContent
from pydantic import ValidationError

import brim
from brim.hooks.session import file_id
from brim.mcp.desk import Desk
from brim.mcp.guard import said_of_arguments
from brim.mcp.resources import add_resources
from brim.mcp.stdio import Lines, standard_input
from brim.mcp.tools import make_tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

NAME = "brim"
HOOK = "on_hook"
"""The tool that settings of version 0.1 may still call as a hook. The process answers hooks now."""

INSTRUCTIONS = (
    "When the user corrects you, call `learn` with what is right. "
    "Before an edit or command, `active` has the rules that matter. "
    "After a compaction, `scratch` has what was kept."
)
"""What a model is told once. At most 60 tokens: it stands in every prompt of the session."""


class BrimServer(MCPServer):
    """The SDK's server, with errors in one line."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(
            NAME,
            title="brim",
            description="The context budget for LLM agents",
            instructions=INSTRUCTIONS,
            version=brim.__version__,
            tools=make_tools(desk),
            log_level="CRITICAL",
            subscriptions=False,
        )
        self._desk = desk
        add_resources(self, desk)

    async def run_stdio_async(self) -> None:
        """Serve one client over standard input and output until it closes them."""
        async with stdio_server(wrap_file(Lines(standard_input()))) as (read, write):  # type: ignore[arg-type]
            await self._lowlevel_server.run(read, write, self._lowlevel_server.create_initialization_options())

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        """Call a tool; which session it is for is remembered."""
        meta = _meta(context)
        if name == HOOK:
            return CallToolResult(content=[TextContent(type="text", text="{}")])
        thread = meta.get("threadId")
        session = thread if isinstance(thread, str) and thread and file_id(thread) == thread else ""
        self._desk.named(session, _client(context))
        try:
            return _compact(await super().call_tool(name, arguments, context))
        except ToolError as error:
            cause = error.__cause__
            if cause is None:
                raise
            said = said_of_arguments(cause) if isinstance(cause, ValidationError) else str(cause)
            raise ToolError(f"{name}: {said}") from None


def build_server(
    environ: Mapping[str, str],
    folder: str | None,
    *,
    shared: bool = False,
    clock: Callable[[], float] = time.time,
) -> BrimServer:
    """Return a server for the project in *folder*. A *shared* one serves several clients."""
    return BrimServer(Desk(environ, folder, clock=clock, shared=shared))


def _compact(result: Any) -> Any:
    """Return *result* with its JSON in one line, for clients that show a model the text: indents are tokens."""
    if not isinstance(result, CallToolResult) or result.structured_content is None:
        return result
    text = json.dumps(result.structured_content, ensure_ascii=False, separators=(",", ":"))
    return result.model_copy(update={"content": [TextContent(type="text", text=text)]})


def _meta(context: Any) -> Mapping[str, Any]:
    """Return what came with a call beside its arguments."""
    try:
        return dict(context.request_context.meta or {})
    except (AttributeError, TypeError, ValueError):
        return {}


def _client(context: Any) -> str:
    """Return what the client calls itself, empty if it does not say."""
    try:
        return str(context.session.client_params.client_info.name)
    except (AttributeError, ValueError):
        return ""
