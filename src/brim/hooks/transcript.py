"""The file of a session, and how full it says the window is.

It is read forwards from where the last hook stopped, or backwards from its end. The path comes from
outside: links aren't followed, pipes aren't waited for, and another user's file counts as missing.

No hook is told how many tokens are in the window, except by agents that report each request. The
status line is, and leaves it in the session's state; a transcript that was written to since then is
newer. When the window fills up, the human is warned: whether to look is decided at every event.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from io import FileIO
from typing import Any

from brim._startup import read_at
from brim.agents.agent import Agent
from brim.agents.call import PROMPT, Answer, HookCall
from brim.files import open_safely
from brim.hooks.state import HookWorkspace
from brim.notices import CompactDue, ContextWarning
from brim.sessions.window.windows import (
    REPORTED,
    ReportedWindow,
    UsageSeen,
    certain_window,
)

BLOCK = 1 << 17
"""Bytes that are read at once: readers look at the clock after each block."""

TAIL_BLOCK = 1 << 16
"""Bytes of the first block from the end; each further one is twice as long."""

TAIL = 4 << 20
"""Bytes from the end that are read at most."""


def stat_of(path: str) -> os.stat_result | None:
    """Return what the system says about the transcript *path*; None if there is none that may be
    read."""
    try:
        status = os.lstat(path)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    if hasattr(os, "getuid") and status.st_uid != os.getuid():
        return None
    return status


def size_of(path: str) -> int:
    """Return how many bytes the transcript *path* has, 0 if there is none that may be read."""
    status = stat_of(path)
    if status is None:
        return 0
    return status.st_size


def transcript_of(call: HookCall) -> str:
    """Return the file with the calls of the agent that makes *call*."""
    if call.sub_agent and call.agent.transcripts.has_subagent_files:
        folder = os.path.join(call.transcript.removesuffix(".jsonl"), "subagents")
        return os.path.join(folder, f"agent-{call.sub_agent}.jsonl")
    return call.transcript


def whole_lines(
    path: str, start: int, *, overlap: int = 0, most: int = 1 << 23
) -> Iterator[tuple[int, bytes]]:
    """Yield the whole lines of *path* from byte *start* on, in blocks: where each block begins, and
    its bytes.

    *overlap* begins that much earlier, at the next line. At most *most* bytes are read. A file
    shorter than *start* is another one and is read from its beginning. The unfinished line at the
    end is left for the next time.
    """
    with suppress(OSError), _opened(path) as file:
        handle = file.fileno()
        size = os.fstat(handle).st_size
        if start > size:
            start = 0
        at = max(0, start - overlap)
        unfinished = b""
        left = most
        skips = at > 0 and read_at(handle, 1, at - 1) != b"\n"
        while left > 0:
            block = read_at(handle, min(BLOCK, left), at + len(unfinished))
            if not block:
                return
            left -= len(block)
            data = unfinished + block
            if skips:
                begin = data.find(b"\n") + 1
                skips = not begin
                if skips:
                    begin = len(data)
                at += begin
                data = data[begin:]
            end = data.rfind(b"\n") + 1
            if end:
                yield at, data[:end]
            at += end
            unfinished = data[end:]


def tail_lines(path: str, *, most: int = TAIL) -> Iterator[bytes]:
    """Yield the lines of the file *path*, the last one first, within its last *most* bytes. Blank
    ones are skipped."""
    with suppress(OSError), _opened(path) as file:
        handle = file.fileno()
        begin = os.fstat(handle).st_size
        left = most
        size = TAIL_BLOCK
        cut_line = b""
        while begin > 0 and left > 0:
            length = min(size, begin, left)
            begin -= length
            left -= length
            size *= 2
            data = read_at(handle, length, begin) + cut_line
            # There may be millions of blank lines; the pattern isn't compiled for nothing.
            if b"\n\n" in data or b"\n\r" in data:
                data = re.sub(rb"\n\s+", b"\n", data)
            cut_line, *lines = data.split(b"\n")
            lines.reverse()
            yield from lines
        if begin == 0:
            yield cut_line


def tail_bytes(path: str, most: int) -> tuple[int, bytes]:
    """Return the whole lines in the last *most* bytes of the file *path*, and where they begin."""
    with suppress(OSError), _opened(path) as file:
        handle = file.fileno()
        begin = max(0, os.fstat(handle).st_size - most)
        data = read_at(handle, most, begin)
        skipped = data.find(b"\n") + 1 if begin > 0 else 0
        return begin + skipped, data[skipped:]
    return 0, b""


def _opened(path: str) -> FileIO:
    """Return the file *path*; an ``OSError`` if it isn't a regular one of this user."""
    if stat_of(path) is None:
        raise FileNotFoundError(path)
    return FileIO(open_safely(path))


# Warnings -----------------------------------------------------------------------------------------

GROWN = 200_000
"""Bytes that a transcript must have grown by before it is looked at again within a turn."""

GROWN_TURN = 16_000
"""Bytes by which it has grown at a prompt if the turn before was interrupted: what follows an end
is less."""

LOOKED = "looked"
"""Kept in a session's state: how long its transcript was at the last look."""

WARNED = "context warning"
DUE = "compact due"
OVERHEAD = "context overhead"
"""The latches of the window."""

COMPRESSING = "compressing"
"""Kept in the state of a session whose client may compress its window at any request."""

BEGAN = "began"
"""Kept in the state of a session that wasn't told its rules yet: how it began."""

SHRUNK = 0.6
"""A window that holds less than this share of what it held was compressed."""

_COMPACTED = "compacted"
_BEFORE = "tokens before"


def is_look_due(call: HookCall, workspace: HookWorkspace) -> bool:
    """Whether enough was written since the last look at the window to look again: a cheap check at
    every event."""
    if call.sub_agent:
        return False
    growth = size_of(call.transcript) - workspace.state(call.session).kept_number(LOOKED)
    if call.event == PROMPT:
        return growth >= GROWN_TURN
    return growth >= GROWN


def context_note(call: HookCall, workspace: HookWorkspace) -> Answer | None:
    """Return the warning that is due about the main thread's window, None if there is none."""
    if not call.session or call.sub_agent:
        return None
    state = workspace.state(call.session)
    # Whatever is found: a file that says nothing isn't read at every call.
    state.keep(LOOKED, size_of(call.transcript))
    usage = usage_now(call, workspace)
    if usage is None or usage.window <= 0:
        return None
    see_compression(call, workspace, usage.tokens)
    was_compacted = state.kept(_COMPACTED) is True
    if was_compacted:  # this is what the compaction has left
        state.keep(_COMPACTED, False)
    if usage.tokens / usage.window < workspace.config["context.warn"]:
        return None
    warning = _warning(call, workspace, usage, was_compacted=was_compacted)
    if not warning:
        return None
    return Answer(note=f"brim: {warning}")


def _warning(
    call: HookCall, workspace: HookWorkspace, usage: UsageSeen, *, was_compacted: bool
) -> str:
    """Return the sentence that is due for this *usage*; crossing the second mark brings only that
    one."""
    state = workspace.state(call.session)
    share = usage.tokens / usage.window
    facts: Any = {
        "used_tokens": usage.tokens,
        "window": usage.window,
        "utilization": share,
        "session": call.session,
    }
    if share < workspace.config["context.compact"]:
        if not state.tell_once(WARNED):
            return ""
        return str(ContextWarning(**facts))
    if was_compacted or state.told(OVERHEAD):
        if not state.tell_once(OVERHEAD):
            return ""
        return str(ContextWarning(reason="overhead", **facts))
    if not state.tell_once(DUE):
        return ""
    state.tell_once(WARNED)
    return f"{CompactDue(**facts)} Type {call.agent.compact_command}."


def open_context_latches(call: HookCall, workspace: HookWorkspace) -> None:
    """Let the warnings come again: the window was compacted and may fill again."""
    state = workspace.state(call.session)
    for latch in (WARNED, DUE):
        state.open_latch(latch)
    state.keep(_COMPACTED, True)
    state.keep(LOOKED, size_of(call.transcript))


def see_compression(call: HookCall, workspace: HookWorkspace, tokens: int) -> None:
    """Treat a window that has shrunk as compacted: before every request Gemini says only that it
    may compress."""
    state = workspace.state(call.session)
    if state.kept(COMPRESSING) is not True:
        return
    before = state.kept(_BEFORE)
    if type(before) is int and tokens < SHRUNK * before:
        open_context_latches(call, workspace)
        state.keep(BEGAN, "compact")
    state.keep(_BEFORE, tokens)


# The agent's own numbers --------------------------------------------------------------------------

LATE = 2.0
"""Seconds that the status line may be behind the transcript's last line and still describe the same
request."""


def usage_now(call: HookCall, workspace: HookWorkspace) -> UsageSeen | None:
    """Return the newest exact reading of the main thread's window, None if there is none.

    Its ``window`` is the one that every part of brim shows: see ``session_window``.
    """
    cached = workspace.state(call.session).usage
    usage = cached
    if cached is None or _has_grown_since(call.transcript, cached.time):
        written = from_transcript(call.transcript, agent=call.agent, now=workspace.now)
        usage = written or cached
    if usage is None:
        return None
    cached = cached or usage
    model = usage.model or call.model or cached.model
    reported = _windows_of_client(call.session, workspace)
    if usage.window:
        reported[model] = usage.window
    elif cached.window and cached.model in ("", model):
        reported[model] = cached.window
    pinned = workspace.config["context.window"]
    window = certain_window(model, pinned=pinned, reported=reported)
    return replace(usage, window=window, model=model)


def _has_grown_since(path: str, time: float) -> bool:
    """Whether the transcript was written to well after *time*."""
    status = stat_of(path)
    return status is not None and status.st_mtime > time + LATE


def _windows_of_client(session: str, workspace: HookWorkspace) -> dict[str, int]:
    """Return the window that the status line was told for its model."""
    report = ReportedWindow.read(workspace.state(session).kept(REPORTED))
    if report is None:
        return {}
    return {report.model: report.window}


def remember_reported(call: HookCall, workspace: HookWorkspace) -> None:
    """Keep what the agent reported with *call* itself, as Gemini CLI does after each request."""
    tokens = call.prompt_tokens
    if not tokens or call.sub_agent:
        return
    state = workspace.state(call.session)
    before = state.usage
    if before is None or (before.tokens, before.model) != (tokens, call.model):
        state.usage = UsageSeen(tokens, 0, call.model, workspace.now, "hook")


def model_of(call: HookCall, workspace: HookWorkspace) -> str | None:
    """Return the model that the agent runs, as far as it is known; None means no model at all."""
    if call.model:
        return call.model
    state = workspace.state(call.session)
    if state.usage is not None and state.usage.model:
        return state.usage.model
    model = state.kept("model")
    if isinstance(model, str) and model:
        return model
    if workspace.config.yours["model"]:
        return str(workspace.config.yours["model"])
    return call.agent.counting_model or None


# The transcript's end -----------------------------------------------------------------------------


def from_transcript(path: str, *, agent: Agent, now: float) -> UsageSeen | None:
    """Return the last reading in the transcript *path* of *agent*; None if there is none."""
    model = ""
    window = 0
    for line in tail_lines(path):
        reading = agent.window_in(line)
        if reading is None:
            continue
        model = model or reading.model
        window = window or reading.window
        if reading.tokens == 0:
            return None
        if reading.tokens is not None:
            return UsageSeen(reading.tokens, window, model, now, "transcript")
    return None
