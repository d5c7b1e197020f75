"""Histories of the four formats: ones that keep every rule, and ones that keep none.

``valid_histories(provider)`` gives lists that the provider accepts, ``any_histories(provider)``
such lists with holes, copies, swaps, foreign messages and junk in them. Every text in them is
unique, so that a test can ask where it went. Messages are dicts, or objects with attributes, or
both in one list.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from hypothesis import strategies as st

from brim.messages import Provider
from tests.messages.breaking import broken
from tests.messages.making import MAKERS
from tests.messages.tape import TAPES, Tape

PAYLOADS = ("input", "args", "response", "action")
"""Fields that hold the caller's own JSON: SDKs leave it as it is."""


def valid_histories(
    provider: Provider, *, objects: bool = True, rare: bool = True
) -> st.SearchStrategy[list[Any]]:
    """Return histories that *provider* accepts, the empty one among them.

    They have parallel calls, results out of order, reasoning, system messages where they are
    allowed and, where the provider takes it, reused ids, outputs far from their calls and turns in
    several messages. *objects* are messages with attributes instead of keys; *rare* is what hardly
    anybody sends: OpenAI's old functions and approvals, system messages in the middle for
    Anthropic, an empty last message, contents that are a text.
    """

    def make(data: bytes) -> list[Any]:
        tape = Tape(data)
        shape = tape.number(4) if objects else 0
        return _shaped(MAKERS[provider](tape, rare), tape, shape)

    return TAPES.map(make)


def any_histories(provider: Provider, *, objects: bool = True) -> st.SearchStrategy[list[Any]]:
    """Return lists that are almost histories of *provider*: broken in a few places, or in all."""

    def make(data: bytes) -> list[Any]:
        tape = Tape(data)
        shape = tape.number(4) if objects else 0
        return _shaped(broken(tape, provider), tape, shape)

    return TAPES.map(make)


def as_object(value: Any) -> Any:
    """Return *value* with attributes instead of keys, as the classes of an SDK have them."""
    if isinstance(value, list):
        return [as_object(inner) for inner in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return SimpleNamespace(
            **{key: inner if key in PAYLOADS else as_object(inner) for key, inner in value.items()}
        )
    return value


def _shaped(messages: list[Any], tape: Tape, shape: int) -> list[Any]:
    """Return *messages* as dicts (shape 0 or 1), objects (2) or both (3)."""
    return [
        as_object(message) if shape == 2 or (shape == 3 and tape.chance()) else message
        for message in messages
    ]
