"""A model without a network, for examples and tests.

It answers as Anthropic's SDK does, and refuses what the provider would refuse: broken pairs, and too many tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from types import SimpleNamespace
from typing import Any

from brim.history.formats import validate
from brim.models.light import lookup
from brim.tokens.anchor import digests
from brim.tokens.counters import counter_for

Answer = str | tuple[str, dict[str, Any]]
"""A text, or the name of a tool and its arguments."""


class Refused(Exception):
    """The fake model refuses a request, as a provider does with status 400."""

    status_code = 400


@dataclass
class FakeModel:
    """Answers requests from a script, one answer (or several at once) after the other.

    ``client.messages.create(...)`` takes what Anthropic's client takes. An answer is a text, or a tool and its
    arguments; a list of them is one response with parallel calls. Usage is counted by brim's own counter, with what the
    provider's cache would have had, so that costs are those of the real model.
    """

    script: Iterator[Answer | list[Answer]] | Sequence[Answer | list[Answer]]
    window: int | None = None
    """Tokens that it holds; the model's own if not given."""
    requests: list[dict[str, Any]] = field(default_factory=list)
    """Everything that it was asked."""
    before_answer: Callable[[], None] = lambda: None
    """Called before each answer: to raise an error, or to wait."""

    def __post_init__(self) -> None:
        self._answers = iter(self.script)
        self._cached: list[str] = []
        self.messages = SimpleNamespace(create=self.create)

    def create(
        self, *, model: str, messages: list[Any], max_tokens: int, system: Any = None, tools: Any = None, **more: Any
    ) -> SimpleNamespace:
        """Return the next answer of the script."""
        whole = [{"role": "system", "content": system}, *messages] if system else messages
        tokens = int(counter_for(model).count_messages(whole, tools))
        window = self.window or lookup(model).context_window
        if problems := validate(messages, "anthropic"):
            raise Refused(f"messages.{problems[0].index}: {problems[0].text}")
        if tokens + max_tokens > window:
            raise Refused(f"prompt is too long: {tokens:,} + {max_tokens:,} tokens > {window:,} maximum")
        self.before_answer()
        self.requests.append({"model": model, "messages": list(messages), "max_tokens": max_tokens, **more})
        answer = next(self._answers, "Done.")
        several = answer if isinstance(answer, list) else [answer]
        content = [self._block(number, each) for number, each in enumerate(several)]
        known = list(digests(whole, tools, model))
        same = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(known, self._cached, strict=False))))
        read = int(counter_for(model).count_messages(whole[:same], tools)) if same else 0
        self._cached = known
        output = int(counter_for(model).count_messages([{"role": "assistant", "content": content}]))
        usage = {"input_tokens": 0, "cache_creation_input_tokens": tokens - read, "cache_read_input_tokens": read}
        return SimpleNamespace(
            id=f"msg_{len(self.requests)}",
            type="message",
            role="assistant",
            model=model,
            content=content,
            stop_reason="tool_use" if any(block.type == "tool_use" for block in content) else "end_turn",
            usage=SimpleNamespace(**usage, output_tokens=min(output, max_tokens)),
        )

    def _block(self, number: int, answer: Answer) -> SimpleNamespace:
        if isinstance(answer, str):
            return SimpleNamespace(type="text", text=answer)
        name, arguments = answer
        id = f"toolu_{len(self.requests)}_{number}"
        return SimpleNamespace(type="tool_use", id=id, name=name, input=arguments)
