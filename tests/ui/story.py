"""A made-up session of Claude Code whose bills fit its texts, played through brim's hooks at the
times that it tells.

An agent fixes an importer for two hours: it reads the same file again and again, is compacted, goes
on after a long pause, and is told rules at its prompts.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from brim import count
from brim.hooks.process import answer_to
from brim.sessions.session_files import slug_of

MODEL = "claude-opus-4-5"
RATIO = 1.3
"""Tokens of the model for one of the vocabulary that stands in for its own."""
FIXED = 17_800
"""Tokens of the system prompt and the tools, which the client doesn't record."""
ID = "0b5e55ed-0000-4000-8000-00000000{:04}"
_WORDS = (
    "supplier",
    "order",
    "price",
    "stock",
    "row",
    "batch",
    "export",
    "invoice",
    "number",
    "date",
    "file",
    "total",
)


@cache
def _text(seed: int, lines: int, kind: str) -> str:
    """Return code, a log or prose that is the same each time."""
    draw = random.Random(seed)
    found = []
    for number in range(lines):
        one, other, third = draw.sample(_WORDS, 3)
        if kind == "code":
            found.append(
                f"{number + 1}\t    def {one}_{other}(self, {third}):\n\t        return self.{other} + {number}"
            )
        elif kind == "log":
            found.append(
                f"tests/test_{one}.py::test_{other}_{third} PASSED [{number:3}%] in 0.{draw.randrange(10, 99)}s"
            )
        else:
            found.append(
                f"The {one} has a {other}, and the {third} of batch {number} is checked before it is written."
            )
    return "\n".join(found)


@cache
def _tokens(text: str) -> int:
    return round(int(count(text, model="gpt-4o")) * RATIO)


class Story:
    """The session *number* in *project*, which began at the time *begin*; *scale* is how long its
    texts are."""

    def __init__(
        self,
        environ: Mapping[str, str],
        project: Path,
        *,
        begin: float,
        number: int = 1,
        branch: str = "main",
        task: str = "The importer drops the last supplier of suppliers.csv",
        scale: float = 1.0,
    ) -> None:
        self.environ, self.project, self.branch, self.scale = environ, project, branch, scale
        self.id, self.task = ID.format(number), task
        folder = Path(environ["HOME"], ".claude", "projects", slug_of(str(project)))
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"{self.id}.jsonl"
        self.time, self._held, self._cached = begin, 0, 0
        self._lines = self._answers = self._calls = 0
        self._hooks = Path(environ["HOME"], ".brim").is_dir()

    def hook(self, event: str, **said: Any) -> None:
        """Let brim's hook for *event* answer, at the time of the story; the agent reads what it
        tells."""
        if not self._hooks:
            return
        data = {
            "session_id": self.id,
            "transcript_path": str(self.path),
            "cwd": str(self.project),
            **said,
        }
        answer = answer_to(
            event, "claude", {**data, "hook_event_name": event}, self.environ, now=self.time
        )
        # What PreCompact prints is plain text, for whoever writes the summary.
        told = answer.startswith("{") and json.loads(answer).get("hookSpecificOutput", {}).get(
            "additionalContext"
        )
        if told:
            self._held += _tokens(told)
            about = {
                "type": "hook_additional_context",
                "content": [told],
                "hookName": event,
                "hookEvent": event,
            }
            self.write(type="attachment", attachment=about)

    def write(self, **line: Any) -> None:
        """Write a line of the transcript."""
        self._lines += 1
        moment = (
            datetime.fromtimestamp(self.time, UTC)
            .isoformat(timespec="milliseconds")
            .replace("+00:00", "Z")
        )
        about = {
            "uuid": f"u{self._lines:06}",
            "timestamp": moment,
            "cwd": str(self.project),
            "sessionId": self.id,
        }
        whole = {
            **line,
            **about,
            "isSidechain": False,
            "version": "2.1.325",
            "gitBranch": self.branch,
        }
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(whole) + "\n")

    def ask(self, prompt: str) -> None:
        """A person types a prompt."""
        self.time += 40
        self.hook("UserPromptSubmit", prompt=prompt)
        self._held += _tokens(prompt)
        self.write(type="user", message={"role": "user", "content": prompt}, promptSource="typed")

    def answer(
        self, text: str = "", *calls: tuple[str, dict[str, Any], str], fresh: bool = False
    ) -> None:
        """The agent answers a request with *text* and *calls*, each with its result."""
        self.time += 25
        self._answers += 1
        prompt = FIXED + self._held
        read = 0 if fresh else min(self._cached, prompt)
        content: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
        names = []
        for tool, given, _ in calls:
            self._calls += 1
            names.append(f"toolu_{self.id[-4:]}{self._calls:06}")
            content.append({"type": "tool_use", "id": names[-1], "name": tool, "input": given})
        written = _tokens(json.dumps(content))
        usage = {
            "input_tokens": 4,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": prompt - read - 4,
        }
        usage |= {"output_tokens": written}
        id = f"msg_{self.id[-4:]}{self._answers:06}"
        message = {
            "id": id,
            "type": "message",
            "role": "assistant",
            "model": MODEL,
            "content": content,
            "usage": usage,
        }
        message["stop_reason"] = "tool_use" if calls else "end_turn"
        self.write(type="assistant", message=message, requestId=f"req_{id}")
        self._cached, self._held = prompt, self._held + written
        for name, (tool, given, result) in zip(names, calls, strict=True):
            said = {"tool_name": tool, "tool_input": given, "tool_use_id": name}
            self.hook("PreToolUse", **said)
            self.time += 5
            self._held += _tokens(result)
            block = {"tool_use_id": name, "type": "tool_result", "content": result}
            self.write(
                type="user",
                message={"role": "user", "content": [block]},
                toolUseResult={"stdout": result},
            )
            self.hook("PostToolUse", **said, tool_response={"stdout": result})
        if not calls:
            self.hook("Stop", stop_hook_active=False)

    def read(self, name: str, lines: int, seed: int, *, text: str = "") -> None:
        """The agent reads a file."""
        shown = _text(seed, round(lines * self.scale), "code")
        self.answer(text, ("Read", {"file_path": str(self.project / name)}, shown))

    def run(
        self, command: str, lines: int, seed: int, *, text: str = "", fresh: bool = False
    ) -> None:
        """The agent runs a command."""
        shown = _text(seed, round(lines * self.scale), "log")
        self.answer(text, ("Bash", {"command": command}, shown), fresh=fresh)

    def edit(self, name: str, lines: int, seed: int) -> None:
        """The agent edits a file."""
        new = _text(seed, round(lines * self.scale), "code")
        given = {
            "file_path": str(self.project / name),
            "old_string": "return None",
            "new_string": new,
        }
        said = _text(seed, round(12 * self.scale) or 1, "prose")
        self.answer(said, ("Edit", given, "The file was updated."))

    def compact(self, summary: str) -> None:
        """The client compacts the window."""
        self.hook("PreCompact", trigger="auto", custom_instructions="")
        before, self._held, self._cached = FIXED + self._held, _tokens(summary), 0
        about = {"trigger": "auto", "preTokens": before, "postTokens": self._held}
        self.write(
            type="system",
            subtype="compact_boundary",
            content="Conversation compacted",
            compactMetadata=about,
        )
        self.write(type="user", message={"role": "user", "content": summary}, isCompactSummary=True)
        self.hook("SessionStart", source="compact")
        self.hook("PostCompact", trigger="auto", compact_summary=summary)

    def play(self, *, cut: bool = False) -> None:
        """Play it; with *cut*, only its beginning."""
        self.hook("SessionStart", source="startup")
        self.ask(f"{self.task}. Find out why and fix it, the format must stay.")
        self.read("src/importer.py", 300, 1, text="I'll read the importer and its tests first.")
        self.read("tests/test_importer.py", 160, 2)
        self.run("pytest -x tests/test_importer.py", 60, 3)
        if cut:
            return
        for step in range(4):
            self.read("src/importer.py", 300, 1)
            self.run(f"grep -rn newline src/{step}", 90, 10 + step)
            self.edit("src/importer.py", 90, 20 + step)
            self.run("pytest -x tests/test_importer.py", 60, 30 + step)
        self.answer("The last row had no newline. It is read now, and the test passes.")
        self.ask(
            "Good. Now add a --dry-run option, and never restart the importer while lock.json exists."
        )
        for step in range(5):
            self.edit("src/importer.py", 70, 40 + step)
            self.read(f"src/{_WORDS[step]}.py", 110, 50 + step)
            self.run(f"git log -p -- src/{_WORDS[step]}.py", 240, 60 + step)
        self.run("pytest", 900, 70, text="I'll run everything once.")
        self.read("src/importer.py", 300, 1)
        self.read("docs/import.md", 60, 80)
        self.answer("Done: --dry-run lists what it would load.")
        self.ask("Please look at the export of orders, it is slow.")
        for step in range(6):
            self.read(f"src/export_{step}.py", 120, 90 + step)
        self.compact(
            "This session is being continued from a previous conversation.\n\nSummary: the importer in src/importer.py "
            "reads a last row without a newline; --dry-run was added. Next: the export of orders is slow.\n"
            + _text(5, round(180 * self.scale), "prose")
        )
        self.answer("I'll go on with the export.")
        self.ask("Go on: it must be done before the release.")
        self.read("src/importer.py", 300, 1)
        self.read("src/export_0.py", 120, 90)
        self.edit("src/export_0.py", 120, 100)
        for step in range(4):
            self.run(f"python -m cProfile export.py {step}", 130, 110 + step)
        self.time += 4_000  # longer than a cache lives
        self.ask("I'm back. What did the profile say?")
        self.run("python -m cProfile export.py 5", 130, 120, fresh=True)
        for step in range(5):
            self.read(f"src/export_{step}.py", 120, 90 + step)
            self.run("pytest tests/test_export.py", 50, 130 + step)
        self.answer(
            "The export sorted every batch again. It is 14 times faster now, and the tests pass."
        )
        self.hook("SessionEnd", reason="other")
