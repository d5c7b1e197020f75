"""What ``brim doctor`` looks at: what is installed where, whether it works, and what to do."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from brim._startup.writer import startup_problem
from brim.agents import agent_named, every_agent
from brim.agents.abilities import abilities_of
from brim.agents.settings import json_settings, settings_for
from brim.errors import BrimError
from brim.figures import counted
from brim.files import WINDOWS
from brim.hooks.attention import faults, set_aside
from brim.hooks.process import is_disabled, paused_until
from brim.hooks.state import log_path
from brim.install.agents import (
    INJECTION_ONLY,
    Target,
    has_plugin,
    is_present,
    launcher_path,
    model_of,
    off_switch,
    second_settings,
    served_agents,
    status_path,
)
from brim.install.changes import SettingsChange
from brim.install.doctor_rules import (
    check_blocks,
    check_project,
    check_rules,
    check_settings,
)
from brim.install.findings import FIX, OFF, OK, WRONG, Diagnosis, Finding, shown_limit
from brim.install.floop_traces import floop_traces
from brim.install.installation import Installation
from brim.install.launchers import check_lasting, install_launchers, interpreter_of
from brim.install.probe import RUNS, last_lines, probe, start_tokens
from brim.install.setup import EXPERIMENTAL
from brim.install.shell import words_of
from brim.install.versions import untested, versions_here

CountTools = Callable[[str | None], int | None]
"""Returns what the tools of the MCP server take for a model, None if it isn't installed."""


def no_tools(_model: str | None) -> int | None:
    """Return None: the MCP server isn't installed."""
    return None


def diagnose(
    environ: Mapping[str, str],
    folder: str | None,
    *,
    fix: bool = False,
    tool_tokens: CountTools = no_tools,
) -> Diagnosis:
    """Check everything; with *fix*, correct what doesn't need a decision, and check again."""
    installation = Installation(environ, folder)
    diagnosis = Diagnosis(list(_Doctor(installation, tool_tokens).look()))
    if fix and any(finding.fix == FIX for finding in diagnosis.findings):
        diagnosis.fixed, diagnosis.problems = _fix(installation)
        again = _Doctor(Installation(environ, folder), tool_tokens)
        diagnosis.findings = list(again.look())
    return diagnosis


class _Doctor:
    """The checks. Each yields what it finds."""

    def __init__(self, installation: Installation, tool_tokens: CountTools) -> None:
        self.installation = installation
        self._tool_tokens = tool_tokens

    def look(self) -> Iterator[Finding]:
        """Yield everything, the agents first."""
        for text in faults(self.installation.home):
            yield Finding(WRONG, "files", text, FIX)
        installed = []
        for target in self.installation.targets():
            for finding in self._agent(target):
                yield finding
                if finding.facts.get("hooks"):
                    installed.append(finding.facts)
        yield from _twice(installed)
        agents = [facts["agent"] for facts in installed]
        yield from self._works(list(dict.fromkeys(agents)))
        if agents:
            only_plugins = all(facts.get("plugin") for facts in installed)
            yield from self._launchers(agents[0], only_plugins=only_plugins)
            if WINDOWS:
                yield Finding(OFF, "windows", EXPERIMENTAL)
        yield from self._switched_off()
        yield from check_settings(self.installation)
        yield from check_rules(self.installation)
        yield from check_project(self.installation)
        yield from check_blocks(self.installation, agents)
        for path, text in floop_traces(self.installation):
            yield Finding(OFF, "floop", f"{path}: {text}", file=path)
        yield from self._tokens(agents[0] if agents else None)
        yield self._server()
        yield self._log()

    # The agents -----------------------------------------------------------------------------------

    def _agent(self, target: Target) -> Iterator[Finding]:
        """Look at one settings file: whether brim is in it, as it should be, and may run."""
        facts: dict[str, Any] = {"agent": target.agent, "scope": target.scope, "file": target.path}
        try:
            removal = self.installation.plan_removal(target)  # reads it strictly, as the agent does
        except BrimError as error:
            yield Finding(WRONG, target.title, str(error), **facts)
            return
        events = self.installation.ours.events_in(target)
        plugin = target.scope == "user" and has_plugin(target.agent, self.installation.environ)
        if events:
            yield from self._hooks(target, removal, facts | {"hooks": events}, plugin=plugin)
        elif plugin:
            hooks = list(agent_named(target.agent).events)
            text = f"its plugin brings the {len(hooks)} hooks"
            yield Finding(OK, target.title, text, **facts, hooks=hooks, plugin=True)
        else:
            yield from self._no_hooks(target, facts | {"hooks": []})

    def _no_hooks(self, target: Target, facts: Mapping[str, Any]) -> Iterator[Finding]:
        """Say why brim isn't in *target*."""
        name = target.title
        if target.is_orphan:
            text = f"{target.path}: its project is gone: {FIX} forgets it"
            yield Finding(OFF, name, text, FIX, **facts)
        elif target.path in self.installation.records:
            yield Finding(WRONG, name, f"{target.path}: brim's hooks are gone", FIX, **facts)
        elif target.scope == "user":
            yield Finding(OFF, name, self._absent(target), **facts)

    def _absent(self, target: Target) -> str:
        """Return why brim isn't in the user's settings of an agent."""
        installed = self.installation.installed([target.agent])
        if any(other.scope == "project" for other in installed):
            return "installed in some projects only"
        if is_present(target.agent, self.installation.environ):
            return f"not installed: brim init --agent {target.agent}"
        return "not found"

    def _hooks(
        self, target: Target, removal: SettingsChange, facts: dict[str, Any], *, plugin: bool
    ) -> Iterator[Finding]:
        """Say whether the hooks in *target* are as they should be, and may run."""
        settings = json_settings(target.path)
        record = self.installation.records.get(target.path)
        status_file = self.installation.status_file(target)
        has_status_line = self.installation.shows_status_line(status_file)
        facts["status_line"] = has_status_line
        text = f"{target.path}: {len(facts['hooks'])} hooks"
        if record is not None and record.hooks == INJECTION_ONLY:
            text += " that only inject"
        if has_status_line:
            text += ", status line"
        if plugin:
            text += "; its plugin of brim stays silent"
        state, problem, fix = self._state(target, settings)
        yield Finding(state, target.title, text + problem, fix, **facts)
        if self._will_be_asked(target):
            text = (
                "has not been asked yet whether it may run these hooks: start it once, "
                "and choose to trust them"
            )
            yield Finding(OFF, target.title, text, agent=target.agent, file=target.path)
        status_record = self.installation.records.get(status_file.path)
        had_status_line = status_record is not None and status_record.status is not None
        if had_status_line and not has_status_line and removal.changes:
            text = "another status line is in brim's place: brim init calls it from brim's"
            yield Finding(OFF, target.title, text, **facts)

    def _state(self, target: Target, settings: Mapping[str, Any]) -> tuple[str, str, str]:
        """Return the state of brim's hooks in *target*, what is wrong with them, and what corrects
        it."""
        launcher = launcher_path(self.installation.home)
        other_launchers = set()
        for _, hook in self.installation.ours.hooks_in(settings):
            program = words_of(hook)[0]
            if program != launcher:
                other_launchers.add(program)
        if other_launchers:
            path = min(other_launchers)
            return WRONG, f"; calls {path}, which is not the launcher of this home", FIX
        if target.path not in self.installation.records:
            return OFF, "; there is no record of what was there before: brim init makes one", ""
        try:
            if self.installation.plan_again(target).changes:
                return WRONG, "; they differ from what this version installs", FIX
        except BrimError as error:
            return WRONG, f"; {error}", ""
        switch = off_switch(target.agent, settings, self.installation.environ)
        if switch:
            return OFF, f"; {switch}, so none of them runs", ""
        return OK, "", ""

    def _will_be_asked(self, target: Target) -> bool:
        """Whether the agent hasn't asked yet if it may run the hooks in *target*."""
        agent = settings_for(target.agent)
        if not agent.asks_for_trust:
            return False
        return not agent.was_asked(
            second_settings(target.agent, self.installation.environ), target.path
        )

    def _works(self, agents: Sequence[str]) -> Iterator[Finding]:
        """Say which version of each agent is here, what works in it, and what brim does instead."""
        versions = versions_here(agents, self.installation.environ)
        for name in agents:
            agent = agent_named(name)
            version = versions.get(name, "")
            state, program = OK, f"{agent.title} {version}".rstrip()
            doubt = untested(name, version)
            if doubt:
                state, program = OFF, f"{program} ({doubt}; hooks answer all the same)"
            abilities = abilities_of(agent)
            working = ", ".join([ability.name for ability in abilities if ability.works])
            notes = [f"{one.name}: {one.answer}; {one.note}" for one in abilities if one.note]
            facts: dict[str, Any] = {"agent": name, "version": version, "tested": not doubt}
            facts["works"] = [ability.to_dict() for ability in abilities]
            yield Finding(state, "Works", f"{program}: {working}", lines=notes, **facts)

    # The launchers --------------------------------------------------------------------------------

    def _launchers(self, agent: str, *, only_plugins: bool) -> Iterator[Finding]:
        """Run the launcher, and say how long it takes. A plugin writes it itself."""
        launcher = launcher_path(self.installation.home)
        if only_plugins and not os.path.exists(launcher):
            text = f"{launcher}: is not there yet; the plugin writes it when a session starts"
            yield Finding(OFF, "launcher", text)
            return
        status = status_path(self.installation.home)
        if not os.access(status, os.X_OK):
            text = f"{status}: is not there, so no status line is shown"
            yield Finding(WRONG, "launcher", text, FIX)
        python = interpreter_of(launcher)
        problem = ""
        if not os.access(launcher, os.X_OK):
            problem = "missing"
        elif not os.access(python, os.X_OK):
            problem = f"its Python {python or '?'} is gone"
        if problem:
            yield Finding(WRONG, "launcher", f"{launcher}: {problem}, so no hook runs", FIX)
            return
        yield self._answer(launcher, python, agent)
        slow = startup_problem(self.installation.home)
        if slow:
            text = f"hooks load every module by itself, which takes longer: {slow}"
            yield Finding(WRONG, "startup", text, FIX)

    def _answer(self, launcher: str, python: str, agent: str) -> Finding:
        """Say whether *launcher* answers, and how fast."""
        result = probe(launcher, python, agent, self.installation.environ)
        facts: dict[str, Any] = {
            "answers": not result.reason,
            "seconds": result.seconds,
            "python_seconds": result.python_seconds,
        }
        if result.seconds is None or result.python_seconds is None:
            return Finding(WRONG, "hook", f"does not answer: {result.reason}", FIX, **facts)
        milliseconds = round(result.seconds * 1000)
        alone = round(result.python_seconds * 1000)
        text = f"answers in {milliseconds} ms (median of {RUNS}; Python alone takes {alone})"
        return Finding(OK, "hook", text, **facts)

    def _switched_off(self) -> Iterator[Finding]:
        """Say why no hook says anything: a pause, or a variable."""
        until = paused_until(self.installation.home)
        if until == float("inf"):
            yield Finding(OFF, "paused", "no hook says anything: brim pause off", paused=True)
        elif until > self.installation.now:
            end = time.strftime("%Y-%m-%d %H:%M", time.localtime(until))
            text = f"no hook says anything until {end}: brim pause off"
            yield Finding(OFF, "paused", text, paused=True, until=round(until))
        if is_disabled(self.installation.environ):
            text = "BRIM_DISABLE is set here, so hooks that inherit it say nothing"
            yield Finding(OFF, "disabled", text, disabled=True)

    # What it takes --------------------------------------------------------------------------------

    def _tokens(self, agent: str | None) -> Iterator[Finding]:
        """Say what brim itself adds to the window of *agent* here."""
        try:
            tokens = start_tokens(self.installation, agent)
        except BrimError:
            text = "what a session is told cannot be said before the above is corrected"
            yield Finding(OFF, "tokens", text)
            return
        limits = {when: shown_limit(limit) for when, limit in tokens.limits.items()}
        text = f"{tokens.start:,} of {limits['start']} at the start of a session here"
        if tokens.basis:
            text += f" ({tokens.basis})"
        text += f"; then at most {limits['injection']} with a prompt or call"
        text += f", {limits['session']} in all"
        facts: dict[str, Any] = {
            "start": tokens.start,
            "basis": tokens.basis,
            "budget": tokens.limits["start"],
            "limits": tokens.limits,
        }
        yield Finding(OK, "tokens", text, **facts)
        if tokens.unfit:
            verb = "doesn't" if tokens.unfit == 1 else "don't"
            text = (
                f"{counted(tokens.unfit, 'rule')} {verb} fit the {limits['start']} tokens of a "
                "session's start: 'brim rules why'; raise token_budget.default, or say in the "
                "rules when they apply ('brim rules edit RULE')"
            )
            budget = tokens.limits["start"]
            yield Finding(OFF, "rules", text, unfit=tokens.unfit, budget=budget)

    def _server(self) -> Finding:
        """Say what the tools of the MCP server take, where an agent starts it."""
        agents = served_agents(self.installation.environ, self.installation.project)
        if not agents:
            text = "no agent starts 'brim mcp', so its tools take no tokens"
            return Finding(OFF, "server", text, agents=[], schemas=0)
        names = " and ".join(agent_named(agent).title for agent in agents)
        model = model_of(agents[0], self.installation.environ)
        schemas = self._tool_tokens(model)
        if schemas is None:
            text = f"{names} cannot start 'brim mcp': pip install 'brim[mcp]'"
            return Finding(WRONG, "server", text, agents=agents)
        verb = "starts" if len(agents) == 1 else "start"
        text = (
            f"{names} {verb} 'brim mcp', whose tools take {schemas:,} tokens "
            f"where they are loaded at once (for {model})"
        )
        return Finding(OK, "server", text, agents=agents, schemas=schemas)

    def _log(self) -> Finding:
        """Say what hooks wrote down when they failed."""
        path = log_path(self.installation.environ)
        lines = last_lines(path)
        if lines:
            return Finding(OFF, "log", f"{path}: the last lines are", lines=lines, file=path)
        return Finding(OK, "log", "no hook has failed", lines=lines, file=path)


def _twice(installed: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    """Say which agents have brim's hooks in two files that count here."""
    for agent in every_agent():
        paths = {}
        for facts in reversed(installed):
            if facts["agent"] == agent.name and "plugin" not in facts:
                paths[facts["scope"]] = facts["file"]
        if len(paths) == 2:
            files = f"{paths['user']} and in {paths['project']}"
            text = f"is in {files}: every hook may be called twice"
            yield Finding(WRONG, agent.title, text, FIX, agent=agent.name)


# Correcting it ------------------------------------------------------------------------------------


class _Corrections:
    """The changes that don't need a decision."""

    def __init__(self, installation: Installation) -> None:
        self.again: list[SettingsChange] = []
        """Hooks as they should be."""
        self.removed: list[SettingsChange] = []
        """Taken out of a project that has them for every project already."""
        self.orphans: list[SettingsChange] = []
        """Forgotten with their project."""
        self.problems: list[str] = []
        for target in installation.targets():
            try:
                self._plan(installation, target)
            except BrimError as error:
                self.problems.append(str(error))

    def _plan(self, installation: Installation, target: Target) -> None:
        """Add the change that *target* needs."""
        if target.is_orphan:
            self.orphans.append(installation.plan_removal(target))
        elif target.scope == "project" and installation.has_user_hooks(target.agent):
            removal = installation.plan_removal(target)
            if removal.changes:
                self.removed.append(removal)
        elif target.path in installation.records:
            change = installation.plan_again(target)
            if change.changes:
                self.again.append(change)

    def fixed(self) -> list[str]:
        """Return what they correct, in words."""
        words = []
        for changes, text in (
            (self.again, "hooks as they should be"),
            (self.orphans, "forgotten, since its project is gone"),
            (self.removed, "taken out, since it is for every project"),
        ):
            words += [f"{change.target.path}: {text}" for change in changes]
        return words


def _fix(installation: Installation) -> tuple[list[str], list[str]]:
    """Correct what doesn't need a decision; return what was corrected, and what couldn't be.

    Launchers are written.
    """
    check_lasting()
    corrections = _Corrections(installation)
    installation.apply(corrections.again, installing=True)
    installation.apply([*corrections.removed, *corrections.orphans], installing=False)
    fixed = corrections.fixed()
    fixed += [f"{path} moved away: it's made again" for path in set_aside(installation.home)]
    if fixed or installation.installed():
        fixed += [f"{path} rewritten" for path in install_launchers(installation.home)]
    return fixed, corrections.problems
