"""Runs the rules of a provider over a history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from brim.history.reading.detect import provider_of
from brim.history.reading.history import as_list, read
from brim.history.validity import anthropic, chat, gemini, responses
from brim.history.validity.turns import History

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brim.history.types import Provider, Violation
    from brim.history.validity.shared import Rule

RULES: dict[Provider, tuple[Rule, ...]] = {
    "openai": chat.RULES,
    "responses": responses.RULES,
    "anthropic": anthropic.RULES,
    "gemini": gemini.RULES,
}


def validate(messages: Sequence[Any], provider: Provider | Literal["auto"] = "auto") -> list[Violation]:
    """Return every place where *messages* break a rule of *provider*, in order; an empty list if they keep them all.

    The rules are those that a history keeps or breaks by itself, whatever the model and the rest of the request; they
    stand with their sources in docs/history.md. An empty history breaks none. *provider* is found from the shape of the
    messages unless it is named. Nothing inside a message raises; ``InputError`` if *messages* is no list.

    >>> validate([{"role": "user", "content": "Hi"}, {"role": "tool", "tool_call_id": "a", "content": "42"}])
    [Violation(index=1, rule='result-has-call', text='the result of a answers no call of the message before it')]
    """
    several = as_list(messages)
    found = provider_of(several, provider)
    history = History(read(several, found))
    violations = [violation for rule in RULES[found] for violation in rule(history)]
    return sorted(violations, key=lambda violation: violation.index)
