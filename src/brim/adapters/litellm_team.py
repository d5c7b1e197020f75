"""The LiteLLM proxy with one limit for a team: a key for each person, and money that is reserved
before a request is sent.

LiteLLM's configuration names two objects of this module: ``guard`` among its ``callbacks``, and
``authenticate`` as its ``custom_auth``. The environment says where the ledger is (``BRIM_STORE``),
how many seconds a request waits for money (``BRIM_WAIT``), and what a provider's own tools may cost
in one where nothing limits them (``BRIM_TOOL_USD``).

Routes and functions that aren't listed here are refused, so that a new one of LiteLLM's doesn't
spend uncounted.
"""

from __future__ import annotations

import asyncio
import os
import time
import warnings
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

from fastapi import Request
from litellm.integrations.custom_logger import CustomLogger
from litellm.proxy._types import ProxyException, UserAPIKeyAuth

from brim.adapters.litellm_requests import CALLS, INNER_CALLS, TeamRequest, is_billed
from brim.adapters.litellm_trial import TRIAL, HookFired, hooks_that_fail
from brim.errors import BrimError, InputError, LimitReached, StoreError, UnknownPrice
from brim.models.usage import Reported, read_response
from brim.money.amounts import in_unit
from brim.money.opening import open_ledger
from brim.money.scopes import AND, EVERYWHERE, lineage, segment
from brim.money.spend import Spend
from brim.money.stored_ledger import StoredLedger
from brim.money.team_keys import TeamKey, TeamKeys, hash_of
from brim.money.waiting import WAIT, WaitingLine
from brim.usd import Money, read_money

STORE = "BRIM_STORE"
SECONDS = "BRIM_WAIT"
TOOLS = "BRIM_TOOL_USD"
"""Variables of the environment."""
TOOL_COST = "0.25"
"""Dollars for the provider's own tools in one request, where nothing limits them: Codex offers a
web search with every request."""
RETRIES = 3.0
"""Seconds for which the ledger is asked again if it can't be reached."""
PATIENCE = 4.5
"""Seconds in which it must answer."""
KEYS_LAST = 5.0
"""Seconds after which a key that was revoked is refused."""
PAUSE = 0.1
"""Seconds between two looks for keys that aren't known."""
PROJECT_HEADER = "x-brim-project"
SESSION_HEADERS = ("x-claude-code-session-id", "session-id", "session_id")
"""Claude Code's, and Codex's."""
GEMINI_STATUS = "INVALID_ARGUMENT"
"""Google's word for status 400."""
NO_RETRY = {"x-should-retry": "false"}
"""The header by which SDKs know that the same request would be refused again."""

UNREACHABLE = "brim can't reach the team's ledger, so nothing is sent; tell your admin"

GUARDED = (
    "/chat/completions",
    "/v1/chat/completions",
    "/engines/{model:path}/chat/completions",
    "/openai/deployments/{model:path}/chat/completions",
    "/responses",
    "/v1/responses",
    "/openai/v1/responses",
    "/v1/messages",
    "/models/{model_name:path}:generateContent",
    "/v1beta/models/{model_name:path}:generateContent",
    "/models/{model_name:path}:streamGenerateContent",
    "/v1beta/models/{model_name:path}:streamGenerateContent",
)
"""LiteLLM's routes whose requests reserve money; all are posted to."""
FREE = (
    ("GET", "/models"),
    ("GET", "/v1/models"),
    ("GET", "/models/{model_id}"),
    ("GET", "/v1/models/{model_id}"),
    ("POST", "/v1/messages/count_tokens"),
    ("POST", "/models/{model_name:path}:countTokens"),
    ("POST", "/v1beta/models/{model_name:path}:countTokens"),
)
"""Routes that cost nothing: what models there are, and how many tokens a prompt has."""


class TeamRefusal(ProxyException):
    """A request that isn't sent. LiteLLM writes it in the form of the API that was spoken.

    With another status than 400 agents try again for minutes, or ask for another login.
    """

    def __init__(self, message: str, status: int = 400, *, for_gemini: bool = False) -> None:
        super().__init__(message, "invalid_request_error", None, status, dict(NO_RETRY))
        self.status_code = status
        self._for_gemini = for_gemini

    @property
    def message(self) -> str:
        """The sentence; a router's remarks about other models aren't added to it."""
        return str(self.args[0])

    @message.setter
    def message(self, message: str) -> None:
        """Leave it as it is."""

    def to_dict(self) -> dict[str, Any]:
        """Return what the answer has under ``error``: here LiteLLM knows only OpenAI's form."""
        if self._for_gemini:
            status = GEMINI_STATUS
            return {"code": self.status_code, "message": self.message, "status": status}
        return dict(super().to_dict())


@dataclass
class Attempt:
    """One request to a provider, and its money."""

    spend: Spend
    calls: set[str]
    """LiteLLM's functions that it went through: one, or two if LiteLLM translates it."""
    is_over: bool = False

    def contains(self, call: str) -> bool:
        """Whether *call* is the inner one of this translated request."""
        return not self.is_over and call in INNER_CALLS and call not in self.calls


@dataclass
class Passage:
    """One HTTP request on its way through the proxy."""

    scope: str
    attempt: Attempt | None = None
    """The newest one; earlier ones failed."""


PASSAGE: ContextVar[Passage | None] = ContextVar("brim_passage", default=None)
"""Each HTTP request is a task, and what it starts gets a copy of its context. An id wouldn't do:
LiteLLM takes the one that a client sends."""


@dataclass
class KeyRing:
    """The team's keys, as they were in the ledger a moment ago."""

    keys: dict[str, TeamKey] = field(default_factory=dict)
    people: frozenset[str] = frozenset()
    read_at: float = float("-inf")

    @property
    def age(self) -> float:
        """How many seconds ago it was read."""
        return time.monotonic() - self.read_at


class TeamGuard(CustomLogger):
    """Reserves the money of each request before LiteLLM sends it, and settles it by the answer."""

    def __init__(self, store: str = "", wait: float | None = None) -> None:
        super().__init__()
        self._store = store
        self._wait = wait
        self._opened: StoredLedger | None = None
        self._ring = KeyRing()
        self._reading = asyncio.Lock()
        self._line: WaitingLine | None = None
        self._trial: asyncio.Task[str] | None = None

    @property
    def ledger(self) -> StoredLedger:
        """The team's ledger, which is opened when it's needed first."""
        if self._opened is None:
            store = self._store or os.environ.get(STORE, "")
            if not store:
                raise InputError(f"{STORE} isn't set: it's the address of the team's ledger")
            self._opened = open_ledger(store, timeout=RETRIES)
        return self._opened

    @property
    def line(self) -> WaitingLine:
        """The requests that wait for money."""
        if self._line is None:
            wait = self._wait
            if wait is None:
                wait = float(os.environ.get(SECONDS) or WAIT)
            self._line = WaitingLine(wait, PATIENCE)
        return self._line

    # Who is it?

    async def authenticate(self, request: Request, api_key: str) -> UserAPIKeyAuth:
        """Return whose key it is; raise if it's nobody's, or the route isn't guarded."""
        await self._check_hooks()
        key = await self._key(api_key.removeprefix("Bearer ").strip())
        if key is None:
            raise TeamRefusal("this key isn't known, or was revoked", 401)
        team, _, name = key.person.partition("/")
        method = request.scope.get("method", "")
        path = getattr(request.scope.get("route"), "path", "")
        is_guarded = method == "POST" and path in GUARDED
        if not is_guarded and (method, path) not in FREE:
            raise TeamRefusal(f"{request.url.path} isn't counted by brim, so it isn't served", 403)
        return UserAPIKeyAuth(
            api_key=key.hash, key_alias=key.scope, user_id=name, team_id=team, team_alias=team
        )

    async def _key(self, secret: str) -> TeamKey | None:
        """Return the key that *secret* is. One that was made a moment ago is found at once."""
        if self._ring.age > KEYS_LAST:
            await self._read_keys(KEYS_LAST)
        elif hash_of(secret) not in self._ring.keys:
            await asyncio.sleep(PAUSE)  # whoever guesses keys waits, and asks the ledger seldom
            await self._read_keys(PAUSE)
        return self._ring.keys.get(hash_of(secret))

    async def _read_keys(self, oldest: float) -> None:
        """Read the keys again, unless another request did that in the last *oldest* seconds."""
        async with self._reading:
            if self._ring.age <= oldest:
                return
            try:
                async with asyncio.timeout(PATIENCE):
                    keys = await asyncio.to_thread(self._all_keys)
            except TimeoutError:
                raise TeamRefusal(f"{UNREACHABLE} (it doesn't answer)") from None
            except BrimError as error:
                raise TeamRefusal(problem_text(error, "")) from error
            valid = {key.hash: key for key in keys if key.is_valid}
            people = frozenset(key.person for key in keys)
            self._ring = KeyRing(valid, people, time.monotonic())

    def _all_keys(self) -> list[TeamKey]:
        return TeamKeys(self.ledger).all()

    async def _check_hooks(self) -> None:
        """Refuse everything unless LiteLLM asks this guard before each kind of call."""
        if self._trial is None:
            self._trial = asyncio.create_task(hooks_that_fail(self))
        failed = await asyncio.shield(self._trial)
        if failed:
            raise TeamRefusal(f"brim can't guard this version of LiteLLM: {failed}")

    # Before a request

    async def async_pre_call_hook(
        self, *, user_api_key_dict: UserAPIKeyAuth, data: dict[str, Any], call_type: Any, **_: Any
    ) -> None:
        """Note whose request it is; refuse it if it isn't guarded."""
        call = _name(call_type)
        if call not in CALLS:
            raise TeamRefusal(f"{call} isn't counted by brim, so it isn't sent", 403)
        if "," in str(data.get("model")):
            raise TeamRefusal("brim reserves money for one model: name one, not several")
        headers = _lower(data.get("proxy_server_request", {}).get("headers"))
        PASSAGE.set(Passage(self._scope(str(user_api_key_dict.key_alias), headers)))

    def _scope(self, key_scope: str, headers: Mapping[str, str]) -> str:
        """Return what a request counts against: the person's session, and the project."""
        person, _, project = key_scope.partition(AND)
        named = headers.get(PROJECT_HEADER, "")
        if named and not project:
            project = f"{lineage(person)[0]}/{segment(named)}"
            if project in self._ring.people:
                raise TeamRefusal(f"{PROJECT_HEADER}: {named[:80]} is a person, not a project")
        for header in SESSION_HEADERS:
            if headers.get(header):
                person = f"{person}/{segment(headers[header])}"
                break
        return AND.join(filter(None, [person, project]))

    async def async_pre_call_deployment_hook(
        self, kwargs: dict[str, Any], call_type: Any
    ) -> dict[str, Any] | None:
        """Reserve the money of a request to a provider; what this raises, the client gets."""
        call = _name(call_type)
        trial = TRIAL.get()
        if trial is not None:
            trial.fired.add(call)
            raise HookFired(call)
        passage = PASSAGE.get()
        if call not in CALLS or passage is None:
            raise TeamRefusal(f"{call} isn't counted by brim, so it isn't sent", 403)
        request = TeamRequest(kwargs, call)
        attempt = passage.attempt
        if attempt is not None and attempt.contains(call):
            attempt.calls.add(call)
        else:
            spend = await self._reserved(passage.scope, request)
            passage.attempt = Attempt(spend, {call})
        if request.hides_usage:
            return request.with_usage()
        return None

    async def _reserved(self, scope: str, request: TeamRequest) -> Spend:
        try:
            tool_cost = read_money(os.environ.get(TOOLS) or TOOL_COST, TOOLS)
            quote = await asyncio.to_thread(request.quote, tool_cost)
            spend = Spend(self.ledger, scope, quote)
            await self.line.enter(spend)
        except BrimError as error:
            text = problem_text(error, scope)
            raise TeamRefusal(text, for_gemini=request.api == "gemini") from error
        return spend

    # After it

    async def async_post_call_success_deployment_hook(
        self, _: Mapping[str, Any], response: Any, *__: Any
    ) -> None:
        """Settle one answer."""
        await self._settle(response)

    async def async_log_success_event(
        self, kwargs: Mapping[str, Any], response_obj: Any, *_: Any, **__: Any
    ) -> None:
        """Settle a stream that has ended, or was left; release an answer from LiteLLM's cache."""
        if kwargs.get("cache_hit"):
            await self._release()
            return
        metadata = (kwargs.get("litellm_params") or {}).get("metadata") or {}
        await self._settle(response_obj, was_left=bool(metadata.get("client_disconnected")))

    async def async_post_call_failure_deployment_hook(
        self, _: Mapping[str, Any], exception: Exception, *__: Any
    ) -> None:
        """Give the money back if the attempt cost nothing; otherwise it's held until its lease
        ends, and counts in full then."""
        if is_billed(exception):
            attempt = _open_attempt()
            if attempt is not None:
                attempt.is_over = True
            return
        await self._release()

    async def _settle(self, response: Any, *, was_left: bool = False) -> None:
        """Settle the open attempt with what *response* reports.

        If its client left (*was_left*), the report isn't complete: it's settled with the most that
        it can have cost.
        """
        attempt = _open_attempt()
        if attempt is None:
            return
        try:
            reported = _reported_with_prompt(response)
        except BrimError as error:
            if was_left:
                await self._finish(attempt, attempt.spend.amount)
            else:
                _warn_unsettled(error)
            return
        if was_left:
            reported = _at_most(reported, attempt.spend)
        await self._finish(attempt, reported)

    async def _finish(self, attempt: Attempt, cost: Reported | Money) -> None:
        attempt.is_over = True
        try:
            attempt.spend.settle(cost)
            await attempt.spend.finish()
        except BrimError as error:
            _warn_unsettled(error)
        self.line.look_again()

    async def _release(self) -> None:
        attempt = _open_attempt()
        if attempt is None:
            return
        attempt.is_over = True
        attempt.spend.release()
        await attempt.spend.finish()
        self.line.look_again()


guard = TeamGuard()
"""For LiteLLM's ``callbacks``."""


async def authenticate(request: Request, api_key: str) -> UserAPIKeyAuth:
    """Say whose key it is: for LiteLLM's ``custom_auth``."""
    return await guard.authenticate(request, api_key)


def _open_attempt() -> Attempt | None:
    passage = PASSAGE.get()
    if passage is None or passage.attempt is None or passage.attempt.is_over:
        return None
    return passage.attempt


def _reported_with_prompt(response: Any) -> Reported:
    """Return what *response* reports; raise if the tokens of its prompt are missing."""
    reported = read_response(getattr(response, "response", response))
    if not reported.tokens.prompt:
        raise InputError("the answer doesn't say how many tokens its prompt had")
    return reported


def _at_most(reported: Reported, spend: Spend) -> Reported:
    """Return *reported* with the longest answer and the dearest prompt that there may have been:
    its client left, and nobody said what it came to."""
    longest = max(reported.tokens.output, spend.quote.written)
    return replace(reported, tokens=replace(reported.tokens, output=longest))


# Words


def problem_text(error: BrimError, scope: str) -> str:
    """Return why a request in *scope* wasn't sent, for the developer who sent it."""
    if isinstance(error, LimitReached):
        return refusal_text(error, scope)
    if isinstance(error, StoreError):
        return f"{UNREACHABLE} ({error})"
    if isinstance(error, UnknownPrice):
        return f"brim can't say what this request can cost: {error}"
    return f"brim can't count this request: {error}"


def refusal_text(refused: LimitReached, scope: str) -> str:
    """Return why a request was refused, without commands: only an admin can run them."""
    team = lineage(scope)[0]
    who = refused.scope.rpartition("/")[2]
    if refused.scope == EVERYWHERE:
        who = "everyone together"
    elif refused.scope.count("/") > 1:
        who = "this session"
    if refused.reason != "limit" or refused.limit is None:
        return f"{team}'s admin has stopped what {who} may spend; ask them"
    spent = in_unit(refused.spent, refused.unit)
    parts = [f"{who} has spent {spent} of {in_unit(refused.limit, refused.unit)}{refused.when}"]
    if refused.reserved:
        parts.append(f"{in_unit(refused.reserved, refused.unit)} is reserved for other requests")
    if refused.room:
        parts.append(f"this request can take {in_unit(refused.amount, refused.unit)}")
    return f"{', '.join(parts)}; ask {team}'s admin"


def _warn_unsettled(error: BrimError) -> None:
    text = f"brim couldn't settle a request, so it counts in full when its lease ends: {error}"
    warnings.warn(text, stacklevel=3)


def _lower(headers: Mapping[str, Any] | None) -> dict[str, str]:
    return {name.lower(): str(value) for name, value in (headers or {}).items()}


def _name(call_type: Any) -> str:
    return str(getattr(call_type, "value", call_type))
