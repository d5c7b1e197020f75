"""The Claude Agent SDK: its hooks keep a limit and tell the rules, also with Claude Code itself."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

if os.environ.get("BRIM_ADAPTER") != "claude_agent_sdk":
    pytest.skip(
        "the SDK is tested in an environment of its own: scripts/adapters claude_agent_sdk",
        allow_module_level=True,
    )

from claude_agent_sdk import ClaudeAgentOptions, HookMatcher, ResultMessage, query

from brim import Money, cost, open_ledger
from brim.adapters import claude_agent_sdk as adapter
from tests.adapters.contract import said_by_program
from tests.adapters.model import Model, parallel

USAGE = {"input_tokens": 1_000, "output_tokens": 100}
NAME = "claude-sonnet-4-5"
PRICE = cost(USAGE, NAME) or Money(0)


class Session:
    """A session of Claude Code, as its hooks see it."""

    def __init__(self, folder: Path, options: ClaudeAgentOptions) -> None:
        self.options = options
        self.path = folder / "session.jsonl"
        self.folder = folder

    def says(self, number: int, path: Path | None = None) -> None:
        """Write one answer of the model's into the transcript."""
        message = {"id": f"msg_{number}", "role": "assistant", "model": NAME, "usage": USAGE}
        line = {
            "type": "assistant",
            "sessionId": "s1",
            "requestId": f"req_{number}",
            "timestamp": "2026-01-01T00:00:00Z",
            "message": {**message, "type": "message", "content": [], "stop_reason": "end_turn"},
        }
        path = path or self.path
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as file:
            file.write(json.dumps(line) + "\n")

    def at(self, event: str, **data: Any) -> Any:
        """Return what the last hook of an event answers."""
        about = {"session_id": "s1", "transcript_path": str(self.path), "cwd": str(self.folder)}
        hook = (self.options.hooks or {})[event][-1].hooks[0]
        return asyncio.run(hook({**about, "hook_event_name": event, **data}, None, {}))


def test_a_turn_ends_at_the_limit(tmp_path: Path) -> None:
    calls: list[Any] = []
    limit = PRICE * 2
    options = adapter.guard(
        limit_usd=limit, rules=False, on_call=lambda receipt, cost: calls.append((receipt, cost))
    )
    assert options.max_budget_usd == float(limit.usd)
    session = Session(tmp_path, options)
    session.says(1)
    assert session.at("PreToolUse", tool_name="Read", tool_input={}) == {}
    session.says(2)
    session.says(2)  # a line for each block of an answer
    answer = session.at("PostToolUse", tool_name="Read", tool_input={})
    assert answer["continue_"] is False
    assert "limit is reached" in answer["stopReason"]
    denied = session.at("PreToolUse", tool_name="Read", tool_input={})
    assert denied["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert session.at("UserPromptSubmit", prompt="Go on")["decision"] == "block"
    assert session.at("Stop") == {}
    assert [cost for _, cost in calls] == [PRICE, PRICE]
    assert int(calls[0][0].after) == 1_000


def test_sub_agents_count_and_another_program_sees_it(tmp_path: Path) -> None:
    with open_ledger(f"{tmp_path}/spend.db") as ledger:
        session = Session(
            tmp_path, adapter.guard(ledger=ledger, scope="shop/one", limit_usd="5", rules=False)
        )
        session.says(1)
        session.says(2, tmp_path / "session" / "subagents" / "agent-1.jsonl")
        session.at("Stop")
        session.at("Stop")
        assert ledger.status("shop").spent == 2 * PRICE
        ledger.limit("shop", PRICE * 2)
        other = Session(tmp_path / "other", adapter.guard(ledger=ledger, scope="shop/two"))
        assert other.options.max_budget_usd == 0
        assert other.at("UserPromptSubmit", prompt="Go on")["decision"] == "block"


def test_hooks_of_the_callers_own_stay_and_a_fault_stops_nothing(tmp_path: Path) -> None:
    async def own(*_: Any) -> Any:
        return {}

    options = ClaudeAgentOptions(hooks={"Stop": [HookMatcher(hooks=[own])]}, max_budget_usd=0.5)
    guarded = adapter.guard(options, limit_usd="1")
    assert guarded.hooks is not None
    assert next(iter(guarded.hooks["Stop"])).hooks == [own]
    assert (guarded.max_budget_usd, options.max_budget_usd) == (0.5, 0.5)
    session = Session(tmp_path, guarded)
    session.path.write_bytes(b"no json\n\xff\n")
    assert session.at("PreToolUse", tool_name="Read", tool_input={}) == {}


def test_claude_is_told_the_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("BRIM_HOME", str(tmp_path / ".brim"))
    (tmp_path / ".brim").mkdir(mode=0o700)
    (tmp_path / ".brim" / "rules.toml").write_text('[uv]\ntext = "Use uv, not pip."\n')
    session = Session(tmp_path, adapter.guard())
    told = json.dumps(session.at("UserPromptSubmit", prompt="Install the packages"))
    told += json.dumps(
        session.at("PreToolUse", tool_name="Bash", tool_input={"command": "pip install x"})
    )
    assert "Use uv, not pip." in told


def test_claude_code_itself_is_guarded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Model(parallel(0), window=1_000_000) as model:
        monkeypatch.setenv("HOME", str(tmp_path))
        for name, value in (("ANTHROPIC_BASE_URL", model.url), ("ANTHROPIC_API_KEY", "x")):
            monkeypatch.setenv(name, value)
        with open_ledger(f"{tmp_path}/spend.db") as ledger:
            options = ClaudeAgentOptions(cwd=str(tmp_path), model=NAME)
            guarded = adapter.guard(options, ledger=ledger, scope="shop", limit_usd="5")

            async def ask() -> Any:
                result = None
                async for message in query(prompt="Say something.", options=guarded):
                    if isinstance(message, ResultMessage):
                        result = message
                return result

            result = asyncio.run(ask())
            assert result.result == "Done."
            assert 0 < ledger.status("shop").spent <= model.spent


def test_the_program_of_the_page_runs(tmp_path: Path) -> None:
    with Model(parallel(0), window=1_000_000) as model:
        assert "Done." in said_by_program(
            "claude_agent_sdk", model, tmp_path, asks_only_what_is_allowed=False
        )
