"""How full the window is: what brim says is what the client says, within one percentage point.

Claude Code answers a question of its own (that of ``/context``) and tells the status line; Codex
and Gemini CLI write what each request took.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.agents import Agent, Codex
from tests.e2e.script import Say
from tests.e2e.test_statusline import opened

ASK = {
    "type": "control_request",
    "request_id": "1",
    "request": {"subtype": "get_context_usage", "detail": "summary"},
}
MODELS = {"claude-opus-5-5": 1_000_000, "claude-haiku-4-5": 200_000}
POINT = 0.01


def session_of(claude: Agent) -> Path:
    """Return the one transcript of the project."""
    (path,) = (claude.world.home / ".claude" / "projects").glob("*/*.jsonl")
    return path


def client_says(claude: Agent) -> tuple[float, int]:
    """Return how full the client says that its window is, and how large."""
    streams = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
    command = [claude.program, *streams, "--model", claude.model, "--continue"]
    ran = claude.world.run(command, environ=claude.environ(), stdin=f"{json.dumps(ASK)}\n")
    (answer,) = ran.of("control_response")
    usage = answer["response"]["response"]
    return usage["totalTokens"] / usage["maxTokens"], usage["maxTokens"]


def brim_says(claude: Agent) -> tuple[float, int]:
    """Return what ``brim context`` says."""
    ran = claude.world.brim("context", str(session_of(claude)), "--json", environ=claude.environ())
    reading = json.loads(ran.out)
    return reading["utilization"], reading["context_window"]


def agree(claude: Agent) -> None:
    """Compare the two."""
    client, window = client_says(claude)
    share, own_window = brim_says(claude)
    assert own_window == window
    assert abs(share - client) <= POINT


@pytest.mark.parametrize("model", MODELS)
def test_brim_context_says_what_the_client_says(claude: Agent, model: str) -> None:
    claude.model = model
    claude.install()
    api = claude.world.api
    api.will(Say("It is done."))
    claude.ask("Say hello.")
    agree(claude)

    api.will(claude.shell("seq 1 3000"), claude.shell("seq 1 4000"), Say())
    claude.ask_again("Count twice.")
    agree(claude)

    claude.ask_again("/compact")
    agree(claude)

    api.will(Say("Here I am again."))
    claude.ask_again("And on.")
    agree(claude)


def stored_report(claude: Agent) -> dict[str, Any]:
    """Return what the status line stored of the client's report, once it knows a percentage."""
    for path in (claude.world.home / ".brim" / "state").glob("*.json"):
        state = json.loads(path.read_text())
        report = state.get("reported")
        if isinstance(report, dict) and report["share"] is not None:
            return report
    return {}


@pytest.mark.parametrize(("model", "window"), MODELS.items())
def test_the_status_line_and_brim_context_are_one_truth(
    claude: Agent, model: str, window: int
) -> None:
    claude.model = model
    claude.install()
    claude.world.api.will(Say("It is done.", tokens=72 * window // 100))
    with opened(claude) as terminal:
        terminal.wait_for(f"window {window:,}")
        terminal.enter("Say hello.")
        terminal.wait_for("compact at 78%")
        terminal.wait(lambda: stored_report(claude))
    report = stored_report(claude)
    assert (report["model"], report["window"]) == (model, window)
    share, own_window = brim_says(claude)
    assert own_window == window
    assert abs(share - report["share"]) <= POINT


def reading_of(agent: Agent, path: Path) -> dict[str, Any]:
    """Return what ``brim context`` says about the session in *path*."""
    ran = agent.world.brim("context", str(path), "--json", environ=agent.environ())
    reading: dict[str, Any] = json.loads(ran.out)
    return reading


def codex_says(codex: Agent) -> tuple[Path, int, int]:
    """Return Codex's session file, and what it says there last: tokens in the window, its size."""
    (path,) = (codex.world.home / ".codex" / "sessions").rglob("rollout-*.jsonl")
    payloads = [json.loads(line)["payload"] for line in path.read_text().splitlines()]
    counts = [
        payload["info"]
        for payload in payloads
        if payload.get("type") == "token_count" and payload["info"]
    ]
    return path, counts[-1]["last_token_usage"]["input_tokens"], counts[-1]["model_context_window"]


def test_codex_fills_the_window_that_it_says_itself(codex: Agent) -> None:
    codex.world.api.will(Say("It is done.", tokens=50_000))
    codex.ask("Say hello.")
    path, tokens, window = codex_says(codex)
    reading = reading_of(codex, path)
    assert (reading["used_tokens"], reading["context_window"]) == (tokens, window)


def test_gemini_fills_its_window_with_what_the_last_request_took(gemini: Agent) -> None:
    gemini.world.api.will(Say("It is done.", tokens=50_000))
    gemini.ask("Say hello.")
    (path,) = (gemini.world.home / ".gemini" / "tmp").rglob("chats/*.json*")
    reading = reading_of(gemini, path)
    assert reading["used_tokens"] == 50_000
    assert reading["context_window"] == 1_048_576


def test_codex_fills_its_window_after_a_compaction(codex: Agent) -> None:
    assert isinstance(codex, Codex)
    codex.compact_at(100_000)
    steps = [codex.shell("seq 1 2000", tokens=150_000), codex.shell("echo on", tokens=9_000)]
    codex.world.api.will(*steps, Say("It is done.", tokens=9_000))
    codex.ask("Count once.")
    assert codex.world.api.compactions
    (path,) = (codex.world.home / ".codex" / "sessions").rglob("rollout-*.jsonl")
    reading = reading_of(codex, path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    counted = [line["payload"] for line in lines if line["payload"].get("type") == "token_count"]
    info = counted[-1]["info"]
    assert reading["compactions"] == 1
    assert abs(reading["used_tokens"] - info["last_token_usage"]["input_tokens"]) <= (
        POINT * info["model_context_window"]
    )
    explained(reading)


def test_gemini_fills_its_window_after_a_compression(gemini: Agent) -> None:
    settings = gemini.world.home / ".gemini" / "settings.json"
    changed = {**json.loads(settings.read_text()), "model": {"compressionThreshold": 0.00005}}
    settings.write_text(json.dumps(changed))
    words = " ".join(f"Step {n} is done in part_{n}." for n in range(300))
    gemini.world.api.will(gemini.shell("seq 1 2000"), Say(words, tokens=700_000))
    gemini.ask("Count once.")
    gemini.world.api.will(Say("And on.", tokens=20_000))
    gemini.ask_again("Please go on.")
    assert gemini.world.api.compactions
    paths = (gemini.world.home / ".gemini" / "tmp").rglob("chats/*.json*")
    reading = reading_of(gemini, max(paths, key=lambda path: path.stat().st_mtime))
    assert reading["used_tokens"] == 20_000
    explained(reading)


def explained(reading: dict[str, Any]) -> None:
    """Compare the parts of the last request with what was billed."""
    request = reading["request"]
    assert request["estimate"] == "ok"
    known = [part["tokens"] for part in reading["parts"] if part["tokens"] is not None]
    assert min(known) >= 0
    assert sum(known) == request["billed_tokens"]
