"""The four formats: finding, reading, checking and repairing them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from brim.errors import InputError
from brim.history import anthropic, chat, gemini, responses
from brim.history.broken import broken_chat, broken_contents, broken_items, broken_messages
from brim.history.content import filled, listed
from brim.history.entries import PROVIDERS, Entry, Provider
from brim.history.receipt import Repaired, Violation
from brim.history.repairs import Draft, Pass, Slot
from brim.tokens.messages.fields import get, is_mapping, string

ROUNDS = 20
"""How often all repairs are run. One repair can cause another fault: an orphan that leaves brings its neighbors
together. Two or three rounds are the rule."""

BLOCKS: dict[str, Provider] = {
    **dict.fromkeys(("tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use"), "anthropic"),
    **dict.fromkeys(("image", "document", "search_result"), "anthropic"),
    **dict.fromkeys(("input_text", "output_text", "input_image", "input_file"), "responses"),
    **dict.fromkeys(("image_url", "input_audio", "file", "refusal"), "openai"),
}
"""Types of content that only one format has."""


@dataclass(frozen=True, slots=True)
class Format:
    """What is known about a provider's format."""

    read: Callable[[int, object], Entry]
    """Reads one message."""
    check: Callable[[Sequence[Entry]], Iterator[Violation]]
    """Finds every violation of a rule."""
    find_broken: Callable[[Sequence[Entry]], dict[int, str]]
    """Finds what pruners must drop."""
    passes: tuple[Pass, ...]
    """Repair it."""


FORMATS: dict[Provider, Format] = {
    "openai": Format(chat.read_chat, chat.check, broken_chat, chat.PASSES),
    "responses": Format(responses.read_item, responses.check, broken_items, responses.PASSES),
    "anthropic": Format(anthropic.read_message, anthropic.check, broken_messages, anthropic.PASSES),
    "gemini": Format(gemini.read_content, gemini.check, broken_contents, gemini.PASSES),
}


def as_list(messages: object) -> list[Any]:
    """Return *messages* as a list.

    ``InputError`` if they aren't a list of messages.
    """
    if isinstance(messages, list):
        return messages
    if isinstance(messages, (str, bytes, bytearray)) or is_mapping(messages) or not hasattr(messages, "__iter__"):
        what = "a request body: give its list of messages" if is_mapping(messages) else type(messages).__name__
        raise InputError(f"messages: expected a list of messages, not {what}")
    several: Iterable[Any] = messages
    return list(several)


def provider_of(messages: Sequence[Any], provider: Provider | Literal["auto"], model: str | None = None) -> Provider:
    """Return *provider*, or for ``auto`` the one whose format *messages* have.

    The first message that only one format has decides. Plain messages, with a role and a text, are in every format:
    then Claude's name in *model* means Anthropic, and anything else, or a system message, OpenAI's chat format.
    """
    if provider != "auto":
        if provider not in PROVIDERS:
            raise InputError(f"unknown provider {provider!r}: use one of {', '.join(PROVIDERS)}, or auto")
        return provider
    for message in messages:
        found = _format_of(message)
        if found is not None:
            return found
    is_claude = "claude" in (model or "").lower()
    has_system = is_claude and any(string(get(message, "role")) == "system" for message in messages)
    return "anthropic" if is_claude and not has_system else "openai"


def _format_of(message: object) -> Provider | None:
    role, kind = string(get(message, "role")), string(get(message, "type"))
    if role == "model" or (get(message, "parts") is not None and get(message, "content") is None):
        return "gemini"
    kinds = [string(get(block, "type")) for block in listed(get(message, "content"))]
    is_item = kind != "message" or any(each in ("input_text", "output_text", "refusal") for each in kinds)
    if kind in responses.TYPES and is_item:
        return "responses"
    if filled(get(message, "tool_calls")) or role in ("tool", "function", "developer") or chat.type_role(message):
        return "openai"
    return next((BLOCKS[each] for each in kinds if each in BLOCKS), None)


def read(messages: Sequence[Any], provider: Provider, only: Sequence[int] | None = None) -> list[Entry]:
    """Return what *messages* hold, in the format of *provider*.

    With *only*, those at these places.
    """
    reader = FORMATS[provider].read
    return [reader(index, messages[index]) for index in (range(len(messages)) if only is None else only)]


def find_broken(entries: Sequence[Entry], provider: Provider) -> dict[int, str]:
    """Return the messages that *provider* refuses, so a pruner must drop them: their index, and why."""
    found = {entry.index: entry.problem for entry in entries if entry.problem}
    last = entries[-1] if entries and provider == "anthropic" else None
    if last and last.rule == "has-content" and anthropic.is_open_end(last.role, last.message):
        del found[last.index]
    left = [entry for entry in entries if entry.index not in found]
    # A message that leaves can break others, such as the results of its calls.
    while more := FORMATS[provider].find_broken(left):
        found.update(more)
        left = [entry for entry in left if entry.index not in more]
    return found


def validate(messages: Sequence[Any], provider: Provider | Literal["auto"] = "auto") -> list[Violation]:
    """Return every place where *messages* break a rule of *provider*, in order.

    The rules depend on the history alone, not on the model or the rest of the request; docs/history.md lists them with
    their sources. An empty history breaks none. *provider* is inferred from the messages unless you name it.
    Nothing inside a message raises; ``InputError`` if *messages* isn't a list.

    >>> validate([{"role": "user", "content": "Hi"}, {"role": "tool", "tool_call_id": "a", "content": "42"}])
    [Violation(index=1, rule='result-has-call', text='the result of a answers no call of the message before it')]
    """
    several = as_list(messages)
    found = provider_of(several, provider)
    return sorted(FORMATS[found].check(read(several, found)), key=lambda violation: violation.index)


def repair(
    messages: Sequence[Any], provider: Provider | Literal["auto"] = "auto", *, restore_calls: bool = False
) -> Repaired:
    """Return *messages* as *provider* accepts them, and every change made.

    The changes are as small as possible.

    - A result in the wrong place is moved to its call. A result without a call is removed, and its text is in the list
      of changes; with *restore_calls* it stays, and a call without arguments is put before it.
    - A call without a result gets one that says so.
    - Ids that are missing or used twice are replaced, on both sides; empty texts go; unknown roles become known ones.
    - Nothing is lost: every text is in the messages or in the changes. Messages that need no change are the caller's
      own objects, and none is changed in place; what is added is dicts.
    - A valid history comes back as it is, and so does a repaired one.

    >>> repair([{"role": "user", "content": "Hi"}, {"role": "tool", "tool_call_id": "a", "content": "42"}])
    Repaired(messages=[{'role': 'user', 'content': 'Hi'}],
        changes=(Change(index=1, rule='result-has-call', action='removed', text='42'),))
    """
    several = as_list(messages)
    found = provider_of(several, provider)
    slots = [Slot(index, message) for index, message in enumerate(several)]
    draft = Draft(slots, found, FORMATS[found].read, restore_calls)
    for _ in range(ROUNDS):
        before = len(draft.changes)
        for repair_pass in FORMATS[found].passes:
            repair_pass(draft)
        if len(draft.changes) == before:
            break
    changes = sorted(draft.changes, key=lambda change: change.index)
    return Repaired([slot.message for slot in draft.slots], tuple(changes))
