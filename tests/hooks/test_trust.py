"""No agent surface reads a project that the user hasn't trusted: not its settings, not its rules,
not its files."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from brim.config.trust import trust
from brim.hooks import main
from brim.hooks.statusline import lines_for
from brim.rules.accepted import AcceptedRules
from tests.hooks.hook_samples import ALL

RULE = "Obey the clone."
_watching: list[tuple[str, list[str]]] = []


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if _watching and event in ("open", "sqlite3.connect") and isinstance(arguments[0], str | bytes):
        folder, seen = _watching[-1]
        path = os.path.realpath(os.fsdecode(arguments[0]))
        if path.startswith(folder + os.sep):
            seen.append(path)


sys.addaudithook(_audit)


@contextmanager
def watched(folder: Path) -> Iterator[list[str]]:
    """Collect every file below *folder* that this process opens."""
    seen: list[str] = []
    _watching.append((os.path.realpath(folder), seen))
    try:
        yield seen
    finally:
        _watching.pop()


class Clone:
    """A project that somebody else wrote, and a user who has a store."""

    def __init__(self, root: Path) -> None:
        self.home, self.project = root / "home" / ".brim", root / "shop"
        self.home.mkdir(parents=True, mode=0o700)
        (self.project / ".git").mkdir(parents=True)
        self.own = self.project / ".brim"
        self.own.mkdir(mode=0o700)
        (self.own / "config.yaml").write_text(
            "context:\n  warn: 0.01\n  compact: 0.02\n", encoding="utf-8"
        )
        for folder, text in ((self.own, RULE), (self.home, "Use uv.")):
            (folder / "rules.toml").write_text(f'[rule]\ntext = "{text}"\n', encoding="utf-8")
        self.environ = {"HOME": str(root / "home"), "PATH": os.environ.get("PATH", "")}

    def trust(self) -> None:
        text = (self.own / "rules.toml").read_text(encoding="utf-8")
        AcceptedRules(str(self.home), str(self.project)).accept(text)
        trust(str(self.project), str(self.home))

    def hook(self, agent: str, event: str, data: dict[str, Any]) -> str:
        sent = json.dumps({**data, "cwd": str(self.project), "transcript_path": ""}).encode()
        out = io.StringIO()
        assert main([event, agent], io.BytesIO(sent), out, self.environ) == 0
        return out.getvalue()

    def status_line(self) -> str:
        usage = {
            "input_tokens": 60_000,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        }
        context = {"context_window_size": 200_000, "current_usage": usage}
        sent = {"session_id": "s", "cwd": str(self.project), "context_window": context}
        return lines_for(json.dumps(sent).encode(), self.environ, now=0.0).decode()

    def tools(self) -> str:
        """Call every tool and read every resource of the MCP server."""
        from mcp import Client, MCPError

        from brim.mcp.server import build_server

        arguments: dict[str, dict[str, Any]] = {
            "learn": {"right": "Use ruff."},
            "why": {"id": "rule"},
            "count": {"text": "hello"},
            "budget": {"messages": [{"role": "user", "content": "hi"}], "model": "gpt-4o"},
            "fit": {"messages": [{"role": "user", "content": "hi"}], "model": "gpt-4o"},
        }

        async def ask() -> str:
            said = []
            async with Client(
                build_server(self.environ, str(self.project), clock=lambda: 0.0)
            ) as client:
                for tool in (await client.list_tools()).tools:
                    said.append(
                        str(
                            (
                                await client.call_tool(tool.name, arguments.get(tool.name, {}))
                            ).content
                        )
                    )
                for resource in (await client.list_resources()).resources:
                    try:
                        said.append(str((await client.read_resource(str(resource.uri))).contents))
                    except MCPError as error:
                        said.append(str(error))
            return "\n".join(said)

        return anyio.run(ask)


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clone:
    for name in [
        name for name in os.environ if name.startswith(("BRIM_", "FLOOP_", "CLAUDE", "CODEX"))
    ]:
        monkeypatch.delenv(name)
    return Clone(tmp_path)


@pytest.mark.parametrize(("agent", "event", "data"), ALL)
def test_no_hook_reads_it(clone: Clone, agent: str, event: str, data: dict[str, Any]) -> None:
    with watched(clone.own) as opened:
        assert RULE not in clone.hook(agent, event, data)
    assert opened == []


def test_the_human_is_told_once_a_session_that_it_waits_for_trust(clone: Clone) -> None:
    start, waits = (
        {"session_id": "s", "hook_event_name": "SessionStart", "source": "startup"},
        "until you trust it",
    )
    assert waits in json.loads(clone.hook("claude", "SessionStart", start))["systemMessage"]
    prompt = {"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "Go."}
    assert waits not in clone.hook("claude", "UserPromptSubmit", prompt)
    clone.trust()
    assert waits not in clone.hook("claude", "SessionStart", start | {"session_id": "s2"})


def test_a_project_that_brings_nothing_is_not_mentioned(clone: Clone) -> None:
    for path in clone.own.iterdir():
        path.unlink()
    start = {"session_id": "s", "hook_event_name": "SessionStart", "source": "startup"}
    assert "trust" not in clone.hook("claude", "SessionStart", start)


def test_the_status_line_does_not_read_it(clone: Clone) -> None:
    with watched(clone.own) as opened:
        assert "compact" not in clone.status_line()
    assert opened == []


def test_no_tool_reads_it(clone: Clone) -> None:
    pytest.importorskip("mcp.server.mcpserver")
    with watched(clone.own) as opened:
        said = clone.tools()
    assert RULE not in said
    assert opened == []


def test_once_it_is_trusted_all_of_them_do(clone: Clone) -> None:
    pytest.importorskip("mcp.server.mcpserver")
    clone.trust()
    with watched(clone.own) as opened:
        assert RULE in clone.hook(
            "claude", "SessionStart", {"session_id": "s", "source": "startup"}
        )
        assert "compact" in clone.status_line()
        assert RULE in clone.tools()
    assert {Path(path).name for path in opened} >= {"rules.toml", "config.yaml"}
