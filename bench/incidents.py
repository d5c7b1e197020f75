"""Incidents that people reported, replayed through the installed hooks: ``python bench/incidents.py``.

Each is a session as its client writes it, with the numbers of a public report. Before and after every call the launcher
is run, as the client would. It's the worst case: an answer is in the transcript only after the hook before its call has
run, and all threads ask at once. What counts is how far beyond the limit the sum was when the last thread was held;
exits with 1 if that is more than the calls in flight and one answer. Then each thread asks again, to see when the hook
ends its turn.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from brim.install.agents import launcher_path, status_path
from brim.install.launchers import install_launchers
from brim.models.usage import Tokens
from brim.spend.money import PriceList
from brim.spend.periods import in_unit, read_ceiling
from brim.store import open_ledger, open_store
from brim.store.project import place_of
from report import Target, arguments, finish, table, this_machine

Line = dict[str, Any]

MOST_REFUSALS = 10
"""After so many refused calls a turn isn't ended."""


@dataclass(frozen=True)
class Incident:
    """One incident: who runs away, what each answer takes, and the limit that should hold it."""

    name: str
    source: str
    """The report that it follows."""
    agent: str
    limit: str
    model: str
    takes: Tokens
    """The tokens of one answer."""
    answers: int
    """How many there were in all, with nothing to stop them."""
    threads: int = 1
    """How many sub-agents work at once; 1 is the main thread alone."""
    subagent: bool = False
    """Whether the limit is for each sub-agent."""
    command: str = "npm install -D @vitest/coverage-v8"
    percent: float = 0.0
    """How much of the plan's window one answer takes."""


INCIDENTS = (
    Incident("one command, 300 times", "anthropics/claude-code#15909", "claude", "2/day", "claude-sonnet-4-5",
             Tokens(input=4, output=500, cache_read=88_000, cache_write_5m=1_500), 300),
    Incident("two searches, 141 times", "makecindy/cindy#2721", "codex", "2/day", "gpt-5.5",
             Tokens(input=2_000, output=300, cache_read=60_000), 141, command="grep -rn getShellCommandPolicy apps"),
    Incident("one request for hours", "anthropics/claude-code#35166", "gemini", "2/day", "gemini-2.5-pro",
             Tokens(input=20_000, output=600, cache_read=64_000), 300, command="python3 wiki.py"),
    Incident("180 sub-agents, 10 at once", "anthropics/claude-code#95816", "claude", "20/day", "claude-opus-4-5",
             Tokens(input=10, output=2_000, cache_read=12_000, cache_write_5m=6_000), 1_800, threads=10),
    Incident("a sub-agent of these", "anthropics/claude-code#95816", "claude", "50k tokens", "claude-opus-4-5",
             Tokens(input=10, output=2_000, cache_read=12_000, cache_write_5m=6_000), 1_800, threads=10, subagent=True),
    Incident("a plan used up in 3 prompts", "anthropics/claude-code#90011", "claude", "90%/5h", "claude-opus-4-5",
             Tokens(input=10, output=500, cache_read=90_000), 70, percent=1.3),
    Incident("the same in Codex", "anthropics/claude-code#90011", "codex", "90%/5h", "gpt-5.5",
             Tokens(input=2_000, output=500, cache_read=60_000), 70, percent=1.3),
)  # fmt: skip


class Replay:
    """A home with brim's hooks, a project, and one session in it."""

    def __init__(self, incident: Incident, folder: Path) -> None:
        self.incident = incident
        self.home, self.project = folder / ".brim", folder / "shop"
        self.home.mkdir(mode=0o700)
        (self.project / ".git").mkdir(parents=True)
        open_store(str(self.home / "brim.db")).close()
        (self.home / "config.yaml").write_text("hooks:\n  loops: off\n", encoding="utf-8")  # limits alone
        install_launchers(str(self.home))
        self.launcher, self.status_line = launcher_path(str(self.home)), status_path(str(self.home))
        self.session = "8eeb040d-b0c0-4396-a084-8ec7e7627d5b"
        day = folder / ".codex" / "sessions" / "2026" / "11" / "16"
        day.mkdir(parents=True)
        self.transcript = day / f"rollout-{self.session}.jsonl"
        self.environ = {"HOME": str(folder), "PATH": os.environ["PATH"], "CLAUDE_PROJECT_DIR": str(self.project)}
        with self.ledger() as ledger:
            scope = ledger.project(place_of(str(self.project)))
            ledger.allow(scope, read_ceiling(incident.limit, subagent=incident.subagent))
        self.made = 0
        self.used = 20.0
        """Percent of the plan's window."""
        self.taken: dict[str, int] = {}
        """Answers of each thread."""
        self.held_at = 0
        """The first call that was held."""
        self.came_to: dict[str, int] = {}
        """Answers of each thread when it was held."""
        self.used_then = 0.0
        self.refused: dict[str, int] = {}
        """Calls of each thread that were refused until its turn was ended."""
        for line in self._first():
            self._write(line)

    def ledger(self) -> Any:
        """Open the ledger."""
        return open_ledger(str(self.home / "brim.db"))

    def run(self) -> None:
        """Let every thread work until its turn is ended, or everything is done."""
        left = self.incident.answers
        going = [f"a{number}" for number in range(self.incident.threads)] if self.incident.threads > 1 else [""]
        while going and left > 0:
            calls = [(thread, self._answers(thread)) for thread in going]  # all of them ask at once
            left -= len(calls)
            for thread, lines in calls:
                before = self._hook("before", thread)
                for line in lines:
                    self._write(line, thread)
                if _is_held(before):
                    self._hold(thread)
                    if before.get("continue") is False or self.refused[thread] > MOST_REFUSALS:
                        going.remove(thread)
                else:
                    self._hook("after", thread)
                if self.incident.percent and self.incident.agent == "claude":
                    self._draw_status_line()

    def _hold(self, thread: str) -> None:
        self.held_at = self.held_at or self.made
        if thread not in self.came_to:
            self.came_to[thread], self.used_then = self.taken[thread], self.used
        self.refused[thread] = self.refused.get(thread, 0) + 1

    # What the client does and writes ----------------------------------------------------------------------------

    def _answers(self, thread: str) -> list[Line]:
        """Return the lines of one more answer of *thread*."""
        self.made += 1
        self.taken[thread] = self.taken.get(thread, 0) + 1
        self.used += self.incident.percent
        incident, tokens = self.incident, self.incident.takes
        if incident.agent == "claude":
            usage = {
                "input_tokens": tokens.input,
                "output_tokens": tokens.output,
                "cache_read_input_tokens": tokens.cache_read,
                "cache_creation_input_tokens": tokens.cache_write_5m,
            }
            message = {"id": f"m{self.made}", "role": "assistant", "model": incident.model, "usage": usage}
            side = {"isSidechain": bool(thread), "agentId": thread} if thread else {"isSidechain": False}
            return [{"type": "assistant", "requestId": f"r{self.made}", "message": {**message, "content": []}, **side}]
        if incident.agent == "codex":
            used = {"input_tokens": tokens.prompt, "cached_input_tokens": tokens.cache_read}
            used |= {"output_tokens": tokens.output, "total_tokens": tokens.prompt + tokens.output}
            sums = {key: amount * self.made for key, amount in used.items()}
            record = {"response_id": f"r{self.made}", "usage": used, "thread_token_usage": sums}
            window = {"used_percent": self.used, "window_minutes": 300, "resets_at": time.time() + 7200}
            limits = {"primary": window if incident.percent else None, "secondary": None}
            about = {"type": "token_count", "rate_limits": limits}
            return [{"type": "token_usage_record", "payload": record}, {"type": "event_msg", "payload": about}]
        counts = {
            "input": tokens.prompt,
            "output": tokens.output,
            "cached": tokens.cache_read,
            "thoughts": 0,
            "tool": 0,
        }
        total = {"total": tokens.prompt + tokens.output}
        line = {"type": "gemini", "id": f"g{self.made}", "content": "", "model": incident.model}
        return [{**line, "tokens": {**counts, **total}}]

    def _first(self) -> list[Line]:
        if self.incident.agent == "codex":
            about = {"id": self.session, "cwd": str(self.project)}
            context = {"model": self.incident.model, "cwd": str(self.project)}
            return [{"type": "session_meta", "payload": about}, {"type": "turn_context", "payload": context}]
        return [{"sessionId": self.session, "kind": "main"}] if self.incident.agent == "gemini" else []

    def _write(self, line: Line, thread: str = "") -> None:
        path = self.transcript
        if thread:
            path = path.with_suffix("") / "subagents" / f"agent-{thread}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
        now = time.time()
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now * 1000) % 1000:03}Z"
        about = {"sessionId": self.session, "timestamp": stamp, "ordinal": self.made}
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**about, **line}) + "\n")

    def _hook(self, when: str, thread: str) -> Line:
        names = {"before": ("PreToolUse", "BeforeTool"), "after": ("PostToolUse", "AfterTool")}[when]
        event = names[self.incident.agent == "gemini"]
        tool = "run_shell_command" if self.incident.agent == "gemini" else "Bash"
        sent: Line = {
            "session_id": self.session,
            "transcript_path": str(self.transcript),
            "cwd": str(self.project),
            "hook_event_name": event,
            "tool_name": tool,
            "tool_input": {"command": f"{self.incident.command} # {self.made}"},
            "tool_use_id": f"t{self.made}",
            "prompt_id": "p1",
            "turn_id": "t1",
        }
        sent |= {"agent_id": thread, "agent_type": "general-purpose"} if thread else {}
        if when == "after":
            sent["tool_response"] = "failed" if self.incident.agent == "codex" else {"stdout": "failed"}
        return self._launch([self.launcher, event, self.incident.agent], sent)

    def _draw_status_line(self) -> None:
        window = {"used_percentage": self.used, "resets_at": int(time.time()) + 7200}
        sent = {"session_id": self.session, "cwd": str(self.project), "rate_limits": {"five_hour": window}}
        self._launch([self.status_line], sent)

    def _launch(self, command: list[str], sent: Line) -> Line:
        ran = subprocess.run(
            command, input=json.dumps(sent).encode(), capture_output=True, env=self.environ, check=False, timeout=60
        )
        return dict(json.loads(ran.stdout)) if ran.stdout.startswith(b"{") else {}


def _is_held(answer: Line) -> bool:
    decided = answer.get("hookSpecificOutput", {}).get("permissionDecision")
    return decided == "deny" or answer.get("decision") in ("deny", "block") or answer.get("continue") is False


@dataclass(frozen=True)
class Outcome:
    """What one incident came to. Amounts are in the limit's unit."""

    name: str
    agent: str
    source: str
    limit: str
    unit: str
    amount: int
    unstopped: int
    """What it would have come to with nothing to stop it."""
    spent: int
    one: int
    """What one answer takes."""
    in_flight: int
    held_at: int
    refused: int
    """Calls that were refused until the turn was ended; more than ``MOST_REFUSALS`` if it wasn't."""

    @property
    def beyond(self) -> int:
        """How far beyond the limit the sum went."""
        return max(0, self.spent - self.amount)


def measure(incident: Incident) -> Outcome:
    """Replay *incident*."""
    with tempfile.TemporaryDirectory() as folder:
        replay = Replay(incident, Path(folder))
        replay.run()
    ceiling = read_ceiling(incident.limit, subagent=incident.subagent)
    price = PriceList().request(incident.takes, incident.model, time.time()) or 0
    one = {"usd": price, "tokens": incident.takes.fresh, "percent": 100}[ceiling.unit]
    answers = [replay.came_to.get(thread, taken) for thread, taken in replay.taken.items()]
    spent = one * (max(answers) if incident.subagent else sum(answers))
    unstopped = one * (incident.answers // (incident.threads if incident.subagent else 1))
    amount = ceiling.amount
    if ceiling.unit == "percent":  # in hundredths of a percent
        one, amount = round(100 * incident.percent), 100 * amount
        spent, unstopped = round(100 * replay.used_then), 2_000 + one * incident.answers
    flight = 1 if incident.subagent else incident.threads
    about = (incident.name, incident.agent, incident.source, str(ceiling), ceiling.unit)
    return Outcome(
        *about, amount, unstopped, spent, one, flight, replay.held_at, max(replay.refused.values(), default=0)
    )


def main() -> int:
    """Measure, print, and return the exit status."""
    options = arguments(__doc__, quick="only the first three").parse_args()
    print(this_machine())
    found = [measure(each) for each in INCIDENTS[: 3 if options.quick else None]]
    heads = ["", "report", "client", "limit", "without brim", "one answer", "in flight", "held at call", "came to",
             "beyond the limit", "refusals until the turn ends"]  # fmt: skip
    table("Incidents, replayed with a limit", heads, [_row(each) for each in found], [])
    targets = [
        Target(f"{each.name}: beyond the limit, in answers", each.beyond / each.one, at_most=each.in_flight + 1)
        for each in found
    ]
    return finish(options, {"incidents": [{**asdict(each), "beyond": each.beyond} for each in found]}, targets)


def _row(outcome: Outcome) -> list[str]:
    def said(amount: int) -> str:
        return f"{amount / 100:.1f}%" if outcome.unit == "percent" else in_unit(amount, outcome.unit)

    share = f" ({100 * outcome.beyond / outcome.amount:.1f}%)"
    sums = (said(outcome.unstopped), said(outcome.one), str(outcome.in_flight), str(outcome.held_at))
    beyond = said(outcome.beyond) + share if outcome.beyond else "nothing"
    ended = str(outcome.refused) if outcome.refused <= MOST_REFUSALS else "isn't ended"
    return [outcome.name, outcome.source, outcome.agent, outcome.limit, *sums, said(outcome.spent), beyond, ended]


if __name__ == "__main__":
    sys.exit(main())
