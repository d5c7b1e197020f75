"""The body of a request in the three APIs that adapters see, before and after the guard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from brim.adapters.guards import Guards, cap_of, thinking_of
from brim.guard.conversation import Call
from brim.history.entries import Provider

CAPS: dict[Provider, tuple[str, ...]] = {
    "openai": ("max_completion_tokens", "max_tokens"),
    "responses": ("max_output_tokens",),
    "anthropic": ("max_tokens",),
}
"""The fields that limit an answer in each API; the first is set if none is."""
EFFORT = 4_096
"""Tokens for thinking where a request names an effort: the most that LiteLLM makes of one."""
KEPT = ("previous_response_id", "conversation", "prompt")
"""Fields of a Responses request that name something which the provider keeps: brim can't see it."""


@dataclass(frozen=True, slots=True)
class Body:
    """What is sent to OpenAI's Chat Completions (``openai``), OpenAI's Responses or Anthropic's Messages."""

    given: Mapping[str, Any]
    api: Provider

    @property
    def messages(self) -> list[Any]:
        """The messages, or the items."""
        found = self.given.get("input" if self.api == "responses" else "messages") or []
        return [{"role": "user", "content": found}] if isinstance(found, str) else list(found)

    @property
    def max_output(self) -> int | None:
        """The request's own limit for the answer."""
        return next((found for name in CAPS[self.api] if isinstance(found := self.given.get(name), int)), None)

    @property
    def thinks(self) -> int:
        """How many tokens of the answer are for thinking: its cap has to be higher."""
        return thinking_of(self.given.get("thinking")) or (EFFORT if self.given.get("reasoning_effort") else 0)

    @property
    def is_streamed(self) -> bool:
        """Whether the answer comes in pieces."""
        return bool(self.given.get("stream"))

    @property
    def hides_usage(self) -> bool:
        """Whether it's a stream of the chat API that doesn't ask for usage: then brim asks for it."""
        return self.api == "openai" and self.is_streamed and not self.given.get("stream_options")

    def call(self, guards: Guards) -> Call[Any]:
        """Return the guard's call for this request."""
        given, names = self.given, {"responses": "instructions", "anthropic": "system"}
        return guards.call(
            str(given.get("model") or guards.guard.model),
            self.messages,
            provider=self.api,
            system=given.get(names.get(self.api, "")),
            tools=given.get("tools") or given.get("functions"),
            max_output=self.max_output,
            thinks=self.thinks,
            answers=given.get("n") or 1,
            has_unseen=self.api == "responses" and any(given.get(name) for name in KEPT),
        )

    def as_sent(self, call: Call[Any]) -> dict[str, Any]:
        """Return what to send: fitted, with the guard's rules, and with its limit for answers if it has one."""
        sent = dict(self.given)
        if self.api == "openai":
            rules = [{"role": "system", "content": call.system}] if call.system else []
            sent["messages"] = [*rules, *call.messages]
        elif self.api == "anthropic":
            sent |= {"messages": call.messages, **({"system": call.system} if call.system else {})}
        else:
            items = {} if isinstance(sent.get("input"), str) else {"input": call.messages}
            sent |= {**items, **({"instructions": call.system} if call.system else {})}
        own = [name for name in CAPS[self.api] if sent.get(name) is not None]
        cap = cap_of(call) or (None if own else call.guard.max_output)
        sent |= {} if cap is None else dict.fromkeys(own or CAPS[self.api][:1], cap)
        if self.hides_usage:
            sent["stream_options"] = {"include_usage": True}
        return sent
