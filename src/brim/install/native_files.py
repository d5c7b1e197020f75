"""Which agents read a rule by themselves? A CLAUDE.md is told by Claude Code, and not by Codex."""

from __future__ import annotations

import os

from brim.agents import agent_named, loaded_rule_files
from brim.agents.agent import Agent
from brim.install.agents import agent_names, has_plugin
from brim.install.changes import read_records
from brim.rules.rulebook import RuleEntry
from brim.workspace import Workspace

TOLD_BY_AGENT = "told by your agent"


class NativeReaders:
    """The agents of a person, and which of them load a native file in this project."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._agents = [agent_named(name) for name in used_agents(workspace)]

    def words(self, entry: RuleEntry) -> str:
        """Return by which agents a rule is told; empty if by none."""
        loading = self._loading(entry)
        if not loading:
            return ""
        if len(self._agents) == 1:
            return TOLD_BY_AGENT
        *others, last = [agent.title for agent in loading]
        if not others:
            return f"told by {last}"
        return f"told by {', '.join(others)} and {last}"

    def all_load(self, entry: RuleEntry) -> bool:
        """Whether every agent loads the file of a rule, so that brim tells it to none."""
        return entry.native is not None and len(self._loading(entry)) == len(self._agents)

    def _loading(self, entry: RuleEntry) -> list[Agent]:
        return [agent for agent in self._agents if self._loads(agent, entry)]

    def _loads(self, agent: Agent, entry: RuleEntry) -> bool:
        source = entry.native
        if source is None or source.native is None:
            return False
        environ = self._workspace.environ
        if source.project is None:
            real = os.path.realpath(source.path)
            return real in [os.path.realpath(path) for path in loaded_rule_files(agent, environ)]
        loading = agent.file_loading(environ, source.project, self._workspace.cwd)
        return source.native.is_loaded_by(loading)


def used_agents(workspace: Workspace) -> list[str]:
    """Return the agents in which brim is; if it's in none, all."""
    recorded = {record.agent for record in read_records(workspace.home).values()}
    names = agent_names()
    installed = []
    for name in names:
        if name in recorded or has_plugin(name, workspace.environ):
            installed.append(name)
    return installed or names
