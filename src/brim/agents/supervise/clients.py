"""How each agent is started, resumed and spoken to, and what it cannot do under supervision."""

from __future__ import annotations

import json

from brim._frozen import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from brim.agents.supervise.command import ClientCommand

_DOLLAR = 1_000_000

LONGEST_WORD = 100_000
"""Bytes of a prompt that may stand in a command line: systems refuse longer words. A longer one is given as input."""


class Client(Frozen):
    """What brim may expect of one agent."""

    __slots__ = ("caps", "cannot", "compacts", "name", "stays")

    name: str
    stays: bool
    """Whether one process takes turn after turn on its standard input; else each turn is a process that resumes."""
    compacts: bool
    """Whether it can be asked to compact."""
    caps: bool
    """Whether it takes a limit of its own, and so stops between two calls of one turn."""
    cannot: tuple[str, ...]
    """What is printed at the start."""

    def __init__(self, name: str, *, stays: bool, compacts: bool, caps: bool, cannot: tuple[str, ...] = ()) -> None:
        self._fill(name=name, stays=stays, compacts=compacts, caps=caps, cannot=cannot)


_NO_WINDOW = "does not say within a turn what is in its window: the gauge moves when a turn has ended"
_NO_CAP = "takes no limit of its own: what is spent is checked when a turn has ended, not within it"

CLIENTS = {
    "claude": Client("claude", stays=True, compacts=True, caps=True),
    "codex": Client(
        "codex",
        stays=False,
        compacts=False,
        caps=False,
        cannot=(
            "cannot be asked to compact in codex exec: it compacts by itself when its window is full",
            _NO_WINDOW,
            _NO_CAP,
        ),
    ),
    "gemini": Client(
        "gemini",
        stays=False,
        compacts=False,
        caps=False,
        cannot=(
            "cannot be asked to compact without its screen: it compresses by itself when its window is full",
            _NO_WINDOW,
            _NO_CAP,
        ),
    ),
}


def start_words(command: ClientCommand, prompt: str, *, session: str = "", cap: int | None = None) -> list[str]:
    """Return the command that starts the agent for *prompt*, or goes on with *session*.

    *cap* is what this process may spend, in micro-dollars. What is handed over as input is not in here: Claude's
    prompt, and one that is too long for a command line (``goes_as_input``).
    """
    first = () if session else command.first_options
    resume: tuple[str, ...] = ("--resume", session) if session else first
    if command.agent == "claude":
        streams = ("-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
        capped = ("--max-budget-usd", f"{cap / _DOLLAR:.6f}") if cap is not None else ()
        return [command.program, *streams, *resume, *capped, *command.options]
    if command.agent == "codex":
        resume = ("resume", session) if session else first
        last = "-" if goes_as_input(command.agent, prompt) else prompt
        return [command.program, "exec", "--json", *command.options, *resume, "--", last]
    said = () if goes_as_input(command.agent, prompt) else (f"--prompt={prompt}",)
    return [command.program, "-o", "stream-json", *resume, *command.options, *said]


def goes_as_input(agent: str, prompt: str) -> bool:
    """Whether *prompt* is handed over as input, and not in the command line."""
    return CLIENTS[agent].stays or len(prompt.encode("utf-8", "replace")) > LONGEST_WORD


def with_input(agent: str, prompt: str, given: str) -> str:
    """Return *prompt* with what was *given* on standard input, put together as *agent* does it itself.

    >>> with_input("claude", "explain this", "a log")
    'explain this\\na log'
    """
    if not prompt or not given.strip():
        return prompt or given
    if agent == "codex":
        return f"{prompt}\n\n<stdin>\n{given.rstrip()}\n</stdin>"
    return f"{given}\n\n{prompt}" if agent == "gemini" else f"{prompt}\n{given}"


def user_line(text: str, before: str = "") -> bytes:
    """Return the line that gives Claude a turn. *before* is said first, in a block of its own.

    A command such as ``/compact`` is only one if nothing stands before it: then *before* is left out.
    """
    content: str | list[dict[str, str]] = text
    if before and not text.lstrip().startswith("/"):
        content = [{"type": "text", "text": each} for each in (before, text)]
    return _line({"type": "user", "message": {"role": "user", "content": content}})


def interrupt_line(request: str) -> bytes:
    """Return the line that asks Claude to end its turn now."""
    return _line({"type": "control_request", "request_id": request, "request": {"subtype": "interrupt"}})


def _line(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value).encode() + b"\n"
