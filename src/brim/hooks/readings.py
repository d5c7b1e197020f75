"""How full the window is, in the agent's own numbers.

No hook is told the number of tokens, except by Gemini CLI. The status line is, and leaves it in the
session's state; a transcript that was written to since then is newer.
"""

from __future__ import annotations

from dataclasses import replace

from brim.hooks.event import HookCall
from brim.hooks.state import HookWorkspace, UsageSeen
from brim.hooks.transcript import stat_of, tail_lines
from brim.models.light import lookup
from brim.tracking.events import Usage
from brim.tracking.readers.claude import report_in
from brim.tracking.readers.fields import count, flag, mapping, text
from brim.tracking.readers.stream import parsed_line

LATE = 2.0
"""Seconds that the status line may be behind the transcript's last line and still describe the same
request."""


def usage_now(call: HookCall, workspace: HookWorkspace) -> UsageSeen | None:
    """Return the newest exact reading of the main thread's window, None if there is none.

    Its ``window`` is the setting ``context.window``, else what the agent said, else what is known
    of the model.
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
    return replace(
        seen,
        window=workspace.config["context.window"] or window or known_window(model),
        model=model,
    )


def remember_reported(call: HookCall, workspace: HookWorkspace) -> None:
    """Keep what the agent reported with *call* itself, as Gemini CLI does after each request."""

    tokens = count(call.data, "llm_response", "usageMetadata", "promptTokenCount")
    if not tokens or call.sub_agent:
        return
    state = workspace.state(call.session)
    before = state.usage
    if before is None or (before.tokens, before.model) != (tokens, call.model):
        state.usage = UsageSeen(tokens, 0, call.model, workspace.now, "hook")


def known_window(model: str) -> int:
    """Return the window of a model in the table, else 0: a warning from a guess would be a false
    one."""

    found = lookup(model)
    return found.context_window if found.resolved else 0


# The transcript's end -----------------------------------------------------------------------------

_Found = tuple["int | None", str, int]
"""Tokens (None if the line has only the model or the window; 0 if they aren't known any more),
model, window."""


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

    if b"compact_boundary" in line:
        data = parsed_line(line)
        if text(data, "subtype") == "compact_boundary" and not flag(data, "isSidechain"):
            left = mapping(data, "compactMetadata") or mapping(data, "compact_metadata")
            return count(left, "postTokens") or count(left, "post_tokens"), "", 0
    used = report_in(line)
    is_main = isinstance(used, Usage) and not used.agent and used.tokens.prompt
    return (used.tokens.prompt, used.model, 0) if isinstance(used, Usage) and is_main else None


def _codex(line: bytes) -> _Found | None:

    if (
        b'"token_count"' not in line
        and b'"compacted"' not in line
        and b'"turn_context"' not in line
    ):
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
    return (
        count(info, "last_token_usage", "input_tokens") or None,
        "",
        count(info, "model_context_window"),
    )


def _gemini(line: bytes) -> _Found | None:

    data = parsed_line(line) if b'"tokens"' in line else None
    tokens = count(data, "tokens", "input") if text(data, "type") == "gemini" else 0
    return (tokens, text(data, "model"), 0) if tokens else None
