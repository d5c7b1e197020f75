"""A supervised conversation for programs: the Claude Agent SDK, with the gauge, the scratch memory
and the limit.

It needs the optional extra: ``pip install 'brim[agent-sdk]'``.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any, Self

from brim.agents.claude.run import end_cause, turn_line
from brim.agents.claude.sdk import line_of, load_sdk
from brim.config.places import branch_of
from brim.errors import LimitReached
from brim.money.budget import CostBudget, Raise, build_wrap_up_prompt
from brim.money.ledger import Ledger
from brim.notices import Notice
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
from brim.sessions.window.budget import ContextBudget
from brim.sessions.window.compaction import build_compact_prompt
from brim.usd import Dollars, read_money
from brim.workspace import Workspace


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
        budget_usd: Dollars | None = None,
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
        installation = Workspace(os.environ, folder, who="person", now=time.time())
        resumed = bool(
            getattr(options, "resume", None) or getattr(options, "continue_conversation", False)
        )
        limit = None
        if budget_usd is not None:
            limit = int(read_money(budget_usd, "budget_usd", up=False))
        self._task = task
        self._on_limit = on_limit
        self._options = options
        self._connect = connect or (lambda options: load_sdk().ClaudeSDKClient(options=options))
        self._compact_patience = compact_patience
        purse = Purse(
            limit,
            scope=scope or scope_of(installation.place, self.run, installation.shared_name),
            ledger=ledger,
            resumed=resumed,
            branch=branch_of(folder),
            tell=tell,
        )
        notes = Notes(folder, folder, job=task, clock=time.time, tell=tell, environ=os.environ)
        self._tracked = Tracked(context or ContextBudget(), purse, notes)
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
        self._check_spending()
        self._task = self._task or text
        self._tracked.notes.person_said(text)
        before = ""
        if self._compacted:
            before = build_pointer(self.scratch_path)
        self._compacted = False
        async for message in self._exchange(text, before):
            yield message
        while self._tracked.purse.is_spent and not self._is_over:
            async for message in self._reach_limit():
                yield message
        if self._must_compact():
            await self._compact()

    def _check_spending(self) -> None:
        """Raise ``LimitReached`` if nothing more may be spent."""
        purse = self._tracked.purse
        if self._is_over or purse.is_spent:
            raise LimitReached(
                f"nothing more may be spent in {purse.scope}: raise the limit to go on",
                scope=purse.scope,
                limit=self.spending.limit,
                spent=self.spending.spent,
            )

    def _must_compact(self) -> bool:
        """Whether the window is full enough to ask for a compaction."""
        if self._is_over or self._refusals >= MOST_REFUSALS:
            return False
        return self.context.should_compact

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._disconnect()
        self._tracked.notes.close()

    async def _exchange(self, text: str, before: str = "") -> AsyncIterator[Any]:
        """Send *text* as a turn, and give every message of it; one that runs is interrupted."""
        if self._client is None:
            self._client = self._connect(self._limited_options())
            await self._client.connect()
        if self._is_in_turn:
            await self._client.interrupt()
            async for message in self._client.receive_response():
                self._take(message)
        self._is_in_turn = True

        async def lines() -> AsyncIterator[dict[str, Any]]:
            yield json.loads(turn_line(text, before))

        await self._client.query(lines())
        async for message in self._client.receive_response():
            self._take(message)
            yield message
        self._is_in_turn = False
        self._tracked.notes.save()

    def _take(self, message: Any) -> None:
        """Take in one *message* of the SDK."""
        line = line_of(message, self.session)
        if not line:
            return
        news = self._tracked.take_object(line)
        self.notices += news.notices
        self._compacted = self._compacted or news.compacted
        if news.end is not None:
            cause = end_cause(news.end, news.line)
            self._last = turn_end(cause, news.end, answered=news.answered)
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
            prompt = build_compact_prompt(self._task, scratch_path=self.scratch_path or None)
            async for _ in self._exchange(prompt):
                pass
        if waiting.cancelled_caught:
            await self._disconnect()
        self.context.clear_compact()
        if self.context.compactions > before:
            self._refusals = 0
        else:
            self._refusals += 1

    async def _reach_limit(self) -> AsyncIterator[Any]:
        """Ask what to do at the limit, and do it: go on with what was cut short, or wrap up."""
        purse = self._tracked.purse
        asked = purse.asked
        was_cut_short = self._last is not None and self._last.outcome == CUT_SHORT
        answer = self._on_limit(asked)
        purse.answer(answer)
        await self._disconnect()  # the client was given its limit when it started
        prompt = ""
        if answer in ("wrap_up", "stop"):
            self._is_over = True
            if answer == "wrap_up" and self._can_wrap_up():
                prompt = self._wrap_up_prompt(asked)
        elif was_cut_short and not purse.is_spent:
            prompt = build_continue_prompt(self._task, self.scratch_path)
        if prompt:
            async for message in self._exchange(prompt):
                yield message

    def _can_wrap_up(self) -> bool:
        """Whether money is left for a wrap-up, and the session can be resumed."""
        purse = self._tracked.purse
        return purse.budget.left != 0 and purse.held is None and bool(self.session)

    def _wrap_up_prompt(self, asked: CostBudget) -> str:
        """Return the turn that ends the work, at the limit *asked*."""
        return build_wrap_up_prompt(
            asked.spent,
            asked.limit,
            set_aside=self._tracked.purse.budget.left or 0,
            task=self._task,
            scratch_path=self.scratch_path or None,
            unit=asked.unit,
        )

    async def _disconnect(self) -> None:
        """End the process of the client, if there is one."""
        if self._client is not None:
            client = self._client
            self._client = None
            self._is_in_turn = False
            await client.disconnect()

    def _limited_options(self) -> Any:
        """Return the options with what is left as the client's own limit, and the session to go on
        with."""
        changes: dict[str, Any] = {"env": {**self._options.env, RUN_ID: self.run}}
        caps = []
        if self._options.max_budget_usd is not None:
            caps.append(self._options.max_budget_usd)
        if self.spending.left is not None:
            caps.append(int(self.spending.left) / 1_000_000)
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

        async with supervised(ClaudeAgentOptions(allowed_tools=["Bash"]), budget_usd="2") as run:
            async for message in run.turn("fix the parser"):
                print(message)
            print(run.context.utilization, run.spending.spent)
    """
    return SupervisedClient(options or load_sdk().ClaudeAgentOptions(), **settings)
