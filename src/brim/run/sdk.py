"""A supervised conversation for programs: the Claude Agent SDK, with the gauge, the scratch memory
and the limit.

It needs the optional extra: ``pip install 'brim[agent-sdk]'``.
"""

from __future__ import annotations

import importlib
import json
import os
import secrets
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any, Self

from brim.errors import InputError, LimitReached
from brim.run.command import user_line
from brim.run.purse import Purse, scope_of
from brim.run.session import Notes, Tracked
from brim.run.supervisor import COMPACT_PATIENCE, RUN_ID
from brim.run.turns import (
    CUT_SHORT,
    MOST_REFUSALS,
    TurnEnd,
    build_continue_prompt,
    build_pointer,
    turn_end,
)
from brim.spend.ledger import Ledger
from brim.spend.limits import CostBudget, Raise, build_wrap_up_prompt
from brim.spend.money import micro_dollars
from brim.spend.periods import plan_limits
from brim.store.project import branch
from brim.tracking.budget import ContextBudget
from brim.tracking.compaction import build_compact_prompt
from brim.tracking.notices import Notice
from brim.workspace import Workspace

BLOCKS = {"TextBlock": "text", "ToolUseBlock": "tool_use", "ToolResultBlock": "tool_result"}
"""The blocks of content that matter, as the stream calls them."""


class SupervisedClient:
    """One session of Claude. ``turn`` sends a turn and gives the SDK's own messages.

    After a turn that filled the window it compacts, in a turn of its own, and the next turn says
    where the scratch file is. At the limit *on_limit* is asked: ``continue``, ``Raise(to)``,
    ``wrap_up`` or ``stop``. The messages of a wrap-up follow those of the turn, and so do those of
    a turn that goes on because it was cut short; after a wrap-up ``turn`` raises ``LimitReached``.
    A turn whose messages aren't read to the end is interrupted by the next one; after one that is
    left at its result, nothing is compacted and *on_limit* is not asked.
    """

    def __init__(
        self,
        options: Any,
        *,
        budget_usd: str | float | None = None,
        task: str = "",
        worktree: str | None = None,
        on_limit: Callable[[CostBudget], str | Raise] = lambda _: "wrap_up",
        ledger: Ledger | None = None,
        scope: str | None = None,
        context: ContextBudget | None = None,
        tell: Callable[[str], object] = lambda _: None,
        compact_patience: float = COMPACT_PATIENCE,
        connect: Callable[[Any], Any] | None = None,
    ) -> None:
        folder = os.path.abspath(worktree or getattr(options, "cwd", None) or os.getcwd())
        self.run = secrets.token_hex(6)
        self.notices: list[Notice] = []
        """What a person should be told, in order."""
        here = Workspace(os.environ, folder, who="person", now=time.time())
        resumed = bool(
            getattr(options, "resume", None) or getattr(options, "continue_conversation", False)
        )
        limit = None if budget_usd is None else micro_dollars(str(budget_usd), up=False)
        self._task, self._on_limit, self._options = task, on_limit, options
        self._connect = connect or (lambda options: _sdk().ClaudeSDKClient(options=options))
        self._compact_patience = compact_patience
        self._tracked = Tracked(
            context or ContextBudget(),
            Purse(
                limit,
                scope=scope or scope_of(here.place, self.run, ledger),
                ledger=ledger,
                resumed=resumed,
                plans=lambda limit: plan_limits(limit, "claude", here.home, None, time.time()),
                branch=branch(folder) or "",
                tell=tell,
            ),
            Notes(folder, folder, job=task, clock=time.time, tell=tell, environ=os.environ),
        )
        self._client: Any = None
        self._compacted = self._is_over = self._is_in_turn = False
        self._refusals = 0
        self._last: TurnEnd | None = None

    @property
    def context(self) -> ContextBudget:
        """How full the window is."""
        return self._tracked.budget

    @property
    def spending(self) -> CostBudget:
        """What is spent, and of what."""
        return self._tracked.purse.budget

    @property
    def scratch_path(self) -> str:
        """The scratch file; empty as long as there is none."""
        return self._tracked.notes.path

    @property
    def session(self) -> str:
        """The id of the session; empty until it has begun."""
        return self._tracked.session

    async def turn(self, text: str) -> AsyncIterator[Any]:
        """Send *text* as one turn, and give every message of it."""
        if self._is_over or self._tracked.purse.is_spent:
            raise LimitReached(
                f"nothing more may be spent in {self._tracked.purse.scope}: raise the limit to go on",
                scope=self._tracked.purse.scope,
                limit=self.spending.limit,
                spent=self.spending.spent,
            )
        self._task = self._task or text
        self._tracked.notes.person_said(text)
        before = build_pointer(self.scratch_path) if self._compacted else ""
        self._compacted = False
        async for message in self._exchange(text, before):
            yield message
        while self._tracked.purse.is_spent and not self._is_over:
            async for message in self._reach_limit():
                yield message
        if not self._is_over and self.context.should_compact and self._refusals < MOST_REFUSALS:
            await self._compact()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._disconnect()
        self._tracked.notes.close()

    async def _exchange(self, text: str, before: str = "") -> AsyncIterator[Any]:
        if self._client is None:
            self._client = self._connect(self._limited_options())
            await self._client.connect()
        if self._is_in_turn:
            await self._client.interrupt()
            async for message in self._client.receive_response():
                self._take(message)
        self._is_in_turn = True

        async def lines() -> AsyncIterator[dict[str, Any]]:
            yield json.loads(user_line(text, before))

        await self._client.query(lines())
        async for message in self._client.receive_response():
            self._take(message)
            yield message
        self._is_in_turn = False
        self._tracked.notes.save()

    def _take(self, message: Any) -> None:
        if line := line_of(message, self.session):
            heard = self._tracked.take_object(line)
            self.notices += heard.notices
            self._compacted = self._compacted or heard.compacted
            if heard.end is not None:
                self._last = turn_end(heard.end, heard.line, answered=heard.answered)
                self._is_in_turn = False  # a caller that leaves at this message has heard it all

    async def _compact(self) -> None:
        """Ask for a compaction alone, and see it through; one that fails is tried once more, after
        the next turn.

        One that takes too long has failed: the next turn goes on with the session in a new process.
        """
        import anyio  # the SDK rests on it

        before = self.context.compactions
        self._tracked.notes.save()
        self.context.request_compaction()
        with anyio.move_on_after(self._compact_patience) as waiting:
            async for _ in self._exchange(
                build_compact_prompt(self._task, scratch_path=self.scratch_path or None)
            ):
                pass
        if waiting.cancelled_caught:
            await self._disconnect()
        self.context.clear_compact()
        self._refusals = 0 if self.context.compactions > before else self._refusals + 1

    async def _reach_limit(self) -> AsyncIterator[Any]:
        purse = self._tracked.purse
        asked, was_cut_short = (
            purse.asked,
            self._last is not None and self._last.outcome == CUT_SHORT,
        )
        answer = self._on_limit(asked)
        purse.answer(answer)
        await self._disconnect()  # the client was given its limit when it started
        if answer not in ("wrap_up", "stop"):
            if was_cut_short and not purse.is_spent:
                async for message in self._exchange(
                    build_continue_prompt(self._task, self.scratch_path)
                ):
                    yield message
            return
        self._is_over = True
        if answer == "wrap_up" and purse.budget.left != 0 and purse.held is None and self.session:
            path, left = self.scratch_path or None, purse.budget.left or 0
            text = build_wrap_up_prompt(
                asked.spent,
                asked.limit,
                held=left,
                task=self._task,
                scratch_path=path,
                unit=asked.unit,
            )
            async for message in self._exchange(text):
                yield message

    async def _disconnect(self) -> None:
        if self._client is not None:
            client, self._client, self._is_in_turn = self._client, None, False
            await client.disconnect()

    def _limited_options(self) -> Any:
        """Return the options with what is left as the client's own limit, and the session to go on
        with."""
        changes: dict[str, Any] = {"env": {**self._options.env, RUN_ID: self.run}}
        caps = [self._options.max_budget_usd] if self._options.max_budget_usd is not None else []
        caps += [self.spending.left / 1_000_000] if self.spending.left is not None else []
        if caps:
            changes["max_budget_usd"] = min(caps)
        if self.session:
            changes |= {
                "resume": self.session,
                "continue_conversation": False,
                "fork_session": False,
            }
        return replace(self._options, **changes)


def supervised(options: Any = None, **settings: Any) -> SupervisedClient:
    """Return a supervised session with the SDK's *options*; *settings* are those of
    ``SupervisedClient``.

    ::

        async with supervised(ClaudeAgentOptions(allowed_tools=["Bash"]), budget_usd=2) as run:
            async for message in run.turn("fix the parser"):
                print(message)
            print(run.context.utilization, run.spending.spent)
    """
    return SupervisedClient(options or _sdk().ClaudeAgentOptions(), **settings)


def _sdk() -> Any:
    try:
        return importlib.import_module("claude_agent_sdk")
    except ImportError:
        raise InputError(
            "the Claude Agent SDK is not installed: pip install 'brim[agent-sdk]'"
        ) from None


def line_of(message: Any, session: str = "") -> dict[str, Any]:
    """Return the line of the stream that *message* was made of: one reader is enough. *session* is
    the one so far.

    It's empty if the message says nothing about the run.
    """
    kind = type(message).__name__
    about = {"session_id": getattr(message, "session_id", None) or session}
    if kind in ("AssistantMessage", "UserMessage"):
        content = message.content
        if not isinstance(content, str):
            content = [
                {**vars(each), "type": BLOCKS.get(type(each).__name__, "other")} for each in content
            ]
        about["parent_tool_use_id"] = message.parent_tool_use_id
        inner: dict[str, Any] = {"role": "user", "content": content}
        if kind == "UserMessage":
            return {
                "type": "user",
                "message": inner,
                **about,
                "tool_use_result": message.tool_use_result,
            }
        inner = {"id": message.message_id, "content": content}
        inner |= {name: getattr(message, name) for name in ("model", "usage", "stop_reason")}
        error = {"is_api_error_message": True} if message.error else {}
        return {"type": "assistant", "message": inner, **about, **error}
    if kind == "ResultMessage":
        return {
            **vars(message),
            "type": "result",
            **about,
            "modelUsage": getattr(message, "model_usage", None) or {},
        }
    data = getattr(message, "data", None)
    return {"type": "system", "subtype": message.subtype, **data} if isinstance(data, dict) else {}
