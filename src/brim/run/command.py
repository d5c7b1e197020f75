"""The command line of an agent: which agent, prompt and options a person typed, and how brim starts
it. What is special about an agent is in its ``RUN``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from brim.agents.running import AgentRun, CommandLine, Start, parsed, run_of, supervised_agents
from brim.errors import InputError

LONGEST_WORD = 100_000
"""Bytes of a prompt in a command line: systems refuse longer words, so a longer one is given as
input."""
OUTPUTS = ("text", "json", "stream-json")
"""What an agent may be asked to print."""


@dataclass(frozen=True, kw_only=True)
class ClientCommand:
    """How a person wants an agent to be started."""

    agent: str
    program: str
    options: tuple[str, ...] = ()
    """What every start of the agent gets."""
    first_options: tuple[str, ...] = ()
    """What only the first start gets: which session it continues."""
    prompt: str = ""
    """Empty if the command has none."""
    output: str = "text"
    """One of ``OUTPUTS``."""
    own_cap: str = ""
    """The limit in dollars that the command gives the agent itself; empty if none."""
    resumed: bool = False
    """Whether it continues an earlier session."""

    @property
    def run(self) -> AgentRun:
        """What brim may expect of the agent."""
        return run_of(self.agent)

    @property
    def is_saved(self) -> bool:
        """Whether the agent keeps the session, so that another process can go on with it."""
        return not set(self.run.unsaved_options).intersection(self.options)


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
    program = words[0]
    name = agent or os.path.basename(program).partition(".")[0]
    if name not in supervised_agents():
        raise InputError(
            f"{program[:80]!r} isn't an agent that brim can run. It runs "
            f"{', '.join(supervised_agents())}; if it's one of them under another name, add --agent"
        )
    run = run_of(name)
    line = parsed(words[1:], name, run.words_before)
    own = run.read(line)
    if len(own.prompts) > 1:
        first, second = own.prompts[:2]
        raise InputError(
            f"which is the prompt, {first[:40]!r} or {second[:40]!r}? put it into quotes, after -p"
        )
    return ClientCommand(
        agent=name,
        program=program,
        options=_words_of(line, ""),
        first_options=(*own.resume, *_words_of(line, "first")),
        prompt="".join(own.prompts),
        output=own.output if own.output in OUTPUTS else "text",
        own_cap="".join(line.values(run.cap_option)[-1:]),
        resumed=bool(own.resume) or _continues(line, run),
    )


def _words_of(line: CommandLine, role: str) -> tuple[str, ...]:
    """Return the words of all options with the *role*."""
    words: list[str] = []
    for option in line.with_role(role):
        words += option.words
    return tuple(words)


def _continues(line: CommandLine, run: AgentRun) -> bool:
    """Whether an option names a session that was there before."""
    return any(option.name not in run.begin_options for option in line.with_role("first"))


def start_words(
    command: ClientCommand, prompt: str, *, session: str = "", cap: int | None = None
) -> list[str]:
    """Return the command that starts the agent for *prompt*, or continues *session*.

    *cap* is what this process may spend, in micro-dollars. A prompt that ``goes_as_input`` isn't in
    it.
    """
    resume = command.first_options
    if session:
        resume = (*command.run.resume, session)
    is_input = goes_as_input(command.run, prompt)
    return command.run.start(
        Start(
            program=command.program,
            options=command.options,
            resume=resume,
            prompt=None if is_input else prompt,
            cap=cap,
        )
    )


def goes_as_input(run: AgentRun, prompt: str) -> bool:
    """Whether *prompt* is given on standard input, and not in the command line."""
    return run.stays or len(prompt.encode("utf-8", "replace")) > LONGEST_WORD


def with_input(agent: str, prompt: str, piped: str) -> str:
    """Return *prompt* with what was *piped* in, combined as *agent* does it itself."""
    if not prompt or not piped.strip():
        return prompt or piped
    return run_of(agent).join_input(prompt, piped)
