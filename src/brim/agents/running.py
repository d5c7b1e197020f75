"""How ``brim run`` starts an agent and speaks to it.

Each agent that can run under supervision has a ``run.py`` with one value, ``RUN``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brim.agents import TABLE
from brim.agents.events import End
from brim.files import data_rows
from brim.record import PlainData


@dataclass(frozen=True)
class CommandOption(PlainData):
    """One option in a command line."""

    name: str
    role: str
    """Its role in the agent's ``options.tsv``; empty if it has none."""
    values: tuple[str, ...]
    words: tuple[str, ...]
    """The words that say it."""


@dataclass(frozen=True)
class CommandLine(PlainData):
    """The words after a program: its options, and the words that belong to none."""

    options: tuple[CommandOption, ...]
    plain: tuple[str, ...]

    def values(self, *names: str) -> list[str]:
        """Return the first value of each option that has one of *names*."""
        values = []
        for option in self.options:
            if option.name in names and option.values:
                values.append(option.values[0])
        return values

    def has(self, name: str) -> bool:
        """Whether the option *name* is there."""
        return any(option.name == name for option in self.options)

    def with_role(self, role: str) -> list[CommandOption]:
        """Return the options with the *role*."""
        return [option for option in self.options if option.role == role]


@dataclass(frozen=True)
class CommandWords(PlainData):
    """What an agent's own words in its command line mean."""

    prompts: tuple[str, ...]
    """What may be the prompt."""
    resume: tuple[str, ...] = ()
    """The words, apart from options, that say which session goes on."""
    output: str = ""
    """What the agent is asked to print; empty if nothing says so."""


@dataclass(frozen=True)
class Start(PlainData):
    """One start of an agent's process."""

    program: str
    options: tuple[str, ...]
    """What every start gets."""
    resume: tuple[str, ...]
    """The words that say which session it is."""
    prompt: str | None
    """None if it goes to the standard input."""
    cap: int | None
    """What the process may spend, in micro-dollars."""


def read_words(line: CommandLine) -> CommandWords:
    """Return what most agents mean by their words."""
    output = line.values("--output-format", "-o")
    return CommandWords(line.plain, output=output[-1] if output else "")


OWN_LIMIT = "own limit"
STOPPED = "stopped"
WINDOW_FULL = "window full"
ANSWER_CUT = "answer cut"
END_KINDS = (OWN_LIMIT, STOPPED, WINDOW_FULL, ANSWER_CUT)
"""Ends that ``brim run`` treats in a way of their own: the agent's own limit ended the turn, it
left the work undone on purpose, its window is full, or its answer was too long."""


@dataclass(frozen=True)
class EndCause(PlainData):
    """What ended a turn, in words that hold for every agent."""

    kind: str = ""
    """One of ``END_KINDS``; empty for any other end."""
    why: str = ""
    """For people; empty if the agent's own text says it."""


def plain_cause(_end: End, _line: Mapping[str, Any]) -> EndCause:
    """Return the cause of an end that is what it says: done, or an error."""
    return EndCause()


def no_line(*_: str) -> bytes:
    """Return nothing: the agent takes no turns on its standard input."""
    return b""


def nothing_said(_: Mapping[str, Any]) -> None:
    """Return None: the agent's stream doesn't say it."""


@dataclass(frozen=True)
class AgentRun(PlainData):
    """What brim may expect of an agent that it supervises."""

    start: Callable[[Start], list[str]]
    """Returns the command that starts the agent."""
    join_input: Callable[[str, str], str]
    """Combines a prompt and what was piped in, as the agent does it itself."""
    read: Callable[[CommandLine], CommandWords] = read_words
    """Reads the agent's own words."""
    words_before: int = 0
    """Words, such as a subcommand, that stand before the prompt."""
    resume: tuple[str, ...] = ("--resume",)
    """The words before the id of the session that goes on."""
    stays: bool = False
    """Whether one process takes turn after turn on its standard input; else each turn is a process
    that resumes."""
    compacts: bool = False
    """Whether it can be asked to compact."""
    caps: bool = False
    """Whether it takes a limit of its own, and so stops between two calls of one turn."""
    cap_option: str = ""
    """The option with that limit, in dollars."""
    cannot: tuple[str, ...] = ()
    """What is printed at the start."""
    begin_options: tuple[str, ...] = ()
    """Those of the options with the role ``first`` that begin a new session all the same."""
    unsaved_options: tuple[str, ...] = ()
    """The options with which a session isn't kept, so that it can't be resumed."""
    session_files: str = ""
    """A glob for the files of a session below the agent's folder, with ``{}`` for its id; empty if
    its stream says all that they do."""
    turn_line: Callable[[str, str], bytes] = no_line
    """Returns the line that gives an agent that stays a turn, and what is said before it."""
    interrupt_line: Callable[[str], bytes] = no_line
    """Returns the line that asks such an agent to end its turn now, for the id of a request."""
    end_cause: Callable[[End, Mapping[str, Any]], EndCause] = plain_cause
    """Returns what ended a turn, by its last event and the line that told it."""
    silence: Callable[[Mapping[str, Any]], str | None] = nothing_said
    """Returns why the model doesn't answer, if a line says that the agent has to try again."""
    refusal: Callable[[Mapping[str, Any]], str | None] = nothing_said
    """Returns why the agent did not compact, if a line says so."""


def run_of(agent: str) -> AgentRun:
    """Return how *agent* is supervised; a ``KeyError`` if it can't be."""
    if agent not in supervised_agents():
        raise KeyError(agent)
    module = f"brim.agents.{agent}.run"
    __import__(module)
    run: AgentRun = sys.modules[module].RUN
    return run


def supervised_agents() -> list[str]:
    """Return the names of the agents that can run under supervision."""
    return [line.name for line in TABLE if line.is_supervised]


# Reading a command line ---------------------------------------------------------------------------


def parsed(words: Sequence[str], agent: str, words_before: int) -> CommandLine:
    """Return the options in *words* of *agent*, and the others; *words_before* may stand before the
    prompt."""
    rows = data_rows(os.path.join(os.path.dirname(__file__), agent, "run.py"), "options.tsv")
    table = {name: (takes, role) for name, takes, role in rows}
    options: list[CommandOption] = []
    plain: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--":
            plain += words[at:]
            break
        name, equals, value = word.partition("=")
        if not word.startswith("-") or word == "-":
            plain.append(word)
        elif equals and name.startswith("--"):
            _, role = table.get(name, ("", ""))
            options.append(CommandOption(name, role, (value,), (word,)))
        else:
            # The word after an unknown option is the prompt if it's the last, and there was none
            # before.
            may_be_prompt = at == len(words) - 1 and len(plain) <= words_before
            takes, role = table.get(word, ("0" if may_be_prompt else "?", ""))
            end = _end_of_values(words, at, takes)
            option = CommandOption(word, role, tuple(words[at:end]), tuple(words[at - 1 : end]))
            options.append(option)
            at = end
    return CommandLine(tuple(options), tuple(plain))


def _end_of_values(words: Sequence[str], begin: int, takes: str) -> int:
    """Return where the values of an option end that begin at *begin*."""
    if takes == "0" or begin == len(words):
        return begin
    if takes == "1":
        return begin + 1
    end = begin
    while end < len(words) and not words[end].startswith("-"):
        end += 1
        if takes == "?":
            break
    return end
