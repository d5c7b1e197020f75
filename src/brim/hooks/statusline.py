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
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

from brim.agents.fields import mapping, text, value, whole
from brim.config.places import branch_of, home_folder, user_folder, without_bad_home
from brim.hooks.attention import CLOCK, INDEX_LOCKED, KEPT, LOCKED, SHORT, faults, losses_of_records
from brim.hooks.process import is_disabled, is_paused
from brim.hooks.state import LEFT_OUT, SAID_TOTAL, HookWorkspace, SessionState, log
from brim.hooks.status_chain import INSIDE, Other, previous_command
from brim.hooks.status_drawing import Look, draw, level_of
from brim.money.amounts import out_of
from brim.money.decision import BELOW
from brim.money.limits import Spender
from brim.money.periods import when
from brim.money.standing import nearest, standings
from brim.record import PlainData
from brim.rules.inbox import Inbox
from brim.sessions.plan_windows import PlanWindow, claude_plan_windows, keep_plan_windows
from brim.sessions.window.auto_compact import auto_compact, client_command
from brim.sessions.window.windows import (
    REPORTED,
    AutoCompact,
    ReportedWindow,
    SaidTotal,
    UsageSeen,
    certain_window,
)

MOST_BYTES = 4 << 20
"""Bytes of standard input that are read."""

WIDTH = 80
"""Columns of an unknown terminal."""

MARGIN = 4
"""Columns that Claude Code keeps free at the sides of a status line; it cuts off what reaches into
them."""

SYMBOLS = "█░│┃…"
"""What a stream must be able to print for a line of blocks; otherwise it is drawn in ASCII."""

MOST = 10**12
"""The largest number that counts as a number of tokens."""

LONGEST = 300
"""Characters of a name that are kept."""

RECENT = 86_400.0
"""Seconds for which a note is mentioned."""

_IN_WINDOW = "current_context_tokens"
"""What only GitHub Copilot CLI says."""
_USAGE = "current_usage"
"""The last request: its counters, or what it sent alone (Qwen Code)."""

_COUNTERS = (
    "input_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "output_tokens",
)


KEPT_NOTICES = {
    CLOCK: "the clock was changed",
    LOCKED: "state.db is locked",
    INDEX_LOCKED: "index.db is locked",
    KEPT: SHORT,
}
"""What the line says while something is kept for the session."""


def main(
    stdin: BinaryIO | None = None,
    stdout: BinaryIO | None = None,
    environ: Mapping[str, str] | None = None,
    word: str = "",
) -> int:
    """Read what the client sends, print the status line in one write, and return 0, whatever
    happens.

    *word* tells whose earlier status line comes first.
    """
    if environ is None:
        environ = os.environ
    environ = without_bad_home(environ)
    try:
        sent = (stdin or sys.stdin.buffer).read(MOST_BYTES)
        nice = stdout is not None or can_print(SYMBOLS, sys.stdout)
        lines = lines_for(sent, environ, now=time.time(), nice=nice, word=word)
        out = stdout or sys.stdout.buffer
        if lines:
            out.write(lines + b"\n")
        out.flush()
    except Exception as error:  # for an exit code the client would show a blank line
        log(environ, f"statusline: {type(error).__name__}: {error}")
    return 0


def lines_for(
    sent: bytes,
    environ: Mapping[str, str],
    *,
    now: float,
    nice: bool = True,
    terminal: int = WIDTH,
    word: str = "",
) -> bytes:
    """Return what to show for what the client *sent*: the lines of the other status line, and
    brim's own below.

    *nice* says whether more than ASCII can be shown, *terminal* its width if the client doesn't
    say.
    """
    other = _start_other(sent, environ, word)
    drawing = None
    if not is_disabled(environ):
        drawing = _guarded(environ, _drawing, sent, environ, now)
    lines: list[bytes] = []
    aside: list[str] = []
    if other is not None:
        lines.append(other.lines())
        if other.failure:
            aside = [f"the other status line {other.failure}", "the other one failed"]
            log(environ, f"statusline: {aside[0]}")
    if drawing is not None:
        width = max(1, columns(environ, terminal) - MARGIN)
        drawing = replace(drawing, look=replace(drawing.look, nice=nice, width=width))
        lines.append(_guarded(environ, drawing.draw, now, aside))
    return b"\n".join(filter(None, lines))


def _start_other(sent: bytes, environ: Mapping[str, str], word: str) -> Other | None:
    """Start the other status line, unless it's the one that has started this one."""
    if environ.get(INSIDE):
        return None
    command = previous_command(user_folder(environ), word)
    if not command:
        return None
    return Other(command, sent, environ)


def facts_of(sent: bytes, environ: Mapping[str, str], *, now: float) -> dict[str, object] | None:
    """Return what the line is drawn from, for a script; None if what was *sent* can't be read."""
    drawing = _guarded(environ, _drawing, sent, environ, now)
    if drawing is None:
        return None
    status = drawing.status
    look = drawing.look
    facts = dict(sorted(status.to_dict().items()))
    facts["utilization"] = status.utilization
    facts["warn_threshold"] = look.warn
    facts["compact_threshold"] = look.compact
    facts["warning"] = level_of(status, look)
    facts["notices"] = drawing.notices
    return facts


def columns(environ: Mapping[str, str], terminal: int = WIDTH) -> int:
    """Return the width to keep to: what the client says (``COLUMNS``), else that of the
    *terminal*."""
    width = environ.get("COLUMNS", "")[:9]
    if width.isascii() and width.isdigit() and int(width) > 0:
        return min(int(width), 1_000)
    return terminal


def can_print(text: str, stream: Any) -> bool:
    """Whether *stream* has the characters of *text*."""
    try:
        text.encode(getattr(stream, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


@dataclass(frozen=True)
class _Drawing:
    """What the client says, how to draw it, and what else to tell."""

    status: StatusLine
    look: Look
    notices: list[str]

    def draw(self, now: float, aside: list[str]) -> bytes:
        """Return the line."""
        line = draw(
            self.status,
            self.look,
            notices=self.notices,
            aside=aside,
            until=_clock_time(self.status.cache_until),
            now=now,
        )
        return line.encode("utf-8", "replace")


def _clock_time(time_seconds: float | None) -> time.struct_time | None:
    if time_seconds is None:
        return None
    try:
        return time.localtime(time_seconds)
    except (OSError, OverflowError, ValueError):  # a time that this machine's clock can't show
        return None


def _drawing(sent: bytes, environ: Mapping[str, str], now: float) -> _Drawing:
    data = json.loads(sent.decode("utf-8", "replace"))
    if not isinstance(data, dict):
        raise ValueError("what came isn't a JSON object")
    cwd = text(data, "cwd")
    if "\0" in cwd:
        cwd = ""
    workspace = HookWorkspace(environ, cwd, now=now)
    # A client reads colours from a pipe, so only the user can say no.
    look = Look(colour=not environ.get("NO_COLOR") and environ.get("TERM") != "dumb")
    window = None
    config = _guarded(environ, _config_of, workspace)
    if config is not None:
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
    notices = _notices(status, workspace)
    _guarded(environ, workspace.close)
    if is_paused(workspace.home):
        notices.append("brim is paused")  # the user may have forgotten
    return _Drawing(status, look, notices)


def _config_of(workspace: HookWorkspace) -> Any:
    return workspace.config


def _notices(status: StatusLine, workspace: HookWorkspace) -> list[str]:
    """Return what the person should know, besides what the client says."""
    environ = workspace.environ
    notices = [_guarded(environ, limit_notice, status, workspace)]
    if "project" in workspace.problems or _is_project_left_out(status, workspace):
        notices.append("project left out: brim doctor")
    if "user" in workspace.problems:
        notices.append("settings wrong: brim doctor")
    if faults(workspace.home) or losses_of_records(workspace.home):
        notices.append("a file is broken: brim doctor")
    if status.session:
        notices += _kept_notices(workspace.state(status.session))
    notices.append(_guarded(environ, notes_waiting, workspace))
    return list(filter(None, notices))


def _kept_notices(state: SessionState) -> list[str]:
    """Return what a hook of the session has found."""
    return [notice for key, notice in KEPT_NOTICES.items() if state.kept(key)]


def _is_project_left_out(status: StatusLine, workspace: HookWorkspace) -> bool:
    return bool(status.session) and workspace.state(status.session).told(LEFT_OUT)


def notes_waiting(workspace: HookWorkspace) -> str:
    """Say how many notes wait for a person, if the last one came within a day; empty if none does.

    After a day the person has seen the line often enough.
    """
    path = os.path.join(workspace.home, "inbox.toml")
    if not os.path.exists(path) or workspace.now - os.path.getmtime(path) > RECENT:
        return ""
    project = workspace.project or ""
    notes = [note for note in Inbox(workspace.home).notes() if note.project in ("", project)]
    if not notes:
        return ""
    if len(notes) == 1:
        return "1 note to review"
    return f"{len(notes)} notes to review"


def _surrounded(
    status: StatusLine, look: Look, data: Mapping[str, Any], environ: Mapping[str, str]
) -> StatusLine:
    """Return *status* with what the client doesn't say itself: where it compacts, the folder and
    its branch."""
    if status.model:
        status = replace(status, auto_compact=_auto_compact(status, data, environ))
    if "folder" in look.parts:
        status = replace(status, folder=_short_folder(status.cwd, environ))
    if "branch" in look.parts and status.cwd:
        status = replace(status, branch=branch_of(status.cwd))
    return status


def _auto_compact(
    status: StatusLine, data: Mapping[str, Any], environ: Mapping[str, str]
) -> AutoCompact | None:
    context = mapping(data, "context_window")
    if _IN_WINDOW in context or whole(context, _USAGE) is not None:  # it isn't Claude Code
        return None
    project = text(data, "workspace", "project_dir") or status.cwd
    window = whole(value(data, "context_window", "context_window_size")) or 0
    command: list[str] = []
    if environ.get("CLAUDECODE"):  # the client's own mark: it started this process
        command = client_command()
    return auto_compact(status.model, window, environ, folder=project, command=command)


def _short_folder(folder: str, environ: Mapping[str, str]) -> str:
    """Return *folder* as people write it."""
    home = home_folder(environ)
    if not folder.startswith(os.path.join(home, "")):
        return folder
    return f"~{folder[len(home.rstrip(os.sep)) :]}"


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
    if status.model:
        report = ReportedWindow(
            status.model,
            window=status.reported_window,
            share=status.reported_share,
            auto_compact=status.auto_compact,
        )
        state.keep(REPORTED, report.to_dict())
    _keep_total(status, state, workspace.now)
    before = state.usage
    is_ours = before is not None and before.source == "statusline"
    if status.used_tokens is None:
        if status.emptied and is_ours:
            state.usage = None
        return
    counters = list(status.counters)
    if state.kept("statusline") != counters:
        state.keep("statusline", counters)
        state.usage = UsageSeen(
            status.used_tokens,
            window=status.reported_window,
            model=status.model,
            time=workspace.now,
            source="statusline",
            cost=status.micro_dollars,
        )
    elif before is not None and is_ours:
        state.usage = replace(
            before,
            window=status.reported_window,
            model=status.model,
            cost=status.micro_dollars,
        )


def _keep_total(status: StatusLine, state: SessionState, now: float) -> None:
    """Keep what the client says that the session cost, for the next hook that adds it up.

    A sum before the first answer is another session's, or what this one cost before it was resumed.
    """
    if not status.micro_dollars or state.kept(SAID_TOTAL) is False:
        return
    total = state.said_total
    if total is None and status.used_tokens is None:
        state.keep(SAID_TOTAL, False)
    elif total is None or total.cost < status.micro_dollars:
        state.keep(SAID_TOTAL, SaidTotal(status.micro_dollars, now).to_dict())


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
    """The window that every part of brim shows for the session."""
    reported_window: int = 0
    """The window that the client says; 0 if it says none."""
    reported_share: float | None = None
    """The client's own percentage, as a share."""
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

    @property
    def micro_dollars(self) -> int | None:
        """The cost in millionths of a dollar, None if it isn't known."""
        if self.cost_usd is None:
            return None
        return round(self.cost_usd * 1_000_000)


def read_status(data: Mapping[str, Any], *, now: float, window: int | None = None) -> StatusLine:
    """Return what *data* says. Nothing in it is required, and nothing in it raises.

    *window* is the size that a setting pins; else it is the client's, else the model table's.
    """
    model = mapping(data, "model")
    context = mapping(data, "context_window")
    name = (text(model, "id") or text(model, "display_name"))[:LONGEST]
    counters = _last_request(context)
    used = sum(counters[:-1]) or None
    reported = whole(context.get("context_window_size")) or 0
    size = None
    if used is not None or reported or window:
        size = certain_window(name, pinned=window, reported={name: reported}) or None
    status = StatusLine(
        session=text(data, "session_id")[:LONGEST],
        cwd=(text(data, "cwd") or text(data, "workspace", "current_dir"))[:10_000],
        model=name,
        model_name=text(model, "display_name")[:LONGEST] or name,
        used_tokens=used,
        counters=counters,
        context_window=size,
        reported_window=reported,
        reported_share=_share(context.get("used_percentage")),
        emptied=bool(counters) and used is None,
        cost_usd=_amount(value(data, "cost", "total_cost_usd")),
        plan_windows=_plan(data.get("rate_limits"), now),
    )
    return _with_cache(status, mapping(data, "prompt_cache"), now)


def _share(number: object) -> float | None:
    percentage = _amount(number)
    if percentage is None:
        return None
    return percentage / 100


def _plan(limits: object, now: float) -> tuple[PlanWindow, ...]:
    if not isinstance(limits, dict):
        return ()
    return tuple(claude_plan_windows(limits, now))


def _last_request(context: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the counters of the last request.

    A client that says what stands in the window now gives the session's sums as usage.
    """
    sent = whole(context, _USAGE)
    if sent is not None:
        return (sent, 0, 0, whole(context, "total_output_tokens") or 0)
    if _IN_WINDOW not in context:
        return _counters(context.get(_USAGE))
    tokens = whole(context, _IN_WINDOW)
    if not tokens:  # nothing was sent yet
        return ()
    return (tokens, 0, 0, whole(context, "last_call_output_tokens") or 0)


def _counters(usage: object) -> tuple[int, ...]:
    """Return the counters of the last request; none if the client gives none. One that is missing
    is 0."""
    if not isinstance(usage, dict):
        return ()
    counts = [whole(usage.get(name)) for name in _COUNTERS]
    if all(count is None for count in counts[:-1]):
        return ()
    return tuple([count or 0 for count in counts])


def _with_cache(status: StatusLine, cache: Mapping[str, Any], now: float) -> StatusLine:
    """Return *status* with what the client says about the prompt *cache*."""
    if not isinstance(cache.get("warm"), bool) or cache.get("caching_observed") is False:
        return status
    status = replace(status, recache_tokens=whole(cache.get("recache_tokens_if_cold")))
    until = _amount(cache.get("expires_at"))
    if cache["warm"] and (until is None or until > now):
        return replace(status, cache="warm", cache_until=until)
    return replace(status, cache="cold")


def _amount(number: object) -> float | None:
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        return None
    if not 0 <= number <= MOST or not math.isfinite(number):
        return None
    return float(number)


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
