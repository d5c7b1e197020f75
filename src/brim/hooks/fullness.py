"""How full the window is, in the agent's own numbers, and when the human is warned.

No hook is told the number of tokens, except by Gemini CLI. The status line is, and leaves it in the session's state; a
transcript that was written to since then is newer. Warnings go to the human, who can do something about it.
"""

from __future__ import annotations

import json

from brim.hooks.state import UsageSeen
from brim.hooks.transcript import size_of, stat_of, tail_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brim.hooks.event import Answer, HookCall
    from brim.hooks.state import HookWorkspace

LATE = 2.0
"""Seconds that the status line may be behind the transcript's last line and still describe the same request."""


def usage_now(call: HookCall, workspace: HookWorkspace) -> UsageSeen | None:
    """Return the newest exact reading of the main thread's window, None if there is none.

    Its ``window`` is the setting ``context.window``, else what the agent said, else what is known of the model.
    """
    cached = workspace.state(call.session).usage
    seen = cached
    found = stat_of(call.transcript)
    if cached is None or (found is not None and found.st_mtime > cached.time + LATE):
        seen = from_transcript(call.transcript, agent=call.agent, now=workspace.now) or cached
    if seen is None:
        return None
    cached = cached or seen
    model = seen.model or call.model or cached.model
    window = seen.window or (cached.window if cached.model in ("", model) else 0)
    return seen.replace(window=workspace.config["context.window"] or window or known_window(model), model=model)


def remember_reported(call: HookCall, workspace: HookWorkspace) -> None:
    """Keep what the agent reported with *call* itself, as Gemini CLI does after each request."""
    from brim.tracking.readers.fields import count

    tokens = count(call.data, "llm_response", "usageMetadata", "promptTokenCount")
    if not tokens or call.sub_agent:
        return
    state = workspace.state(call.session)
    before = state.usage
    if before is None or (before.tokens, before.model) != (tokens, call.model):
        state.usage = UsageSeen(tokens, 0, call.model, workspace.now, "hook")


def known_window(model: str) -> int:
    """Return the window of a model in the table, else 0: a warning from a guess would be a false one."""
    from brim.models.light import lookup

    found = lookup(model)
    return found.context_window if found.resolved else 0


# The transcript's end ---------------------------------------------------------------------------------------------

_Found = tuple["int | None", str, int]
"""Tokens (None if the line has only the model or the window; 0 if they aren't known any more), model, window."""


def from_transcript(path: str, *, agent: str, now: float) -> UsageSeen | None:
    """Return the last reading in the transcript *path* of *agent*; None if there is none."""
    read = {"claude": _claude, "codex": _codex, "gemini": _gemini}.get(agent)
    model, window = "", 0
    for line in tail_lines(path) if read is not None else ():
        if read is not None and (found := read(line)) is not None:
            tokens, model, window = found[0], model or found[1], window or found[2]
            if tokens is not None:
                return UsageSeen(tokens, window, model, now, "transcript") if tokens else None
    return None


def _claude(line: bytes) -> _Found | None:
    from brim.tracking.events import Usage
    from brim.tracking.readers.claude import report_in
    from brim.tracking.readers.fields import count, flag, mapping, text
    from brim.tracking.readers.stream import parsed_line

    if b"compact_boundary" in line:
        data = parsed_line(line)
        if text(data, "subtype") == "compact_boundary" and not flag(data, "isSidechain"):
            left = mapping(data, "compactMetadata") or mapping(data, "compact_metadata")
            return count(left, "postTokens") or count(left, "post_tokens"), "", 0
    used = report_in(line)
    is_main = isinstance(used, Usage) and not used.agent and used.tokens.prompt
    return (used.tokens.prompt, used.model, 0) if isinstance(used, Usage) and is_main else None


def _codex(line: bytes) -> _Found | None:
    from brim.tracking.readers.fields import count, mapping, text
    from brim.tracking.readers.stream import parsed_line

    if b'"token_count"' not in line and b'"compacted"' not in line and b'"turn_context"' not in line:
        return None
    data = parsed_line(line)
    kind, payload = text(data, "type"), mapping(data, "payload")
    if kind == "compacted":
        return 0, "", 0
    if kind == "turn_context":
        return None, text(payload, "model"), 0
    info = mapping(payload, "info")
    if text(payload, "type") != "token_count" or not mapping(info, "last_token_usage"):
        return None
    return count(info, "last_token_usage", "input_tokens") or None, "", count(info, "model_context_window")


def _gemini(line: bytes) -> _Found | None:
    from brim.tracking.readers.fields import count, text
    from brim.tracking.readers.stream import parsed_line

    data = parsed_line(line) if b'"tokens"' in line else None
    tokens = count(data, "tokens", "input") if text(data, "type") == "gemini" else 0
    return (tokens, text(data, "model"), 0) if tokens else None


# The last answer of a turn ----------------------------------------------------------------------------------------

PATIENCE = 0.25
"""Seconds that are waited at most for a turn's last answer."""
LIVE = 900.0
"""Seconds after which a transcript that wasn't written to isn't in use any more."""

_STEP = 0.01
_LONGEST = 80
_TAIL = 1 << 17


def await_answer(call: HookCall, workspace: HookWorkspace) -> bool:
    """Wait until the transcript has the answer that ended the turn; return whether it has it now.

    In a terminal Claude Code reports the end of a turn 40 to 180 milliseconds before it writes the turn's last answer.
    Without this, its cost and tokens would be noticed one event late. There is nothing to wait for if the client
    doesn't say what the answer was, or the transcript isn't in use.
    """
    words = _last_words(call.data.get("last_assistant_message"))
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


def _last_words(answer: object) -> bytes:
    """Return the end of *answer* as a transcript has it: one line per block, letters not escaped."""
    if not isinstance(answer, str):
        return b""
    line = answer.rstrip().rpartition("\n")[2].rpartition("\ufffd")[2]
    return json.dumps(line[-_LONGEST:], ensure_ascii=False)[1:-1].encode("utf-8", "replace")


def _is_there(words: bytes, path: str) -> bool:
    """Whether an answer since the last prompt or result has *words*: an older one may have them too."""
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
    found = stat_of(path)
    return found.st_size if found is not None and abs(now - found.st_mtime) < LIVE else -1


# Warnings ---------------------------------------------------------------------------------------------------------

GROWN = 200_000
"""Bytes that a transcript must have grown by before it is looked at again within a turn."""

GROWN_TURN = 16_000
"""Bytes by which it has grown at a prompt if the turn before was interrupted: what follows an end is less."""

LOOKED = "looked"
"""Kept in a session's state: how long its transcript was at the last look."""

WARNED, DUE, OVERHEAD = "context warning", "compact due", "context overhead"
"""The latches of the window."""

COMPRESSING = "compressing"
"""Kept in the state of a session whose client may compress its window at any request."""

BEGAN = "began"
"""Kept in the state of a session that wasn't told its rules yet: how it began."""

SHRUNK = 0.6
"""A window that holds less than this share of what it held was compressed."""

_COMPACTED = "compacted"
_BEFORE = "tokens before"
_COMMANDS = {"claude": "/compact", "codex": "/compact", "gemini": "/compress"}


def is_look_due(call: HookCall, workspace: HookWorkspace) -> bool:
    """Whether enough was written since the last look at the window to look again: a cheap check at every event."""
    grown = size_of(call.transcript) - workspace.state(call.session).kept_number(LOOKED)
    return not call.sub_agent and grown >= (GROWN_TURN if call.event == "prompt" else GROWN)


def context_note(call: HookCall, workspace: HookWorkspace) -> Answer | None:
    """Return the warning that is due about the main thread's window, None if there is none."""
    if not call.session or call.sub_agent:
        return None
    state = workspace.state(call.session)
    state.keep(LOOKED, size_of(call.transcript))  # whatever is found: a file that says nothing isn't read at every call
    seen = usage_now(call, workspace)
    if seen is None or seen.window <= 0:
        return None
    see_compression(call, workspace, seen.tokens)
    after = state.kept(_COMPACTED) is True
    if after:  # this is what the compaction has left
        state.keep(_COMPACTED, False)
    if seen.tokens / seen.window < workspace.config["context.warn"]:
        return None
    from brim.hooks.event import Answer

    told = _warning(call, workspace, seen.tokens, seen.window, after=after)
    return Answer(note=f"brim: {told}") if told else None


def _warning(call: HookCall, workspace: HookWorkspace, tokens: int, window: int, *, after: bool) -> str:
    """Return the sentence that is due at this many *tokens*; crossing the second mark brings only that one."""
    from brim.tracking.gauge import CompactDue, ContextWarning

    state = workspace.state(call.session)
    facts: Any = {"used_tokens": tokens, "window": window, "utilization": tokens / window, "session": call.session}
    if tokens / window < workspace.config["context.compact"]:
        return str(ContextWarning(**facts)) if state.tell_once(WARNED) else ""
    if after or state.told(OVERHEAD):
        return str(ContextWarning(reason="overhead", **facts)) if state.tell_once(OVERHEAD) else ""
    if not state.tell_once(DUE):
        return ""
    state.tell_once(WARNED)
    return f"{CompactDue(**facts)} Type {_COMMANDS.get(call.agent, '/compact')}."


def open_context_latches(call: HookCall, workspace: HookWorkspace) -> None:
    """Let the warnings come again: the window was compacted and may fill again."""
    state = workspace.state(call.session)
    for latch in (WARNED, DUE):
        state.open_latch(latch)
    state.keep(_COMPACTED, True)
    state.keep(LOOKED, size_of(call.transcript))


def see_compression(call: HookCall, workspace: HookWorkspace, tokens: int) -> None:
    """Treat a window that has shrunk as compacted: before every request Gemini says only that it may compress."""
    state = workspace.state(call.session)
    if state.kept(COMPRESSING) is not True:
        return
    before = state.kept(_BEFORE)
    if type(before) is int and tokens < SHRUNK * before:
        open_context_latches(call, workspace)
        state.keep(BEGAN, "compact")
    state.keep(_BEFORE, tokens)
