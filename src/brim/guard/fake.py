"""A model without a network, for examples and tests.

It answers as Anthropic's SDK does, and refuses what the provider would refuse: broken pairs, too
many tokens or cache markers, and thinking that is bound to another conversation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from types import SimpleNamespace
from typing import Any

from brim.guard.requests import with_system
from brim.messages.content import listed
from brim.messages.formats import validate
from brim.messages.markers import MOST_MARKERS, count_markers
from brim.messages.thinking import without_thinking
from brim.models.light import lookup
from brim.tokens.anchor import digests
from brim.tokens.counters import counter_for
from brim.tokens.messages.fields import get, string

Answer = str | tuple[str, dict[str, Any]]
"""A text, or the name of a tool and its arguments."""


class Refused(Exception):
    """The fake model refuses a request, as a provider does with status 400."""

    status_code = 400


@dataclass
class FakeModel:
    """Answers requests from a script, one answer (or several at once) after the other.

    ``client.messages.create(...)`` takes what Anthropic's client takes. An answer is a text, or a
    tool and its arguments; a list of them is one response with parallel calls. Usage is counted by
    brim's own counter, with what the provider's cache would have had, so that costs are those of
    the real model.
    """

    script: Iterator[Answer | list[Answer]] | Sequence[Answer | list[Answer]]
    window: int | None = None
    """Tokens that it holds; the model's own if not given."""
    requests: list[dict[str, Any]] = field(default_factory=list)
    """Everything that it was asked."""
    before_answer: Callable[[], None] = lambda: None
    """Called before each answer: to raise an error, or to wait."""
    thinks: bool = False
    """Whether its answers begin with a thinking block, bound to the request that it answers."""

    def __post_init__(self) -> None:
        self._answers = iter(self.script)
        self._cached: list[str] = []
        self.messages = SimpleNamespace(create=self.create)

    def create(
        self,
        *,
        model: str,
        messages: list[Any],
        max_tokens: int,
        system: Any = None,
        tools: Any = None,
        **options: Any,
    ) -> SimpleNamespace:
        """Return the next answer of the script."""
        self._refuse(model, messages, max_tokens, system=system, tools=tools, options=options)
        self.before_answer()
        request = {"model": model, "messages": list(messages), "max_tokens": max_tokens}
        self.requests.append({**request, **options})
        content = self._content()
        if self.thinks:
            signature = thinking_signature(system, tools, messages)
            block = SimpleNamespace(type="thinking", thinking="Let me see.", signature=signature)
            content.insert(0, block)

        has_call = any(block.type == "tool_use" for block in content)
        answer = [{"role": "assistant", "content": content}]
        output = int(counter_for(model).count_messages(answer))
        usage = self._usage(model, with_system(messages, system or None), tools)
        usage["output_tokens"] = min(output, max_tokens)
        return SimpleNamespace(
            id=f"msg_{len(self.requests)}",
            type="message",
            role="assistant",
            model=model,
            content=content,
            stop_reason="tool_use" if has_call else "end_turn",
            usage=SimpleNamespace(**usage),
        )

    def _refuse(
        self,
        model: str,
        messages: list[Any],
        max_tokens: int,
        *,
        system: Any,
        tools: Any,
        options: dict[str, Any],
    ) -> None:
        """Refuse what the provider would refuse."""
        violations = validate(messages, "anthropic")
        if violations:
            raise Refused(f"messages.{violations[0].index}: {violations[0].text}")

        # The request itself may have a marker: it stands for one on the last block.
        refuse_many_markers(system, [*(tools or ()), options], messages)
        refuse_unbound_thinking(system, tools, messages)
        request = with_system(messages, system or None)
        tokens = int(counter_for(model).count_messages(request, tools))
        window = self.window or lookup(model).context_window
        if tokens + max_tokens > window:
            raise Refused(
                f"prompt is too long: {tokens:,} + {max_tokens:,} tokens > {window:,} maximum"
            )

    def _usage(self, model: str, request: list[Any], tools: Any) -> dict[str, int]:
        """Return the tokens of the prompt; what the last request had before it is in the cache."""
        message_digests = list(digests(request, tools, model))
        cached = 0
        for digest, cached_digest in zip(message_digests, self._cached, strict=False):
            if digest != cached_digest:
                break
            cached += 1

        self._cached = message_digests
        counter = counter_for(model)
        tokens = int(counter.count_messages(request, tools))
        read = 0
        if cached:
            read = int(counter.count_messages(request[:cached], tools))

        return {
            "input_tokens": 0,
            "cache_creation_input_tokens": tokens - read,
            "cache_read_input_tokens": read,
        }

    def _content(self) -> list[SimpleNamespace]:
        """Return the blocks of the next answer."""
        answer = next(self._answers, "Done.")
        answers = answer if isinstance(answer, list) else [answer]
        return [self._block(number, part) for number, part in enumerate(answers)]

    def _block(self, number: int, answer: Answer) -> SimpleNamespace:
        if isinstance(answer, str):
            return SimpleNamespace(type="text", text=answer)

        name, arguments = answer
        id = f"toolu_{len(self.requests)}_{number}"
        return SimpleNamespace(type="tool_use", id=id, name=name, input=arguments)


# What the provider refuses besides broken histories

BOUND = (
    "Invalid `signature` in `thinking` block. The block is bound to a different conversation. "
    "Remove the block, or set "
    '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
)


def refuse_many_markers(system: Any, tools: Any, messages: Sequence[Any]) -> None:
    """Refuse more cache markers than Anthropic accepts."""
    markers = count_markers(system) + count_markers(tools) + sum(map(count_markers, messages))
    if markers > MOST_MARKERS:
        raise Refused(
            f"A maximum of {MOST_MARKERS} blocks with cache_control may be provided. "
            f"Found {markers}."
        )


def thinking_signature(system: Any, tools: Any, messages: Sequence[Any]) -> str:
    """Return the signature of a thinking block that answers this request.

    It names everything before the block but other thinking, and the thinking block before it.
    """
    signatures = [signature for _, _, signature in _thinking_blocks(messages)]
    before = signatures[-1] if signatures else ""
    return f"{_prefix_digest(system, tools, messages)}.{_short_digest(before)}"


def refuse_unbound_thinking(system: Any, tools: Any, messages: Sequence[Any]) -> None:
    """Refuse thinking whose prefix has changed, or from before which other thinking was removed or
    put back."""
    previous: str | None = None
    for at, number, signature in _thinking_blocks(messages):
        prefix, _, before = signature.partition(".")
        is_bound = prefix == _prefix_digest(system, tools, messages[:at])
        # Only the oldest thinking may be removed: then nothing is before the first block that is
        # left.
        follows = previous is None or before == _short_digest(previous)
        if not is_bound or not follows:
            raise Refused(f"messages.{at}.content.{number}: {BOUND}")

        previous = signature


def _thinking_blocks(messages: Sequence[Any]) -> Iterator[tuple[int, int, str]]:
    """Yield the message, the place in it, and the signature of each thinking block."""
    for at, message in enumerate(messages):
        for number, block in enumerate(listed(get(message, "content"))):
            if string(get(block, "type")) == "thinking":
                yield at, number, string(get(block, "signature"))


def _prefix_digest(system: Any, tools: Any, messages: Sequence[Any]) -> str:
    stripped = (without_thinking(message) for message in messages)
    whole = [
        {"role": "system", "content": system or ""},
        *(message for message in stripped if message is not None),
    ]
    return list(digests(whole, tools, ""))[-1]


def _short_digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=8).hexdigest()
