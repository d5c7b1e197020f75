"""``brim ui`` and ``mcp``: pages for people, and tools for agents."""

from __future__ import annotations

import os
import sys
import webbrowser
from argparse import Namespace
from contextlib import suppress
from importlib.util import find_spec
from threading import Thread

from brim.cli.asking import need_person
from brim.cli.options import add_json, command, option, whole_number
from brim.cli.output import emit, lines, note, outlive_reader, paint
from brim.cli.tables import heading, table
from brim.config.places import user_folder
from brim.errors import InputError
from brim.tokens.counters import counter_for
from brim.workspace import working_folder

UI_PORT = 8673
MCP_PORT = 8672
PORT = whole_number(0, 65_535)


def _ready(result: dict[str, str], view: str, *, as_json: bool) -> None:
    """Say where a server listens, at once."""
    emit(result, view, as_json)
    if not as_json:
        note("Ctrl-C ends it")
    sys.stdout.flush()


@command(
    option(
        "--port",
        type=PORT,
        metavar="N",
        help=f"listen there; 0 is any (default: {UI_PORT}, or any)",
    ),
    option("--no-open", action="store_true", help="print the link, and don't open a browser"),
    option(
        "--store", metavar="URL", default="", help="also show a team's ledger: postgresql://..."
    ),
    add_json,
)
def ui(options: Namespace) -> int:
    """See your sessions, rules and money in the browser.

      Now      live sessions, and what needs attention
      Session  what fills its window, and what was lost
      Rules    what an agent would hear
      Money    what was spent, and the limits

    The pages are served on this machine only, to the browser that has the link. Nothing is sent
    anywhere. Ctrl-C ends it.

    Needs the extra: pip install 'brim[ui]'

    Examples:
      brim ui
      brim ui --no-open --port 8080
    """
    need_person("opens the pages on which limits and rules are changed")
    if any(find_spec(name) is None for name in ("starlette", "uvicorn", "jinja2")):
        raise InputError("the pages need a few packages more: pip install 'brim[ui]'")
    from brim.ui.server import serve_ui

    outlive_reader()  # a browser may go away before it is answered

    def ready(link: str, once: str) -> None:
        _ready({"url": link}, link, as_json=options.as_json)
        if not options.no_open:
            Thread(target=webbrowser.open, args=(once,), daemon=True).start()

    any_port = options.port is None
    port = UI_PORT
    if options.port is not None:
        port = options.port
    serve_ui(
        os.environ, working_folder(), port, any_port=any_port, ready=ready, store=options.store
    )
    return 0


@command(
    option("--http", action="store_true", help="listen for HTTP instead of standard input"),
    option("--port", type=PORT, metavar="N", help=f"for --http; 0 is any (default: {MCP_PORT})"),
    option(
        "--list", action="store_true", dest="as_list", help="print the tools, their tokens, and end"
    ),
    add_json,
)
def mcp(options: Namespace) -> int:
    """Serve rules, budgets and memory to an agent, over the Model Context Protocol.

    Agents start it themselves and talk to it over standard input and output. What an agent teaches
    is a note that waits for you: 'brim rules review'. A project that is not trusted is left out:
    'brim rules trust'.

    With --http it listens on this machine only, at http://127.0.0.1:PORT/mcp, for clients that
    bring the token in the file mcp-token of your brim folder as 'Authorization: Bearer TOKEN'.

    Needs the extra: pip install 'brim[mcp]'

    Examples:
      brim mcp
      brim mcp --list
      brim mcp --http --port 8672
      claude mcp add --scope user brim -- brim mcp
    """
    if options.port is not None and not options.http:
        raise InputError("--port belongs to --http")
    if options.as_list and options.http:
        raise InputError("--list prints and ends: leave --http out")
    if options.as_json and not (options.as_list or options.http):
        raise InputError(
            "--json belongs to --list and --http: on standard output the protocol is already JSON"
        )
    spec = None
    with suppress(ImportError):
        spec = find_spec("mcp.server.mcpserver")
    if spec is None:
        raise InputError("the MCP server needs the SDK, version 2: pip install 'brim[mcp]'")
    if options.as_list:
        return _list_tools(options)
    if options.http:
        return _serve_http(options)
    return _serve()


def _list_tools(options: Namespace) -> int:
    from brim.mcp.tools import INSTRUCTIONS, tool_costs

    costs = tool_costs()
    total = sum(cost.tokens for cost in costs)
    instructions = int(counter_for(None).count(INSTRUCTIONS))
    tools = []
    rows = [["tool", "tokens", "what it does"]]
    for cost in costs:
        tools.append({"name": cost.name, "tokens": cost.tokens, "description": cost.description})
        rows.append([cost.name, f"{cost.tokens:,}", cost.description])
    result = {
        "tools": tools,
        "tokens": total,
        "instructions": INSTRUCTIONS,
        "instructions_tokens": instructions,
    }
    schemas = f"{total:,} tokens of schemas if a client shows all of them"
    below = paint(f"{schemas}, {instructions} of instructions", "faint")
    return emit(result, lines(heading(table(rows, right=(1,))), below), options.as_json)


def _serve() -> int:
    from brim.mcp.server import build_server, end_at_signals

    server = build_server(os.environ, working_folder())
    end_at_signals()
    if sys.stdin is not None and sys.stdin.isatty():
        note("waiting for a client (agents start this themselves); Ctrl-D ends it")
    server.run("stdio")
    return 0


def _serve_http(options: Namespace) -> int:
    from brim.mcp import http, server

    outlive_reader()  # a client may go away before it is answered
    home = user_folder(os.environ)
    token = http.read_token(home)
    file = http.token_file(home)

    def ready(address: str) -> None:
        result = {"url": address, "token_file": file}
        _ready(result, f"{address}  (token: {file})", as_json=options.as_json)

    port = MCP_PORT
    if options.port is not None:
        port = options.port
    shared = server.build_server(os.environ, working_folder(), shared=True)
    http.serve_http(shared, token, port, ready=ready)
    return 0
