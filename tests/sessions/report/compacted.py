"""Sessions with compactions: the lines that Claude Code, Codex and Gemini CLI write, shortened."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from brim.agents.stream import read
from brim.memory.compactions import CompactionReader
from brim.memory.lost import CompactionReport

SESSION = "8eeb040d-b0c0-4396-a084-8ec7e7627d5b"
FOLDER = "/home/user/shop"


class ClaudeSession:
    """A transcript that grows, and what its compactions lost."""

    def __init__(
        self, path: Path, session: str = SESSION, folder: str = FOLDER, **fields: Any
    ) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path, self.session, self.folder, self.fields = path, session, folder, fields
        self.count = 0
        self.prompt = 10_000

    def line(self, type: str, **fields: Any) -> str:
        """Append a line; return its id."""
        self.count += 1
        uuid = f"{self.path.stem[:8]}-{self.count}"
        about = {
            "type": type,
            "uuid": uuid,
            "sessionId": self.session,
            "isSidechain": False,
            "cwd": self.folder,
        }
        stamp = f"2026-11-15T06:{self.count // 60:02}:{self.count % 60:02}.000Z"
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**about, "timestamp": stamp, **self.fields, **fields}) + "\n")
        return uuid

    def you(self, text: str) -> str:
        """Let the person type *text*."""
        return self.line("user", message={"role": "user", "content": text})

    def agent(self, block: dict[str, Any]) -> str:
        """Let the agent answer with one block, in a request of its own."""
        self.prompt += 100
        usage = {"input_tokens": self.prompt, "output_tokens": 50}
        message = {
            "id": f"m-{self.path.stem[:8]}-{self.count}",
            "role": "assistant",
            "model": "claude-sonnet-4-5",
            "usage": usage,
        }
        return self.line(
            "assistant", message={**message, "content": [block]}, requestId=f"r-{self.count}"
        )

    def say(self, text: str) -> str:
        """Let the agent say *text*."""
        return self.agent({"type": "text", "text": text})

    def tool(
        self,
        name: str,
        given: dict[str, Any],
        answer: str = "ok",
        *,
        error: bool = False,
        **fields: Any,
    ) -> list[str]:
        """Let the agent call a tool; return the ids of both lines."""
        id = f"t-{self.path.stem[:8]}-{self.count}"
        called = self.agent({"type": "tool_use", "id": id, "name": name, "input": given})
        block = {"type": "tool_result", "tool_use_id": id, "content": answer, "is_error": error}
        self.prompt += len(answer) // 4
        return [called, self.line("user", message={"role": "user", "content": [block]}, **fields)]

    def read(self, name: str, text: str = "x = 1\n") -> list[str]:
        """Let the agent read a file of the project."""
        return self.tool("Read", {"file_path": f"{self.folder}/{name}"}, text)

    def run(self, command: str, answer: str = "ok", *, error: bool = False) -> list[str]:
        """Let the agent run a command."""
        return self.tool("Bash", {"command": command}, answer, error=error)

    def compact(self, summary: str | None, *, keep: list[str] | None = None, **about: Any) -> None:
        """Compact the window; without a *summary* only that it was is written."""
        kept = {"preservedMessages": {"uuids": keep or [], "allUuids": keep or []}}
        metadata = {"trigger": "auto", "preTokens": 160_000, "postTokens": 3_000, **kept, **about}
        self.line("system", subtype="compact_boundary", compactMetadata=metadata)
        if summary is not None:
            self.line("user", message={"role": "user", "content": summary}, isCompactSummary=True)

    def attach(self, kind: str, text: str, name: str = "") -> None:
        """Let the client put something into the window."""
        attachment = {"type": kind, "filename": f"{self.folder}/{name}"} if name else {"type": kind}
        self.line("attachment", attachment=attachment, rendered=[{"content": text}])

    def lost(self) -> list[CompactionReport]:
        """Return what the compactions lost."""
        return lost_in(self.path)


def lost_in(path: Path) -> list[CompactionReport]:
    """Return what the compactions in the session *path* lost."""
    reader = CompactionReader()
    for event in read(path):
        reader.take(event)
    return reader.finish()


def backs(compaction: CompactionReport) -> dict[str, str]:
    """Return how each lost thing came back."""
    return {item.text: item.back for item in compaction.items}
