"""Agents for ``soak.py``: each writes its session file as its client does, and says which hooks the
client would call.

An agent works through turns: a prompt, calls of tools with a request before each, an answer. Now
and then a call fails, a sub-agent works (Claude Code), or the window is compacted. An agent
remembers what it was asked and what its requests cost, which is what brim's memory and ledger must
hold at the end.
"""

from __future__ import annotations

import json
import random
from collections.abc import Generator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from brim.models import cost
from brim.models.usage import Tokens

STATUS = "statusline"
"""The event of a status line, which has no name in the clients."""

WORK = """
    the parser drops the last line|the retry helper of the billing webhook fails|make the search index faster
    rename the config loader|write tests for the invoice export|the login page flickers|deploy the staging cluster
    the cache is never invalidated|move the migrations to SQL files|explain the flaky upload test
"""
FILES = (
    "src/app/api.py",
    "src/app/parser.py",
    "web/login.ts",
    "infra/main.tf",
    "docs/setup.md",
    "tests/test_api.py",
)
COMMANDS = (
    "pytest -q",
    "npm install",
    "git push --force",
    "make lint",
    "rg TODO src",
    "docker compose up -d",
)


class Call(NamedTuple):
    """One call that the client makes: of a hook, or of the status line."""

    event: str
    said: dict[str, Any]


Steps = Generator[Call, str | None, None]
"""Calls; what is sent back is what brim answered, None if it was killed."""


class Agent:
    """One session of one client in *project*."""

    name: str
    model: str
    prompt_event, before, after, stopped = "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"

    def __init__(
        self, home: Path, project: Path, rng: random.Random, ago: timedelta = timedelta()
    ) -> None:
        self.project, self.rng, self.ago = project, rng, ago
        self.session = f"{rng.getrandbits(32):08x}-7a1c-7e80-9f45-{rng.getrandbits(48):012x}"
        self.path = self.file(home)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.asked: list[str] = []
        """The prompts that reached the model, also if their hook was killed."""
        self.refused: list[str] = []
        """Those that brim refused."""
        self.spent = self.requests = self.held = self.limited = self.compactions = 0
        self.number = 0
        self.begin()

    def file(self, home: Path) -> Path:
        """Return where the client keeps the session."""
        raise NotImplementedError

    def begin(self) -> None:
        """Write the first lines."""

    def write_prompt(self, text: str) -> None:
        """Write what a person typed."""
        raise NotImplementedError

    def write_request(self, used: Tokens, call: tuple[str, str, dict[str, Any]] | None) -> None:
        """Write an answer of the model that took *used*, with a *call* (id, name, input) or a
        text."""
        raise NotImplementedError

    def write_result(self, id: str, text: str, *, failed: bool) -> None:
        """Write what a tool answered."""
        raise NotImplementedError

    def compact(self) -> Steps:
        """Compact the window."""
        raise NotImplementedError

    def extras(self) -> Steps:
        """Call what only this client calls in a turn."""
        yield from ()

    def append(self, line: dict[str, Any], path: Path | None = None) -> None:
        """Add one line to the session's file."""
        with (path or self.path).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, separators=(",", ":")) + "\n")

    def now(self) -> str:
        """Return the time that the client writes."""
        moment = datetime.now(UTC) - self.ago
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def next(self) -> int:
        """Return another number each time."""
        self.number += 1
        return self.number

    def said(self, event: str, **own: Any) -> Call:
        """Return the call of *event* with what every message has."""
        here = {
            "session_id": self.session,
            "transcript_path": str(self.path),
            "cwd": str(self.project),
        }
        return Call(event, {**here, "hook_event_name": event, **own})

    def request(self, call: tuple[str, str, dict[str, Any]] | None = None) -> None:
        """Make a request to the model: it costs money."""
        used = Tokens(
            input=self.rng.randint(5, 900),
            cache_read=self.rng.randint(1, 90) * 1000,
            output=self.rng.randint(20, 800),
        )
        self.pay(used)
        self.write_request(used, call)

    def pay(self, used: Tokens) -> None:
        """Remember what a request costs."""
        price = cost(used, model=self.model)
        if price is None:
            raise SystemExit(f"no price is known for {self.model}")
        self.spent, self.requests = self.spent + price, self.requests + 1

    def hold(self, answer: str) -> None:
        """Count that brim refused something, by a rule or a limit."""
        self.held, self.limited = self.held + 1, self.limited + ("limit" in answer)

    def steps(self) -> Steps:
        """Work without end."""
        yield self.said("SessionStart", source="startup", model=self.model)
        while True:
            yield from self.turn()

    def turn(self) -> Steps:
        """Work on one prompt."""
        text = f"{self.rng.choice(WORK.replace(chr(10), '|').split('|')).strip() or 'go on'} ({self.next()})"
        answer = yield self.said(self.prompt_event, prompt=text)
        if answer and _is_refused(answer):
            self.refused.append(text)
            self.hold(answer)
            return
        self.asked.append(text)
        self.write_prompt(text)
        for _ in range(self.rng.randint(1, 5)):
            yield from self.tool()
        yield from self.extras()
        self.request()
        yield self.said(
            self.stopped, prompt=text, stop_hook_active=False, last_assistant_message="Done."
        )

    def tool(self) -> Steps:
        """Call a tool, which fails now and then."""
        id = f"call_{self.session[:8]}_{self.next()}"
        name, given = self.choose()
        self.request((id, name, given))
        call: dict[str, Any] = {"tool_name": name, "tool_input": given, "tool_use_id": id}
        answer = yield self.said(self.before, **call)
        if answer and _is_refused(answer):
            self.hold(answer)
            self.write_result(id, "Held by a hook.", failed=True)
            return
        failed = self.rng.random() < 0.2
        output = (
            "error: it does not work\n" * 4 if failed else "12 passed\n" * self.rng.randint(1, 60)
        )
        self.write_result(id, output, failed=failed)
        yield self.answered(call, output, failed=failed)

    def choose(self) -> tuple[str, dict[str, Any]]:
        """Return a tool and its input."""
        path = str(self.project / self.rng.choice(FILES))
        return self.rng.choice(
            [
                ("Bash", {"command": f"{self.rng.choice(COMMANDS)} # {self.number}"}),
                (
                    "Edit",
                    {"file_path": path, "old_string": "a = 1", "new_string": f"a = {self.number}"},
                ),
                ("Read", {"file_path": path}),
            ]
        )

    def answered(self, call: dict[str, Any], output: str, *, failed: bool) -> Call:
        """Return the call after a tool."""
        return self.said(
            self.after, **call, tool_response=f"Exit code: {int(failed)}\nOutput:\n{output}"
        )

    def ends(self) -> Iterator[Call]:
        """Return the last calls: the end of a turn, in which everything is settled, and of the
        session."""
        yield self.said(self.stopped, stop_hook_active=False)
        yield self.said("SessionEnd", reason="exit")


class Claude(Agent):
    """Claude Code, with a status line and sub-agents."""

    name, model = "claude", "claude-sonnet-4-5"

    def file(self, home: Path) -> Path:
        return (
            home
            / ".claude"
            / "projects"
            / str(self.project).replace("/", "-")
            / f"{self.session}.jsonl"
        )

    def line(self, kind: str, path: Path | None = None, **own: Any) -> None:
        """Add a line of Claude Code."""
        where = {
            "type": kind,
            "sessionId": self.session,
            "isSidechain": path is not None,
            "cwd": str(self.project),
        }
        self.append(
            {
                **where,
                "uuid": f"u-{self.session[:8]}-{self.next()}",
                "timestamp": self.now(),
                **own,
            },
            path,
        )

    def write_prompt(self, text: str) -> None:
        self.line("user", message={"role": "user", "content": text})

    def write_request(
        self, used: Tokens, call: tuple[str, str, dict[str, Any]] | None, path: Path | None = None
    ) -> None:
        block: dict[str, Any] = {"type": "text", "text": "Done."}
        if call is not None:
            block = {"type": "tool_use", "id": call[0], "name": call[1], "input": call[2]}
        id = f"{self.session[:8]}_{self.next()}"
        usage = {
            "input_tokens": used.input,
            "cache_read_input_tokens": used.cache_read,
            "output_tokens": used.output,
        }
        message = {
            "id": f"msg_{id}",
            "role": "assistant",
            "model": self.model,
            "usage": usage,
            "content": [block],
        }
        self.line("assistant", path, message=message, requestId=f"req_{id}")

    def write_result(self, id: str, text: str, *, failed: bool) -> None:
        block = {"type": "tool_result", "tool_use_id": id, "content": text, "is_error": failed}
        self.line("user", message={"role": "user", "content": [block]})

    def answered(self, call: dict[str, Any], output: str, *, failed: bool) -> Call:
        if failed:
            return self.said(
                "PostToolUseFailure", **call, error=f"Exit code 1\n{output}", is_interrupt=False
            )
        return self.said(
            "PostToolUse",
            **call,
            tool_response={"stdout": output, "stderr": "", "interrupted": False},
        )

    def extras(self) -> Steps:
        yield self.status()
        if self.rng.random() < 0.2:
            id = f"{self.rng.getrandbits(32):08x}"
            path = self.path.parent / self.session / "subagents" / f"agent-{id}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            used = Tokens(input=40, cache_read=9_000, output=200)
            self.pay(used)
            self.write_request(used, None, path)
            where = {"agent_id": id, "agent_type": "Explore", "agent_transcript_path": str(path)}
            yield self.said("SubagentStop", **where, last_assistant_message="Found it.")

    def status(self) -> Call:
        """Return the call of the status line."""
        used = self.rng.randint(10, 190) * 1000
        window = {
            "context_window_size": 200_000,
            "total_input_tokens": used,
            "used_percentage": used // 2000,
        }
        usage = {"input_tokens": 10, "output_tokens": 300, "cache_read_input_tokens": used - 10}
        own = {
            "model": {"id": self.model, "display_name": "Sonnet 4.5"},
            "workspace": {"current_dir": str(self.project), "project_dir": str(self.project)},
            "context_window": {
                **window,
                "current_usage": {**usage, "cache_creation_input_tokens": 0},
            },
        }
        return Call(STATUS, self.said(STATUS, **own).said)

    def compact(self) -> Steps:
        yield self.said("PreCompact", trigger="auto", custom_instructions=None)
        metadata = {"trigger": "auto", "preTokens": 180_000, "postTokens": 9_000}
        self.line(
            "system",
            subtype="compact_boundary",
            compactMetadata=metadata,
            content="Conversation compacted",
        )
        summary = "This session is being continued. The parser was fixed."
        self.line("user", isCompactSummary=True, message={"role": "user", "content": summary})
        yield self.said("PostCompact", trigger="auto", compact_summary=summary)
        yield self.said("SessionStart", source="compact", model=self.model)
        self.compactions += 1


class Codex(Agent):
    """Codex."""

    name, model = "codex", "gpt-5"

    def file(self, home: Path) -> Path:
        return (
            home
            / ".codex"
            / "sessions"
            / "2026"
            / "11"
            / "16"
            / f"rollout-2026-11-16T10-00-00-{self.session}.jsonl"
        )

    def begin(self) -> None:
        self.sums = dict.fromkeys(
            ("input_tokens", "cached_input_tokens", "output_tokens", "total_tokens"), 0
        )
        self.line("session_meta", id=self.session, cwd=str(self.project), cli_version="0.99.0")
        self.line("turn_context", model=self.model, cwd=str(self.project))

    def line(self, kind: str, **payload: Any) -> None:
        """Add a line of Codex."""
        self.append(
            {"timestamp": self.now(), "ordinal": self.next(), "type": kind, "payload": payload}
        )

    def write_prompt(self, text: str) -> None:
        self.line(
            "response_item",
            type="message",
            role="user",
            content=[{"type": "input_text", "text": text}],
        )
        self.line("event_msg", type="user_message", message=text)

    def write_request(self, used: Tokens, call: tuple[str, str, dict[str, Any]] | None) -> None:
        if call is None:
            done = [{"type": "output_text", "text": "Done."}]
            self.line("response_item", type="message", role="assistant", content=done)
        else:
            given = json.dumps(call[2])
            self.line(
                "response_item",
                type="function_call",
                call_id=call[0],
                name=call[1],
                arguments=given,
            )
        prompt = used.input + used.cache_read
        usage = {
            "input_tokens": prompt,
            "cached_input_tokens": used.cache_read,
            "output_tokens": used.output,
        }
        usage["total_tokens"] = prompt + used.output
        self.sums = {key: self.sums[key] + usage[key] for key in self.sums}
        id = f"resp_{self.session[:8]}_{self.next()}"
        self.line("token_usage_record", response_id=id, usage=usage, thread_token_usage=self.sums)

    def write_result(self, id: str, text: str, *, failed: bool) -> None:
        output = f"Exit code: {int(failed)}\nOutput:\n{text}"
        self.line("response_item", type="function_call_output", call_id=id, output=output)

    def choose(self) -> tuple[str, dict[str, Any]]:
        name, given = super().choose()
        if name == "Bash":
            return "shell_command", given
        path = Path(given["file_path"]).relative_to(self.project)
        return "apply_patch", {
            "input": f"*** Begin Patch\n*** Update File: {path}\n@@\n-a = 1\n+a = 2\n*** End Patch"
        }

    def compact(self) -> Steps:
        yield self.said("PreCompact", trigger="auto", turn_id="t")
        self.line("compacted", message="The parser was fixed.", replacement_history=[])
        yield self.said("PostCompact", trigger="auto", compact_summary="The parser was fixed.")
        yield self.said("SessionStart", source="compact", model=self.model)
        self.compactions += 1


class Gemini(Agent):
    """Gemini CLI."""

    name, model = "gemini", "gemini-2.5-flash"
    prompt_event, before, after, stopped = "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent"

    def file(self, home: Path) -> Path:
        return (
            home
            / ".gemini"
            / "tmp"
            / self.project.name
            / "chats"
            / f"session-{self.session[:8]}.jsonl"
        )

    def begin(self) -> None:
        self.append(
            {"sessionId": self.session, "projectHash": "p", "startTime": self.now(), "kind": "main"}
        )
        self.open: dict[str, Any] = {}

    def message(self, kind: str, **own: Any) -> dict[str, Any]:
        """Return a message of Gemini CLI."""
        return {
            "id": f"{self.session[:8]}-{self.next()}",
            "timestamp": self.now(),
            "type": kind,
            **own,
        }

    def write_prompt(self, text: str) -> None:
        self.append(self.message("user", content=[{"text": text}]))

    def write_request(self, used: Tokens, call: tuple[str, str, dict[str, Any]] | None) -> None:
        prompt = used.input + used.cache_read
        tokens = {
            "input": prompt,
            "cached": used.cache_read,
            "output": used.output,
            "thoughts": 0,
            "tool": 0,
        }
        said = self.message(
            "gemini", model=self.model, tokens=tokens, content="" if call else "Done."
        )
        if call is not None:
            said["toolCalls"] = [
                {"id": call[0], "name": call[1], "args": call[2], "status": "executing"}
            ]
        self.open = said
        self.append(said)

    def write_result(self, id: str, text: str, *, failed: bool) -> None:
        response = {"error": text} if failed else {"output": text}
        result = [
            {
                "functionResponse": {
                    "id": id,
                    "name": self.open["toolCalls"][0]["name"],
                    "response": response,
                }
            }
        ]
        self.open["toolCalls"][0] |= {
            "status": "error" if failed else "success",
            "result": result,
            "timestamp": self.now(),
        }
        self.append(self.open)  # the same message again, as the client does

    def choose(self) -> tuple[str, dict[str, Any]]:
        name, given = super().choose()
        return {"Bash": "run_shell_command", "Edit": "replace", "Read": "read_file"}[name], given

    def answered(self, call: dict[str, Any], output: str, *, failed: bool) -> Call:
        response: dict[str, Any] = {"llmContent": output, "returnDisplay": output[:80]}
        if failed:
            response["error"] = {"message": output}
        return self.said(self.after, **call, tool_response=response)

    def extras(self) -> Steps:
        yield self.said("PreCompress", trigger="auto")
        yield self.model_call(self.rng.randint(10, 900) * 1000)

    def model_call(self, tokens: int) -> Call:
        """Return the report of a request."""
        usage = {
            "promptTokenCount": tokens,
            "candidatesTokenCount": 40,
            "totalTokenCount": tokens + 40,
        }
        return self.said(
            "AfterModel", llm_request={"model": self.model}, llm_response={"usageMetadata": usage}
        )

    def compact(self) -> Steps:
        yield self.said("PreCompress", trigger="auto")
        yield self.model_call(900_000)
        snapshot = self.message(
            "user", content=[{"text": "<state_snapshot>The parser was fixed.</state_snapshot>"}]
        )
        self.append({"$set": {"messages": [snapshot], "lastUpdated": self.now()}})
        yield self.said("PreCompress", trigger="auto")
        yield self.model_call(60_000)
        self.compactions += 1


CLIENTS = (Claude, Codex, Gemini)


def _is_refused(answer: str) -> bool:
    """Whether brim doesn't let a prompt or a call through."""
    if not answer.startswith("{"):
        return False
    said = json.loads(answer)
    refusal = said.get("decision") or said.get("hookSpecificOutput", {}).get(
        "permissionDecision", ""
    )
    return refusal in ("block", "deny") or said.get("continue") is False
