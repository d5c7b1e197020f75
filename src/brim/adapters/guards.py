"""What adapters share: the guard for a model and a conversation, and the request bodies of three
APIs."""

from __future__ import annotations

import threading
import warnings
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from brim.errors import BrimError, InputError
from brim.guard.call import Call, OnCall
from brim.guard.conversation import Guard
from brim.messages.draft import Pin
from brim.messages.entries import Provider
from brim.messages.fitting import Name
from brim.messages.pruners import Pruner
from brim.messages.summarize import Summarizer
from brim.models.light import lookup
from brim.models.usage import Reported, read_response
from brim.money.ledger import Ledger
from brim.money.quote import LEAST_OUTPUT
from brim.money.unsent import may_be_billed
from brim.rules import Rule
from brim.usd import Dollars

ATTEMPTS = 1_000
"""How many calls are remembered that may be tried again."""


class Settings(TypedDict, total=False):
    """What every adapter takes: the settings of ``Guard``, the model aside, which each request
    names."""

    ledger: str | Ledger | None
    scope: str
    limit_usd: Dollars | None
    max_output: int | None
    target: int | None
    conservative: bool
    strategy: Name | Pruner | None
    summarize: Summarizer | None
    exclude_tools: Sequence[str]
    rules: Iterable[Rule]
    rule_tokens: int
    pin: Pin | None
    lease: float
    tool_usd: Dollars | None
    on_call: OnCall | None


class Guards:
    """The guards of an adapter: one for each model and conversation, with one ledger.

    Conversations are told apart by how they begin, or by an id if the framework has one. A *guard*
    of the caller's is one conversation, whatever it begins with. *model* stands for the names of
    requests, if brim doesn't know them.
    """

    def __init__(
        self, guard: Guard | None = None, settings: Settings | None = None, model: str = ""
    ) -> None:
        if guard is not None and settings:
            raise InputError(f"give a guard or settings, not both: {', '.join(settings)}")
        if guard is not None and not isinstance(guard, Guard):
            raise InputError(f"guard must be a brim.Guard, not {guard!r}")
        self._is_one = guard is not None
        self._model = model
        self.guard: Guard = guard or Guard("", **(settings or {}))
        """Ledger, scope and limit of every call.

        Its model is that of no request unless the caller gave it.
        """
        self._by_model: dict[tuple[str, str], Guard] = {}
        self._lock = threading.Lock()

    def of(
        self,
        model: str,
        messages: Sequence[Any],
        provider: Provider | Literal["auto"] = "auto",
        id: str | None = None,
    ) -> Guard:
        """Return the guard for the conversation *id*, or for the one that *messages* continue."""
        with self._lock:
            key = (model, provider)
            if key not in self._by_model:
                self._by_model[key] = self._with_model(model, provider)
            guard = self._by_model[key]
        if id is not None:
            return guard.conversation(id)
        if self._is_one:
            return guard
        return guard.conversation_of(messages)

    def _with_model(self, model: str, provider: Provider | Literal["auto"]) -> Guard:
        if self._is_one and model == self.guard.model:
            return self.guard
        return self.guard.with_model(model, provider)

    def call(
        self,
        model: str,
        messages: Sequence[Any],
        *,
        provider: Provider | Literal["auto"] = "auto",
        system: Any = None,
        tools: Sequence[Any] | None = None,
        max_output: int | None = None,
        thinks: int = 0,
        answers: int = 1,
        has_unseen: bool = False,
        options: Mapping[str, Any] | None = None,
        id: str | None = None,
    ) -> Call[Any]:
        """Return the next call of a conversation, for ``with`` or ``async with``.

        *max_output* is the request's own; without one it's the setting's. If neither is given, or
        it's the longest answer of the model, money for that is reserved, or for less if a limit
        leaves less: see ``cap_of``. *thinks* is how many tokens of an answer are for thinking,
        *answers* how many are asked for, *has_unseen* whether the provider keeps a part of the
        prompt, and *options* are the request's other fields.
        """
        name = self._model or model
        guard = self.of(name, messages, provider, id)
        longest = lookup(name).max_output
        cap = max_output
        if cap is None:
            cap = guard.max_output
        billed_output = cap
        if cap is None:
            billed_output = longest
        min_output = None
        if cap is None or (longest is not None and cap >= longest):
            min_output = LEAST_OUTPUT + thinks
        return Call(
            guard,
            messages,
            system,
            tools,
            max_output=max_output,
            min_output=min_output,
            billed_output=billed_output,
            answers=answers,
            has_unseen=has_unseen,
            options=options,
        )


class Attempts:
    """Calls that failed and may be tried again, by a key of theirs.

    Their money stays reserved, because a failed attempt may have been billed. The next attempt
    takes the same call.
    """

    def __init__(self) -> None:
        self._failed: OrderedDict[str, Call[Any]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, key: str) -> Call[Any] | None:
        """Return the call of an earlier attempt, if its money is still reserved."""
        with self._lock:
            return self._failed.pop(key, None)

    def keep(self, key: str, call: Call[Any], error: BaseException) -> None:
        """Remember a call that ended in *error*, unless that cost nothing: then its money is given
        back."""
        if not may_be_billed(error):
            return
        with self._lock:
            self._failed[key] = call
            if len(self._failed) > ATTEMPTS:
                self._failed.popitem(last=False)


def cap_of(call: Call[Any]) -> int | None:
    """Return the cap to send in place of the request's own, if a limit leaves less: with a warning.
    Otherwise None."""
    if not call.is_lowered:
        return None
    warnings.warn(f"brim: {call.receipt.notes[-1]}", stacklevel=3)
    return call.max_output


def refuse_other_models(body: Mapping[str, Any], field: str, guards: Guards) -> None:
    """Refuse a request whose *field* lists other models, if money is reserved: that's for one."""
    if body.get(field) and guards.guard.ledger is not None:
        raise InputError(
            f"{field}: brim reserves money for one model, and another may answer: "
            f"leave {field!r} out and call the next model yourself"
        )


def thinking_of(thinking: object) -> int:
    """Return how many tokens Anthropic's ``thinking`` asks for: the cap of the answer has to be
    higher."""
    if not isinstance(thinking, Mapping):
        return 0
    budget = thinking.get("budget_tokens")
    if isinstance(budget, int):
        return budget
    return 0


def settle(call: Call[Any], response: object) -> None:
    """Take what the provider answered; a response without usage leaves the money reserved, with a
    warning.

    The caller has the answer already: it must not be lost because it can't be paid.
    """
    try:
        reported = read_response(response)
        if not reported.tokens.prompt:  # frameworks write zeros where the provider said nothing
            raise InputError(
                f"{type(response).__name__}: its usage doesn't say how many tokens the prompt had"
            )
    except BrimError as error:
        _warn_unsettled(error)
        return
    settle_reported(call, reported)


def settle_reported(call: Call[Any], reported: Reported) -> None:
    """Take what a response reported; a cost that is unknown leaves the money reserved, with a
    warning."""
    try:
        call.done(reported)
    except BrimError as error:
        _warn_unsettled(error)


def _warn_unsettled(error: BrimError) -> None:
    result = "its money stays reserved and counts in full when the lease ends"
    warnings.warn(f"brim couldn't settle a call, so {result}: {error}", stacklevel=4)


def tap(stream: Any, call: Call[Any]) -> None:
    """See to it that *call* is settled when *stream*, a ``Stream`` of OpenAI's or Anthropic's SDK,
    has been read."""
    stream._iterator = call.stream(stream._iterator)


# Request bodies -----------------------------------------------------------------------------------

CAPS: dict[Provider, tuple[str, ...]] = {
    "openai": ("max_completion_tokens", "max_tokens"),
    "responses": ("max_output_tokens",),
    "anthropic": ("max_tokens",),
}
"""The fields that limit an answer in each API; the first is set if none is."""
SYSTEM_FIELDS: dict[Provider, str] = {"responses": "instructions", "anthropic": "system"}
"""The field for the system prompt, where it isn't a message."""
EFFORT = 4_096
"""Tokens for thinking where a request names an effort: the most that LiteLLM makes of one."""


@dataclass(frozen=True, slots=True)
class Body:
    """What is sent to OpenAI's Chat Completions (``openai``), OpenAI's Responses or Anthropic's
    Messages."""

    fields: Mapping[str, Any]
    api: Provider

    @property
    def messages(self) -> list[Any]:
        """The messages, or the items."""
        field = "messages"
        if self.api == "responses":
            field = "input"
        messages = self.fields.get(field) or []
        if isinstance(messages, str):
            return [{"role": "user", "content": messages}]
        return list(messages)

    @property
    def max_output(self) -> int | None:
        """The request's own limit for the answer."""
        for name in CAPS[self.api]:
            cap = self.fields.get(name)
            if isinstance(cap, int):
                return cap
        return None

    @property
    def thinks(self) -> int:
        """How many tokens of the answer are for thinking: its cap has to be higher."""
        budget = thinking_of(self.fields.get("thinking"))
        if not budget and self.fields.get("reasoning_effort"):
            return EFFORT
        return budget

    @property
    def is_streamed(self) -> bool:
        """Whether the answer comes in pieces."""
        return bool(self.fields.get("stream"))

    @property
    def hides_usage(self) -> bool:
        """Whether it's a stream of the chat API that doesn't ask for usage: then brim asks for
        it."""
        if self.api != "openai" or not self.is_streamed:
            return False
        return not self._stream_options.get("include_usage")

    @property
    def _stream_options(self) -> dict[str, Any]:
        """The caller's own options for a stream."""
        options = self.fields.get("stream_options")
        if isinstance(options, Mapping):
            return dict(options)
        return {}

    def call(self, guards: Guards) -> Call[Any]:
        """Return the guard's call for this request."""
        refuse_other_models(self.fields, "models", guards)
        system = None
        if self.api in SYSTEM_FIELDS:
            system = self.fields.get(SYSTEM_FIELDS[self.api])
        return guards.call(
            str(self.fields.get("model") or guards.guard.model),
            self.messages,
            provider=self.api,
            system=system,
            tools=self.fields.get("tools") or self.fields.get("functions"),
            max_output=self.max_output,
            thinks=self.thinks,
            answers=self.fields.get("n") or 1,
            options=self.fields,
        )

    def as_sent(self, call: Call[Any]) -> dict[str, Any]:
        """Return what to send: fitted, with the guard's rules, and with its limit for answers if it
        has one."""
        sent = dict(self.fields)
        if self.api == "openai":
            sent["messages"] = list(call.messages)
            if call.system:
                sent["messages"].insert(0, {"role": "system", "content": call.system})
        elif self.api == "anthropic":
            sent["messages"] = call.messages
        elif not isinstance(sent.get("input"), str):
            sent["input"] = call.messages
        if call.system and self.api in SYSTEM_FIELDS:
            sent[SYSTEM_FIELDS[self.api]] = call.system
        sent.update(self._caps_as_sent(call))
        if self.hides_usage:
            sent["stream_options"] = {**self._stream_options, "include_usage": True}
        return sent

    def _caps_as_sent(self, call: Call[Any]) -> dict[str, int]:
        """Return the limit for the answer, in the request's own fields or in the API's first."""
        own_fields = [name for name in CAPS[self.api] if self.fields.get(name) is not None]
        cap = cap_of(call) or None
        if cap is None and not own_fields:
            cap = call.guard.max_output
        if cap is None:
            return {}
        return dict.fromkeys(own_fields or CAPS[self.api][:1], cap)
