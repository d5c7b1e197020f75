"""The command line of an agent: which agent, prompt and options a person typed, and how brim starts
it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brim.errors import InputError
from brim.files import data_rows

LONGEST_WORD = 100_000
"""Bytes of a prompt in a command line: systems refuse longer words, so a longer one is given as
input."""


@dataclass(frozen=True)
class AgentCommand:
    """What brim may expect of one agent."""

    name: str
    stays: bool = False
    """Whether one process takes turn after turn on its standard input; else each turn is a process
    that resumes."""
    compacts: bool = False
    """Whether it can be asked to compact."""
    caps: bool = False
    """Whether it takes a limit of its own, and so stops between two calls of one turn."""
    cannot: tuple[str, ...] = ()
    """What is printed at the start."""


_CANNOT = (
    "does not say within a turn what is in its window: the gauge moves when a turn has ended",
    "takes no limit of its own: what is spent is checked when a turn has ended, not within it",
)
_CODEX = "cannot be asked to compact in codex exec: it compacts on its own when its window is full"
_GEMINI = "cannot be asked to compact without its screen: it compresses on its own when its window is full"
CLIENTS = {
    "claude": AgentCommand("claude", stays=True, compacts=True, caps=True),
    "codex": AgentCommand("codex", cannot=(_CODEX, *_CANNOT)),
    "gemini": AgentCommand("gemini", cannot=(_GEMINI, *_CANNOT)),
}


@dataclass(frozen=True, kw_only=True)
class ClientCommand:
    """How a person wants an agent to be started."""

    agent: str
    """One of ``CLIENTS``."""
    program: str
    options: tuple[str, ...] = ()
    """What every start of the agent gets."""
    first_options: tuple[str, ...] = ()
    """What only the first start gets: which session it continues."""
    prompt: str = ""
    """Empty if the command has none."""
    output: str = "text"
    """What it prints: ``text``, ``json`` or ``stream-json``."""
    own_cap: str = ""
    """The limit in dollars that the command gives the agent itself; empty if none."""
    resumed: bool = False
    """Whether it continues an earlier session."""


@dataclass(frozen=True)
class _Option:
    """One option: its name, its role in ``options.tsv``, its values, and the words that say it."""

    name: str
    role: str
    values: Sequence[str]
    words: Sequence[str]


def client_command(words: Sequence[str], agent: str | None = None) -> ClientCommand:
    """Return what *words* mean: ``claude -p "fix it" --model sonnet``. *agent* says whose command
    it is.

    Without *agent* the program's name says so. The prompt may stand anywhere that the agent itself
    takes it.
    """
    if not words:
        raise InputError(
            'which command? Write it after --, as in: brim run -- claude -p "fix the parser"'
        )
    program, *rest = words
    name = agent or os.path.basename(program).partition(".")[0]
    if name not in CLIENTS:
        raise InputError(
            f"{program[:80]!r} isn't an agent that brim can run. It runs {', '.join(CLIENTS)}; "
            "if it's one of them under another name, add --agent"
        )
    options, plain = _split(rest, name)

    def values(*names: str) -> list[str]:
        return [value for option in options if option.name in names for value in option.values[:1]]

    resume: tuple[str, ...] = ()
    output = values("--output-format", "-o")
    if name == "codex":
        plain, resume = _codex_words(plain, options)
        output = ["stream-json"] if any(option.name == "--json" for option in options) else []
    if name == "gemini":
        plain = [*values("-p", "--prompt"), *plain]
    if len(plain) > 1:
        raise InputError(
            f"which is the prompt, {plain[0][:40]!r} or {plain[1][:40]!r}? put it into quotes, after -p"
        )
    first = [option for option in options if option.role == "first"]
    return ClientCommand(
        agent=name,
        program=program,
        options=tuple(word for option in options if not option.role for word in option.words),
        first_options=(*resume, *(word for option in first for word in option.words)),
        prompt="".join(plain),
        output=output[-1] if output and output[-1] in ("json", "stream-json") else "text",
        own_cap="".join(values("--max-budget-usd")[-1:]),
        resumed=bool(resume)
        or any(option.name not in ("--session-id", "--all") for option in first),
    )


def _codex_words(plain: list[str], options: Sequence[_Option]) -> tuple[list[str], tuple[str, ...]]:
    """Return the prompt and the words that resume a session. Only ``codex exec`` runs without a
    person."""
    if not plain or plain[0] not in ("exec", "e"):
        raise InputError(
            'Codex runs without its screen as codex exec: brim run -- codex exec "fix the parser"'
        )
    if plain[1:2] != ["resume"]:
        return plain[1:], ()
    if any(option.name == "--last" for option in options) or len(plain) == 2:
        return plain[2:], ("resume",)
    return plain[3:], ("resume", plain[2])


def _split(words: Sequence[str], agent: str) -> tuple[list[_Option], list[str]]:
    """Return the options, and the words that belong to none."""
    known = {
        option: rest
        for client, option, *rest in data_rows(__file__, "options.tsv")
        if client == agent
    }
    options: list[_Option] = []
    plain: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--":
            plain += words[at:]
            break
        name, joined, value = word.partition("=")
        if not word.startswith("-") or word == "-":
            plain.append(word)
        elif joined and name.startswith("--"):
            options.append(_Option(name, known.get(name, [""])[-1], [value], [word]))
        else:
            # The word after an unknown option is the prompt if it's the last, and there was none
            # before.
            may_be_prompt = at == len(words) - 1 and len(plain) <= (1 if agent == "codex" else 0)
            takes, role = known.get(word, ("0" if may_be_prompt else "?", ""))
            end, most = at, {"0": 0, "1": 1, "?": 1, "+": len(words)}[takes]
            while (
                end < len(words)
                and end - at < most
                and (takes == "1" or not words[end].startswith("-"))
            ):
                end += 1
            options.append(_Option(word, role, words[at:end], words[at - 1 : end]))
            at = end
    return options, plain


def start_words(
    command: ClientCommand, prompt: str, *, session: str = "", cap: int | None = None
) -> list[str]:
    """Return the command that starts the agent for *prompt*, or continues *session*.

    *cap* is what this process may spend, in micro-dollars. A prompt that ``goes_as_input`` isn't in
    it.
    """
    resume = ("--resume", session) if session else command.first_options
    is_input = goes_as_input(command.agent, prompt)
    if command.agent == "claude":
        streams = (
            "-p",
            "--input-format",
            "stream-json",
            "--output-format",
            "stream-json",
            "--verbose",
        )
        capped = ("--max-budget-usd", f"{cap / 1_000_000:.6f}") if cap is not None else ()
        return [command.program, *streams, *resume, *capped, *command.options]
    if command.agent == "codex":
        resume = ("resume", session) if session else command.first_options
        return [
            command.program,
            "exec",
            "--json",
            *command.options,
            *resume,
            "--",
            "-" if is_input else prompt,
        ]
    said = () if is_input else (f"--prompt={prompt}",)
    return [command.program, "-o", "stream-json", *resume, *command.options, *said]


def goes_as_input(agent: str, prompt: str) -> bool:
    """Whether *prompt* is given on standard input, and not in the command line."""
    return CLIENTS[agent].stays or len(prompt.encode("utf-8", "replace")) > LONGEST_WORD


def with_input(agent: str, prompt: str, given: str) -> str:
    """Return *prompt* with what was *given* on standard input, combined as *agent* does it itself.

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

    A command such as ``/compact`` is only one if nothing stands before it: then *before* is left
    out.
    """
    content: str | list[dict[str, str]] = text
    if before and not text.lstrip().startswith("/"):
        content = [{"type": "text", "text": each} for each in (before, text)]
    return _line({"type": "user", "message": {"role": "user", "content": content}})


def interrupt_line(request: str) -> bytes:
    """Return the line that asks Claude to end its turn now."""
    return _line(
        {"type": "control_request", "request_id": request, "request": {"subtype": "interrupt"}}
    )


def _line(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value).encode() + b"\n"
