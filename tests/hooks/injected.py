"""A home, a project and rules to be told: real files in a temporary folder."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from brim.agents import agent_named, kind_of_tool
from brim.agents.call import Answer, HookCall, ToolCall, normalized
from brim.behaviors import Rule
from brim.hooks import handlers as events
from brim.hooks.state import HookWorkspace
from brim.rules.session import Session
from brim.store import open_store
from brim.store.trust import trust
from tests.store.making import make_store

NOW = 1_800_000_000.0
FRAME = "Rules your user set, kept by brim:\n"
"""What stands above the rules."""
SESSION = "8eeb040d-b0c0-4396-a084-8ec7e7627d5b"


def rule(id: str, text: str = "", kind: str = "directive", **fields: Any) -> Rule:
    """Return a behavior that says which one it is."""
    return Rule(
        id=id, name=f"rule-{id}", kind=kind, canonical=text or f"Rule {id} holds.", **fields
    )


def tool_call(name: str, given: dict[str, Any]) -> ToolCall:
    """Return a call of the tool *name* of any agent."""
    kind = kind_of_tool(name)
    words: tuple[str, ...] = ()
    if isinstance(given.get("command"), list):
        words = tuple([word for word in given["command"] if isinstance(word, str)])
    return ToolCall(name=name, kind=kind, input=normalized(kind, given), words=words)


class Agent:
    """An agent at work in a project, whose hooks are called in this process."""

    def __init__(self, folder: Path, *, agent: str = "claude", **environ: str) -> None:
        self.home, self.project, self.agent = folder / "home", folder / "project", agent
        for each in (self.home / ".brim", self.project / ".git"):
            each.mkdir(parents=True, exist_ok=True)
        (self.home / ".brim").chmod(0o700)
        self.environ = {"HOME": str(self.home), **environ}
        self.now = NOW
        self.model = "gpt-5"
        """Of this one tokens are counted exactly."""

    def learn(self, *rules: Rule, scope: str = "user") -> None:
        """Store *rules*."""
        folder = self.home / ".brim" if scope == "user" else self.project / ".brim"
        folder.mkdir(exist_ok=True, mode=0o700)
        make_store(folder / "brim.db")
        with open_store(str(folder / "brim.db")) as store:
            store.put_many(
                [replace(each, scope=scope) for each in rules], event="learned", now=NOW - 100_000
            )

    def trust(self) -> None:
        """Say that the project may steer the agent."""
        trust(str(self.project), str(self.home / ".brim"), now=NOW)

    def configure(self, text: str, scope: str = "user") -> None:
        """Write the settings of *scope*."""
        folder = self.home / ".brim" if scope == "user" else self.project / ".brim"
        folder.mkdir(exist_ok=True, mode=0o700)
        (folder / "config.yaml").write_text(text, encoding="utf-8")

    def place(self) -> HookWorkspace:
        return HookWorkspace(self.environ, str(self.project), now=self.now)

    def call(self, event: str, **fields: Any) -> HookCall:
        """Return a call of a hook, of this session unless *fields* say otherwise."""
        given = {"session": SESSION, "cwd": str(self.project), "model": self.model, **fields}
        return HookCall(agent=agent_named(self.agent), event=event, **given)

    def start(self, source: str = "startup", **fields: Any) -> Answer:
        with self.place() as place:
            return events.session_start(self.call("session_start", source=source, **fields), place)

    def prompt(self, text: str = "go on", *, human: bool = True, **fields: Any) -> Answer:
        with self.place() as place:
            return events.prompt(self.call("prompt", prompt=text, human=human, **fields), place)

    def tool(self, tool: str, **given: Any) -> Answer:
        return self.tool_of("", tool, **given)

    def tool_of(self, sub_agent: str, tool: str, **given: Any) -> Answer:
        call = self.call("before_tool", tool=tool_call(tool, given), sub_agent=sub_agent)
        with self.place() as place:
            return events.before_tool(call, place)

    def edit(self, file: str = "src/app.py") -> Answer:
        return self.tool("Edit", file_path=str(self.project / file), old_string="a", new_string="b")

    def lose(self, text: str) -> None:
        """Let the last summary have lost *text*."""
        with self.place() as place:
            place.state(SESSION).lost = text

    def session(self, sub_agent: str = "") -> Session:
        """Return what is known of the session."""
        with self.place() as place:
            return place.scopes.session_seen(SESSION, sub_agent)

    def log(self) -> str:
        path = self.home / ".brim" / "log" / "hook.log"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def written(self) -> Iterable[str]:
        return sorted(os.listdir(self.project))
