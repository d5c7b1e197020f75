"""Whatever is sent to the hook, in whatever state the disk is: it ends with 0, and its answer is
empty or valid.

A few hundred inputs by default; ``BRIM_FUZZ=10000 BRIM_FUZZ_PROCESSES=200 BRIM_FUZZ_SEED=7`` for a
long run, and ``pytest -s`` to see how long the slowest took.
"""

from __future__ import annotations

import copy
import io
import json
import os
import random
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from brim.agents import agent_named
from brim.hooks.process import main
from brim.install.launchers import install_launcher
from tests.hooks.hook_answers import fault_of
from tests.hooks.hook_samples import ALL
from tests.hooks.hook_world import World
from tests.hooks.read_only import read_only

INPUTS = int(os.environ.get("BRIM_FUZZ", "300"))
PROCESSES = int(os.environ.get("BRIM_FUZZ_PROCESSES", "6"))
SEED = int(os.environ.get("BRIM_FUZZ_SEED", "1"))

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
STRANGERS = ("", "nobody", "claude.", "../claude", "claude\x00")
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
    if way < 0.01:
        return (
            event,
            agent,
            rng.choice((b"[", b'{"a":', b'{"session_id":"')) * rng.choice((1, 100_000)),
        )
    if way < 0.1:
        return event, agent, rng.randbytes(rng.choice((0, 1, 10, 1_000, 100_000)))
    if way < 0.2:
        text = json.dumps(data).encode()
        at = rng.randint(0, len(text))
        return (
            event,
            agent,
            text[:at] + rng.randbytes(rng.randint(0, 4)) + text[at + rng.randint(0, 9) :],
        )
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
        agent = str(rng.choice(STRANGERS))
    return event, agent, json.dumps(data).encode("utf-8", "surrogatepass")


def fault(event: str, agent: str, sent: bytes, answer: str) -> str:
    """Return what is wrong with *answer*; empty if it is nothing, or one that *agent* reads."""
    if not answer:
        return ""
    name = (
        event
        if event in agent_named(agent).events
        else json.loads(sent.decode("utf-8", "replace"))["hook_event_name"]
    )
    return fault_of(agent, name, answer)


def states(world: World, rng: random.Random) -> Iterator[tuple[dict[str, str], float]]:
    """Give environments, each with the disk in another state, and the share of the inputs that
    meets it."""
    yield world.environ, 0.45
    limited = 'limits:\n  "*": [0/day]\n'
    (world.home / "config.yaml").write_text(limited, encoding="utf-8")
    yield world.environ, 0.1
    world.transcript.unlink()
    yield world.environ, 0.05
    with read_only(world.home):
        yield world.environ, 0.08
    lock = sqlite3.connect(world.state, isolation_level=None)
    lock.execute("BEGIN EXCLUSIVE")
    yield world.environ, 0.02  # each waits for it
    lock.close()
    for path in (world.state, world.index):
        good = path.read_bytes()
        path.write_bytes(good[:5_000] + rng.randbytes(3_000) + good[8_000:])
    yield world.environ, 0.1
    world.state.write_bytes(b"nothing of the sort")
    world.index.write_bytes(b"nothing of the sort")
    yield world.environ, 0.05
    world.state.unlink()
    world.rules.write_bytes(rng.randbytes(3_000))
    yield world.environ, 0.05
    yield {**world.environ, "HOME": str(world.folder / "gone")}, 0.05
    yield (
        {
            **world.environ,
            "BRIM_HOME": str(world.folder / "cwd" / "x"),
            "CLAUDE_PROJECT_DIR": "\udcff",
        },
        0.03,
    )
    yield {}, 0.02


EXPECTED = (
    "JSONDecodeError: ",
    "RecursionError: maximum recursion depth exceeded while decoding",
    "ValueError: the input isn't a JSON object",
    " that brim knows",
    *(f"KeyError: {agent!r}" for agent in STRANGERS),
    "StoreError: ",
    "took too long",
)
"""What the log may say: something about what came, or about the disk. All else is a mistake of
brim's own."""


def mistakes(world: World) -> list[str]:
    """Return what the log says and should not."""
    lines = [*world.log().split("\n"), *_before(world).split("\n")]
    return [line for line in lines if line and not any(expected in line for expected in EXPECTED)]


def _before(world: World) -> str:
    path = world.home / "log" / "hook.log.1"
    return path.read_text(encoding="utf-8") if path.exists() else ""


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return World(tmp_path)


def test_whatever_is_sent_the_end_is_0_and_the_answer_valid(world: World) -> None:
    rng = random.Random(SEED)
    answered = 0
    shares = 0.0
    for environ, share in states(world, rng):
        shares += share
        for _ in range(max(3, round(INPUTS * share))):
            event, agent, sent = fuzzed(rng, world)
            out = io.StringIO()
            assert main([event, agent], io.BytesIO(sent), out, environ) == 0
            answered += bool(out.getvalue())
            assert not fault(event, agent, sent, out.getvalue()), (
                event,
                agent,
                sent,
                out.getvalue(),
            )
    assert shares == pytest.approx(1)
    assert mistakes(world) == []
    assert answered > INPUTS / 20, "what is never answered tests nothing"


def test_real_processes_do_the_same(world: World) -> None:
    rng = random.Random(SEED + 1)
    launcher = shutil.copy(install_launcher(str(world.home)), world.folder / "hook")
    for environ, share in states(world, rng):
        for _ in range(round(PROCESSES * share + rng.random() / 2)):
            event, agent, sent = fuzzed(rng, world)
            if "\x00" in event or "\x00" in agent:
                continue
            command = [launcher, event, agent]
            done = subprocess.run(
                command, input=sent, capture_output=True, check=False, env=environ, timeout=300
            )
            assert (done.returncode, done.stderr) == (0, b"")
            assert not fault(event, agent, sent, done.stdout.decode())
    assert mistakes(world) == []
