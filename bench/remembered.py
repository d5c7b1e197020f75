"""What a model knows after a compaction, in the real Claude Code: ``python bench/remembered.py
[--json FILE]``.

A session reads and writes files and runs commands; then the provider refuses the prompt as too
long, and Claude Code compacts with a summary that names only some of them. Which of the others does
the model read right after that, and one step later: with Claude Code alone, with brim, and with
claude-mem? claude-mem lets a model write down what happened. Here that model answers from this
machine, at once, and writes down every path and command: no model can do better. Claude Code and
claude-mem run as they do for their users; nothing leaves the machine. Exits with 1 if a target is
missed.
"""

from __future__ import annotations

import html
import json
import os
import re
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.e2e.agents import Claude
from tests.e2e.script import Call, Overflow, Say

from client import claude_code, install, version_of
from measure import say
from programs import BUN, CLAUDE_MEM, NODE, present
from report import Target, arguments, finish, markdown, measured, table, this_machine

READ = [
    *(
        f"src/{name}.py"
        for name in (
            "billing/retry",
            "billing/webhook",
            "orders/cart",
            "orders/totals",
            "auth/tokens",
        )
    ),
    *(
        "tests/test_retry.py",
        "tests/test_cart.py",
        "docs/refunds.md",
        "config/queues.toml",
        "migrations/0042.sql",
    ),
]
WRITTEN = [
    "src/billing/backoff.py",
    "src/billing/limits.py",
    "tests/test_backoff.py",
    "docs/backoff.md",
]
TARGETS = (
    "test-billing",
    "migrate",
    "lint",
    "test-orders",
    "show-queues",
    "refunds-report",
    "bench-retry",
    "smoke",
)
RUN = [f"make {each}" for each in TARGETS]
SUMMARIZED = ["src/billing/retry.py", "src/billing/backoff.py", "tests/test_retry.py", RUN[0]]
SUMMARY = f"The retry helper of the billing webhook waits now. Done so far: {', '.join(SUMMARIZED)}. Next: the limits."
DROPPED = [each for each in (*READ, *WRITTEN, *RUN) if each not in SUMMARIZED]
ALONE, OURS, THEIRS = "Claude Code alone", "brim", "claude-mem"
LONG = 6
"""Long results after all that, because Claude Code keeps the newest messages."""
PATIENCE = 90.0
"""Seconds that claude-mem gets to write everything down: its hooks run in the background."""


@dataclass(frozen=True)
class After:
    """What the model reads after the compaction of what the summary dropped."""

    known: tuple[int, int]
    """How many of them: in the first request, and in the one after its first call."""
    requests: int
    """Requests that the tool itself made to a model."""
    daemon_mb: float
    """Memory of what the tool keeps running."""


def main() -> int:
    """Measure, print, and return the exit status."""
    options = arguments(__doc__, quick="nothing: it takes a minute").parse_args()
    print(this_machine())
    setups: dict[str, Callable[[Claude], Any]] = {ALONE: alone, OURS: with_brim}
    if present(BUN, CLAUDE_MEM).keys() >= {BUN.name, CLAUDE_MEM.name}:
        setups[THEIRS] = with_claude_mem
    found = {}
    for name, setup in setups.items():
        say(f"remembered: {name}")
        found[name] = play(setup)
    head = [
        "",
        "known right after",
        "one step later",
        "model requests",
        "memory kept running",
    ]
    rows = [
        [
            name,
            *(f"{known} of {len(DROPPED)}" for known in each.known),
            str(each.requests),
            f"{each.daemon_mb:.0f} MB" if each.daemon_mb else "none",
        ]
        for name, each in found.items()
    ]
    table("What the summary dropped and the next request has", head, rows, [])
    versions = {
        "Claude Code": version_of(),
        **{name: str(CLAUDE_MEM.version) for name in found if name == THEIRS},
    }
    tables = {"compaction": measured(options, "one session", versions) + markdown(head, rows)}
    share = found[OURS].known[1] / len(DROPPED)
    targets = [Target("brim: share of what was dropped, one step later", share, at_least=0.7)]
    return finish(
        options, {"after": {name: asdict(each) for name, each in found.items()}}, targets, tables
    )


def play(setup: Callable[[Claude], Any]) -> After:
    """Play the session in one setup."""
    with claude_code() as claude, setup(claude) as tool:
        world, api = claude.world, claude.world.api
        for name in READ:
            world.write(name, f"# {Path(name).stem}\n" * 60)
        world.write("Makefile", "".join(f"{each}:\n\t@echo {each} passed\n" for each in TARGETS))
        world.write(
            "logs/app.log", "".join(f"request {at} took {at % 97} ms\n" for at in range(3_000))
        )
        steps = [Call("Read", {"file_path": str(world.project / name)}) for name in READ]
        steps += [claude.write(world.project / name, "value = 1\n" * 30) for name in WRITTEN]
        steps += [claude.shell(command) for command in RUN]
        steps += [claude.shell(f"grep -n {at} logs/app.log") for at in range(LONG)]
        api.summary = SUMMARY
        api.will(*steps, lambda _: tool.settle() or Say("The retry helper waits now."))
        ran = claude.ask(
            "Make the retry helper of the billing webhook wait longer each time.", *tool.options
        )
        if len(api.turns) != len(steps) + 1:
            raise SystemExit(f"{len(api.turns)} requests instead of {len(steps) + 1}\n{ran.told}")
        api.will(Overflow(), claude.shell("date"), Say())
        claude.ask_again("Go on with the limits.", *tool.options)
        at = api.asked.index(api.compactions[0])
        requests = [asked for asked in api.asked[at:] if asked.kind == "turn"][:2]
        first, second = ("\n".join(part.text for part in asked.parts) for asked in requests)
        return After(
            known=(sum(each in first for each in DROPPED), sum(each in second for each in DROPPED)),
            requests=tool.requests,
            daemon_mb=tool.memory(),
        )


class Tool:
    """What is added to Claude Code: nothing, or something that needs no model and no daemon."""

    options: tuple[str, ...] = ()
    requests = 0

    def settle(self) -> None:
        """Wait until everything that happened so far is written down."""

    def memory(self) -> float:
        """Return the megabytes of what keeps running."""
        return 0.0


@contextmanager
def alone(_: Claude) -> Iterator[Tool]:
    """Add nothing."""
    yield Tool()


@contextmanager
def with_brim(claude: Claude) -> Iterator[Tool]:
    """Install brim's hooks."""
    install(claude)
    yield Tool()


# claude-mem ---------------------------------------------------------------------------------------


class ClaudeMem(Tool):
    """claude-mem, and the model that it asks."""

    options = ("--plugin-dir", str(NODE / CLAUDE_MEM.package / "plugin"))

    def __init__(self, data: Path) -> None:
        self.data = data
        self.bodies: list[Any] = []
        self._seen: set[str] = set()
        handler = type("Handler", (_Observer,), {"tool": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def requests(self) -> int:  # type: ignore[override]
        """How many requests there were."""
        return len(self.bodies)

    def answer(self, body: Any) -> str:
        """Keep a request; return an observation that leaves nothing out."""
        self.bodies.append(body)
        said = html.unescape(str(body["messages"][-1]["content"]))
        names = [each for each in (*READ, *WRITTEN, *RUN) if each in said]
        self._seen |= set(names)
        if "MODE SWITCH" in said:
            return f"<summary><request>Retry helper</request><completed>{', '.join(names)}</completed></summary>"
        if not names:
            return '<skip_summary reason="noise" />'
        facts = "".join(f"<fact>{each}</fact>" for each in names)
        files = "".join(f"<file>{each}</file>" for each in names if not each.startswith("make "))
        about = f"<title>{names[0]}</title><subtitle>{names[0]}</subtitle><facts>{facts}</facts>"
        about += f"<narrative>{', '.join(names)}</narrative><concepts><concept>how-it-works</concept></concepts>"
        return (
            f"<observation><type>discovery</type>{about}<files_read>{files}</files_read>"
            "<files_modified></files_modified></observation>"
        )

    def settle(self) -> None:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and not self._seen >= {*READ, *WRITTEN, *RUN}:
            time.sleep(0.2)

    def memory(self) -> float:
        pid = self._pid()
        status = Path(f"/proc/{pid}/status")
        resident = (
            re.search(r"VmRSS:\s+(\d+)", status.read_text()) if pid and status.exists() else None
        )
        return int(resident[1]) / 1024 if resident else 0.0

    def _pid(self) -> int | None:
        found = list(self.data.glob("*.pid"))
        return int(json.loads(found[0].read_text())["pid"]) if found else None


class _Observer(BaseHTTPRequestHandler):
    """Speaks as an OpenAI-compatible model does."""

    tool: ClaudeMem

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        message = {"role": "assistant", "content": self.tool.answer(body)}
        usage = {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150}
        said = {
            "id": "1",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": usage,
        }
        content = json.dumps(said).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@contextmanager
def with_claude_mem(claude: Claude) -> Iterator[Tool]:
    """Load claude-mem as a plugin, with a model on this machine; stop its worker at the end."""
    world = claude.world
    data = world.home / ".claude-mem"
    data.mkdir()
    tool = ClaudeMem(data)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {
        "CLAUDE_MEM_PROVIDER": "openrouter",
        "CLAUDE_MEM_OPENROUTER_API_KEY": "dummy",
        "CLAUDE_MEM_OPENROUTER_BASE_URL": f"http://127.0.0.1:{tool.server.server_address[1]}/v1",
        "CLAUDE_MEM_WORKER_PORT": str(port),
        "CLAUDE_MEM_CHROMA_ENABLED": "false",
        "CLAUDE_MEM_TELEMETRY": "0",
    }
    (data / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    folder = str(Path(BUN.command[0]).parent)
    world.environ |= {
        "PATH": f"{folder}{os.pathsep}{world.environ['PATH']}",
        "DO_NOT_TRACK": "1",
        **settings,
    }
    try:
        yield tool
    finally:
        world.run([*CLAUDE_MEM.command, "stop"])
        tool.server.shutdown()


if __name__ == "__main__":
    sys.exit(main())
