"""The end of a turn, of a sub-agent or of a session: what it left is written down, and where the
limits stand is told."""

from __future__ import annotations

import json
import time

from brim.agents.call import NOTHING, SESSION_END, STOP, Answer, Event, HookCall, joined
from brim.hooks.limits import keep_requests, note_limits
from brim.hooks.process import attempt
from brim.hooks.retention import tidy
from brim.hooks.scratchpad import writer_of
from brim.hooks.state import HookWorkspace
from brim.hooks.transcript import LOOKED, context_note, size_of, stat_of, tail_lines
from brim.hooks.turns import note_turn
from brim.money.decision import STOP as AT_STOP

SECONDS = 0.4
"""How long the end of a turn may read in all; the next hook reads on."""

LEAST = 0.05
"""What journaling gets of that at least."""

LARGE = 1 << 21
"""Bytes since the last end of a turn from which on the last answer isn't waited for."""


def end(call: HookCall, workspace: HookWorkspace) -> Answer:
    """Say where the limits stand, and journal what a turn, sub-agent or session left.

    The human is told at the end of a turn; at the end of a session nothing is shown.
    """
    if workspace.only_injects or not call.session:
        return NOTHING
    notes = []
    begun = time.monotonic()
    if call.event == STOP:
        if call.agent.transcripts.writes_answers_late:
            attempt(_await, call, workspace)
            begun = time.monotonic()
        notes.append(attempt(context_note, call, workspace))
    if call.event != SESSION_END and workspace.may_have_limits:
        notes.append(attempt(note_limits, call, workspace, kind=AT_STOP))
    left = max(LEAST, SECONDS - (time.monotonic() - begun))
    events: list[Event] | None = [] if _reminds(call, workspace) else None
    attempt(note_turn, call, workspace, seconds=left, seen=events)
    if call.event == SESSION_END:
        attempt(_close, call, workspace)
        attempt(keep_requests, call, workspace)
        attempt(_tidy, call, workspace)
        return NOTHING
    if not call.agent.reports(SESSION_END):
        attempt(_tidy, call, workspace)
    return joined(*notes, attempt(_remind, call, workspace, events=events))


def _reminds(call: HookCall, workspace: HookWorkspace) -> bool:
    """Whether the end of this turn can bring a reminder, which keeps the agent going."""
    if call.event != STOP or not call.agent.answers.refusal(STOP):
        return False
    return bool(workspace.config.yours["hooks.remind_at_stop"])


def _remind(
    call: HookCall, workspace: HookWorkspace, *, events: list[Event] | None
) -> Answer | None:
    if not events:
        return None
    from brim.hooks.reminder import remind  # it loads the checks, which few hooks need

    return remind(call, workspace, events)


def _await(call: HookCall, workspace: HookWorkspace) -> None:
    # After more than that, reading takes all the time that there is.
    if size_of(call.transcript) - workspace.state(call.session).kept_number(LOOKED) <= LARGE:
        await_answer(call, workspace)


def _close(call: HookCall, workspace: HookWorkspace) -> None:
    """Close the session's scratch files: the next session may have the project's own."""
    writer = writer_of(call, workspace)
    if writer is not None:
        writer.close()


def _tidy(_: HookCall, workspace: HookWorkspace) -> None:
    """Remove what is past its time."""
    tidy(workspace)


# The last answer of a turn ------------------------------------------------------------------------

PATIENCE = 0.25
"""Seconds that are waited at most for a turn's last answer."""
LIVE = 900.0
"""Seconds after which a transcript that wasn't written to isn't in use any more."""

_STEP = 0.01
_LONGEST = 80
_TAIL = 1 << 17


def await_answer(call: HookCall, workspace: HookWorkspace) -> bool:
    """Wait until the transcript has the answer that ended the turn; return whether it has it now.

    In a terminal Claude Code reports the end of a turn 40 to 180 milliseconds before it writes the
    turn's last answer. Without this, its cost and tokens would be noticed one event late. There is
    nothing to wait for if the client doesn't say what the answer was, or the transcript isn't in
    use.
    """
    words = _last_words(call.last_answer)
    size = _live_size(call.transcript, workspace.now) if words else -1
    if size < 0:
        return False
    end = workspace.clock() + PATIENCE
    while not _is_there(words, call.transcript):
        before = size
        while size == before:
            if workspace.clock() >= end:
                return False
            workspace.sleep(_STEP)
            size = _live_size(call.transcript, workspace.now)
    return True


def _last_words(answer: str) -> bytes:
    """Return the end of *answer* as a transcript has it: one line per block, letters not
    escaped."""
    line = answer.rstrip().rpartition("\n")[2].rpartition("\ufffd")[2]
    return json.dumps(line[-_LONGEST:], ensure_ascii=False)[1:-1].encode("utf-8", "replace")


def _is_there(words: bytes, path: str) -> bool:
    """Whether an answer since the last prompt or result has *words*: an older one may have them
    too."""
    lines = tail_lines(path, most=_TAIL)
    next(lines, None)  # the unfinished line at the end, mostly empty
    for line in lines:
        if b'"assistant"' in line and words in line:
            return True
        if b'"user"' in line:
            return False
    return False


def _live_size(path: str, now: float) -> int:
    """Return how many bytes the transcript has, -1 if there is none or it isn't in use."""
    status = stat_of(path)
    if status is None or abs(now - status.st_mtime) >= LIVE:
        return -1
    return status.st_size
