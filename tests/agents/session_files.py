"""The recorded session files of agents, and what they took as it was counted by hand."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from brim.agents.events import Usage
from brim.agents.stream import Feed

DATA = Path(__file__).parents[1] / "recorded" / "data"


def session(name: str) -> bytes:
    """Return the recorded file *name*."""
    return (DATA / "sessions" / f"{name}.jsonl").read_bytes()


def golden(agent: str) -> dict[str, dict[str, Counter[str]]]:
    """Return what each thread of each session of *agent* took."""
    counted = json.loads((DATA / f"{agent}_usage.json").read_text(encoding="utf-8"))
    return {
        name: {thread: Counter(sums) for thread, sums in threads.items()}
        for name, threads in counted.items()
    }


def events_in(data: bytes) -> list[Any]:
    """Return the events in a file."""
    feed = Feed()
    return [*feed.feed(data), *feed.finish()]


def taken(events: list[Any]) -> dict[str, Counter[str]]:
    """Return what each thread took."""
    threads: dict[str, Counter[str]] = {}
    for event in events:
        if isinstance(event, Usage):
            tokens = event.tokens
            threads.setdefault(event.agent, Counter()).update(
                requests=1,
                input=tokens.input,
                cache_read=tokens.cache_read,
                cache_write=tokens.cache_write_5m,
                output=tokens.output,
            )
    return threads
