"""Plays the recorded session through the hooks that `brim init` installed, as Claude Code calls
them.

    python replay.py PROJECT

Every command comes from ~/.claude/settings.json and runs as its own process, while the transcript
grows line by line, dated now. Only the moments that a person would notice are printed. HOME must be
temporary: notes for sum_up.py are left there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from typing import Any

from brim import count
from brim.models import cost
from brim.sessions.session_files import slug_of

RECORDED = Path(__file__).parent / "recorded"
FOLDER = "/home/user/shop"
"""Where the session was recorded."""
SUB_AGENT = "a0000000000000001"
MODEL = "claude-sonnet-4-5"
WINDOW = 200_000
SHOWN_LINES = 2
"""Lines of a text that are printed; the rest is counted."""


class Session:
    """The recorded session in *project*, as it goes on."""

    def __init__(self, project: Path, home: Path) -> None:
        self.project = project
        self.settings = json.loads((home / ".claude" / "settings.json").read_text(encoding="utf-8"))
        lines = (RECORDED / "session.jsonl").read_text(encoding="utf-8")
        self.id = json.loads(lines.split("\n")[2])["sessionId"]
        self.transcript = home / ".claude" / "projects" / slug_of(str(project)) / f"{self.id}.jsonl"
        self.transcript.parent.mkdir(parents=True)
        self.calls: dict[str, Any] = {}
        self.prompts = 0
        self.printed: set[str] = set()
        self.usage: dict[str, Any] = {}
        self.spent = 0
        self.notes: dict[str, Any] = {
            "hooks": [],
            "bare": [],
            "told": [],
            "requests": [],
            "refused": [],
            "model": MODEL,
        }

    def play(self) -> None:
        """Play it from its start to its end."""
        self.hook("SessionStart", "The session starts.", source="startup")
        for line, entry in recorded(RECORDED / "session.jsonl"):
            self.step(line, entry)
        self.hook("SessionEnd", "", reason="other")

    def step(self, line: str, entry: dict[str, Any], agent: str = "") -> None:
        """Do what the client did around one line of its transcript."""
        content = entry.get("message", {}).get("content")
        blocks = content if isinstance(content, list) else []
        if entry.get("promptSource"):
            self.prompts += 1
            self.hook(
                "UserPromptSubmit",
                f'You: "{content}"',
                prompt=content,
                prompt_id=f"p{self.prompts}",
            )
        elif entry.get("subtype") == "compact_boundary":
            self.hook("PreCompact", "You: /compact", trigger="manual", custom_instructions="")
        for block in blocks:
            if block["type"] == "tool_result":
                self.result(block, entry.get("toolUseResult"), agent)
        self.write(line, entry, agent)
        if entry.get("isCompactSummary"):
            self.notes["requests"].append({"window": "next"})
            self.hook("SessionStart", "The session goes on after its compaction.", source="compact")
            self.hook("PostCompact", "", trigger="manual", compact_summary=content)
        if entry["type"] == "assistant":
            self.request(entry, agent)
            for block in blocks:
                if block["type"] == "tool_use":
                    self.call(block, agent)
            if (
                entry["message"].get("stop_reason") == "end_turn"
                and blocks[-1]["type"] == "text"
                and not agent
            ):
                self.hook("Stop", "The turn ends.", stop_hook_active=False)
                print(f"  status line: {self.status_line()}")

    def call(self, block: dict[str, Any], agent: str) -> None:
        """The model calls a tool; if it is refused, a person raises the limit, and it is called
        again."""
        self.calls[block["id"]] = block
        said = {
            "tool_name": block["name"],
            "tool_input": block["input"],
            "tool_use_id": block["id"],
        }
        if agent:
            said["agent_id"] = agent
        title = "" if agent else f"The agent calls {named(block)}"
        answer = self.hook("PreToolUse", title, prompt_id=f"p{self.prompts}", **said)
        if answer.get("permissionDecision") == "deny":
            self.notes["refused"].append({"spent": self.spent})
            run("brim", "limit", "raise", "2", cwd=self.project)
            self.hook("PreToolUse", "", prompt_id=f"p{self.prompts}", **said)

    def result(self, block: dict[str, Any], given: Any, agent: str) -> None:
        """A tool has answered; a sub-agent has done its own work before."""
        call = self.calls[block["tool_use_id"]]
        if call["name"] == "Agent":
            for line, entry in recorded(
                RECORDED / "session" / "subagents" / f"agent-{SUB_AGENT}.jsonl"
            ):
                self.step(line, entry, SUB_AGENT)
            path = str(self.path_of(SUB_AGENT))
            self.hook("SubagentStop", "", agent_id=SUB_AGENT, agent_transcript_path=path)
        said = {"tool_name": call["name"], "tool_input": call["input"], "tool_use_id": call["id"]}
        if agent:
            said["agent_id"] = agent
        text = (
            block["content"] if isinstance(block["content"], str) else block["content"][0]["text"]
        )
        if block.get("is_error"):
            self.hook("PostToolUseFailure", "", error=text, **said)
        else:
            self.hook("PostToolUse", "", tool_response=given or {"stdout": text}, **said)

    def request(self, entry: dict[str, Any], agent: str) -> None:
        """Count a request once, however many lines it has."""
        if any(known.get("id") == entry["requestId"] for known in self.notes["requests"]):
            return
        usage = entry["message"]["usage"]
        self.spent += cost(usage, model=MODEL) or 0
        self.notes["requests"].append(
            {"id": entry["requestId"], "agent": agent, "spent": self.spent}
        )
        if not agent:
            self.usage = usage
            self.status_line()

    def hook(self, event: str, title: str, **said: Any) -> dict[str, Any]:
        """Run what the settings name for *event*; show what it answers, and return what is for the
        agent."""
        given = {
            "session_id": self.id,
            "transcript_path": str(self.transcript),
            "cwd": str(self.project),
        }
        given |= {"permission_mode": "acceptEdits", "hook_event_name": event, **said}
        answer = ""
        for group in self.settings["hooks"].get(event, []):
            for hook in group["hooks"]:
                begun = cpu()
                answer += self.process(hook["command"], given)
                done = cpu()
                self.notes["hooks"].append(done - begun)
                if len(self.notes["hooks"]) % 5 == 0:
                    subprocess.run([sys.executable, "-I", "-c", "pass"], check=True)
                    self.notes["bare"].append(cpu() - done)
        if not answer:
            return {}
        if event == "PreCompact":
            print(f"\n  {title}")
            self.tell("summarizer", answer, shown=True)
            return {}
        read = json.loads(answer)
        specific: dict[str, Any] = read.get("hookSpecificOutput", {})
        context = specific.get("additionalContext", "")
        new = bool(context) and self.is_new(context)
        refused = specific.get("permissionDecision") == "deny"
        if title and (new or refused):
            print(f"\n  {title[:106]}{'…' if len(title) > 106 else ''}")
        if context:
            self.tell("agent", context, said.get("agent_id", ""), shown=bool(title) and new)
        if refused:
            show("brim refuses the call", specific["permissionDecisionReason"])
        if read.get("systemMessage"):
            show("brim tells you", read["systemMessage"])
        return specific

    def is_new(self, text: str) -> bool:
        """Whether *text* has a line that was never printed: the reader sees each rule once."""
        return any(
            line[:40] not in self.printed
            for line in text.splitlines()
            if line.lstrip().startswith("- ")
        )

    def tell(self, whom: str, text: str, agent: str = "", *, shown: bool) -> None:
        """Note how long a text for a model is and which request reads it first; show it if that's
        new."""
        tokens = int(count(text, model=MODEL))
        note = {"whom": whom, "agent": agent, "tokens": tokens, "at": len(self.notes["requests"])}
        self.notes["told"].append({**note, "text": text})
        if shown:
            self.printed.update(line[:40] for line in text.splitlines())
            show(f"brim tells the {whom} ({tokens} tokens)", text)

    def status_line(self) -> str:
        """Return what the installed status line prints for the last usage."""
        given = {
            "session_id": self.id,
            "cwd": str(self.project),
            "model": {"id": MODEL, "display_name": "Sonnet 4.5"},
            "cost": {"total_cost_usd": int(self.spent) / 1_000_000},
            "context_window": {"context_window_size": WINDOW, "current_usage": self.usage},
        }
        return self.process(self.settings["statusLine"]["command"], given).rstrip("\n")

    def process(self, command: str, given: dict[str, Any]) -> str:
        """Run *command* as the client does, and return what it prints."""
        environ = {**os.environ, "CLAUDE_PROJECT_DIR": str(self.project), "COLUMNS": "110"}
        if not sys.stdout.isatty():
            environ["NO_COLOR"] = "1"
        shell = ["/bin/sh", "-c", command]
        ran = subprocess.run(  # noqa: S603 - it is what init wrote
            shell,
            input=json.dumps(given),
            env=environ,
            cwd=self.project,
            capture_output=True,
            text=True,
            check=False,
        )
        if ran.returncode or ran.stderr:
            raise SystemExit(f"{command}: ended with {ran.returncode}: {ran.stderr}")
        return ran.stdout

    def write(self, line: str, entry: dict[str, Any], agent: str) -> None:
        """Add a line to the transcript, dated now."""
        path = self.path_of(agent)
        path.parent.mkdir(parents=True, exist_ok=True)
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        here = line.replace(entry.get("timestamp", "\0"), now).replace(FOLDER, str(self.project))
        with path.open("a", encoding="utf-8") as file:
            file.write(here + "\n")

    def path_of(self, agent: str) -> Path:
        """Return the transcript of *agent*; empty is the main thread."""
        return (
            self.transcript.with_suffix("") / "subagents" / f"agent-{agent}.jsonl"
            if agent
            else self.transcript
        )


def recorded(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the lines of a transcript, as text and as data."""
    for line in path.read_text(encoding="utf-8").replace(f"{FOLDER}/", "").splitlines():
        yield line, json.loads(line)


def cpu() -> float:
    """Return the milliseconds of processor time that programs started here have taken: a busy
    machine adds none."""
    used = getrusage(RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1000


def named(call: dict[str, Any]) -> str:
    """Return a call of a tool in a few words."""
    given = call["input"]
    return f"{call['name']}: {given.get('command') or given.get('file_path') or given.get('description')}"


def show(what: str, text: str) -> None:
    """Print the beginning of a text below what it is; headings say nothing new."""
    print(f"    {what}:")
    lines = [
        line for line in text.rstrip("\n").split("\n") if not line.startswith(("## ", "Rules "))
    ]
    for line in lines[:SHOWN_LINES]:
        print(shorten(line, 104) if len(line) > 104 else f"      {line}")
    if len(lines) > SHOWN_LINES:
        more = len(lines) - SHOWN_LINES
        print(f"      … and {more} more line{'s' * (more > 1)}")


def shorten(line: str, width: int) -> str:
    """Return *line* cut at a word, indented."""
    return f"      {line[: line.rfind(' ', 0, width)]} …"


def run(*command: str, cwd: Path) -> None:
    """Type a command, as a person would."""
    print(f"  $ {' '.join(command)}")
    answer = subprocess.check_output(command, cwd=cwd, text=True)  # noqa: S603
    for line in answer.rstrip("\n").split("\n"):
        print(f"  {line}")


if __name__ == "__main__":
    home = Path(os.environ["HOME"])
    session = Session(Path(sys.argv[1]), home)
    session.play()
    (home / "played.json").write_text(json.dumps(session.notes), encoding="utf-8")
