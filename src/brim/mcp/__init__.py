"""What may an agent ask of brim, and how?

A server of the Model Context Protocol, on the official SDK (``pip install 'brim[mcp]'``). Bottom up: ``here`` is what
one call may use, ``situation`` what an agent says about its work. ``measuring`` counts and fits, ``rules`` tells what
matters, ``teaching`` takes notes and verdicts, ``session`` says how full the window is, ``notes`` what was kept in
scratch memory. ``desk`` is what the server keeps between calls, ``guard`` what a client is told of errors.
``tools`` and ``resources`` are what stands on the wire, ``schemas`` says what they cost, and ``server`` puts it
together; ``stdio`` is for one client, ``token`` and ``http`` are for several.

An agent's word is never a person's: it can take notes, and it cannot change or put away what a person taught.
"""

from __future__ import annotations

from brim._lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.mcp.here import Here
    from brim.mcp.http import serve_http
    from brim.mcp.schemas import ToolCost, tool_costs
    from brim.mcp.server import INSTRUCTIONS, build_server

__all__ = ["INSTRUCTIONS", "Here", "ToolCost", "build_server", "serve_http", "tool_costs"]

__getattr__, __dir__ = exports(
    __name__,
    {
        "INSTRUCTIONS": "server",
        "Here": "here",
        "ToolCost": "schemas",
        "build_server": "server",
        "serve_http": "http",
        "tool_costs": "schemas",
    },
)
