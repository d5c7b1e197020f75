"""The server: tools and resources for one client over standard input and output, or for several
over HTTP."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any, TextIO

from anyio import to_thread, wrap_file
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp.server.stdio import stdio_server
from mcp_types import CallToolResult, Completion, TextContent
from pydantic import ValidationError

import brim
from brim.config.places import file_id
from brim.errors import InputError
from brim.mcp import memory, rules
from brim.mcp.tools import INSTRUCTIONS, Clients, argument_problems, guarded, make_tools

NAME = "brim"
HOOK = "on_hook"
"""The tool that settings of version 0.1 may still call as a hook. The process answers hooks now."""


class BrimServer(MCPServer):
    """The SDK's server, with errors in one line."""

    def __init__(self, clients: Clients) -> None:
        super().__init__(
            NAME,
            title="brim",
            description="The context budget for LLM agents",
            instructions=INSTRUCTIONS,
            version=brim.__version__,
            tools=make_tools(clients),
            log_level="CRITICAL",
            subscriptions=False,
        )
        self._clients = clients
        add_resources(self, clients)

    async def run_stdio_async(self) -> None:
        """Serve one client over standard input and output until it closes them."""
        client_lines = wrap_file(Lines(standard_input()))  # type: ignore[arg-type]
        options = self._lowlevel_server.create_initialization_options()
        async with stdio_server(client_lines) as (read, write):
            await self._lowlevel_server.run(read, write, options)

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        """Call a tool; which session it is for is remembered."""
        if name == HOOK:
            return CallToolResult(content=[TextContent(type="text", text="{}")])
        self._clients.remember(_session_in(context), _client_in(context))
        try:
            result: Any = await super().call_tool(name, arguments, context)
        except ToolError as error:
            cause = error.__cause__
            if cause is None:
                raise
            problem = str(cause)
            if isinstance(cause, ValidationError):
                problem = argument_problems(cause)
            raise ToolError(f"{name}: {problem}") from None
        if not isinstance(result, CallToolResult) or result.structured_content is None:
            return result
        # JSON in one line, for clients that show a model the text: indents are tokens.
        text = json.dumps(result.structured_content, ensure_ascii=False, separators=(",", ":"))
        return result.model_copy(update={"content": [TextContent(type="text", text=text)]})


def _session_in(context: Any) -> str:
    """Return the session that a call names in addition to its arguments; or nothing."""
    with suppress(AttributeError, TypeError, ValueError):
        thread = dict(context.request_context.meta or {}).get("threadId")
        if isinstance(thread, str) and file_id(thread) == thread:
            return thread
    return ""


def _client_in(context: Any) -> str:
    """Return what the client of a call calls itself; or nothing."""
    with suppress(AttributeError, ValueError):
        return str(context.session.client_params.client_info.name)
    return ""


def build_server(
    environ: Mapping[str, str],
    folder: str | None,
    *,
    shared: bool = False,
    clock: Callable[[], float] = time.time,
) -> BrimServer:
    """Return a server for the project in *folder*. A *shared* one serves several clients."""
    return BrimServer(Clients(environ, folder, clock=clock, shared=shared))


# Resources ----------------------------------------------------------------------------------------

TEXT = "text/markdown"
EXPAND = "brim://behaviors/expand/{id}"
MOST_COMPLETED = 50


def add_resources(server: MCPServer, clients: Clients) -> None:
    """Give *server* the resources of *clients*."""

    def active() -> str:
        return rules.active_text(clients.workspace)

    def expand(id: str) -> str:
        return rules.expanded_text(clients.workspace, id)

    def context() -> str:
        return json.dumps(asdict(clients.standing()), ensure_ascii=False)

    def scratch() -> str:
        return memory.index_text(clients.workspace, clients.session)

    resources = (
        ("brim://behaviors/active", active, TEXT, "Rules learned that matter here"),
        ("brim://context", context, "application/json", "How full the context window is"),
        ("brim://scratch", scratch, TEXT, "What was kept for after a compaction"),
        (EXPAND, expand, TEXT, "One rule whole"),
    )
    for uri, function, mime_type, description in resources:
        name = uri.removeprefix("brim://").removesuffix("/{id}")
        error: type[ResourceError] = ResourceError
        if uri == EXPAND:
            error = ResourceNotFoundError
        add = server.resource(uri, name=name, description=description, mime_type=mime_type)
        add(guarded(function, error))

    async def complete(ref: object, argument: Any, _: object) -> Completion | None:
        if getattr(ref, "uri", None) != EXPAND:
            return None
        typed = str(argument.value)
        matching = await to_thread.run_sync(
            lambda: rules.list_rules(clients.workspace, typed, MOST_COMPLETED * 2).rules
        )
        names = [rule.name for rule in matching if rule.name.startswith(typed)]
        return Completion(
            values=names[:MOST_COMPLETED], total=len(names), has_more=len(names) > MOST_COMPLETED
        )

    # Clients may complete the names of rules. The SDK's own decorator has no types.
    server.completion()(complete)  # type: ignore[no-untyped-call]


# Standard input and output ------------------------------------------------------------------------

_ESCAPE = re.compile(
    r"\\(?:"
    r"u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})"
    r"|.)",
    re.DOTALL,
)
"""An escaped character of JSON: a whole one of two halves, a ``half``, or any other."""


class Lines:
    """A client's lines, cleaned up: the SDK never answers a line that it can't read."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def readline(self) -> str:
        """Return the next line, empty at the end."""
        return with_whole_characters(self._file.readline())


def with_whole_characters(line: str) -> str:
    r"""Return JSON with a sign in place of each half of a character: a client that cuts a text may
    leave one.

    >>> print(with_whole_characters(r'["\ud83d\ude00", "\ud83d", "\\ud83d"]'))
    ["\ud83d\ude00", "\ufffd", "\\ud83d"]
    """
    if "\\ud" not in line and "\\uD" not in line:
        return line
    return _ESCAPE.sub(_without_half, line)


def _without_half(escape: re.Match[str]) -> str:
    if escape["half"]:
        return "\\ufffd"
    return escape[0]


def standard_input() -> TextIO:
    """Return the client's stream.

    Programs that this process starts get an empty standard input instead.
    """
    if sys.stdin is None or sys.stdout is None:
        raise InputError(
            "standard input and output are closed, and a client talks to 'brim mcp' there;"
            " see --http"
        )
    wire = os.dup(sys.stdin.fileno())
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return open(wire, encoding="utf-8", errors="replace", closefd=False)


def end_at_signals() -> None:
    """Let a signal end the process: a thread that waits for a line would hold it otherwise."""

    def end(number: int, _: object) -> None:
        os._exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
