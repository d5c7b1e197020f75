"""What brim did in the session that replay.py played, what that cost, and what it saved. Every figure is of that run.

    python sum_up.py PROJECT

Saved is what the same rules would have cost in a file that an agent reads whole at the start of each window, less what
brim told the main thread; sub-agents and the summary are left out on both sides. A text is written to the prompt cache
once and read from it by every later request of its window, at the model's prices.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import Any

from brim import count
from brim.models import cost
from brim.store import open_store

HOME = Path(os.environ["HOME"])
NOTES = json.loads((HOME / "played.json").read_text(encoding="utf-8"))
MODEL = NOTES["model"]


def brim(*words: str) -> Any:
    """Return what a command of brim says in JSON."""
    command = ["brim", *words, "--json"]
    return json.loads(subprocess.check_output(command, cwd=sys.argv[1]))  # noqa: S603


def readers(told: dict[str, Any]) -> int:
    """Return how many requests have read a text: those of its agent after it, until a compaction."""
    if told["whom"] == "summariser":
        return 1
    found = 0
    for request in NOTES["requests"][told["at"] :]:
        if request.get("window"):
            break
        found += request["agent"] == told["agent"]
    return found


def windows() -> list[int]:
    """Return how many requests of the main thread each window has seen."""
    found = [0]
    for request in NOTES["requests"]:
        if request.get("window"):
            found.append(0)
        elif not request["agent"]:
            found[-1] += 1
    return found


def price(tokens: int, requests: int) -> int:
    """Return what a text costs that so many requests read, in micro-dollars."""
    again = max(0, requests - 1)
    return cost({"cache_creation_input_tokens": tokens, "cache_read_input_tokens": tokens * again}, model=MODEL) or 0


def compared() -> tuple[int, int]:
    """Return how many things the compactions were measured on, and how many of them the summaries lost."""
    with open_store(str(HOME / ".brim" / "brim.db")) as store:
        counts = [pair for event in store.events(kind="compacted") for pair in event.detail["counts"].values()]
    return sum(had for had, _ in counts), sum(lost for _, lost in counts)


def given_back() -> int:
    """Return how many of them the agent was told again."""
    heads = [text["text"].partition("left these out")[2] for text in NOTES["told"]]
    return sum(line.startswith("  - ") for told in heads for line in told.split("\n"))


def usd(micro: int, digits: int = 2) -> str:
    """Return an amount in dollars."""
    return f"${micro / 1_000_000:.{digits}f}"


def several(number: int, one: str) -> str:
    """Return *number* with its noun."""
    return f"{number:,} {one}{'' if number == 1 else 's'}"


def show(title: str, rows: list[tuple[str, str]]) -> None:
    """Print *rows* below a *title*."""
    print(title)
    for name, text in rows:
        print(f"  {name:<11} {text}")


stats = brim("stats", "--model", MODEL)
rules, unused, whole = stats["live"], len(stats["never_used"]), stats["tokens"]["full"]
kept = [entry["kind"] for entry in brim("scratch", "list")["entries"]]
index = int(count(brim("scratch", "show")["text"], model=MODEL))
spent = brim("spend", "status")["scopes"][0]["spent"]
had, lost = compared()
log = HOME / ".brim" / "log" / "hook.log"
failures = len(log.read_text(encoding="utf-8").splitlines()) if log.exists() else 0

told = [text for text in NOTES["told"] if text["whom"] == "agent"]
main = [text for text in told if not text["agent"]]
tokens, main_tokens = sum(text["tokens"] for text in NOTES["told"]), sum(text["tokens"] for text in main)
paid = sum(price(text["tokens"], readers(text)) for text in NOTES["told"])
main_paid = sum(price(text["tokens"], readers(text)) for text in main)
file_tokens, file_paid = whole * len(windows()), sum(price(whole, requests) for requests in windows())
refused = NOTES["refused"]
waited = NOTES["requests"][-1]["spent"] - refused[0]["spent"] if refused else 0

show(
    "What brim did",
    [
        (
            "hooks",
            f"{len(NOTES['hooks'])} calls, {failures} failed, {median(NOTES['hooks']):.0f} ms of processor time each"
            f" (Python alone takes {median(NOTES['bare']):.0f})",
        ),
        ("rules", f"{rules - unused} of {rules} mattered, and were told in {several(len(told), 'text')}"),
        (
            "memory",
            f"{several(kept.count('human'), 'prompt')}, {several(kept.count('artifact'), 'changed file')}, "
            f"{several(kept.count('command'), 'failed command')}, {several(kept.count('dead-end'), 'dead end')}: "
            f"an index of {index:,} tokens",
        ),
        ("compaction", f"the summary left out {lost} of {had} files, commands and numbers; given back: {given_back()}"),
        ("money", f"{several(len(refused), 'call')} refused at the limit, until a person had raised it"),
    ],
)
show(
    "What it cost",
    [
        (
            "tokens",
            f"{tokens:,} in all: {main_tokens:,} for the agent, {tokens - main_tokens:,} for sub-agent and summary",
        ),
        ("money", f"{usd(paid, 4)} of the session's {usd(spent)}, {100 * paid / spent:.1f} %"),
    ],
)
show(
    "What it saved",
    [
        (
            "tokens",
            f"{file_tokens - main_tokens:,}: all {rules} rules at the start of both windows would be {file_tokens:,}"
            f" ({usd(file_paid, 4)}), brim told {main_tokens:,} ({usd(main_paid, 4)})",
        ),
        ("memory", f"{several(given_back(), 'thing')} that the summary had lost, and the whole record within reach"),
        ("money", f"{usd(waited)} was spent only after a person had said so"),
    ],
)
