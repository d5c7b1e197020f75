"""What may an agent ask of brim, and how?

A server of the Model Context Protocol, on the official SDK (``pip install 'brim[mcp]'``).
``measures`` counts and fits, ``rules`` tells what applies and takes notes, ``memory`` searches
scratch memory, ``tools`` is what a client sees and knows who asks, ``server`` puts it together,
``http`` serves several clients.

An agent's word is never a person's: it can take notes, and it cannot change or put away what a
person taught.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim._lazy import exports

if TYPE_CHECKING:
    from brim.mcp.http import serve_http as serve_http
    from brim.mcp.server import build_server as build_server
else:
    __getattr__, __dir__ = exports(
        __name__,
        http="serve_http",
        server="build_server",
    )
