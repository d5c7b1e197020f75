"""The server: tools and resources at one desk, over whatever a client comes in by."""

from __future__ import annotations

import json
import time

from anyio import move_on_after, to_thread, wrap_file
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.stdio import stdio_server
from mcp_types import CallToolResult, TextContent
from pydantic import ValidationError

import brim
from brim.config import user_folder
from brim.mcp.desk import Desk
from brim.mcp.guard import said_of_arguments
from brim.mcp.hooks import CALLED_BY_MODEL, NOTHING, answer_hook, filled, session_of
from brim.mcp.residence import Residence
from brim.mcp.resources import add_resources
from brim.mcp.stdio import Lines, standard_input
from brim.mcp.tools import hook_tool, make_tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

NAME = "brim"
HOOK = "on_hook"
SECONDS = 0.9
"""That a client waits for the answer to a hook."""

INSTRUCTIONS = (
    "When the user corrects you, call `learn` with what is right. "
    "Before an edit or command, `active` has the rules that matter. "
    "After a compaction, `scratch` has what was kept."
)
"""What a model is told once. At most 60 tokens: it stands in every prompt of the session."""


class BrimServer(MCPServer):
    """The SDK's server, with errors in one line, and with hooks if it is *resident*."""

    def __init__(self, desk: Desk, *, resident: bool) -> None:
        tools = make_tools(desk)
        super().__init__(
            NAME,
            title="brim",
            description="The context budget for LLM agents",
            instructions=INSTRUCTIONS,
            version=brim.__version__,
            tools=[*tools, hook_tool()] if resident else tools,
            log_level="CRITICAL",
            subscriptions=False,
        )
        self._desk, self._resident = desk, resident
        self._residence = Residence(user_folder(desk.environ))
        add_resources(self, desk)

    def close(self) -> None:
        """Say that this server answers no hooks any more."""
        self._residence.close()

    async def run_stdio_async(self) -> None:
        """Serve one client over standard input and output until it closes them."""
        async with stdio_server(wrap_file(Lines(standard_input()))) as (read, write):  # type: ignore[arg-type]
            await self._lowlevel_server.run(read, write, self._lowlevel_server.create_initialization_options())

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        """Call a tool; which session it is for is remembered."""
        meta = _meta(context)
        if name == HOOK and self._resident:
            return await self._hook(arguments, meta)
        self._desk.named(session_of({}, meta), _client(context))
        try:
            return _compact(await super().call_tool(name, arguments, context))
        except ToolError as error:
            cause = error.__cause__
            if cause is None:
                raise
            said = said_of_arguments(cause) if isinstance(cause, ValidationError) else str(cause)
            raise ToolError(f"{name}: {said}") from None

    async def _hook(self, arguments: dict[str, Any], meta: Mapping[str, Any]) -> CallToolResult:
        """Answer a hook in time: the client waits, and what comes later is as good as nothing."""
        text = NOTHING
        if CALLED_BY_MODEL not in meta and self._is_for_us(arguments, session_of(arguments, meta)):
            with move_on_after(SECONDS):
                text = await to_thread.run_sync(answer_hook, arguments, meta, self._desk, abandon_on_cancel=True)
        return CallToolResult(content=[TextContent(type="text", text=text)])

    def _is_for_us(self, arguments: Mapping[str, Any], session: str) -> bool:
        """Whether no process answers this hook as well; Codex starts none beside a tool."""
        self._desk.named(session)
        if arguments.get("agent", "claude") != "claude":
            return True
        event, data = str(arguments.get("event", "")), {**filled(arguments), "session_id": session}
        return self._residence.answers(event, data, now=self._desk.clock())


def build_server(
    environ: Mapping[str, str],
    folder: str | None,
    *,
    resident: bool = False,
    shared: bool = False,
    clock: Callable[[], float] = time.time,
) -> BrimServer:
    """Return a server for the project in *folder*. A *shared* one serves several clients, a *resident* one answers
    hooks."""
    return BrimServer(Desk(environ, folder, clock=clock, shared=shared), resident=resident)


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
