"""Hooks in opencode: at a limit, with what an ended run left to be read."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from tests.hooks.hook_world import World


def write_step(world: World, session: str, tokens: int) -> Path:
    """Write down a step as the plugin does, after which no hook is called."""
    path = world.home / "opencode" / f"{session}.jsonl"
    path.parent.mkdir(exist_ok=True)
    part = {"type": "step-finish", "id": f"p-{session}", "tokens": {"input": tokens, "output": 1}}
    line = {"timestamp": int(time.time() * 1000), "sessionID": session, "cwd": str(world.project)}
    path.write_text(json.dumps({**line, "type": "step_finish", "part": part}) + "\n")
    return path


def ask(world: World, session: str) -> dict[str, Any]:
    path = world.home / "opencode" / f"{session}.jsonl"
    sent = {"session_id": session, "transcript_path": str(path), "cwd": str(world.project)}
    sent |= {"prompt": "go on", "hook_event_name": "UserPromptSubmit"}
    answer: dict[str, Any] = json.loads(world.call("UserPromptSubmit", sent, "opencode") or "{}")
    return answer


def test_what_the_last_run_took_counts_at_the_first_prompt_of_the_next(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.brim("limit", "10k tokens/month")
    assert "decision" not in ask(world, "one")
    write_step(world, "one", 20_000)
    assert ask(world, "two")["decision"] == "block"
