"""Reads the command line of an agent, as a person would have typed it: which agent, which prompt, which options."""

from __future__ import annotations

import os

from brim._frozen import Frozen
from brim.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

AGENTS = ("claude", "codex", "gemini")

_SAID_BY_BRIM = {
    "claude": ("-p", "--print", "--input-format", "--output-format", "--verbose", "--max-budget-usd"),
    "codex": ("--json",),
    "gemini": ("-p", "--prompt", "-o", "--output-format"),
}
"""Options that brim says itself, each time that it starts the agent."""
_FIRST_ONLY = {
    "claude": ("-r", "--resume", "-c", "--continue", "--session-id", "--fork-session", "--from-pr"),
    "codex": ("--last", "--all"),
    "gemini": ("-r", "--resume", "--session-id", "--session-file"),
}
"""Options that say which session it is: after the first turn that is known."""


class ClientCommand(Frozen):
    """How a person wants an agent to be started."""

    __slots__ = ("agent", "first_options", "options", "output", "own_cap", "program", "prompt", "resumed")

    agent: str
    """One of ``AGENTS``."""
    program: str
    options: tuple[str, ...]
    """What every start of the agent gets."""
    first_options: tuple[str, ...]
    """What only the first start gets: which session it goes on with."""
    prompt: str
    """Empty if the command has none."""
    output: str
    """What it is to print: ``text``, ``json`` or ``stream-json``."""
    own_cap: str
    """The limit in dollars that the command gives the agent itself; empty if none."""
    resumed: bool
    """Whether it goes on with a session that was there before."""

    def __init__(
        self,
        *,
        agent: str,
        program: str,
        options: tuple[str, ...] = (),
        first_options: tuple[str, ...] = (),
        prompt: str = "",
        output: str = "text",
        own_cap: str = "",
        resumed: bool = False,
    ) -> None:
        self._fill(
            agent=agent,
            program=program,
            options=options,
            first_options=first_options,
            prompt=prompt,
            output=output,
            own_cap=own_cap,
            resumed=resumed,
        )


def client_command(words: Sequence[str], agent: str | None = None) -> ClientCommand:
    """Return what *words* mean: ``claude -p "fix it" --model sonnet``. *agent* says whose command it is.

    Without *agent* the program's name says so. The prompt may stand anywhere that the agent itself takes it.
    """
    if not words:
        raise InputError('what shall be run? write it after --, as in: brim run -- claude -p "fix the parser"')
    program, *rest = words
    name = agent or os.path.basename(program).partition(".")[0]
    if name not in AGENTS:
        raise InputError(
            f"{program[:80]!r} is no agent that brim can run: there are {', '.join(AGENTS)}; "
            "if it is one of them under another name, say --agent"
        )
    options, plain = _split(rest, name)
    resume: tuple[str, ...] = ()
    if name == "codex":
        plain, resume = _codex_words(plain, options)
    if name == "gemini":
        plain = [*_values(options, "-p", "--prompt"), *plain]
    if len(plain) > 1:
        raise InputError(f"which is the prompt, {plain[0][:40]!r} or {plain[1][:40]!r}? put it into quotes, after -p")
    first = [option for option in options if option.name in _FIRST_ONLY[name]]
    own = (*_SAID_BY_BRIM[name], *_FIRST_ONLY[name])
    output = [] if name == "codex" else _values(options, "--output-format", "-o")
    if name == "codex" and any(option.name == "--json" for option in options):
        output = ["stream-json"]
    return ClientCommand(
        agent=name,
        program=program,
        options=tuple(word for option in options if option.name not in own for word in option.words),
        first_options=(*resume, *(word for option in first for word in option.words)),
        prompt=plain[0] if plain else "",
        output=output[-1] if output and output[-1] in ("json", "stream-json") else "text",
        own_cap="".join(_values(options, "--max-budget-usd")[-1:]),
        resumed=bool(resume) or any(option.name not in ("--session-id", "--all") for option in first),
    )


class _Option(Frozen):
    """One option: its name, its values, and the words that say it."""

    __slots__ = ("name", "values", "words")

    name: str
    values: tuple[str, ...]
    words: tuple[str, ...]

    def __init__(self, name: str, values: Sequence[str], words: Sequence[str]) -> None:
        self._fill(name=name, values=tuple(values), words=tuple(words))


def _values(options: Sequence[_Option], *names: str) -> list[str]:
    return [value for option in options if option.name in names for value in option.values[:1]]


def _codex_words(plain: list[str], options: Sequence[_Option]) -> tuple[list[str], tuple[str, ...]]:
    """Return the prompt and the words that resume a session. Only ``codex exec`` runs without a person."""
    if not plain or plain[0] not in ("exec", "e"):
        raise InputError('Codex runs without its screen as codex exec: brim run -- codex exec "fix the parser"')
    plain = plain[1:]
    if plain[:1] != ["resume"]:
        return plain, ()
    if any(option.name == "--last" for option in options) or len(plain) == 1:
        return plain[1:], ("resume",)
    return plain[2:], ("resume", plain[1])


def _split(words: Sequence[str], agent: str) -> tuple[list[_Option], list[str]]:
    """Return the options, and the words that belong to none."""
    known = dict(_option_values(agent))
    options: list[_Option] = []
    plain: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--":
            plain += words[at:]
            break
        if not word.startswith("-") or word == "-":
            plain.append(word)
            continue
        name, joined, value = word.partition("=")
        if joined and name.startswith("--"):
            options.append(_Option(name, [value], [word]))
            continue
        takes = known.get(word) or ("0" if _may_be_prompt(words, at, plain, agent) else "?")
        most = {"0": 0, "1": 1, "?": 1, "+": len(words)}[takes]
        end = at
        while end < len(words) and end - at < most and (takes == "1" or not words[end].startswith("-")):
            end += 1
        options.append(_Option(word, words[at:end], words[at - 1 : end]))
        at = end
    return options, plain


def _may_be_prompt(words: Sequence[str], at: int, plain: list[str], agent: str) -> bool:
    """Whether the word after an unknown option is the prompt: it is the last, and there was none before."""
    has_prompt = len(plain) > (1 if agent == "codex" else 0)
    return at == len(words) - 1 and not has_prompt


def _option_values(agent: str) -> Iterator[tuple[str, str]]:
    path = os.path.join(os.path.dirname(__file__), "data", "options.tsv")
    with open(path, encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#"):
                client, option, takes = line.rstrip("\n").split("\t")
                if client == agent:
                    yield option, takes
