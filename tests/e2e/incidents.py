"""Records incidents for ``bench/incidents.py``: ``python -m tests.e2e.incidents [NAME...]``.

A real agent, with a scripted model, does what people reported: it runs one command again and again,
its sub-agents run away, it uses up a plan's window. In place of brim's hooks stands a program that
writes down what each was given, and how long every transcript was at that moment, so that a replay
can show a hook what it would have seen.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.e2e.agents import AGENTS, Agent
from tests.e2e.api import ModelApi
from tests.e2e.programs import ROOT, program
from tests.e2e.script import Asked, Call, Say, Sent, Step
from tests.e2e.world import Terminal, World

FOLDER = ROOT / "bench" / "incidents"
MOST = 120
"""Characters of a text that are kept."""
LEFT_OUT = frozenset(
    (
        "attachment",
        "api-request",
        "api-request-blob",
        "api-request-shape",
        "last-prompt",
        "atis-latch",
        "tools-used",
    )
)
"""Lines of Claude Code's transcripts that say nothing about money."""
DETAILS = frozenset(
    (
        *(
            "parentUuid",
            "requestRef",
            "toolUseResult",
            "perTurnEffort",
            "promptCacheRequested",
            "requestedModel",
        ),
        *(
            "toolInputStreamMs",
            "userType",
            "apiBlockIndex",
            "entrypoint",
            "madeBy",
            "gitBranch",
            "stop_details",
        ),
        *(
            "output_tokens_details",
            "server_tool_use",
            "fallback_credit",
            "inference_geo",
            "permission_mode",
            "effort",
        ),
        *("base_instructions", "prompt_cache", "workspace"),
    )
)
"""Fields that are left out."""
BEGINS = 60.0
"""Percent of a plan's window that are used when it begins."""
WITNESS = """
import fcntl, json, os, sys, time
given = json.load(sys.stdin)
path = given.get("transcript_path") or ""
folder = os.path.dirname(path)
sizes = {}
for each, _, names in os.walk(folder) if path else ():
    for name in names:
        if name.endswith(".jsonl"):
            whole = os.path.join(each, name)
            sizes[os.path.relpath(whole, folder)] = os.path.getsize(whole)
seen = {"hook": sys.argv[2:], "input": given, "folder": folder, "sizes": sizes, "at": time.time()}
with open(sys.argv[1], "a") as file:
    fcntl.flock(file, fcntl.LOCK_EX)
    file.write(json.dumps(seen) + "\\n")
"""


@dataclass(frozen=True)
class Incident:
    """One incident: what the model does, and what each of its answers takes."""

    name: str
    source: str
    """The report that it follows."""
    client: str
    model: str
    commands: tuple[str, ...]
    """What it runs, in turn; ``{at}`` is the number of the call."""
    calls: int
    fresh: int
    """Tokens of each prompt that are new."""
    cached: int
    """Tokens of each prompt that the provider's cache has."""
    written: int
    """Tokens of each answer."""
    agents: int = 0
    """How many sub-agents work at once; 0 is the main thread alone."""
    percent: float = 0.0
    """How much of the plan's window an answer takes."""


INCIDENTS = (
    Incident("loop-claude", "anthropics/claude-code#15909", "claude", "claude-sonnet-4-5",
             ("sh run.sh npm install -D @vitest/coverage-v8",), 40, 1_500, 88_000, 500),
    Incident("loop-codex", "makecindy/cindy#2721", "codex", "gpt-5.5",
             ("sh run.sh grep getShellCommandPolicy apps", "sh run.sh grep ShellCommandPolicy apps"),
             40, 2_000, 60_000, 300),
    Incident("loop-gemini", "anthropics/claude-code#35166", "gemini", "gemini-2.5-pro",
             ("sh run.sh python3 wiki.py --page {at}",), 40, 20_000, 64_000, 600),
    Incident("sub-agents", "anthropics/claude-code#95816", "claude", "claude-opus-4-5",
             ("sh run.sh python3 evaluate.py --case {at}",), 10, 6_000, 12_000, 2_000, agents=8),
    Incident("plan-claude", "anthropics/claude-code#90011", "claude", "claude-opus-4-5",
             ("sh run.sh pytest tests/test_{at}.py",), 32, 2_000, 90_000, 500, percent=1.3),
    Incident("plan-codex", "anthropics/claude-code#90011", "codex", "gpt-5.5",
             ("sh run.sh pytest tests/test_{at}.py",), 32, 2_000, 60_000, 500, percent=1.3),
)  # fmt: skip


@dataclass
class BilledApi(ModelApi):
    """A model API whose answers take what the incident says."""

    incident: Incident
    used: float = field(default=BEGINS, init=False)

    def __post_init__(self) -> None:
        super().__init__()

    def _cache(self, total: int) -> int:
        return min(self.incident.cached, total)

    def answer(self, path: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> Sent:
        """Answer, and say how much of the plan's window is used."""
        sent = super().answer(path, headers, body)
        if not self.incident.percent or self.asked[-1].kind != "turn":
            return sent
        self.used += self.incident.percent
        resets = int(time.time()) + 7_200
        codex = {"used-percent": self.used, "window-minutes": 300, "reset-at": resets}
        claude = {
            "status": "allowed",
            "5h-status": "allowed",
            "5h-utilization": self.used / 100,
            "5h-reset": resets,
        }
        claude |= {
            "7d-status": "allowed",
            "7d-utilization": 0.2,
            "7d-reset": resets,
            "reset": resets,
        }
        said = {f"x-codex-primary-{name}": str(value) for name, value in codex.items()}
        said |= {
            f"anthropic-ratelimit-unified-{name}": str(value) for name, value in claude.items()
        }
        return sent._replace(headers={**sent.headers, **said})


def record(incident: Incident, root: Path) -> list[dict[str, Any]]:
    """Let the client run into *incident*; return what happened, in order."""
    with BilledApi(incident) as api:
        world = World(root, api)
        found = program(incident.client)
        assert found is not None, f"{incident.client} isn't installed: make e2e installs it"
        agent = AGENTS[incident.client](found, world)
        agent.model = incident.model
        if configure := getattr(agent, "configure", None):
            configure()
        world.write("run.sh", "echo 'Error: connect ECONNREFUSED'\nexit 1\n")
        agent.install()
        log = root / "log.jsonl"
        for name in ("hook", "statusline"):
            launcher = world.home / ".brim" / "bin" / name
            if launcher.exists():
                words = (sys.executable, "-I", "-c", WITNESS, str(log), name)
                launcher.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
        api.will(*[model_of(agent, incident)] * 10_000)
        run(agent, incident, log)
        return events_of(
            log, {str(world.project): "/home/user/shop", str(world.home): "/home/user"}
        )


def model_of(agent: Agent, incident: Incident) -> Callable[[Asked], Step]:
    """Return what the model says: in the main thread it runs commands, or starts sub-agents that
    do."""
    taken: dict[str, int] = {}
    said: Any = {"tokens": incident.fresh + incident.cached, "output_tokens": incident.written}

    def step(asked: Asked) -> Step:
        marks = re.findall(
            r"Case set (\d+)\.", " ".join(part.text for part in asked.parts if part.role == "user")
        )
        thread = "" if asked.holding("Go on until it works.") or not marks else marks[0]
        at = taken[thread] = taken.get(thread, 0) + 1
        if incident.agents and not thread:
            if at > incident.agents:
                return Say("They work.", **said)
            prompt = f"Case set {at}. Evaluate it."
            return Call(
                "Agent",
                {"description": "evaluate", "prompt": prompt, "subagent_type": "general-purpose"},
                **said,
            )
        if at > incident.calls:
            return Say("It doesn't work.", **said)
        command = incident.commands[at % len(incident.commands)].format(at=at)
        return agent.shell(command, **said)

    return step


def run(agent: Agent, incident: Incident, log: Path) -> None:
    """Give the client its prompt, and wait until it has done everything."""
    prompt = "Go on until it works."
    if incident.name != "plan-claude":
        options = ("--allowedTools", "Bash", "Agent") if incident.agents else ()
        ran = agent.ask(prompt, *options)
        assert ran.code == 0, ran.told
        return
    folder = agent.world.home / ".claude"
    asked = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "projects": {str(agent.world.project): {"hasTrustDialogAccepted": True}},
        "oauthAccount": {
            "accountUuid": "00000000-0000-0000-0000-000000000000",
            "emailAddress": "user@example.com",
        },
    }
    (folder / ".claude.json").write_text(json.dumps(asked))
    scopes = ["user:inference", "user:profile"]
    token = {
        "accessToken": "dummy",
        "refreshToken": "dummy",
        "expiresAt": 4_102_444_800_000,
        "scopes": scopes,
    }
    (folder / ".credentials.json").write_text(
        json.dumps({"claudeAiOauth": {**token, "subscriptionType": "max"}})
    )
    environ = {**agent.world.environ, **agent.environ()}
    del environ["ANTHROPIC_API_KEY"]
    command = [agent.program, "--model", agent.model, "--allowedTools", "Bash"]
    with Terminal(command, agent.world.project, environ) as terminal:
        terminal.wait(log.exists)
        terminal.enter(prompt)
        terminal.wait(lambda: '"Stop"' in log.read_text(), patience=240)


def events_of(log: Path, names: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the lines of the transcripts and what hooks were given, in order; long texts are
    cut."""
    seen = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    found: list[dict[str, Any]] = []
    known: dict[Path, int] = {}
    for each in seen:
        found += _lines(Path(each["folder"]), each["sizes"], known)
        found.append({"hook": each["hook"], "given": each["input"], "at": round(each["at"], 3)})
    last = seen[-1]
    whole = {str(path): path.stat().st_size for path in Path(last["folder"]).rglob("*.jsonl")}
    found += _lines(Path(last["folder"]), whole, known)
    text = json.dumps(found)
    for path, name in names.items():
        text = text.replace(path, name).replace(
            re.sub(r"[^A-Za-z0-9]", "-", path), re.sub(r"[^A-Za-z0-9]", "-", name)
        )
    return [_cut(each) for each in json.loads(text)]


def _lines(
    folder: Path, sizes: Mapping[str, int], known: dict[Path, int]
) -> Iterator[dict[str, Any]]:
    """Yield the lines that transcripts have grown by."""
    for name, size in sizes.items():
        path = folder / name
        content = path.read_bytes()[known.get(path, 0) : size]
        known[path] = known.get(path, 0) + len(content)
        lines = map(json.loads, content.splitlines())
        yield from (
            {"file": str(path), "line": line} for line in lines if line.get("type") not in LEFT_OUT
        )


def _cut(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= MOST or value.endswith(".jsonl") else value[:MOST] + "..."
    if isinstance(value, dict):
        return {key: _cut(each) for key, each in value.items() if key not in DETAILS}
    return [_cut(each) for each in value] if isinstance(value, list) else value


def main() -> int:
    """Record, and write the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="only these incidents")
    options = parser.parse_args()
    for incident in INCIDENTS:
        if options.names and incident.name not in options.names:
            continue
        with tempfile.TemporaryDirectory(prefix="brim-incident-") as folder:
            events = record(incident, Path(folder))
        about = {**vars(incident), "begins": BEGINS if incident.percent else 0.0}
        lines = [json.dumps(each, separators=(",", ":")) for each in (about, *events)]
        FOLDER.mkdir(exist_ok=True)
        (FOLDER / f"{incident.name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"{incident.name}: {len(events)} events")
    return 0


if __name__ == "__main__":
    sys.exit(main())
