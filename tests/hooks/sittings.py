"""A person and Claude Code in a project: writes the transcript as the client does, and calls brim's
hooks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from brim.hooks.process import answer_to
from brim.memory import Journal, MemoryEntry
from brim.sessions.index import SessionIndex
from brim.sessions.requests import EVERYTHING

NOW = 1_800_000_000.0
SESSION = "8eeb040d-b0c0-4396-a084-8ec7e7627d5b"
MODEL = "claude-sonnet-4-5"


class Sitting:
    """One session in one project, with a home of its own."""

    def __init__(self, root: Path, session: str = SESSION, *, project: str = "shop") -> None:
        self.home, self.project = root / "home", root / project
        self.session, self.now = session, NOW
        for folder in (self.home, self.project):
            folder.mkdir(exist_ok=True)
        self.transcript = root / f"{session}.jsonl"
        self.environ = {
            "HOME": str(root),
            "BRIM_HOME": str(self.home),
            "CLAUDE_PROJECT_DIR": str(self.project),
            "PATH": "/usr/bin:/bin",
        }

    # What the client does -------------------------------------------------------------------------

    def hook(self, event: str, agent: str = "claude", **data: Any) -> dict[str, Any]:
        """Call a hook, and return its answer: a mapping, with what is no JSON under ``text``."""
        self.now += 1
        sent = {
            "session_id": self.session,
            "transcript_path": str(self.transcript),
            "cwd": str(self.project),
            "hook_event_name": event,
            **data,
        }
        text = answer_to(event, agent, sent, self.environ, now=self.now)
        if not text:
            return {}
        found: dict[str, Any] = json.loads(text) if text.startswith("{") else {"text": text}
        return found

    def prompt(self, text: str) -> dict[str, Any]:
        """Let the person type *text*."""
        answer = self.hook("UserPromptSubmit", prompt=text)
        self.line("user", message={"role": "user", "content": text})
        return answer

    def tool(
        self, name: str, given: dict[str, Any], *, fails: str = "", agent: str = ""
    ) -> dict[str, Any]:
        """Let the agent call a tool; return what brim said after it."""
        self.now += 1
        id = f"toolu_{int(self.now)}"
        self.called(id, name, given)
        self.answered(id, fails or "ok", error=bool(fails))
        where = {"agent_id": agent} if agent else {}
        sent: dict[str, Any] = {"tool_name": name, "tool_input": given, "tool_use_id": id, **where}
        if fails:
            return self.hook("PostToolUseFailure", error=fails, is_interrupt=False, **sent)
        return self.hook("PostToolUse", tool_response={"stdout": "ok", "stderr": ""}, **sent)

    # What the client writes -----------------------------------------------------------------------

    def line(self, type: str, **fields: Any) -> None:
        """Append one line to the transcript."""
        self.now += 1
        stamp = f"2027-01-15T08:{int(self.now // 60) % 60:02}:{int(self.now) % 60:02}.000Z"
        written = {
            "type": type,
            "sessionId": self.session,
            "isSidechain": False,
            "timestamp": stamp,
            "uuid": f"u-{int(self.now)}",
            "cwd": str(self.project),
            **fields,
        }
        with self.transcript.open("a", encoding="utf-8") as file:
            file.write(json.dumps(written, separators=(",", ":")) + "\n")

    def called(self, id: str, name: str, given: dict[str, Any]) -> None:
        """Write that a tool was called."""
        block = {"type": "tool_use", "id": id, "name": name, "input": given}
        self.line(
            "assistant",
            message={"role": "assistant", "model": MODEL, "id": f"m-{id}", "content": [block]},
        )

    def answered(self, id: str, text: str, *, error: bool = False, **fields: Any) -> None:
        """Write what a tool answered."""
        block = {"type": "tool_result", "tool_use_id": id, "content": text, "is_error": error}
        self.line("user", message={"role": "user", "content": [block]}, **fields)

    def used(
        self, id: str, input: int, output: int = 0, *, model: str = MODEL, cache: int = 0
    ) -> None:
        """Write what a request took."""
        usage = {"input_tokens": input, "output_tokens": output, "cache_read_input_tokens": cache}
        message = {"role": "assistant", "model": model, "id": id, "usage": usage, "content": []}
        self.line("assistant", message=message, requestId=f"req-{id}")

    def total(self, dollars: float) -> None:
        """Write the client's own total."""
        line = {
            "type": "cost-state",
            "sessionId": self.session,
            "totalCostUSD": dollars,
            "modelUsage": {},
        }
        with self.transcript.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, separators=(",", ":")) + "\n")

    # What brim keeps ------------------------------------------------------------------------------

    @property
    def context(self) -> Path:
        """The folder of the scratch files."""
        return self.project / ".context"

    def entries(self, kind: str, *, folder: str = "") -> list[MemoryEntry]:
        """Return what the journal holds of *kind*."""
        journal = Journal(str(self.context / folder / "journal.jsonl"))
        return [entry for entry in journal.refresh() if entry.kind == kind]

    def texts(self, kind: str) -> list[str]:
        """Return the texts of these."""
        return [entry.text for entry in self.entries(kind)]

    def spent(self) -> int:
        """Return what the index has of everything."""
        with SessionIndex(str(self.home / "index.db")) as index:
            return index.spent(EVERYTHING).cost

    def limit(self, *texts: str) -> None:
        """Limit everything on this machine."""
        limits = json.dumps({EVERYTHING: texts})
        (self.home / "config.yaml").write_text(f"limits: {limits}\n", encoding="utf-8")

    def state(self) -> dict[str, Any]:
        """Return what is remembered of the session."""
        found: dict[str, Any] = json.loads(
            (self.home / "state" / f"{self.session}.json").read_text()
        )
        return found

    def log(self) -> str:
        """Return what the hooks have logged."""
        path = self.home / "log" / "hook.log"
        return path.read_text() if path.exists() else ""
