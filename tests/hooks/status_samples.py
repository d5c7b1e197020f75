"""What Claude Code sends to a status line: the shape of the real thing, with numbers of our own."""

from __future__ import annotations

import json
from typing import Any

SESSION = "3b1f6c0e-52a7-4d0c-9a57-6f2f0d7a9c11"
NOW = 1_794_750_000.0


def sent(used: int | None = 86_425, *, window: int = 200_000, **changes: Any) -> dict[str, Any]:
    """What is sent when the last request took *used* tokens; None is before the first answer."""
    usage = None
    if used is not None:
        written, new = (min(used, 1_400), min(max(0, used - 1_400), 12))
        usage = {
            "input_tokens": new,
            "output_tokens": 311,
            "cache_creation_input_tokens": written,
            "cache_read_input_tokens": used - written - new,
        }
    data: dict[str, Any] = {
        "session_id": SESSION,
        "transcript_path": f"/home/user/.claude/projects/-home-user-project/{SESSION}.jsonl",
        "cwd": "/home/user/project",
        "model": {"id": "claude-sonnet-4-5", "display_name": "Sonnet 4.5"},
        "workspace": {
            "current_dir": "/home/user/project",
            "project_dir": "/home/user/project",
            "added_dirs": [],
        },
        "version": "2.1.325",
        "cost": {"total_cost_usd": 1.2437, "total_duration_ms": 13538},
        "context_window": {
            "total_input_tokens": used or 0,
            "total_output_tokens": 0,
            "context_window_size": window,
            "current_usage": usage,
            "used_percentage": None if used is None else 100 * used // window,
            "remaining_percentage": None if used is None else 100 - 100 * used // window,
        },
        "exceeds_200k_tokens": False,
        "prompt_cache": {
            "warm": True,
            "caching_observed": True,
            "ttl": "5m",
            "expires_at": int(NOW) + 120,
            "recache_tokens_if_cold": used,
        },
    }
    return {**data, **changes}


def encoded(data: object) -> bytes:
    """*data* as the client writes it."""
    return json.dumps(data).encode()


def limits(five: float, week: float) -> dict[str, Any]:
    """What a subscriber's client says about the plan."""
    return {
        "five_hour": {"used_percentage": five, "resets_at": int(NOW) + 3_600},
        "seven_day": {"used_percentage": week, "resets_at": int(NOW) + 300_000},
    }
