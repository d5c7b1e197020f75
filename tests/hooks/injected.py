"""A home, a project and rules to be told: real files in a temporary folder."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brim.agents import agent_named, kind_of_tool
from brim.agents.call import Answer, HookCall, ToolCall, normalized
from brim.config.trust import trust
from brim.errors import StoreError
from brim.hooks import handlers as events
from brim.hooks.state import HookWorkspace
from brim.rules.accepted import AcceptedRules
from brim.rules.compiled import rebuild_index
from brim.rules.file import RulesFile
from brim.rules.session import Session
from brim.rules.source import sources_for
from brim.rules.state import RulesState

NOW = 1_800_000_000.0
FRAME = "Rules your user set, kept by brim:\n"
"""What stands above the rules."""
SESSION = "8eeb040d-b0c0-4396-a084-8ec7e7627d5b"


@dataclass(frozen=True)
class Learned:
    """A rule as a person writes it."""

    name: str
    fields: dict[str, Any]

    @property
    def text(self) -> str:
        """What it says."""
        return str(self.fields["text"])

    def but(self, **fields: Any) -> Learned:
        """Return it with other fields."""
        return Learned(self.name, {**self.fields, **fields})


def rule(name: str, text: str = "", **fields: Any) -> Learned:
    """Return a rule that says which one it is."""
    return Learned(name, {"text": text or f"Rule {name} holds.", **fields})


def told(*rules: Learned) -> str:
    """Return the text that tells *rules* in this order."""
    return FRAME + "".join([f"- {each.text}\n" for each in rules])


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
        self.begins = True
        """Whether brim heard of a session's start before its first prompt."""

    def rules_file(self, scope: str = "user") -> Path:
        """Return the file of rules of *scope*."""
        folder = self.home / ".brim" if scope == "user" else self.project / ".brim"
        folder.mkdir(exist_ok=True, mode=0o700)
        return folder / "rules.toml"

    def learn(self, *rules: Learned, scope: str = "user") -> None:
        """Write *rules*, in place of those with the same names."""
        file = RulesFile(str(self.rules_file(scope)))
        for each in rules:
            if each.name in file.read().split.names:
                file.remove(each.name)
            file.add(each.name, each.fields)

    def compile(self) -> None:
        """Compile the rules, as a command does: a hook has no time for many."""
        home = str(self.home / ".brim")
        rebuild_index(home, sources_for(home, str(self.project)))

    def trust(self) -> None:
        """Say that the project may steer the agent, with the rules that it has now."""
        home = str(self.home / ".brim")
        path = self.rules_file("project")
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        AcceptedRules(home, str(self.project)).accept(text)
        trust(str(self.project), home)

    @property
    def state(self) -> RulesState:
        """What sessions were told, and what the person has allowed."""
        return RulesState(str(self.home / ".brim"), now=self.now)

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
        if self.begins:
            self.begin(fields.get("session", SESSION))
        with self.place() as place:
            return events.prompt(self.call("prompt", prompt=text, human=human, **fields), place)

    def begin(self, session: str = SESSION) -> None:
        """Let *session* have begun, and have been told nothing."""
        if session and not self.state.has_session(session):
            with suppress(StoreError), self.state.charging(session):
                pass

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
        return self.state.session(SESSION, sub_agent)

    def log(self) -> str:
        path = self.home / ".brim" / "log" / "hook.log"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def written(self) -> Iterable[str]:
        return sorted(os.listdir(self.project))
