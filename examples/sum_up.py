"""Says what brim did in the session that replay.py played, and what that cost. Every figure is of
that run.

    python sum_up.py PROJECT

A text is written to the prompt cache once and read from it by every later request of its window, at
the model's prices.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from statistics import median
from typing import Any

from brim import count
from brim.models import cost

HOME = Path(os.environ["HOME"])
NOTES = json.loads((HOME / "played.json").read_text(encoding="utf-8"))
MODEL = NOTES["model"]


def brim(*words: str) -> Any:
    """Return what a command of brim says in JSON."""
    command = ["brim", *words, "--json"]
    return json.loads(subprocess.check_output(command, cwd=sys.argv[1]))  # noqa: S603


def readers(told: dict[str, Any]) -> int:
    """Return how many requests have read a text: those of its agent after it, until a
    compaction."""
    if told["whom"] == "summarizer":
        return 1
    found = 0
    for request in NOTES["requests"][told["at"] :]:
        if request.get("window"):
            break
        found += request["agent"] == told["agent"]
    return found


def price(tokens: int, requests: int) -> int:
    """Return what a text costs that so many requests read, in micro-dollars."""
    again = max(0, requests - 1)
    return (
        cost(
            {"cache_creation_input_tokens": tokens, "cache_read_input_tokens": tokens * again},
            model=MODEL,
        )
        or 0
    )


def compared() -> tuple[int, int]:
    """Return how many things the compactions were measured on, and how many of them the summaries
    lost."""
    had, lost = 0, 0
    for compaction in brim("memory", "lost")["compactions"]:
        for before, missing in compaction["counts"].values():
            had += before
            lost += missing
    return had, lost


def given_back() -> int:
    """Return how many of them the agent was told again."""
    heads = [text["text"].partition("left these out")[2] for text in NOTES["told"]]
    return sum(line.startswith("  - ") for told in heads for line in told.split("\n"))


def usd(micro: int, digits: int = 2) -> str:
    """Return an amount in dollars."""
    return f"${int(micro) / 1_000_000:.{digits}f}"


def several(number: int, one: str) -> str:
    """Return *number* with its noun."""
    return f"{number:,} {one}{'' if number == 1 else 's'}"


with (HOME / ".brim" / "rules.toml").open("rb") as file:
    rules = [rule["text"] for rule in tomllib.load(file).values()]
told_text = "\n".join(text["text"] for text in NOTES["told"])
told_rules = [rule for rule in rules if rule in told_text]
whole = int(count("\n".join(f"- {rule}" for rule in rules), model=MODEL))
kept = [entry["kind"] for entry in brim("memory", "list")["entries"]]
spent = brim("limit")["limits"][0]["spent"]
had, lost = compared()
log = HOME / ".brim" / "log" / "hook.log"
failures = len(log.read_text(encoding="utf-8").splitlines()) if log.exists() else 0

start = NOTES["told"][0]["tokens"]
tokens = sum(text["tokens"] for text in NOTES["told"])
paid = sum(price(text["tokens"], readers(text)) for text in NOTES["told"])
refused = NOTES["refused"]
waited = NOTES["requests"][-1]["spent"] - refused[0]["spent"] if refused else 0

print(f"""\
  told the agent {len(told_rules)} of your {len(rules)} rules, at the start and again after the compaction
  kept {several(kept.count("human"), "prompt")}, {several(kept.count("artifact"), "changed file")}, \
{several(kept.count("command"), "failed command")} and {several(kept.count("dead-end"), "dead end")}
  gave back {given_back()} of {several(lost, "thing")} that the summary had dropped
  stopped the agent at the limit; {usd(waited)} was spent only after you had raised it

In numbers
  rules   {start:,} tokens at each start; as a Markdown list they take {whole:,}
  cost    {tokens:,} tokens in all, sub-agent and summary included: {usd(paid, 4)} of the session's {usd(spent)} \
({100 * int(paid) / spent:.1f}%)
  memory  the summary dropped {lost} of {had} files, commands and instructions
  hooks   {len(NOTES["hooks"])} calls, {failures} failed, {median(NOTES["hooks"]):.0f} ms of processor time each \
(Python alone takes {median(NOTES["bare"]):.0f})""")
