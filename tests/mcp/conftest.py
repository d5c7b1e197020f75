"""A server with a home and a project of its own, asked by the SDK's own client."""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import pytest
from mcp import Client, MCPError

from brim.config.trust import trust
from brim.mcp.server import BrimServer, build_server
from brim.rules.rule import WrittenRule
from brim.rules.rulebook import Rulebook

NOW = 1_750_000_000.0


class Told(NamedTuple):
    """What a tool answered."""

    text: str
    data: Any
    failed: bool


class World:
    """A project that is trusted, and a user; ``call`` and ``read`` go through the protocol."""

    def __init__(self, root: Path) -> None:
        self.home, self.project = root / "home", root / "shop"
        (self.project / ".git").mkdir(parents=True)
        self.home.mkdir()
        self.environ = {"HOME": str(self.home)}
        self.user = self.home / ".brim"
        self.now = NOW
        self._server: BrimServer | None = None
        (self.project / ".brim").mkdir()
        trust(str(self.project), str(self.user))

    def server(self, *, folder: Path | None = None, **options: Any) -> BrimServer:
        return build_server(
            self.environ, str(folder or self.project), clock=lambda: self.now, **options
        )

    @property
    def book(self) -> Rulebook:
        """The rules here, for a person."""
        return Rulebook(str(self.user), str(self.project))

    def teach(self, right: str, *, scope: str = "project", **fields: object) -> WrittenRule:
        """Write a rule as a person would."""
        return self.book.learn(scope, {"text": right, **fields}).entry.rule

    def noted(self) -> list[WrittenRule]:
        """Return what waits in the inbox."""
        return [note.rule for note in self.book.inbox.notes()]

    def call(self, name: str, server: BrimServer | None = None, /, **arguments: Any) -> Told:
        async def ask(client: Client) -> Told:
            answer = await client.call_tool(name, arguments)
            return Told(
                getattr(answer.content[0], "text", ""),
                answer.structured_content,
                bool(answer.is_error),
            )

        told: Told = self.ask(ask, server)
        return told

    def read(self, uri: str, server: BrimServer | None = None) -> str:
        async def ask(client: Client) -> str:
            answer = await client.read_resource(uri)
            return str(getattr(answer.contents[0], "text", ""))

        return str(self.ask(ask, server))

    def refused(self, uri: str) -> str:
        """Return what is said of a resource that cannot be read."""

        async def ask(client: Client) -> str:
            with pytest.raises(MCPError) as error:
                await client.read_resource(uri)
            return str(error.value)

        return str(self.ask(ask))

    def ask(
        self,
        question: Callable[[Client], Coroutine[Any, Any, Any]],
        server: BrimServer | None = None,
    ) -> Any:
        async def main() -> Any:
            self._server = self._server or self.server()
            async with Client(server or self._server) as client:
                return await question(client)

        return anyio.run(main)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    for name in [
        name for name in os.environ if name.startswith(("BRIM_", "FLOOP_", "CLAUDE", "CODEX"))
    ]:
        monkeypatch.delenv(name)
    return World(tmp_path)
