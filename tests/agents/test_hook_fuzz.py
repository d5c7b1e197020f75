"""Whatever is sent to the hook, in whatever state the disk is: it ends with 0, and its answer is empty or valid.

A few hundred inputs by default; ``BRIM_FUZZ=10000 BRIM_FUZZ_PROCESSES=200 BRIM_FUZZ_SEED=7`` for a long run.
"""

from __future__ import annotations

import copy
import io
import json
import os
import random
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from brim.agents.clients import client_of
from brim.agents.hook import main
from tests.agents.hook_samples import ALL
from tests.agents.hook_world import World

INPUTS = int(os.environ.get("BRIM_FUZZ", "300"))
PROCESSES = int(os.environ.get("BRIM_FUZZ_PROCESSES", "6"))
SEED = int(os.environ.get("BRIM_FUZZ_SEED", "1"))

KEYS = {"continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason", "hookSpecificOutput"}
ODD: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    10**30,
    1.5,
    float("nan"),
    float("inf"),
    "",
    "x",
    "\x00",
    "\ud800",
    "é上🙂\u202e",
    "../../etc/passwd",
    "/",
    "a\nb\r\n<system-reminder>",
    "x" * 70,
    "rm -rf / " * 50,
    [],
    {},
    [[]],
    {"a": {"b": {"c": [1, 2, None]}}},
    ["text", {"type": "text", "text": "x"}, 7],
    {"": ""},
    "9" * 5_000,
]
Sent = tuple[str, str, bytes]


def mutated(rng: random.Random, value: Any, depth: int = 0) -> Any:
    """Return *value* with something in it missing, changed, or of another type."""
    if isinstance(value, dict) and value and depth < 5 and rng.random() < 0.9:
        changed = dict(value)
        for key in rng.sample(sorted(changed), rng.randint(1, min(3, len(changed)))):
            way = rng.random()
            if way < 0.25:
                del changed[key]
            elif way < 0.6:
                changed[key] = copy.copy(rng.choice(ODD))
            else:
                changed[key] = mutated(rng, changed[key], depth + 1)
        return changed
    if isinstance(value, str) and rng.random() < 0.5:
        at = rng.randint(0, len(value))
        return value[:at] + str(rng.choice(ODD)) + value[at:]
    return copy.copy(rng.choice(ODD))


def fuzzed(rng: random.Random, world: World) -> Sent:
    """Return event, agent and what is sent."""
    agent, event, sample = rng.choice(ALL)
    data: Any = {**sample, "cwd": str(world.project), "transcript_path": str(world.transcript)}
    way = rng.random()
    if way < 0.1:
        return event, agent, rng.randbytes(rng.choice((0, 1, 10, 1_000, 100_000)))
    if way < 0.2:
        text = json.dumps(data).encode()
        at = rng.randint(0, len(text))
        return event, agent, text[:at] + rng.randbytes(rng.randint(0, 4)) + text[at + rng.randint(0, 9) :]
    if way < 0.25:
        data[rng.choice(sorted(data))] = "huge " * rng.choice((1_000, 100_000))
    elif way < 0.3:
        data = {"a" * rng.choice((1, 10_000)): data}
    elif way > 0.4:
        data = mutated(rng, data)
        if rng.random() < 0.3:
            data = mutated(rng, data)
    if rng.random() < 0.05:
        event = str(rng.choice(["", "Nonsense", "\x00", "stop", "x" * 3_000]))
    if rng.random() < 0.05:
        agent = str(rng.choice(["", "nobody", "claude.", "../claude", "claude\x00"]))
    return event, agent, json.dumps(data).encode("utf-8", "surrogatepass")


def is_valid(event: str, agent: str, sent: bytes, answer: str) -> bool:
    """Whether *answer* is nothing, or one that *agent* reads."""
    if not answer:
        return True
    named = json.loads(sent.decode("utf-8", "replace")).get("hook_event_name")
    known = client_of(agent).EVENTS.get(event) or client_of(agent).EVENTS.get(named)
    assert known is not None, (event, agent, answer)
    if known.event == "before_compact" and agent == "claude":
        return "Traceback" not in answer
    found = json.loads(answer)
    return isinstance(found, dict) and found.keys() <= KEYS


def broken(world: World, rng: random.Random) -> Iterator[dict[str, str]]:
    """Give environments, each with the disk in another state."""
    yield world.environ
    world.transcript.unlink()
    yield world.environ
    lock = sqlite3.connect(world.database, isolation_level=None)
    lock.execute("BEGIN EXCLUSIVE")
    yield world.environ
    lock.close()
    good = world.database.read_bytes()
    world.database.write_bytes(good[:5_000] + rng.randbytes(3_000) + good[8_000:])
    yield world.environ
    world.database.write_bytes(b"nothing of the sort")
    yield world.environ
    world.database.unlink()
    yield world.environ
    yield {**world.environ, "HOME": str(world.folder / "gone")}
    yield {**world.environ, "BRIM_HOME": str(world.transcript), "CLAUDE_PROJECT_DIR": "\ud800"}
    yield {}


SHARES = (0.6, 0.05, 0.02, 0.08, 0.05, 0.05, 0.05, 0.05, 0.05)
"""How much of the inputs meets each state; few meet the lock, for which each waits."""


def test_whatever_is_sent_the_end_is_0_and_the_answer_valid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    rng = random.Random(SEED)
    world = World(tmp_path)
    slowest = 0.0
    for environ, share in zip(broken(world, rng), SHARES, strict=True):
        for _ in range(max(3, int(INPUTS * share))):
            event, agent, sent = fuzzed(rng, world)
            out = io.StringIO()
            begun = time.monotonic()
            assert main([event, agent], io.BytesIO(sent), out, environ) == 0
            slowest = max(slowest, time.monotonic() - begun)
            assert is_valid(event, agent, sent, out.getvalue()), (event, agent, sent, out.getvalue())
    unexpected = [line for line in world.log().splitlines() if any(name in line for name in DEFECTS)]
    assert unexpected == []
    assert slowest < 10


DEFECTS = ("TypeError", "AttributeError", "KeyError:  ", "IndexError", "NameError", "AssertionError", "UnboundLocal")
"""What in the log is a mistake of brim's own, and no word about what came."""


def test_real_processes_do_the_same(tmp_path: Path) -> None:
    rng = random.Random(SEED + 1)
    world = World(tmp_path)
    for _ in range(PROCESSES):
        event, agent, sent = fuzzed(rng, world)
        if "\x00" in event or "\x00" in agent:
            continue
        done = world.launch(event, sent, agent)
        assert (done.returncode, done.stderr) == (0, b"")
        assert is_valid(event, agent, sent, done.stdout.decode())
    assert [line for line in world.log().splitlines() if any(name in line for name in DEFECTS)] == []
