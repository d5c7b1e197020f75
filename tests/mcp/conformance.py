"""The server as the public conformance suite wants it: ``python -m tests.mcp.conformance PORT``.

The suite brings no token, so it is added here, and it asks for things by names of its own: a text,
an error, a resource and a template stand in for brim's. Everything else, the checks of ``Host`` and
``Origin`` too, is what people run.
"""

from __future__ import annotations

import json
import sys
import tempfile
from typing import Any

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from brim.loopback import HOST
from brim.mcp.http import guarded_app
from brim.mcp.server import build_server

TOKEN = "t" * 64


def add_stand_ins(server: MCPServer) -> None:
    """Give *server* what the suite asks for by name."""

    def text() -> str:
        return "This is a simple text response for testing."

    def error() -> str:
        raise ToolError("This tool intentionally returns an error for testing")

    def static() -> str:
        return "This is the content of the static text resource."

    def template(id: str) -> str:
        return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})

    server.add_tool(text, name="test_simple_text", description="A text.")
    server.add_tool(error, name="test_error_handling", description="An error.")
    server.resource("test://static-text", mime_type="text/plain")(static)
    server.resource("test://template/{id}/data", mime_type="application/json")(template)


def main(port: int) -> None:
    """Serve on *port* until the process is ended."""
    with tempfile.TemporaryDirectory() as home:
        server = build_server({"HOME": home}, home, shared=True)
        add_stand_ins(server)
        app = guarded_app(server, TOKEN, port)

        async def with_token(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] == "http":
                scope = {
                    **scope,
                    "headers": [*scope["headers"], (b"authorization", f"Bearer {TOKEN}".encode())],
                }
            await app(scope, receive, send)

        uvicorn.run(with_token, host=HOST, port=port, log_level="critical")


if __name__ == "__main__":
    main(int(sys.argv[1]))
