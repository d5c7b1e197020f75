"""``brim ui``: see it in the browser."""

from __future__ import annotations

import os
import sys
import webbrowser
from argparse import Namespace
from importlib.util import find_spec
from threading import Thread

from brim.cli.options import add_json, command, need_person, option, whole_number, working_folder
from brim.cli.output import emit, end_with_reader, note
from brim.errors import InputError

PORT = 8673
LAST_PORT = 65_535
NEEDED = ("starlette", "uvicorn", "jinja2")


@command(
    option("--port", type=whole_number(0), metavar="N", help=f"listen there; 0 is any (default: {PORT}, or any)"),
    option("--no-open", action="store_true", help="print the link, and don't open a browser"),
    add_json,
)
def ui(options: Namespace) -> int:
    """See your sessions, rules and money in the browser.

      Now      live sessions, and what needs attention
      Session  what fills its window, and what was lost
      Rules    what an agent would hear
      Money    what was spent, and the limits

    The pages are served on this machine only, to the browser that has the link. Nothing is sent anywhere. Ctrl-C ends
    it.

    Needs the extra: pip install 'brim[ui]'

    Examples:
      brim ui
      brim ui --no-open --port 8080
    """
    if options.port is not None and options.port > LAST_PORT:
        raise InputError(f"--port is at most {LAST_PORT}, not {options.port}")
    need_person("opens the pages on which limits and rules are changed")
    if any(find_spec(name) is None for name in NEEDED):
        raise InputError("the pages need a few packages more: pip install 'brim[ui]'")
    from brim.ui.server import serve_ui

    end_with_reader(ends=False)  # a browser may go away before it is answered

    def ready(link: str, once: str) -> None:
        emit({"url": link}, link, options.as_json)
        if not options.as_json:
            note("Ctrl-C ends it")
        sys.stdout.flush()
        if not options.no_open:
            Thread(target=webbrowser.open, args=(once,), daemon=True).start()

    port = PORT if options.port is None else options.port
    serve_ui(os.environ, working_folder(), port, any_port=options.port is None, ready=ready)
    return 0
