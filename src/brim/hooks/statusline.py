"""The status line: the fuel gauge below the prompt, and where hooks get exact usage from.

A client starts it after each message, with JSON on standard input, and shows what it prints. It
never fails loudly: at worst it prints nothing. The lines of a status line that was there before
come first, where they have always been.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

from brim.agents.fields import mapping, text
from brim.config.places import home_folder, user_folder, without_bad_home
from brim.hooks.attention import KEPT, SHORT
from brim.hooks.process import is_disabled, is_paused
from brim.hooks.state import LEFT_OUT, HookWorkspace, UsageSeen, log
from brim.hooks.status_chain import INSIDE, Other, previous_command
from brim.hooks.status_drawing import Look, draw, level_of
from brim.hooks.transcript import known_window
from brim.money.amounts import out_of
from brim.money.decision import BELOW
from brim.money.limits import Spender
from brim.money.periods import when
from brim.money.standing import nearest, standings
from brim.record import PlainData
from brim.store.project import branch
from brim.store.suggestions import Suggestions
from brim.tracking.auto_compact import AutoCompact, auto_compact, client_command
from brim.tracking.plan_windows import PlanWindow, claude_plan_windows, keep_plan_windows

MOST_BYTES = 4 << 20
"""Bytes of standard input that are read."""

WIDTH = 80
"""Columns of an unknown terminal."""

MARGIN = 4
"""Columns that Claude Code keeps free at the sides of a status line; it cuts off what reaches into
them."""

SYMBOLS = "█░│…"
"""What a stream must be able to print for a line of blocks; otherwise it is drawn in ASCII."""

MOST = 10**12
"""The largest number that counts as a number of tokens."""

LONGEST = 300
"""Characters of a name that are kept."""

_COUNTERS = (
    "input_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "output_tokens",
)


def main(
    stdin: BinaryIO | None = None,
    stdout: BinaryIO | None = None,
    environ: Mapping[str, str] | None = None,
) -> int:
    """Read what the client sends, print the status line in one write, and return 0, whatever
    happens."""
    environ = without_bad_home(os.environ if environ is None else environ)
    try:
        given = (stdin or sys.stdin.buffer).read(MOST_BYTES)
        nice = stdout is not None or can_print(SYMBOLS, sys.stdout)
        shown = lines_for(given, environ, now=time.time(), nice=nice)
        out = stdout or sys.stdout.buffer
        out.write(shown + b"\n" if shown else b"")
        out.flush()
    except Exception as error:  # for an exit code the client would show a blank line
        log(environ, f"statusline: {type(error).__name__}: {error}")
    return 0


def lines_for(
    given: bytes,
    environ: Mapping[str, str],
    *,
    now: float,
    nice: bool = True,
    terminal: int = WIDTH,
) -> bytes:
    """Return what to show for *given*: the lines of the other status line, and brim's own below.

    *nice* says whether more than ASCII can be shown, *terminal* its width if the client doesn't
    say.
    """

    # Not if it's the other one that has started this one.
    command = "" if environ.get(INSIDE) else previous_command(user_folder(environ))
    other = Other(command, given, environ) if command else None
    answer = None if is_disabled(environ) else _guarded(environ, _answer, given, environ, now)
    shown: list[bytes] = []
    late: list[str] = []
    if other is not None:
        shown.append(other.lines())
        if other.failure:
            late = [f"the other status line {other.failure}", "the other one failed"]
            log(environ, f"statusline: {late[0]}")
    if answer is not None:
        status, look, told = answer
        look = replace(look, nice=nice, width=max(1, columns(environ, terminal) - MARGIN))
        shown.append(_guarded(environ, _drawn, status, look, now, told, late))
    return b"\n".join(filter(None, shown))


def facts_of(given: bytes, environ: Mapping[str, str], *, now: float) -> dict[str, object] | None:
    """Return what the line is drawn from, for a script; None if *given* can't be read."""
    answer = _guarded(environ, _answer, given, environ, now)
    if answer is None:
        return None
    status, look, told = answer
    facts = dict(sorted(status.to_dict().items()))
    facts |= {
        "utilization": status.utilization,
        "warn_threshold": look.warn,
        "compact_threshold": look.compact,
    }
    return {**facts, "warning": level_of(status, look), "notices": told}


def columns(environ: Mapping[str, str], terminal: int = WIDTH) -> int:
    """Return the width to keep to: what the client says (``COLUMNS``), else that of the
    *terminal*."""
    said = environ.get("COLUMNS", "")[:9]
    return (
        min(int(said), 1_000) if said.isascii() and said.isdigit() and int(said) > 0 else terminal
    )


def can_print(text: str, stream: Any) -> bool:
    """Whether *stream* has the characters of *text*."""
    try:
        text.encode(getattr(stream, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _answer(
    given: bytes, environ: Mapping[str, str], now: float
) -> tuple[StatusLine, Look, list[str]]:
    """Return what the client says, how to draw it, and what else to tell."""
    data = json.loads(given.decode("utf-8", "replace"))
    if not isinstance(data, dict):
        raise ValueError("what came isn't a JSON object")
    cwd = data.get("cwd")
    workspace = HookWorkspace(
        environ, cwd if isinstance(cwd, str) and "\0" not in cwd else "", now=now
    )
    # A client reads colours from a pipe, so only the user can say no.
    colour = not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"
    look = Look(colour=colour)
    window = None
    if (config := _guarded(environ, lambda: workspace.config)) is not None:
        look = replace(
            look,
            warn=config["context.warn"],
            compact=config["context.compact"],
            near=config["spend.warn"],
            parts=tuple(config.yours["statusline.parts"].split(", ")),
        )
        window = config["context.window"]
    status = read_status(data, now=now, window=window)
    status = _guarded(environ, _surrounded, status, look, data, environ) or status
    _guarded(environ, _remember, status, workspace)
    told = [notice] if (notice := _guarded(environ, limit_notice, status, workspace)) else []
    if "project" in workspace.problems or (
        status.session and workspace.state(status.session).told(LEFT_OUT)
    ):
        told.append("project left out: brim doctor")
    if "user" in workspace.problems:
        told.append("settings wrong: brim doctor")
    if status.session and workspace.state(status.session).kept(KEPT):
        told.append(SHORT)
    if waiting := _guarded(environ, corrections_waiting, workspace):
        told.append(waiting)
    _guarded(environ, workspace.close)
    if is_paused(workspace.home):
        told.append("brim is paused")  # the user may have forgotten
    return status, look, told


def corrections_waiting(workspace: HookWorkspace) -> str:
    """Say how many corrections of this project wait for a person; empty if none does."""
    if not os.path.exists(os.path.join(workspace.home, "corrections.json")):
        return ""

    waiting = len(Suggestions(workspace.home).waiting(workspace.project))
    return f"{waiting} correction{'' if waiting == 1 else 's'} to review" if waiting else ""


def _surrounded(
    status: StatusLine, look: Look, data: Mapping[str, Any], environ: Mapping[str, str]
) -> StatusLine:
    """Return *status* with what the client doesn't say itself: where it compacts, the folder and
    its branch."""
    project = text(mapping(data, "workspace"), "project_dir") or status.cwd
    own = _count(mapping(data, "context_window").get("context_window_size")) or 0
    found: dict[str, Any] = {}
    if "headroom" in look.parts and status.model:
        started = (
            client_command() if environ.get("CLAUDECODE") else []
        )  # the client's own mark: it started this process
        found["auto_compact"] = auto_compact(
            status.model, own, environ, folder=project, command=started
        )
    if "folder" in look.parts:
        home = home_folder(environ)
        inside = status.cwd.startswith(os.path.join(home, ""))
        found["folder"] = f"~{status.cwd[len(home.rstrip(os.sep)) :]}" if inside else status.cwd
    if "branch" in look.parts and status.cwd:
        found["branch"] = branch(status.cwd) or ""
    return replace(status, **found)


def _drawn(
    status: StatusLine, look: Look, now: float, notices: list[str], aside: list[str]
) -> bytes:
    until = None
    with suppress(
        OSError, OverflowError, ValueError
    ):  # a time that this machine's clock can't show
        until = None if status.cache_until is None else time.localtime(status.cache_until)
    return draw(status, look, notices=notices, aside=aside, until=until, now=now).encode(
        "utf-8", "replace"
    )


def _guarded(environ: Mapping[str, str], call: Callable[..., Any], *arguments: Any) -> Any:
    """Return what *call* returns; None, and a line in the log, if it fails: the rest is shown
    anyway."""
    try:
        return call(*arguments)
    except Exception as error:
        log(environ, f"statusline: {type(error).__name__}: {error}")
        return None


def _remember(status: StatusLine, workspace: HookWorkspace) -> None:
    """Keep the exact usage for the hooks, and how much of the plan's windows is used.

    A client sends the same numbers again and again, and for a moment after a compaction too, when
    they are no longer true. So numbers that were seen before aren't kept again.
    """
    if status.plan_windows:
        keep_plan_windows(workspace.home, status.plan_windows)
    if not status.session:
        return
    state = workspace.state(status.session)
    seen = state.usage
    cost = None if status.cost_usd is None else round(status.cost_usd * 1_000_000)
    if status.used_tokens is not None:
        window = status.context_window or 0
        found = list(status.counters)
        if state.kept("statusline") != found:
            state.keep("statusline", found)
            state.usage = UsageSeen(
                status.used_tokens, window, status.model, workspace.now, "statusline", cost
            )
        elif seen is not None and seen.source == "statusline":
            state.usage = replace(seen, window=window, model=status.model, cost=cost)
    elif status.emptied and seen is not None and seen.source == "statusline":
        state.usage = None


# What the client says -----------------------------------------------------------------------------


@dataclass(frozen=True)
class StatusLine(PlainData):
    """What a client says about one session at one moment. What it doesn't say is None, or empty."""

    session: str = ""
    cwd: str = ""
    model: str = ""
    """The model's id."""
    model_name: str = ""
    """The client's name for the model."""
    used_tokens: int | None = None
    """What the last request took: input, cache writes and cache reads. None before the first
    answer."""
    counters: tuple[int, ...] = ()
    """Input, cache writes, cache reads and output of the last request as sent: they tell two
    requests apart."""
    context_window: int | None = None
    emptied: bool = False
    """Whether every counter is 0: the window was compacted or cleared, and no answer has come
    since."""
    cost_usd: float | None = None
    cache: str = ""
    """``warm``, ``cold``, or empty if nothing is cached."""
    cache_until: float | None = None
    """When a warm cache goes cold."""
    recache_tokens: int | None = None
    """Tokens that the next request writes to the cache again if it is cold."""
    plan_windows: tuple[PlanWindow, ...] = ()
    """How much of a subscription's windows is used."""
    auto_compact: AutoCompact | None = None
    """Where the client compacts on its own; None if that isn't known."""
    folder: str = ""
    """The working folder, for people."""
    branch: str = ""

    @property
    def utilization(self) -> float | None:
        """The share of the window that is used; it may exceed 1. None if either is not known."""
        if self.used_tokens is None or not self.context_window:
            return None
        return self.used_tokens / self.context_window


def read_status(data: Mapping[str, Any], *, now: float, window: int | None = None) -> StatusLine:
    """Return what *data* says. Nothing in it is required, and nothing in it raises.

    *window* is the size that a setting pins; else it is the client's, else the model table's.
    """
    model = mapping(data, "model")
    context = mapping(data, "context_window")
    name = text(model, "id")[:LONGEST]
    counters = _counters(context.get("current_usage"))
    used = sum(counters[:-1]) or None
    size = window or _count(context.get("context_window_size")) or None
    if size is None and used is not None and name:
        size = known_window(name) or None
    cache, until, again = _cache(mapping(data, "prompt_cache"), now)
    return StatusLine(
        session=text(data, "session_id")[:LONGEST],
        cwd=(text(data, "cwd") or text(mapping(data, "workspace"), "current_dir"))[:10_000],
        model=name,
        model_name=text(model, "display_name")[:LONGEST] or name,
        used_tokens=used,
        counters=counters,
        context_window=size,
        emptied=bool(counters) and used is None,
        cost_usd=_amount(mapping(data, "cost").get("total_cost_usd")),
        cache=cache,
        cache_until=until,
        recache_tokens=again,
        plan_windows=_plan(data.get("rate_limits"), now),
    )


def _plan(limits: object, now: float) -> tuple[PlanWindow, ...]:
    if not isinstance(limits, dict):
        return ()

    return tuple(claude_plan_windows(limits, now))


def _counters(usage: object) -> tuple[int, ...]:
    """Return the counters of the last request; none if the client gives none. One that is missing
    is 0."""
    if not isinstance(usage, dict):
        return ()
    counts = [_count(usage.get(name)) for name in _COUNTERS]
    return (
        tuple(count or 0 for count in counts)
        if any(count is not None for count in counts[:-1])
        else ()
    )


def _cache(cache: Mapping[str, Any], now: float) -> tuple[str, float | None, int | None]:
    if not isinstance(cache.get("warm"), bool) or cache.get("caching_observed") is False:
        return "", None, None
    until = _amount(cache.get("expires_at"))
    warm = cache["warm"] and (until is None or until > now)
    return (
        "warm" if warm else "cold",
        until if warm else None,
        _count(cache.get("recache_tokens_if_cold")),
    )


def _count(value: object) -> int | None:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 <= value <= MOST else None


def _amount(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= MOST:
        return None
    return float(value) if math.isfinite(value) else None


# Limits -------------------------------------------------------------------------------------------


def limit_notice(status: StatusLine, workspace: HookWorkspace) -> str:
    """Return where the nearest limit on this session stands, once it is worth a warning; else
    nothing.

    Nothing is read here: hooks bring the index up to date.
    """
    if not status.session or not workspace.may_have_limits:
        return ""
    settings = workspace.limit_settings
    project = workspace.index.project_of_session(status.session) or workspace.limits_project
    standing = nearest(
        standings(
            settings.limits,
            workspace.index,
            Spender(project, status.session),
            workspace.now,
            warn=workspace.config["spend.warn"],
        )
    )
    if standing is None or standing.level == BELOW:
        return ""
    spent = f"{out_of(standing.spent, standing.amount, standing.limit.unit)}{when(standing.limit.period)}"
    return f"stopped: {spent}" if standing.is_stopped else f"spending {spent}"
