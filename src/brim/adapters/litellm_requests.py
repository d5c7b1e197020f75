"""Requests as LiteLLM's proxy passes them on: what each can cost, and whether an error was
billed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import httpx

from brim.adapters.guards import SYSTEM_FIELDS, Body
from brim.errors import InputError
from brim.guard.requests import with_system
from brim.messages.entries import Provider
from brim.models.light import lookup
from brim.models.terms import keeps_prompt, read_terms
from brim.money.quote import Quote, is_for_an_hour
from brim.money.unsent import may_be_billed
from brim.tokens.counters import local_counter
from brim.tokens.messages.request import with_options
from brim.tokens.protocol import TokenCounter
from brim.usd import Money

CALLS: dict[str, Provider] = {
    "acompletion": "openai",
    "aresponses": "responses",
    "anthropic_messages": "anthropic",
    "agenerate_content": "gemini",
    "agenerate_content_stream": "gemini",
}
"""LiteLLM's functions that are guarded, and what their arguments look like."""
INNER_CALLS = ("acompletion", "aresponses")
"""Those into which LiteLLM translates a call of another one."""
NOT_BILLED = (500, 503, 529)
"""Statuses of a provider's own errors that no provider bills. 502 and 504 come from a gateway: the
provider behind it may have answered."""


@dataclass(frozen=True)
class PricedParts:
    """What of a request decides its cost, whichever API it's for."""

    messages: list[Any]
    system: Any
    tools: Any
    max_output: int | None
    answers: int
    options: Mapping[str, Any]
    """Its other fields."""

    def quote(self, model: str, tool_cost: Money) -> Quote:
        """Return the most that it can cost; *tool_cost* is for the provider's own tools, where
        nothing limits them."""
        sizes = lookup(model)
        counted = with_system(self.messages, self.system)
        tokens = _counter(model).count_messages(counted, with_options(self.tools, self.options))
        if keeps_prompt(self.options):
            tokens += sizes.max_input
        longest = self.max_output or sizes.max_output or sizes.context_window
        terms = read_terms(self.options, model, self.tools, self.messages)
        if terms.unlimited and terms.has_server_tools:
            terms = terms.with_tool_cost(tool_cost)
        parts = (self.system, self.tools, self.options, *self.messages)
        hour = any(is_for_an_hour(part) for part in parts)
        return Quote.of_request(model, tokens, longest, terms, answers=self.answers, hour=hour)


@dataclass(frozen=True)
class TeamRequest:
    """The arguments of one of LiteLLM's functions."""

    fields: Mapping[str, Any]
    call: str
    """The function's name."""

    @property
    def api(self) -> Provider:
        """What they look like."""
        return CALLS[self.call]

    @property
    def parts(self) -> PricedParts:
        """What decides its cost."""
        if self.api == "gemini":
            return self._gemini_parts()
        body = Body(self.fields, self.api)
        system = None
        if body.api in SYSTEM_FIELDS:
            system = self.fields.get(SYSTEM_FIELDS[body.api])
        tools = self.fields.get("tools") or self.fields.get("functions")
        answers = self.fields.get("n") or 1
        return PricedParts(body.messages, system, tools, body.max_output, answers, self.fields)

    def _gemini_parts(self) -> PricedParts:
        config = _mapping(self.fields.get("config") or self.fields.get("generationConfig"))
        options = {**config, **self.fields}
        contents = self.fields.get("contents") or []
        if isinstance(contents, Mapping):
            contents = [contents]
        system = options.get("systemInstruction")
        answers = config.get("candidateCount") or 1
        longest = config.get("maxOutputTokens")
        return PricedParts(contents, system, options.get("tools"), longest, answers, options)

    def quote(self, tool_cost: Money) -> Quote:
        """Return the most that it can cost, with *tool_cost* for tools that nothing limits."""
        parts = self.parts
        if not parts.messages:
            raise InputError("it has no messages")
        return parts.quote(str(self.fields.get("model")), tool_cost)

    @property
    def hides_usage(self) -> bool:
        """Whether it's a stream of the chat API that doesn't ask for usage."""
        return self.call == "acompletion" and Body(self.fields, "openai").hides_usage

    def with_usage(self) -> dict[str, Any]:
        """Return the arguments with usage asked for."""
        options = _mapping(self.fields.get("stream_options"))
        return {**self.fields, "stream_options": {**options, "include_usage": True}}


@lru_cache(64)
def _counter(model: str) -> TokenCounter:
    """Return the counter of *model*; it keeps counts, because agents send their history again."""
    counter = local_counter(model)
    counter.keep_counts()
    return counter


def _mapping(value: Any) -> Mapping[str, Any]:
    """Return *value*, a mapping or an object of Google's SDK, as a mapping."""
    if isinstance(value, Mapping):
        return value
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dict(dump(by_alias=True, exclude_none=True))
    return {}


def is_billed(error: BaseException) -> bool:
    """Whether the attempt that ended in *error* may have been billed.

    A provider's complete answer that it failed isn't billed, and neither is what was never sent.
    """
    cause = original_error(error)
    response = getattr(cause, "response", None)
    if isinstance(response, httpx.Response) and response.status_code in NOT_BILLED:
        return False
    return may_be_billed(cause)


def original_error(error: BaseException) -> BaseException:
    """Return the error that LiteLLM translated: its own says 500 where no connection was made."""
    while type(error).__module__.startswith("litellm") and error.__context__ is not None:
        error = error.__context__
    return error
