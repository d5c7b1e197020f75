"""``brim mcp``: serve behaviors and budgets to agents."""

from __future__ import annotations

import os
import sys
from argparse import SUPPRESS, Namespace
from contextlib import suppress

from brim.cli.options import add_json, command, option, whole_number, working_folder
from brim.cli.output import emit, end_with_reader, heading, lines, note, paint, table
from brim.errors import InputError

PORT = 8672
"""Where ``--http`` listens unless it is told otherwise."""
LAST_PORT = 65_535


@command(
    option("--http", action="store_true", help="listen for HTTP instead of standard input"),
    option("--port", type=whole_number(0), metavar="N", help=f"for --http; 0 is any (default: {PORT})"),
    option("--resident", action="store_true", help=SUPPRESS),  # of 0.1: installed settings may still pass it
    option("--list", action="store_true", dest="as_list", help="print the tools, their tokens, and end"),
    add_json,
)
def mcp(options: Namespace) -> int:
    """Serve rules, budgets and memory to an agent, over the Model Context Protocol.

    Agents start it themselves and talk to it over standard input and output. What an agent teaches is a note that waits
    for you: 'brim rules review'. A project that is not trusted is left out: 'brim trust'.

    With --http it listens on this machine only, at http://127.0.0.1:PORT/mcp, for clients that bring the token in the
    file mcp-token of your brim folder as 'Authorization: Bearer TOKEN'.

    Needs the extra: pip install 'brim[mcp]'

    Examples:
      brim mcp
      brim mcp --list
      brim mcp --http --port 8672
      claude mcp add --scope user brim -- brim mcp
    """
    if options.port is not None and not options.http:
        raise InputError("--port belongs to --http")
    if options.port is not None and options.port > LAST_PORT:
        raise InputError(f"--port is at most {LAST_PORT}, not {options.port}")
    if options.as_list and options.http:
        raise InputError("--list prints and ends: leave --http out")
    if options.as_json and not (options.as_list or options.http):
        raise InputError("--json belongs to --list and --http: on standard output the protocol is already JSON")
    _need_the_extra()
    if options.as_list:
        return _list(options)
    return _serve_http(options) if options.http else _serve()


def _need_the_extra() -> None:
    from importlib.util import find_spec

    with suppress(ImportError):
        if find_spec("mcp.server.mcpserver") is not None:
            return
    raise InputError("the MCP server needs the SDK, version 2: pip install 'brim[mcp]'")


def _list(options: Namespace) -> int:
    from brim.mcp.server import INSTRUCTIONS
    from brim.mcp.tools import tool_costs
    from brim.tokens.counters import counter_for

    costs = tool_costs()
    total, instructions = sum(cost.tokens for cost in costs), int(counter_for(None).count(INSTRUCTIONS))
    tools = [{"name": cost.name, "tokens": cost.tokens, "description": cost.description} for cost in costs]
    found = {"tools": tools, "tokens": total, "instructions": INSTRUCTIONS, "instructions_tokens": instructions}
    rows = [["tool", "tokens", "what it does"], *([cost.name, f"{cost.tokens:,}", cost.description] for cost in costs)]
    below = f"{total:,} tokens of schemas if a client shows all of them, {instructions} of instructions"
    return emit(found, lines(heading(table(rows, right=(1,))), paint(below, "faint")), options.as_json)


def _serve() -> int:
    from brim.mcp.server import build_server, end_at_signals

    server = build_server(os.environ, working_folder())
    end_at_signals()
    if sys.stdin is not None and sys.stdin.isatty():
        note("waiting for a client (agents start this themselves); Ctrl-D ends it")
    server.run("stdio")
    return 0


def _serve_http(options: Namespace) -> int:
    from brim.config import user_folder
    from brim.mcp.http import read_token, serve_http, token_file
    from brim.mcp.server import build_server

    end_with_reader(ends=False)  # a client may go away before it is answered
    home = user_folder(os.environ)
    token = read_token(home)

    def ready(address: str) -> None:
        where = {"url": address, "token_file": token_file(home)}
        emit(where, f"{address}  (token: {token_file(home)})", options.as_json)
        if not options.as_json:
            note("Ctrl-C ends it")
        sys.stdout.flush()

    server = build_server(os.environ, working_folder(), shared=True)
    serve_http(server, token, PORT if options.port is None else options.port, ready=ready)
    return 0
