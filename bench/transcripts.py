"""Makes a folder of Claude Code transcripts, the same for the same seed: what ``brim usage`` and
its peer read.

Shapes and proportions follow real ones. Most bytes are tool results, which the client writes twice
(as the model sees them and as the client shows them); one answer of the model is several lines with
the same usage; a resumed session begins with the lines of the one before; sub-agents have files of
their own; some lines are the client's own (``<synthetic>``), and a few are torn. Prompts stay under
200,000 tokens and caches live five minutes, because the peer prices longer ones in another way.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import corpus

MODELS = ("claude-sonnet-4-5-20250929", "claude-opus-4-5-20251101", "claude-haiku-4-5-20251001")
START = datetime(2026, 1, 5, 8, tzinfo=UTC)
DAYS = 30
PROJECTS = 8
TOOLS = ("Read", "Bash", "Grep", "Edit")


def make(folder: Path, size: int, seed: int = 1) -> int:
    """Write transcripts of about *size* bytes under *folder*``/projects``; return how many bytes
    there are."""
    rng = random.Random(seed)
    texts = {
        kind: corpus.make(kind, 1_000_000, seed)
        for kind in ("python", "terminal", "logs", "english")
    }
    written, before = 0, None
    while written < size:
        project = f"/home/user/project-{rng.randrange(PROJECTS)}"
        session = Session(rng, texts, project)
        place = folder / "projects" / project.replace("/", "-")
        place.mkdir(parents=True, exist_ok=True)
        lines = list(session.lines())
        if before is not None and rng.random() < 0.12:
            place, replayed = before
            lines = replayed[: len(replayed) // 2] + lines
        written += _write(place / f"{session.id}.jsonl", lines)
        for agent, work in session.agents.items():
            (place / session.id / "subagents").mkdir(parents=True, exist_ok=True)
            written += _write(place / session.id / "subagents" / f"agent-{agent}.jsonl", work)
        before = place, lines
    return written


def _write(path: Path, lines: list[str]) -> int:
    data = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(data)
    return len(data)


class Session:
    """One session: its ``lines``, and the lines of its sub-agents."""

    def __init__(self, rng: random.Random, texts: dict[str, str], project: str) -> None:
        self._rng, self._texts, self._project = rng, texts, project
        self.id = self._uuid()
        self.agents: dict[str, list[str]] = {}
        self._now = START + timedelta(days=rng.randrange(DAYS), seconds=rng.randrange(40_000))
        self._model = rng.choices(MODELS, (6, 3, 1))[0]
        self._cached = 0

    def lines(self) -> Iterator[str]:
        """Yield the main thread's lines."""
        yield self._line(type="mode", mode="normal")
        for _ in range(self._rng.randint(2, 9)):
            yield self._prompt()
            for _ in range(self._rng.randint(2, 16)):
                yield from self._step()
            if self._rng.random() < 0.2:
                agent = self._hex(16)
                self.agents[agent] = self._sub_agent(agent)
            if self._rng.random() < 0.1:
                yield self._synthetic()
            if self._rng.random() < 0.03:
                yield self._prompt()[: self._rng.randrange(20, 200)]

    def _sub_agent(self, agent: str) -> list[str]:
        cached, self._cached = self._cached, 0
        lines = [self._prompt(agent)]
        for _ in range(self._rng.randint(2, 10)):
            lines += self._step(agent)
        self._cached = cached
        return lines

    def _step(self, agent: str = "") -> Iterator[str]:
        """Yield one answer, a line for each of its blocks, and the result of the call in it."""
        rng, tool, call = self._rng, self._rng.choice(TOOLS), "toolu_" + self._hex(24)
        written = min(rng.randint(100, 9_000), max(0, 180_000 - self._cached))
        usage = {
            "input_tokens": rng.randint(1, 12),
            "cache_creation_input_tokens": written,
            "cache_read_input_tokens": self._cached,
            "cache_creation": {
                "ephemeral_5m_input_tokens": written,
                "ephemeral_1h_input_tokens": 0,
            },
            "output_tokens": rng.randint(30, 2_500),
            "service_tier": "standard",
        }
        self._cached += written
        blocks: list[dict[str, Any]] = []
        if rng.random() < 0.5:
            thought = {
                "type": "thinking",
                "thinking": self._text("english", 700),
                "signature": self._hex(600),
            }
            blocks.append(thought)
        if rng.random() < 0.6:
            blocks.append({"type": "text", "text": self._text("english", 300)})
        input = {"file_path": f"{self._project}/src/module_{rng.randrange(40)}.py"}
        if tool == "Edit":
            input |= {
                "old_string": self._text("python", 600),
                "new_string": self._text("python", 700),
            }
        if tool == "Bash":
            input = {
                "command": self._text("terminal", 120),
                "description": self._text("english", 40),
            }
        blocks.append({"type": "tool_use", "id": call, "name": tool, "input": input})
        message, request = "msg_" + self._hex(24), "req_" + self._hex(24)
        for block in blocks:
            yield self._line(
                agent,
                message={
                    "model": self._model,
                    "id": message,
                    "type": "message",
                    "role": "assistant",
                    "content": [block],
                    "stop_reason": "tool_use",
                    "stop_sequence": None,
                    "usage": usage,
                },
                requestId=request,
                type="assistant",
            )
        yield self._result(tool, call, agent)

    def _result(self, tool: str, call: str, agent: str) -> str:
        size = min(30_000, int(self._rng.lognormvariate(7.9, 1.1)))
        text = self._text(
            {"Read": "python", "Edit": "python", "Grep": "logs"}.get(tool, "terminal"), size
        )
        shown: dict[str, Any] = {
            "stdout": text,
            "stderr": "",
            "interrupted": False,
            "isImage": False,
        }
        if tool in ("Read", "Edit"):
            shown = {
                "type": "text",
                "file": {"filePath": "module.py", "content": text, "numLines": text.count("\n")},
            }
        content = [{"tool_use_id": call, "type": "tool_result", "content": text}]
        return self._line(
            agent, type="user", message={"role": "user", "content": content}, toolUseResult=shown
        )

    def _prompt(self, agent: str = "") -> str:
        return self._line(
            agent, type="user", message={"role": "user", "content": self._text("english", 200)}
        )

    def _synthetic(self) -> str:
        usage = {
            "input_tokens": 0,
            "output_tokens": 0,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        }
        content = [{"type": "text", "text": "No response requested."}]
        message = {
            "id": self._uuid(),
            "model": "<synthetic>",
            "role": "assistant",
            "content": content,
            "usage": usage,
        }
        return self._line(type="assistant", message=message)

    def _line(self, agent: str = "", **fields: Any) -> str:
        self._now += timedelta(seconds=self._rng.uniform(0.2, 20))
        line = {
            "parentUuid": self._uuid(),
            "isSidechain": bool(agent),
            "userType": "external",
            "cwd": self._project,
            "sessionId": self.id,
            "version": "2.1.325",
            "gitBranch": "main",
            **({"agentId": agent} if agent else {}),
            **fields,
            "uuid": self._uuid(),
            "timestamp": self._now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        }
        return json.dumps(line, ensure_ascii=False, separators=(",", ":"))

    def _text(self, kind: str, size: int) -> str:
        text = self._texts[kind]
        length = max(1, min(len(text) - 1, int(size * self._rng.uniform(0.3, 1.7))))
        start = self._rng.randrange(len(text) - length)
        return text[start : start + length]

    def _hex(self, digits: int) -> str:
        return f"{self._rng.getrandbits(4 * digits):0{digits}x}"

    def _uuid(self) -> str:
        return "-".join(self._hex(digits) for digits in (8, 4, 4, 4, 12))
