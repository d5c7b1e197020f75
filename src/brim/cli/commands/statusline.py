"""``brim statusline``: what an agent shows of the window at the bottom of its screen."""

from __future__ import annotations

import json
import os
import sys
import time
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from brim.cli.options import add_json, command, option, settings
from brim.cli.output import note, outlive_reader, say_json
from brim.hooks.status_drawing import Look, draw
from brim.hooks.statusline import (
    MOST_BYTES,
    SYMBOLS,
    WIDTH,
    can_print,
    columns,
    facts_of,
    lines_for,
    read_status,
)
from brim.sessions.window.windows import AutoCompact

EXAMPLE: Mapping[str, Any] = {
    "model": {"id": "claude-opus-4-6", "display_name": "Opus 4.6"},
    "cost": {"total_cost_usd": 1.2437},
    "context_window": {
        "context_window_size": 200_000,
        "current_usage": {
            "input_tokens": 12,
            "cache_creation_input_tokens": 1_409,
            "cache_read_input_tokens": 85_004,
            "output_tokens": 311,
        },
    },
    "prompt_cache": {"warm": True, "expires_at": 1_794_753_120, "recache_tokens_if_cold": 86_425},
}
"""What ``--example`` shows, at ``EXAMPLE_TIME``: its cache is warm until 14:32 UTC."""

EXAMPLE_TIME = 1_794_753_000.0


@command(option("--example", action="store_true", help="print one for made-up numbers"), add_json)
def statusline(options: Namespace) -> int:
    """Print the status line of an agent.

    Shows the model, a gauge with marks for warning and compaction, how far it is to the agent's own
    compaction, tokens and window, cost, your plan's windows once they're nearly used up, prompt
    cache and warnings. The setting statusline.parts says what to show and in which order; folder
    and branch are there too.

    Claude Code sends exact numbers on standard input; brim keeps them for its hooks. If you had a
    status line before, brim runs it with the same input and prints its lines first. What doesn't
    fit the width (COLUMNS, else the terminal's, else 80) is shortened or left out. It always exits
    with 0.

    Examples:
      brim statusline --example
      brim config set statusline.parts "branch, bar, percent, headroom, plan, notice"
      brim statusline < status.json
    """
    if options.example:
        _show_example(as_json=options.as_json)
        return 0
    if sys.stdin is None or sys.stdin.isatty():
        note(
            "an agent sends the numbers on standard input;"
            " to see what is printed: brim statusline --example"
        )
        return 2
    status = sys.stdin.buffer.read(MOST_BYTES)
    now = time.time()
    if options.as_json:
        say_json(facts_of(status, os.environ, now=now) or {})
        return 0
    outlive_reader()
    line = lines_for(
        status, os.environ, now=now, nice=can_print(SYMBOLS, sys.stdout), terminal=_terminal()
    )
    if line:
        sys.stdout.buffer.write(line + b"\n")
    return 0


def _show_example(*, as_json: bool) -> None:
    if as_json:
        say_json(facts_of(json.dumps(EXAMPLE).encode(), os.environ, now=EXAMPLE_TIME))
        return
    status = read_status(EXAMPLE, now=EXAMPLE_TIME)
    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    parts = tuple(settings().yours["statusline.parts"].split(", "))
    look = Look(
        columns(os.environ, _terminal()),
        colour=colour,
        nice=can_print(SYMBOLS, sys.stdout),
        parts=parts,
    )
    status = replace(
        status, folder="~/code/shop", branch="main", auto_compact=AutoCompact(180_000, 167_000)
    )
    print(draw(status, look, until=time.gmtime(status.cache_until)))


def _terminal() -> int:
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or WIDTH
    except (OSError, ValueError):
        return WIDTH
