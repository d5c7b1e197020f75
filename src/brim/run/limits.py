"""The person's limits during a supervised run: the same sums as everywhere, and the run's own money
as soon as the agent's stream says it."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

from brim.agents.events import RunTotal, Usage
from brim.config.places import file_id
from brim.figures import DOLLAR
from brim.hooks.notices import notify
from brim.money.amounts import PERCENT
from brim.money.budget import Raise
from brim.money.changing import change_limits, raised_by, with_new
from brim.money.decision import BELOW
from brim.money.limits import Spender, SpendingLimit
from brim.money.periods import SUBAGENT
from brim.money.plans import plan_readings
from brim.money.settings import LimitSettings
from brim.money.spending import HOOK_BYTES, Spending
from brim.money.standing import TENTH, LimitStanding
from brim.money.words import sum_sentence, warning
from brim.sessions.files import AgentFile, ReadingBounds
from brim.sessions.index import SessionIndex
from brim.sessions.session_files import RUNS, TRANSCRIPT, own_files
from brim.workspace import Workspace

LAST_SECONDS = 2.0
"""How long the end of a run may read the agents' files."""
Files = Callable[[], Iterable[AgentFile]]


class RunLimits:
    """The limits of the project of *workspace* and of this machine, during one run of *agent*.

    A sum is what the index has, or what it had when the run began and what the run has spent since,
    whichever is more: the stream is ahead of the files.
    """

    def __init__(self, workspace: Workspace, agent: str, files: Files = list) -> None:
        self._workspace = workspace
        self._agent = agent
        self._files = files
        self._settings: LimitSettings = workspace.limit_settings
        self._index = SessionIndex.of_user(workspace.environ)
        self._project = workspace.limits_project
        self._session = ""
        self._cost: dict[str, int] = {}
        self._tokens: dict[str, int] = {}
        self._lines: list[dict[str, Any]] = []
        self._told: set[tuple[SpendingLimit, bool]] = set()
        self._before = {
            standing.limit: standing.spent for standing in self._standings(self._spending())
        }

    @property
    def problem(self) -> str:
        """Why what is spent isn't kept; empty if it is."""
        return self._index.problem

    @property
    def has_limits(self) -> bool:
        """Whether there is any."""
        return bool(self._settings.limits)

    def add(self, event: Usage | RunTotal, cost: int, tokens: int) -> None:
        """Count what *event* of the run has added, in micro-dollars and tokens."""
        self._session = self._session or event.session
        self._cost[event.agent] = self._cost.get(event.agent, 0) + cost
        self._tokens[event.agent] = self._tokens.get(event.agent, 0) + tokens
        self._lines.append(line_of(event, self._workspace.cwd))

    def standings(self) -> list[LimitStanding]:
        """Return where the limits stand now, the nearest first."""
        if not self.has_limits:
            return []
        spending = self._spending()
        spending.read()
        standings = [self._with_own(standing) for standing in self._standings(spending)]
        for standing in standings:
            self._run_command(standing)
        return sorted(standings, key=lambda standing: standing.share, reverse=True)

    def answer(self, standing: LimitStanding, answer: str | Raise) -> None:
        """Write what a person said about a limit into the settings: a tenth more, or a higher
        limit."""
        if answer not in ("continue",) and not isinstance(answer, Raise):
            return  # wrapping up and stopping end this run, and change no limit
        path = os.path.join(self._workspace.home, "config.yaml")
        change_limits(path, lambda limits: _answered(limits, standing, answer))
        for name in ("config", "limit_settings"):
            self._workspace.__dict__.pop(name, None)
        self._settings = self._workspace.limit_settings

    def close(self) -> None:
        """Keep what the run has spent, if its agent has written no session, and close the index."""
        with suppress(OSError, sqlite3.Error):
            self._keep()
        self._index.close()

    def _keep(self) -> None:
        if not self._lines:
            return
        newest = sorted(own_files(self._workspace.environ), key=lambda file: -file.stamp.modified)
        files = [AgentFile(file.path, format=file.format, slug=file.slug) for file in newest]
        bounds = ReadingBounds(HOOK_BYTES, time.monotonic() + LAST_SECONDS)
        self._index.update(self._index.unread(files), bounds)
        folder = os.path.join(self._workspace.home, RUNS)
        path = os.path.join(folder, f"{file_id(self._session or 'run')}.jsonl")
        is_known = bool(self._session and self._index.project_of_session(self._session))
        if is_known and not os.path.exists(path):
            return
        os.makedirs(folder, 0o700, exist_ok=True)
        with open(path, "a", encoding="utf-8") as file:
            file.writelines(json.dumps(line, separators=(",", ":")) + "\n" for line in self._lines)
        cwd = self._workspace.cwd
        self._index.update([AgentFile(path, self._agent, TRANSCRIPT, folder=cwd)])

    def _spending(self) -> Spending:
        workspace = self._workspace
        return Spending(
            self._settings,
            self._index,
            files=self._files(),
            plans=plan_readings(workspace.environ, time.time(), self._agent),
            warn=workspace.config["spend.warn"],
        )

    def _standings(self, spending: Spending) -> Sequence[LimitStanding]:
        """Return where limits stand for a session and a sub-agent that are new."""
        spender = Spender(self._project, session="run", sub_agent="any")
        return spending.answer(spender, time.time()).standing

    def _with_own(self, standing: LimitStanding) -> LimitStanding:
        own = self._own(standing)
        earlier = self._before.get(standing.limit)
        if earlier is None or standing.limit.unit == PERCENT:
            return standing
        return standing.with_spent(max(standing.spent, earlier + own))

    def _own(self, standing: LimitStanding) -> int:
        """Return what the run, or its dearest sub-agent, has spent."""
        by_agent = self._cost if standing.counts_money else self._tokens
        if standing.limit.period == SUBAGENT:
            return max([spent for agent, spent in by_agent.items() if agent], default=0)
        return sum(by_agent.values())

    def _run_command(self, standing: LimitStanding) -> None:
        """Run the person's own command once, when a limit is near and when it's reached."""
        key = (standing.limit, standing.is_stopped)
        if standing.level == BELOW or key in self._told:
            return
        self._told.add(key)
        text = sum_sentence(standing) if standing.is_stopped else warning(standing)
        command = self._workspace.config.yours["notify"]
        notify(command, text, reached=standing.is_stopped, environ=self._workspace.environ)


def line_of(event: Usage | RunTotal, folder: str) -> dict[str, Any]:
    """Return *event* as Claude Code's transcripts have it."""
    about = {"sessionId": event.session, "isSidechain": False, "cwd": folder}
    if isinstance(event, RunTotal):
        return {
            **about,
            "type": "cost-state",
            "totalCostUSD": int(event.cost or 0) / DOLLAR,
            "modelUsage": {},
        }
    tokens = event.tokens
    usage = {
        "input_tokens": tokens.input,
        "output_tokens": tokens.output,
        "cache_read_input_tokens": tokens.cache_read,
        "cache_creation_input_tokens": tokens.cache_write_5m + tokens.cache_write_1h,
    }
    message = {"role": "assistant", "id": event.request, "model": event.model, "content": []}
    moment = time.gmtime(event.time if event.time is not None else time.time())
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", moment)
    return {
        **about,
        "type": "assistant",
        "timestamp": stamp,
        "message": {**message, "usage": usage},
    }


def _answered(
    limits: list[SpendingLimit], standing: LimitStanding, answer: str | Raise
) -> list[SpendingLimit]:
    if isinstance(answer, Raise):
        limit = standing.limit
        higher = SpendingLimit(answer.to, limit.unit, limit.period, limit.project, limit.since)
        return with_new(limits, [higher])
    return raised_by(TENTH, limits, [standing])
