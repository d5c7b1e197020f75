"""What ``brim doctor`` looks at: what is installed where, whether it works, and what to do.

Whether a hook really answers is tried: the launcher is run as an agent runs it, but for a temporary
home with one rule in it. So nothing of the user's is read, charged or noted as used.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from brim import __version__
from brim._startup.writer import startup_problem
from brim.activation.context import Context
from brim.agents import agent_named
from brim.agents.fields import value
from brim.agents.settings import settings_for
from brim.behaviors.behavior import LIVE, Rule
from brim.errors import BrimError, StoreError
from brim.figures import counted
from brim.files import WINDOWS
from brim.hooks.process import is_disabled, paused_until
from brim.hooks.state import log_path
from brim.install.agents import (
    INJECTION_ONLY,
    NAMES,
    Target,
    codex_settings,
    has_plugin,
    is_present,
    launcher_path,
    model_of,
    served_agents,
    settings_of,
    status_path,
    words_of,
)
from brim.install.changes import STATUS, Record
from brim.install.git_exclude import not_ignored
from brim.install.installation import EXPERIMENTAL, Installation
from brim.install.launchers import check_lasting, copy_launcher, install_launchers, interpreter_of
from brim.install.rule_files import floop_traces, shared_news
from brim.store.backup import lost_rules
from brim.store.checks import shortened, store_problems
from brim.store.loaded import loaded_rules
from brim.store.planner import Planner
from brim.store.project import is_tracked
from brim.store.store import open_store
from brim.store.trust import is_trusted
from brim.workspace import DATABASE, Workspace

OK, OFF, WRONG = "ok", "off", "wrong"
"""Works; isn't used, or is only worth knowing; has to be corrected."""
FIX = "brim doctor --fix"
RUNS = 3
RULE = "Say that brim answers."
SECONDS = 10.0
"""Seconds after which a launcher counts as not answering."""
LOG_LINES = 3


class Finding:
    """What one check found: its state, its subject, a text, and the command that corrects it (empty
    if none does)."""

    def __init__(self, state: str, what: str, text: str, fix: str = "", **facts: Any) -> None:
        self.state, self.what, self.text, self.fix, self.facts = state, what, text, fix, facts

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "state": self.state,
            "what": self.what,
            "text": self.text,
            "fix": self.fix,
        } | self.facts


@dataclass
class Diagnosis:
    """Everything that was found, and what was corrected before that."""

    findings: list[Finding]
    fixed: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    """What could not be corrected."""

    @property
    def wrong(self) -> list[Finding]:
        """What has to be corrected."""
        return [each for each in self.findings if each.state == WRONG]

    @property
    def exit_code(self) -> int:
        """1 if something is wrong."""
        return 1 if self.wrong else 0

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        findings = [each.to_dict() for each in self.findings]
        return {
            "version": __version__,
            "ok": not self.wrong,
            "fixed": self.fixed,
            "findings": findings,
        }


def diagnose(
    environ: Mapping[str, str],
    folder: str | None,
    *,
    fix: bool = False,
    tool_tokens: Callable[[str | None], int | None] = lambda _: None,
) -> Diagnosis:
    """Check everything; with *fix*, correct what doesn't need a decision, and check again.

    *tool_tokens* returns what the tools of the MCP server take for a model, None if it isn't
    installed.
    """
    doctor = _Doctor(Installation(environ, folder), tool_tokens)
    found = Diagnosis(list(doctor.look()))
    if fix and any(each.fix == FIX for each in found.findings):
        found.fixed, found.problems = _fix(doctor.here)
        found.findings = list(_Doctor(Installation(environ, folder), tool_tokens).look())
    return found


class _Doctor:
    """The checks. Each yields what it found."""

    def __init__(self, here: Installation, tool_tokens: Callable[[str | None], int | None]) -> None:
        self.here, self._tool_tokens = here, tool_tokens

    def look(self) -> Iterator[Finding]:
        """Yield everything, the agents first."""
        found = [each for target in self.here.targets() for each in self._agent(target)]
        yield from found
        installed = [each.facts for each in found if each.facts.get("hooks")]
        yield from _twice(installed)
        agents = [facts["agent"] for facts in installed]
        if agents:
            yield from self._hook(
                agents[0], only_plugins=all(facts.get("plugin") for facts in installed)
            )
            if WINDOWS:
                yield Finding(OFF, "windows", EXPERIMENTAL)
        yield from self._switched_off()
        yield from self._settings()
        yield from self._stores(installed=bool(agents))
        yield from self._trust()
        yield from self._blocks(agents)
        yield from (
            Finding(OFF, "floop", f"{path}: {text}", file=path)
            for path, text in floop_traces(self.here)
        )
        yield from self._tokens(agents[0] if agents else None)
        yield from self._server()
        yield from self._log()

    def _agent(self, target: Target) -> Iterator[Finding]:
        """Look at one settings file: whether brim is in it, as it should be, and may run."""
        here, name = self.here, NAMES[target.agent]
        facts: dict[str, Any] = {"agent": target.agent, "scope": target.scope, "file": target.path}
        try:
            change = here.plan_removal(target)  # reads it strictly, as the agent does
        except BrimError as error:
            yield Finding(WRONG, name, str(error), **facts)
            return
        settings, record = settings_of(target.path), here.records.get(target.path)
        events = here.ours.events_in(target.path)
        plugin = target.scope == "user" and has_plugin(target.agent, here.environ)
        if plugin and not events:
            found = list(agent_named(target.agent).events)
            yield Finding(
                OK,
                name,
                f"its plugin brings the {len(found)} hooks",
                **facts,
                hooks=found,
                plugin=True,
            )
            return
        if not events:
            if target.is_orphan:
                yield Finding(
                    OFF,
                    name,
                    f"{target.path}: its project is gone: {FIX} forgets it",
                    FIX,
                    **facts,
                    hooks=[],
                )
            elif record is not None:
                yield Finding(
                    WRONG, name, f"{target.path}: brim's hooks are gone", FIX, **facts, hooks=[]
                )
            elif target.scope == "user":
                yield Finding(OFF, name, self._absent(target), **facts, hooks=[])
            return
        status = here.ours.status(settings.get(STATUS))
        facts |= {"hooks": events, "status_line": status}
        only = " that only inject" if record is not None and record.hooks == INJECTION_ONLY else ""
        text = f"{target.path}: {len(events)} hooks{only}{', status line' if status else ''}"
        text += "; its plugin of brim stays silent" if plugin else ""
        state, problem, fix = self._state(target, record, settings)
        yield Finding(state, name, f"{text}{problem}", fix, **facts)
        if settings_for(target.agent).asks_for_trust and not _was_asked(target, here.environ):
            text = "has not been asked yet whether it may run these hooks: start it once, and choose to trust them"
            yield Finding(OFF, name, text, agent=target.agent, file=target.path)
        if record is not None and record.status is not None and not status and change.changes:
            yield Finding(
                OFF,
                name,
                "another status line is in brim's place: brim init calls it from brim's",
                **facts,
            )

    def _state(
        self, target: Target, record: Record | None, settings: Mapping[str, Any]
    ) -> tuple[str, str, str]:
        """Return the state of brim's hooks in *target*, what is wrong with them, and what corrects
        it."""
        found = [
            words[0] for _, hook in self.here.ours.hooks_in(settings) if (words := words_of(hook))
        ]
        launcher = launcher_path(self.here.home)
        if old := {program for program in found if program != launcher}:
            return WRONG, f"; calls {min(old)}, which is not the launcher of this home", FIX
        if record is None:
            return OFF, "; there is no record of what was there before: brim init makes one", ""
        try:
            if self.here.plan_again(target).changes:
                return WRONG, "; they differ from what this version installs", FIX
        except BrimError as error:
            return WRONG, f"; {error}", ""
        switch = _off_switch(target.agent, settings, self.here.environ)
        return (OFF, f"; {switch}, so none of them runs", "") if switch else (OK, "", "")

    def _absent(self, target: Target) -> str:
        if any(each.scope == "project" for each in self.here.installed([target.agent])):
            return "installed in some projects only"
        is_used = is_present(target.agent, self.here.environ)
        return f"not installed: brim init --agent {target.agent}" if is_used else "not found"

    def _hook(self, agent: str, *, only_plugins: bool) -> Iterator[Finding]:
        """Run the launcher, and say how long it takes. A plugin writes it itself."""
        launcher, status = launcher_path(self.here.home), status_path(self.here.home)
        if only_plugins and not os.path.exists(launcher):
            yield Finding(
                OFF,
                "launcher",
                f"{launcher}: is not there yet; the plugin writes it when a session starts",
            )
            return
        if not os.access(status, os.X_OK):
            yield Finding(
                WRONG, "launcher", f"{status}: is not there, so no status line is shown", FIX
            )
        python = interpreter_of(launcher)
        if not os.access(launcher, os.X_OK):
            yield Finding(WRONG, "launcher", f"{launcher}: missing, so no hook runs", FIX)
            return
        if not os.access(python, os.X_OK):
            yield Finding(
                WRONG,
                "launcher",
                f"{launcher}: its Python {python or '?'} is gone, so no hook runs",
                FIX,
            )
            return
        seconds, alone, reason = probe(launcher, python, agent, self.here.environ)
        facts: dict[str, Any] = {"answers": not reason, "seconds": seconds, "python_seconds": alone}
        if seconds is None or alone is None:
            yield Finding(WRONG, "hook", f"does not answer: {reason}", FIX, **facts)
        else:
            took, bare = round(seconds * 1000), round(alone * 1000)
            yield Finding(
                OK,
                "hook",
                f"answers in {took} ms (median of {RUNS}; Python alone takes {bare})",
                **facts,
            )
        if slow := startup_problem(self.here.home):
            yield Finding(
                WRONG,
                "startup",
                f"hooks load every module by itself, which takes longer: {slow}",
                FIX,
            )

    def _switched_off(self) -> Iterator[Finding]:
        until = paused_until(self.here.home)
        if until == float("inf"):
            yield Finding(OFF, "paused", "no hook says anything: brim pause off", paused=True)
        elif until > self.here.now:
            text = time.strftime(
                "no hook says anything until %Y-%m-%d %H:%M: brim pause off", time.localtime(until)
            )
            yield Finding(OFF, "paused", text, paused=True, until=round(until))
        if is_disabled(self.here.environ):
            text = "BRIM_DISABLE is set here, so hooks that inherit it say nothing"
            yield Finding(OFF, "disabled", text, disabled=True)

    def _settings(self) -> Iterator[Finding]:
        try:
            budget, origin = self.here.config.yours.values["token_budget.default"]
            text = f"token_budget.default is {_tokens(budget)} (set by {origin})"
            yield Finding(OK, "settings", text, token_budget=budget)
        except BrimError as error:
            yield Finding(WRONG, "settings", f"{error}; until then agents go on without it")

    def _stores(self, *, installed: bool) -> Iterator[Finding]:
        """Say whether hooks can read what was learned: they never upgrade a file."""
        for scope, folder in self.here.scope_folders.items():
            path = os.path.join(folder, DATABASE)
            facts: dict[str, Any] = {"scope": scope, "file": path, "version": None}
            if scope == "project" and (lost := lost_rules(path, self.here.home)):
                text = f"{path}: {counted(lost[1], 'rule')} that brim kept in {lost[0]} are missing"
                state = WRONG if os.path.lexists(path) else OFF
                yield Finding(
                    state, "lost", text, "brim rules restore", rules=lost[1], copy=lost[0]
                )
            if not os.path.lexists(path):
                if scope == "user" and installed:
                    text = f"{path}: is missing, so hooks can't remember sessions or count money"
                    yield Finding(WRONG, "store", text, FIX, **facts)
                elif scope == "user":
                    yield Finding(OFF, "store", "no rules for all your projects yet", **facts)
                continue
            try:
                with open_store(path, create=False, timeout=1.0) as store:
                    if damage := store_problems(store):
                        text = f"{path}: is damaged ({shortened(damage)}): 'brim rules restore'"
                        raise StoreError(text, "damaged")
                    number = len(store.behaviors(LIVE))
            except BrimError as error:
                without = (
                    "; until then agents go on without this project" if scope == "project" else ""
                )
                yield Finding(WRONG, "store", f"{error}{without}", **facts)
            else:
                yield Finding(
                    OK, "store", f"{path}: {counted(number, 'rule')}", **facts, behaviors=number
                )

    def _trust(self) -> Iterator[Finding]:
        project = self.here.project
        facts: dict[str, Any] = {"project": project}
        changes = news = ""
        with (
            suppress(BrimError),
            self.here.open(create=False) as scopes,
        ):  # a broken one is said above
            changes, news = self.here.changes_of(scopes), shared_news(self.here, scopes)
        state, text = OFF, "no project here: agents hear only your own rules"
        if project is not None:
            facts["trusted"] = self.here.trusted
            text = f"{project}: is not trusted, so agents are told only your own rules: brim rules trust"
            if not os.path.isdir(os.path.join(project, ".brim")):
                text = f"{project}: no rules of its own yet"
            elif self.here.trusted:
                state, text = (OFF, changes) if changes else (OK, f"{project}: is trusted")
        yield Finding(state, "project", text, **facts)
        if news:
            yield Finding(OFF, "project", f"{news}: brim rules import", **facts)
        store = os.path.join(project or "", ".brim", DATABASE)
        with suppress(StoreError):  # git's index is too large
            if (
                project is not None
                and os.path.exists(store)
                and not is_tracked(store)
                and not_ignored([store])
            ):
                text = f"{store}: git would commit it: end .brim/.gitignore with a line 'brim.db*'"
                yield Finding(OFF, "git", text, file=store)
        if self.here.memory_problem is not None:
            yield Finding(OFF, "memory", str(self.here.memory_problem), project=project)

    def _blocks(self, agents: list[str]) -> Iterator[Finding]:
        """Say how many rules refuse calls, and which calls an agent makes without asking."""
        number = 0
        with (
            suppress(BrimError),
            self.here.open(create=False) as scopes,
        ):  # a broken one is said above
            number = sum(bool(each.blocks) for each in scopes.behaviors(LIVE))
        if not number:
            return
        text, gaps = (
            f"{counted(number, 'rule')} with blocks",
            list(filter(None, [settings_for(agent).unasked for agent in agents])),
        )
        if not agents:
            text += ", but no agent has hooks, so nothing is refused: brim init"
            yield Finding(OFF, "blocks", text, rules=number)
        else:
            text += f"; not refused: {'; '.join(gaps)}" if gaps else ""
            yield Finding(OK, "blocks", text, rules=number, not_refused=gaps)

    def _tokens(self, agent: str | None) -> Iterator[Finding]:
        """Say what brim itself adds to the window of *agent* here."""
        try:
            start, basis, limits, read, unfit = start_tokens(self.here, agent)
        except BrimError:
            yield Finding(
                OFF, "tokens", "what a session is told cannot be said before the above is corrected"
            )
            return
        text = f"{start:,} of {_tokens(limits['start'])} at the start of a session here{basis and f' ({basis})'}; then at"
        text += f" most {_tokens(limits['injection'])} with a prompt or call, {_tokens(limits['session'])} in all"
        if read and agent is not None:
            text += f"; {NAMES[agent]} reads {counted(len(read), 'rule')} on its own, which saves {sum(read):,}"
        facts: dict[str, Any] = {
            "budget": limits["start"],
            "limits": limits,
            "read": len(read),
            "saved": sum(read),
        }
        yield Finding(OK, "tokens", text, start=start, basis=basis, **facts)
        if unfit:
            budget, dont = _tokens(limits["start"]), "doesn't" if unfit == 1 else "don't"
            text = f"{counted(unfit, 'rule')} {dont} fit the {budget} tokens of a session's start: 'brim rules why'; "
            text += "raise token_budget.default, or say in the rules when they apply ('brim rules edit RULE')"
            yield Finding(OFF, "rules", text, unfit=unfit, budget=limits["start"])

    def _server(self) -> Iterator[Finding]:
        """Say what the tools of the MCP server take, where an agent starts it."""
        agents = served_agents(self.here.environ, self.here.project)
        if not agents:
            text = "no agent starts 'brim mcp', so its tools take no tokens"
            yield Finding(OFF, "server", text, agents=[], schemas=0)
            return
        names, start = (
            " and ".join(NAMES[agent] for agent in agents),
            "starts" if len(agents) == 1 else "start",
        )
        model = model_of(agents[0], self.here.environ)
        if (schemas := self._tool_tokens(model)) is None:
            yield Finding(
                WRONG,
                "server",
                f"{names} cannot start 'brim mcp': pip install 'brim[mcp]'",
                agents=agents,
            )
        else:
            text = f"{names} {start} 'brim mcp', whose tools take {schemas:,} tokens where they are loaded at once"
            yield Finding(OK, "server", f"{text} (for {model})", agents=agents, schemas=schemas)

    def _log(self) -> Iterator[Finding]:
        path = log_path(self.here.environ)
        lines = _last_lines(path)
        state, text = (OFF, f"{path}: the last lines are") if lines else (OK, "no hook has failed")
        yield Finding(state, "log", text, lines=lines, file=path)


def _fix(here: Installation) -> tuple[list[str], list[str]]:
    """Correct what doesn't need a decision; return what was corrected, and what couldn't be.

    Hooks in the settings are put right, taken out of projects that have them for every project
    already, and forgotten for projects that are gone. Launchers are written, and stores updated.
    """
    check_lasting()
    again, out, orphans, problems = [], [], [], []
    for target in here.targets():
        record = here.records.get(target.path)
        above = here.target(target.agent, "user").path
        try:
            if target.is_orphan:
                orphans.append(here.plan_removal(target))
            elif target.scope == "project" and here.ours.events_in(above):
                out.append(here.plan_removal(target))
            elif record is not None:
                again.append(here.plan_again(target))
        except BrimError as error:
            problems.append(str(error))
    again, out = [each for each in again if each.changes], [each for each in out if each.changes]
    here.apply(again, installing=True)
    here.apply([*out, *orphans], installing=False)
    fixed = [f"{change.target.path}: hooks as they should be" for change in again]
    fixed += [f"{change.target.path}: forgotten, since its project is gone" for change in orphans]
    fixed += [f"{change.target.path}: taken out, since it is for every project" for change in out]
    is_installed = bool(fixed or here.installed())
    if is_installed:
        fixed += [f"{path} rewritten" for path in install_launchers(here.home)]
        fixed += [] if os.path.lexists(here.database) else [f"{here.home}: has a store now"]
    _, broken = here.check_stores(create=is_installed)
    return fixed, problems + broken


def _twice(installed: list[dict[str, Any]]) -> Iterator[Finding]:
    for agent, name in NAMES.items():
        own = [
            facts
            for facts in reversed(installed)
            if facts["agent"] == agent and "plugin" not in facts
        ]
        paths = {facts["scope"]: facts["file"] for facts in own}
        if len(paths) == 2:
            text = (
                f"is in {paths['user']} and in {paths['project']}: every hook may be called twice"
            )
            yield Finding(WRONG, name, text, FIX, agent=agent)


def _off_switch(agent: str, settings: Mapping[str, Any], environ: Mapping[str, str]) -> str:
    """Return what in an agent's own *settings* keeps all hooks from running; empty if nothing
    does."""
    own = settings_for(agent)
    return own.off_switch(settings, codex_settings(environ) if own.config_file else {})


def _was_asked(target: Target, environ: Mapping[str, str]) -> bool:
    """Whether Codex has asked if it may run the hooks in *target*: it keeps the answers by file and
    hook."""
    known = value(codex_settings(environ), "hooks", "state")
    return isinstance(known, dict) and any(str(key).startswith(f"{target.path}:") for key in known)


def _tokens(limit: int | None) -> str:
    return "unlimited" if limit is None else f"{limit:,}"


def start_tokens(
    here: Installation, agent: str | None
) -> tuple[int, str, dict[str, int | None], list[int], int]:
    """Return what a session of *agent* is told when it begins here, what that count rests on, and
    the limits.

    Then come the tokens of each rule that would be told too, if it didn't stand in a file that
    *agent* loads, and how many rules don't fit.

    It's counted for the setting ``model``, else for the model that *agent* is set to. The limits
    are ``start``, ``injection`` (with one prompt or call) and ``session`` (all together). Nothing
    is noted as used.
    """
    folder = here.cwd if here.project is None or is_trusted(here.project, here.home) else None
    make = partial(Workspace, here.environ, folder, who="person", now=here.now)
    own = make()
    if own.config.yours["model"] is None and agent is not None:
        own = make(flags={"model": model_of(agent, here.environ)})
    config = own.config.yours
    dynamic = [config[key] for key in ("token_budget.dynamic_context", "session.max_per_injection")]
    injection = min((limit for limit in dynamic if limit is not None), default=None)
    budget: int | None = config["token_budget.default"]
    limits = {"start": budget, "injection": injection, "session": config["session.max_tokens"]}
    with own.open(create=False) as scopes:
        if scopes.user is None and scopes.project is None:
            return 0, "", limits, [], 0
        context, loaded = (
            Context(**here.surroundings),
            loaded_rules(scopes, agent or "", folder or ""),
        )
        plan = Planner(scopes, own.config, context, now=here.now, leave=loaded).plan(budget)
        whole = Planner(scopes, own.config, context, now=here.now).plan(budget) if loaded else plan
    read = [int(item.tokens) for item in whole.included if item.id in loaded]
    unfit = sum(item.tier < item.mapped and not item.tier for item in plan.items)
    if not plan.included:
        return 0, "", limits, read, unfit
    basis = f"{plan.total_tokens.basis} for {config['model'] or 'o200k_base'}"
    return int(plan.total_tokens), basis, limits, read, unfit


def probe(
    launcher: str, python: str, agent: str, environ: Mapping[str, str]
) -> tuple[float | None, float | None, str]:
    """Run *launcher* several times at the first event at which *agent* can be told something.

    Return its median seconds and those of *python* alone, or why it doesn't answer.
    """
    events = agent_named(agent).events
    event = next(name for name, known in events.items() if agent_named(agent).hears_at(known.event))
    with tempfile.TemporaryDirectory(prefix="brim-doctor-") as folder:
        home, work = os.path.join(folder, "home"), os.path.join(folder, "work")
        os.mkdir(work)
        with open_store(os.path.join(home, DATABASE)) as store:
            store.put(Rule("doctor", "doctor", "constraint", RULE), event="learned", now=0)
        cache = os.path.join(os.path.dirname(os.path.dirname(launcher)), "cache")
        if os.path.isdir(cache):  # hooks start as fast as they do for the user
            shutil.copytree(cache, os.path.join(home, "cache"))
        others = ("BRIM_", "FLOOP_", "CLAUDE_", "CODEX_", "GEMINI_")  # could change the answer
        own = {name: value for name, value in environ.items() if not name.startswith(others)}
        own |= {"BRIM_HOME": home, "HOME": folder, "USERPROFILE": folder}
        script = copy_launcher(launcher, folder, home)
        sent = {
            "hook_event_name": event,
            "source": "startup",
            "prompt": "hello",
            "cwd": work,
            "transcript_path": "",
        }
        took, alone = [], []
        for number in range(RUNS):
            given = json.dumps({**sent, "session_id": f"doctor-{number}"})
            told, seconds = _run([script, event, agent], given, own, work)
            if RULE not in told:
                return None, None, (_last_lines(log_path(own)) or ["it says nothing"])[-1]
            took.append(seconds)
            alone.append(_run([python, "-I", "-c", "pass"], "", own, work)[1])
    return statistics.median(took), statistics.median(alone), ""


def _run(
    command: list[str], given: str, environ: Mapping[str, str], folder: str
) -> tuple[str, float]:
    """Return what *command* told the agent, nothing if it failed, and the seconds that it took."""
    begun = time.perf_counter()
    try:
        done = subprocess.run(  # noqa: S603 (the launcher that brim wrote)
            command,
            input=given.encode(),
            capture_output=True,
            env=environ,
            cwd=folder,
            timeout=SECONDS,
            check=True,
        )
        told = (
            str(json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"])
            if done.stdout
            else ""
        )
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError):
        told = ""
    return told, time.perf_counter() - begun


def _last_lines(path: str) -> list[str]:
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - 16_384))
            return file.read().decode("utf-8", "replace").splitlines()[-LOG_LINES:]
    except OSError:
        return []
