"""How full the window is, in the agent's own numbers.

No hook is told the number of tokens, except by Gemini CLI. The status line is, and leaves it in the
session's state; a transcript that was written to since then is newer.
"""

from __future__ import annotations

from dataclasses import replace

from brim.agents.agent import Agent
from brim.agents.call import HookCall
from brim.hooks.state import HookWorkspace, UsageSeen
from brim.hooks.transcript import stat_of, tail_lines
from brim.models.light import lookup

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

    tokens = call.prompt_tokens
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


def from_transcript(path: str, *, agent: Agent, now: float) -> UsageSeen | None:
    """Return the last reading in the transcript *path* of *agent*; None if there is none."""
    model = ""
    window = 0
    for line in tail_lines(path):
        seen = agent.window_in(line)
        if seen is None:
            continue
        model = model or seen.model
        window = window or seen.window
        if seen.tokens is not None:
            return UsageSeen(seen.tokens, window, model, now, "transcript") if seen.tokens else None
    return None
