"""What hooks answer here: tried, and counted.

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
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from brim.agents import agent_named, every_agent
from brim.config.trust import is_trusted
from brim.hooks.state import log_path
from brim.install.agents import model_of
from brim.install.installation import Installation
from brim.install.launchers import copy_launcher
from brim.models.light import DEFAULT_ENCODING
from brim.record import PlainData
from brim.rules.delivery import DID_NOT_FIT
from brim.rules.outlook import DeliveryLimits, outlook
from brim.rules.rulebook import Rulebook
from brim.rules.source import USER
from brim.tokens.counters import count
from brim.workspace import Workspace

RUNS = 3
ATTEMPTS = 8
"""Runs at most: one that gives up after its second is made again, since a busy machine isn't a
fault of brim's."""
RULE = "Say that brim answers."
SECONDS = 10.0
"""Seconds after which a launcher counts as not answering."""
LOG_LINES = 3


@dataclass(frozen=True)
class ProbeResult(PlainData):
    """Whether a launcher answers, and how long it takes."""

    seconds: float | None = None
    """The median; None if it doesn't answer."""
    python_seconds: float | None = None
    """The same of Python alone."""
    reason: str = ""
    """Why it doesn't answer."""


def probe(launcher: str, python: str, agent: str, environ: Mapping[str, str]) -> ProbeResult:
    """Run *launcher* several times at the first event at which *agent* can be told something."""
    with tempfile.TemporaryDirectory(prefix="brim-doctor-") as folder:
        home = os.path.join(folder, "home")
        work = os.path.join(folder, "work")
        os.mkdir(work)
        _make_home(home, launcher)
        own = _own_environ(environ, folder, home)
        script = copy_launcher(launcher, folder, home)
        *earlier_events, told_event = events_until_told(agent)
        message = {
            "source": "startup",
            "prompt": "hello",
            "cwd": work,
            "transcript_path": "",
        }
        seconds: list[float] = []
        python_seconds = []
        for number in range(ATTEMPTS):
            message["session_id"] = f"doctor-{number}"
            for event in earlier_events:
                _run([script, event, agent], _sent(message, event), own, work)
            command = [script, told_event, agent]
            answer, duration = _run(command, _sent(message, told_event), own, work)
            if RULE in answer:
                seconds.append(duration)
                _, duration = _run([python, "-I", "-c", "pass"], "", own, work)
                python_seconds.append(duration)
            elif not _took_too_long(own):
                break
            if len(seconds) == RUNS:
                return ProbeResult(statistics.median(seconds), statistics.median(python_seconds))
        lines = last_lines(log_path(own)) or ["it says nothing"]
        return ProbeResult(reason=lines[-1])


def _took_too_long(environ: Mapping[str, str]) -> bool:
    lines = last_lines(log_path(environ))
    return bool(lines) and "took too long" in lines[-1]


def events_until_told(agent: str) -> list[str]:
    """Return the events of a session up to the first at which a text reaches the model of
    *agent*."""
    value = agent_named(agent)
    events = []
    for name, event in value.events.items():
        events.append(name)
        if value.hears_at(event.event):
            break
    return events


def _sent(message: Mapping[str, str], event: str) -> str:
    return json.dumps({**message, "hook_event_name": event})


def _make_home(home: str, launcher: str) -> None:
    """Make a user's folder with one rule, whose hooks start as fast as they do for the user."""
    book = Rulebook(home, None)
    book.learn(USER, {"name": "doctor", "text": RULE})
    book.open_index().close()
    cache = os.path.join(os.path.dirname(os.path.dirname(launcher)), "cache")
    if os.path.isdir(cache):
        shutil.copytree(cache, os.path.join(home, "cache"))


def _own_environ(environ: Mapping[str, str], folder: str, home: str) -> dict[str, str]:
    """Return *environ* without what could change the answer, for the user's folder *home*."""
    prefixes = ["BRIM_", "FLOOP_"]
    for agent in every_agent():
        prefixes.append(agent.places.variable.partition("_")[0] + "_")
    own = {name: value for name, value in environ.items() if not name.startswith(tuple(prefixes))}
    return {**own, "BRIM_HOME": home, "HOME": folder, "USERPROFILE": folder}


def _run(
    command: list[str], message: str, environ: Mapping[str, str], folder: str
) -> tuple[str, float]:
    """Return what *command* told the agent, nothing if it failed, and the seconds that it took."""
    begun = time.perf_counter()
    answer = ""
    try:
        ran = subprocess.run(  # noqa: S603 (the launcher that brim wrote)
            command,
            input=message.encode(),
            capture_output=True,
            env=environ,
            cwd=folder,
            timeout=SECONDS,
            check=True,
        )
        if ran.stdout:
            answer = str(json.loads(ran.stdout)["hookSpecificOutput"]["additionalContext"])
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError):
        answer = ""
    return answer, time.perf_counter() - begun


def last_lines(path: str) -> list[str]:
    """Return the last lines of the log *path*; none if it can't be read."""
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - 16_384))
            return file.read().decode("utf-8", "replace").splitlines()[-LOG_LINES:]
    except OSError:
        return []


# What a session is told ---------------------------------------------------------------------------


@dataclass(frozen=True)
class StartTokens(PlainData):
    """What a session is told when it begins here."""

    start: int
    """Its tokens."""
    basis: str
    """What that count rests on; empty if nothing is told."""
    limits: Mapping[str, int | None]
    """The most tokens at the ``start``, with one prompt or call (``injection``), and in a whole
    ``session``."""
    unfit: int = 0
    """How many rules don't fit."""


def start_tokens(installation: Installation, agent: str | None) -> StartTokens:
    """Return what a session of *agent* is told when it begins here. Nothing is noted as used.

    It's counted for the setting ``model``, else for the model that *agent* is set to.
    """
    folder = None
    if installation.project is None or is_trusted(installation.project, installation.home):
        folder = installation.cwd
    make = partial(Workspace, installation.environ, folder, who="person", now=installation.now)
    workspace = make()
    if workspace.config.yours["model"] is None and agent is not None:
        workspace = make(flags={"model": model_of(agent, installation.environ)})
    limits = _limits(workspace)
    index = workspace.rulebook.open_index()
    forecast = outlook(index, DeliveryLimits.of(workspace.config))
    index.close()
    unfit = 0
    for choice in forecast.start.choices:
        unfit += choice.reason == DID_NOT_FIT
    if not forecast.start.text:
        return StartTokens(0, "", limits, unfit=unfit)
    model = workspace.config.yours["model"]
    basis = f"exact for {DEFAULT_ENCODING}"
    if model is not None:
        basis = f"{count(forecast.start.text, model).basis} for {model}"
    return StartTokens(forecast.start.total_tokens, basis, limits, unfit=unfit)


def _limits(workspace: Workspace) -> dict[str, int | None]:
    """Return the most tokens of rules, by when they are told."""
    config = workspace.config.yours
    with_a_prompt = [
        config[key]
        for key in ("token_budget.dynamic_context", "session.max_per_injection")
        if config[key] is not None
    ]
    return {
        "start": config["token_budget.default"],
        "injection": min(with_a_prompt, default=None),
        "session": config["session.max_tokens"],
    }
