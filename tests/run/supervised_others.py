"""A program that speaks as ``codex exec --json`` and ``gemini -o stream-json`` do: one turn for
each process."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

SESSION = "5e55a000-0000-4000-8000-0000000000aa"


def main() -> None:
    agent, *arguments = sys.argv[1:]
    with open(os.environ["FAKE_LOG"], "a", encoding="utf-8") as log:
        log.write(json.dumps({"argv": arguments, "run": os.environ.get("BRIM_RUN_ID", "")}) + "\n")
    if "FAIL" in arguments[-1]:
        sys.exit(4)
    if agent == "codex":
        codex(sys.stdin.read() if arguments[-1] == "-" else arguments[-1])
    else:
        gemini(arguments[-1].removeprefix("--prompt="))


def codex(prompt: str) -> None:
    say(type="thread.started", thread_id=SESSION)
    say(type="turn.started")
    say(
        type="item.completed",
        item={"id": "item_0", "type": "agent_message", "text": f"did: {prompt}"},
    )
    say(
        type="turn.completed",
        usage={"input_tokens": 20_000, "cached_input_tokens": 0, "output_tokens": 40},
    )


def gemini(prompt: str) -> None:
    time = "2026-11-15T10:00:00.000Z"
    tokens = {
        "total_tokens": 10_010,
        "input_tokens": 10_000,
        "output_tokens": 10,
        "cached": 0,
        "input": 10_000,
    }
    say(type="init", timestamp=time, session_id=SESSION, model="gemini-2.5-flash")
    say(type="message", timestamp=time, role="user", content=prompt)
    say(type="message", timestamp=time, role="assistant", content=f"did: {prompt}", delta=True)
    write_chat(prompt)
    stats = {**tokens, "models": {"gemini-2.5-flash": tokens}}
    say(type="result", timestamp=time, status="success", stats=stats)


def write_chat(prompt: str) -> None:
    """Write what the client writes beside its stream. The times are of the future: they are this
    run's."""
    chats = Path(os.environ["HOME"], ".gemini", "tmp", "work", "chats")
    chats.mkdir(parents=True, exist_ok=True)
    file = chats / f"session-2096-11-15T10-00-{SESSION[:8]}.jsonl"
    begins = [
        {
            "sessionId": SESSION,
            "projectHash": "0",
            "startTime": "2096-11-15T10:00:00Z",
            "kind": "main",
        }
    ]
    used = {"input": 10_000, "output": 10, "cached": 0, "thoughts": 0, "tool": 0, "total": 10_010}
    answer = {
        "id": f"g-{prompt}",
        "timestamp": "2096-11-15T10:00:01Z",
        "type": "gemini",
        "content": "did it",
    }
    lines = [
        *([] if file.exists() else begins),
        {**answer, "tokens": used, "model": "gemini-2.5-flash"},
    ]
    with file.open("a", encoding="utf-8") as chat:
        chat.write("".join(json.dumps(line) + "\n" for line in lines))


def say(**line: Any) -> None:
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
