"""The Claude Agent SDK with a limit from a ledger, and with brim's rules, by its hooks.

options = guard(ClaudeAgentOptions(...), limit_usd="5")
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, HookMatcher

from brim.agents.claude.value import AGENT
from brim.agents.events import Usage
from brim.agents.readers import AnyReader
from brim.guard.call import LOG, OnCall
from brim.guard.conversation import Guard
from brim.hooks.process import answer_to, is_off
from brim.messages.receipt import Receipt
from brim.models.light import lookup
from brim.money.ledger import Ledger
from brim.money.meter import SpendMeter
from brim.tokens.count import Count
from brim.usd import Dollars, Money

EVENTS = (
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PreCompact",
    "SubagentStart",
    "SubagentStop",
    "Stop",
)
"""The events of the SDK at which brim looks."""
ENDS = ("Stop", "SubagentStop")
"""Those after an answer that may not be in the transcript yet."""
PATIENCE = 1.0
"""Seconds to wait for it."""
GATES = ("UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "PreCompact")
"""Those after which Claude would make another request."""


def guard(
    options: ClaudeAgentOptions | None = None,
    /,
    *,
    model: str = "",
    guard: Guard | None = None,
    ledger: str | Ledger | None = None,
    scope: str = "agent",
    limit_usd: Dollars | None = None,
    on_call: OnCall | None = None,
    rules: bool = True,
) -> ClaudeAgentOptions:
    """Return *options*, or new ones, with hooks that keep the limit and tell Claude your rules.

    The hooks add up what the session's transcript says that requests cost, in *scope* of the
    *ledger*, and end the turn when *limit_usd* or a limit of the ledger is reached. Claude Code
    sends its requests itself, so brim can't reserve their money: the last one may go over. What is
    left when you call this is also Claude Code's own limit, ``max_budget_usd``.

    With *rules*, brim does what its hooks do in Claude Code: it tells Claude your rules, and stops
    calls that break one. *on_call* is called for every request that was found, with its receipt and
    cost. *model* is the name by which requests are priced, if theirs isn't known.
    """
    options = options or ClaudeAgentOptions()
    if guard is None:
        guard = Guard(model, ledger=ledger, scope=scope, limit_usd=limit_usd, on_call=on_call)
    spending = SessionSpending(guard, model)
    session = SessionHooks(spending, rules=rules)
    hooks: dict[Any, list[HookMatcher]] = dict(options.hooks or {})
    for event in EVENTS:
        hooks[event] = [*hooks.get(event, ()), HookMatcher(hooks=[session.answer])]
    caps = [options.max_budget_usd, spending.left_usd]
    cap = min((cap for cap in caps if cap is not None), default=None)
    return replace(options, hooks=hooks, max_budget_usd=cap)


class SessionHooks:
    """Answers the hooks of sessions."""

    def __init__(self, spending: SessionSpending, *, rules: bool) -> None:
        self._spending = spending
        self._tells_rules = rules

    async def answer(self, data: Any, _tool_use_id: str | None, _context: Any) -> Any:
        """Return what Claude Code is to do at an event."""
        return await asyncio.to_thread(self._answer, dict(data))

    def _answer(self, data: dict[str, Any]) -> dict[str, Any]:
        event = str(data.get("hook_event_name"))
        try:
            transcript = str(data.get("transcript_path") or "")
            if event in ENDS:
                self._spending.wait_for_answer(transcript)
            self._spending.look(transcript)
            reason = self._spending.refusal() if event in GATES else ""
        except Exception:  # a hook never stops an agent by failing
            LOG.exception("brim couldn't look at what the session cost")
            reason = ""
        if reason:
            LOG.info("%s: %s", event, reason)
            return _end(event, reason)
        if not self._tells_rules:
            return {}
        return _rules(event, data)


class SessionSpending:
    """What sessions have cost, by their transcripts, kept in a ledger."""

    def __init__(self, guard: Guard, model: str) -> None:
        self._guard = guard
        self._model = model
        self._meter = SpendMeter()
        self._amounts: dict[str, Money] = {}
        self._read_to: dict[str, int] = {}
        self._lock = threading.Lock()

    @property
    def left_usd(self) -> float | None:
        """What is left now, in dollars; None without a limit."""
        rooms = []
        status = self._guard.status()
        if status is not None and status.left is not None:
            rooms.append(status.left)
        if status is not None and self._guard.limit is not None:
            rooms.append(max(Money(0), self._guard.limit - status.spent - status.reserved))
        if not rooms:
            return None
        return float(min(rooms).usd)

    def refusal(self) -> str:
        """Return why no other request may be made; empty if one may."""
        status = self._guard.status()
        if status is None or self.left_usd != 0:
            return ""
        limit = self._guard.limit
        if status.limit is not None and (limit is None or status.limit < limit):
            limit = status.limit
        out_of = f" of ${limit:,.2f}" if limit is not None else ""
        return f"${status.spent:,.2f}{out_of} is spent in {self._guard.scope}: the limit is reached"

    def look(self, transcript: str) -> None:
        """Take in what was added to a session's *transcript*, and to those of its sub-agents."""
        with self._lock:
            for path in _files_of(transcript):
                for line in self._new_lines(path):
                    for event in AnyReader().events(line):
                        self._take(event)

    def wait_for_answer(self, transcript: str) -> None:
        """Wait until a new request stands in the transcript: it's written a little late."""
        before = len(self._amounts)
        until = time.monotonic() + PATIENCE
        while len(self._amounts) == before and time.monotonic() < until:
            self.look(transcript)
            time.sleep(0.02)

    def _take(self, event: Any) -> None:
        if isinstance(event, Usage) and self._model:
            event = replace(event, model=self._model)
        added = self._meter.update(event)
        if not isinstance(event, Usage) or not event.request or self._guard.ledger is None:
            return
        is_new = event.request not in self._amounts
        amount = self._amounts.get(event.request, Money(0)) + added
        self._amounts[event.request] = amount
        if added:
            tokens = event.tokens.fresh
            about: Any = {"tokens": tokens, "at": event.time, "model": event.model}
            self._guard.ledger.record(self._guard.scope, event.request, amount, **about)
        if is_new and event.final and self._guard.on_call is not None:
            self._guard.on_call(_receipt(event), amount)

    def _new_lines(self, path: str) -> Iterator[dict[str, Any]]:
        """Yield the whole lines that were added to a file since the last look."""
        try:
            with open(path, "rb") as file:
                file.seek(self._read_to.get(path, 0))
                for line in file:
                    if not line.endswith(b"\n"):
                        break
                    self._read_to[path] = self._read_to.get(path, 0) + len(line)
                    value = _value(line)
                    if isinstance(value, dict):
                        yield value
        except OSError:
            return


def _files_of(transcript: str) -> list[str]:
    """Return the transcript and those of the session's sub-agents."""
    if not transcript:
        return []
    folder = Path(transcript).with_suffix("") / "subagents"
    return [transcript, *sorted(str(path) for path in folder.glob("*.jsonl"))]


def _value(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None


def _receipt(event: Usage) -> Receipt:
    """Return the receipt of a request that Claude Code sent as it wanted."""
    tokens = Count(event.tokens.prompt)
    return Receipt(
        pruner="none",
        provider="anthropic",
        model=event.model,
        target=lookup(event.model).max_input,
        before=tokens,
        after=tokens,
        dropped=(),
        fits=True,
        reason="",
        cache=None,
    )


def _end(event: str, reason: str) -> dict[str, Any]:
    """Return the answer that ends the turn."""
    answer: dict[str, Any] = {"continue_": False, "stopReason": reason}
    if event == "UserPromptSubmit":
        return {**answer, "decision": "block", "reason": reason}
    if event == "PreToolUse":
        denial = {"permissionDecision": "deny", "permissionDecisionReason": reason}
        return {**answer, "hookSpecificOutput": {"hookEventName": event, **denial}}
    return answer


def _rules(event: str, data: dict[str, Any]) -> dict[str, Any]:
    """Return what brim's own hook answers in Claude Code; nothing if that fails."""
    if is_off(os.environ):
        return {}
    try:
        words = answer_to(event, AGENT.name, data, os.environ, now=time.time())
        answer = json.loads(words or "{}")
    except Exception:
        LOG.exception("brim couldn't answer %s", event)
        return {}
    if "continue" in answer:  # a word of Python's: the SDK has another name for it
        answer["continue_"] = answer.pop("continue")
    return dict(answer)
