"""Does LiteLLM ask the guard before each kind of call? Tried once, before anything is served."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import litellm
from litellm import google_genai

from brim.adapters.litellm_requests import CALLS

OLDEST = (1, 106)
"""The first version of LiteLLM that was tried with this guard."""
MESSAGES = [{"role": "user", "content": "Does brim's guard hear of this?"}]
NOWHERE: dict[str, Any] = {
    "model": "openai/gpt-4o",
    "api_base": "http://127.0.0.1:1",
    "api_key": "none",
    "max_retries": 0,
}
"""Where a call would go that the guard didn't hear of."""
SECONDS = 30.0


@dataclass
class Trial:
    """The calls of which the guard has heard."""

    fired: set[str] = field(default_factory=set)


TRIAL: ContextVar[Trial | None] = ContextVar("brim_trial", default=None)


class HookFired(Exception):
    """The guard has heard of a call, which goes no further."""


async def hooks_that_fail(guard: object) -> str:
    """Return what *guard* isn't asked about, in words; empty if it's asked about everything."""
    installed = _version()
    if installed and installed < OLDEST:
        return f"it needs {'.'.join(map(str, OLDEST))} or newer"
    if guard not in litellm.callbacks:
        return "its callbacks don't name brim.adapters.litellm_team.guard"
    trial = Trial()
    TRIAL.set(trial)
    for call in CALLS:
        await _try(call)
    unheard = sorted(set(CALLS) - trial.fired)
    if unheard:
        return f"it doesn't ask before {', '.join(unheard)}"
    return ""


async def _try(call: str) -> None:
    package: Any = litellm
    arguments: dict[str, Any] = {**NOWHERE, "messages": MESSAGES}
    if call == "aresponses":
        arguments = {**NOWHERE, "input": MESSAGES}
    elif call == "anthropic_messages":
        arguments["max_tokens"] = 1
    elif call.startswith("agenerate_content"):
        package = google_genai
        contents = [{"role": "user", "parts": [{"text": MESSAGES[0]["content"]}]}]
        arguments = {**NOWHERE, "contents": contents}
    try:
        async with asyncio.timeout(SECONDS):
            await getattr(package, call)(**arguments)
    except Exception:  # any end will do: what counts is whether the guard was asked
        return


def _version() -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in version("litellm").split(".")[:2])
    except ValueError:
        return ()
