"""Agent histories to prune: five profiles in OpenAI's chat format, made from a seed.

Each history is a request that is about to be sent, so it ends with a user message or with tool
results, as it does when an agent prunes before a call. Lengths are what differs between agents and
what decides whether a trimmer works: how many messages follow the last user message, how many
results belong to one call, how large a result is. Tool outputs are log-normal between 50 and 8,000
tokens, as they are in real sessions: many short, a few that fill a window. The text is cut from
corpus.py: source code, logs, terminal output, Markdown.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import corpus

Message = dict[str, Any]

CHARACTERS = {"english": 4.4, "python": 4.3, "logs": 2.7, "terminal": 3.0, "markdown": 3.6}
"""Characters of one token, by kind of text: what is cut has about the size that was asked for."""

TOOLS = {
    "read_file": ("python", "markdown"),
    "run_command": ("terminal",),
    "search": ("terminal", "python"),
    "fetch_logs": ("logs",),
    "edit_file": ("python",),
}
"""The tools of the agent, and the kinds of text that each returns."""


@dataclass(frozen=True)
class Profile:
    """What distinguishes one kind of session from another; a range is the fewest and the most."""

    turns: tuple[int, int]
    steps: tuple[int, int]
    """Calls of the model that end in tool calls, within one turn."""
    parallel: tuple[int, int] = (1, 1)
    output: tuple[int, float] = (250, 1.0)
    """The median of a tool's output in tokens, and the spread of its logarithm."""
    ends_with_user: float = 0.0
    """The probability that the last turn has only just begun."""


PROFILES = {
    "chat": Profile((4, 24), (0, 0), ends_with_user=1.0),
    "task": Profile((1, 1), (24, 60)),
    "parallel": Profile((1, 2), (8, 20), parallel=(2, 5)),
    "outputs": Profile((1, 3), (4, 9), output=(1_500, 0.9)),
    "turns": Profile((20, 50), (0, 3), output=(150, 1.0), ends_with_user=0.5),
}
TOOL_HEAVY = ("task", "parallel", "outputs")
"""The profiles in which nearly everything comes from tools, after one user message or a few."""


@dataclass(frozen=True)
class History:
    """One request that is about to be sent."""

    profile: str
    messages: list[Message]

    @property
    def tool_heavy(self) -> bool:
        """Whether nearly all of it comes from tools."""
        return self.profile in TOOL_HEAVY

    def requests(self) -> Iterator[list[Message]]:
        """Yield what was about to be sent at each call of the model on the way here: growing
        prefixes."""
        for i, message in enumerate(self.messages):
            if message["role"] == "assistant":
                yield self.messages[:i]
        yield self.messages


def make(number: int, seed: int = 1) -> list[History]:
    """Return *number* histories, the profiles in turn; the same for the same number and seed."""
    names = list(PROFILES)
    return [make_one(names[i % len(names)], seed * 100_003 + i) for i in range(number)]


def make_one(profile: str, seed: int) -> History:
    """Return one history of *profile*; the same for the same seed."""
    return History(profile, list(_messages(PROFILES[profile], random.Random(f"{profile}:{seed}"))))


def short(number: int, seed: int = 1) -> list[Message]:
    """Return a chat of *number* short messages, to see how time grows with their number."""
    rng = random.Random(f"short:{seed}")
    roles = ("user", "assistant")
    chat = [
        {"role": roles[i % 2], "content": _text(rng, "english", rng.randint(4, 24))}
        for i in range(number - 1)
    ]
    return [*chat, {"role": "user", "content": "go on"}]


def targets(tokens: int) -> list[int]:
    """Return the limits that a history of *tokens* is pruned to: shares of it, and some that are
    small for anyone."""
    shares = {int(tokens * share) for share in (0.25, 0.5, 0.75, 0.9)}
    return sorted(shares | {limit for limit in (600, 1_500, 4_000) if limit < tokens * 0.9})


def _messages(profile: Profile, rng: random.Random) -> Iterator[Message]:
    yield {
        "role": "system",
        "content": _text(rng, "markdown", round(rng.triangular(80, 1_200, 300))),
    }
    turns = rng.randint(*profile.turns)
    for turn in range(1, turns + 1):
        yield {"role": "user", "content": _prompt(rng)}
        if turn == turns and rng.random() < profile.ends_with_user:
            return
        for _ in range(max(rng.randint(*profile.steps), turn == turns)):
            yield from _step(profile, rng)
        if turn < turns:
            yield {
                "role": "assistant",
                "content": _text(rng, "english", round(rng.triangular(20, 500, 80))),
            }


def _prompt(rng: random.Random) -> str:
    """Return what a person writes: mostly a few sentences, now and then with something pasted
    below."""
    text = _text(rng, "english", round(rng.triangular(8, 300, 30)))
    if rng.random() < 0.1:
        text += (
            "\n\n```\n"
            + _text(rng, rng.choice(("logs", "terminal", "python")), rng.randint(200, 1_500))
            + "\n```"
        )
    return text


def _step(profile: Profile, rng: random.Random) -> Iterator[Message]:
    """Yield an assistant message with its calls, then their results, in the order of the calls or
    nearly so."""
    calls, results = [], []
    for _ in range(rng.randint(*profile.parallel)):
        name = rng.choice(list(TOOLS))
        id_ = "call_" + "".join(
            rng.choices("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", k=24)
        )
        arguments = json.dumps(_arguments(name, rng), ensure_ascii=False)
        calls.append(
            {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}
        )
        median, spread = profile.output
        size = min(8_000, max(50, round(median * rng.lognormvariate(0, spread))))
        results.append(
            {
                "role": "tool",
                "tool_call_id": id_,
                "content": _text(rng, rng.choice(TOOLS[name]), size),
            }
        )
    says = _text(rng, "english", rng.randint(8, 60)) if rng.random() < 0.5 else None
    yield {"role": "assistant", "content": says, "tool_calls": calls}
    if rng.random() < 0.2:
        rng.shuffle(results)
    yield from results


def _arguments(name: str, rng: random.Random) -> dict[str, Any]:
    path = "/".join(("src", *_text(rng, "english", 4).lower().split()[:2])) + ".py"
    match name:
        case "read_file":
            return {
                "path": path,
                "offset": rng.randrange(2_000),
                "limit": rng.choice((100, 200, 400)),
            }
        case "run_command":
            return {
                "command": f"python -m pytest -q {path} -k {rng.randrange(10_000)}",
                "timeout": 120,
            }
        case "search":
            return {"pattern": _text(rng, "english", 3), "path": path}
        case "fetch_logs":
            return {
                "service": path,
                "since": f"2026-0{rng.randint(1, 9)}-1{rng.randrange(10)}T00:00:00Z",
            }
        case _:
            old, new = (_text(rng, "python", round(rng.triangular(10, 400, 60))) for _ in range(2))
            return {"path": path, "old": old, "new": new}


@cache
def _pool(kind: str) -> str:
    """Return the text that everything of *kind* is cut from: large enough that two cuts seldom
    overlap."""
    return corpus.make(kind, 1_500_000, seed=11)


def _text(rng: random.Random, kind: str, tokens: int) -> str:
    """Return about *tokens* tokens of *kind*, from the beginning of a word."""
    pool = _pool(kind)
    size = round(tokens * CHARACTERS[kind])
    start = pool.find(" ", rng.randrange(len(pool) - size - 1_000)) + 1
    return pool[start : start + size].strip() or "ok"
