"""What the tests of ``brim usage`` share: files of three agents in a home folder, and the
question."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.cli.conftest import Brim
from tests.sessions.window.transcripts import write

SLUG = "-home-user-shop"
ROLLOUT = [
    {
        "timestamp": "2026-01-06T08:00:00Z",
        "type": "session_meta",
        "payload": {"id": "t-1", "cwd": "/home/user/api"},
    },
    {
        "timestamp": "2026-01-06T08:00:01Z",
        "type": "turn_context",
        "payload": {"model": "gpt-5", "cwd": "/home/user/api"},
    },
    {
        "timestamp": "2026-01-06T08:00:02Z",
        "type": "token_usage_record",
        "payload": {
            "thread_id": "t-1",
            "response_id": "resp_1",
            "usage": {"input_tokens": 100, "cached_input_tokens": 60, "output_tokens": 7},
        },
    },
]
GEMINI = [
    {"sessionId": "g-1", "projectHash": "h", "startTime": "2026-01-07T09:00:00Z", "kind": "main"},
    {
        "id": "g-m",
        "timestamp": "2026-01-07T09:00:01Z",
        "type": "gemini",
        "content": "hi",
        "tokens": {"input": 50, "output": 6, "cached": 20, "thoughts": 1, "tool": 0, "total": 57},
        "model": "gemini-2.5-flash",
    },
]


def session(brim: Brim, *lines: Any, name: str = "s-1", slug: str = SLUG) -> Path:
    return write(brim.home / ".claude" / "projects" / slug / f"{name}.jsonl", *lines)


def asked(brim: Brim, *arguments: str, **more: Any) -> Any:
    ran = brim("usage", "--json", "--utc", *arguments, **more)
    assert ran.code == 0, ran.err
    return ran.json


def counts(sums: Any) -> tuple[int, ...]:
    names = (
        "requests",
        "input_tokens",
        "output_tokens",
        "cache_creation_input_tokens",
        "cache_read_input_tokens",
    )
    return tuple(sums[name] for name in names)
