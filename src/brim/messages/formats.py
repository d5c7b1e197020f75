"""The four formats: reading, checking and repairing them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from brim.errors import InputError
from brim.messages import chat, responses
from brim.messages.anthropic import broken as anthropic_broken
from brim.messages.anthropic import reading as anthropic
from brim.messages.anthropic import repair as anthropic_repair
from brim.messages.anthropic import rules as anthropic_rules
from brim.messages.arguments import as_list
from brim.messages.content import filled, listed
from brim.messages.entries import NO_FAULT, Entry, Provider
from brim.messages.gemini import reading as gemini
from brim.messages.gemini import repair as gemini_repair
from brim.messages.gemini import rules as gemini_rules
from brim.messages.layouts import Layout, layout_of
from brim.messages.receipt import Repaired, Violation
from brim.messages.repairs import ROLE_NAMES, Pass, Repair, RepairSlot
from brim.tokens.messages.fields import get, is_mapping, string
from brim.tokens.messages.frameworks import (
    as_blocks,
    framework_of,
    has_system_text,
    langchain_role,
)
from brim.tokens.messages.parts import is_message
from brim.tokens.messages.request import READABLE, described

ROUNDS = 20
"""How often all repairs are run. One repair can cause another fault: an orphan that leaves brings
its neighbors together. Two or three rounds are the rule."""
TITLES: dict[Provider, str] = {
    "openai": "OpenAI's chat API",
    "responses": "OpenAI's Responses API",
    "anthropic": "Anthropic's Messages API",
    "gemini": "Gemini's API",
}
STRUCTURAL = frozenset(
    (
        "known-role",
        "has-content",
        "call-has-id",
        "result-has-id",
        "call-ids-unique",
        "call-by-assistant",
        "result-by-user",
    )
)
"""Faults of a translated message at any provider; others are Anthropic's alone."""
FOREIGN_BLOCKS = {"tool_use": TITLES["anthropic"], "tool_result": TITLES["anthropic"]}
"""Types of blocks that only Anthropic's format has."""
FOREIGN_FIELDS = ("toolUse", "toolResult")
"""Fields of blocks that only Amazon's Converse format has."""
SCALARS = (bytes, bytearray, int, float, set, frozenset)
"""Values that are neither a text nor a part of one."""


@dataclass(frozen=True, slots=True)
class Format:
    """How the messages of a provider are read, checked, pruned and repaired."""

    read: Callable[[int, object], Entry]
    """Reads one message."""
    check: Callable[[Sequence[Entry]], Iterator[Violation]]
    """Finds every violation of a rule."""
    find_broken: Callable[[Sequence[Entry]], dict[int, str]]
    """Finds what pruners must drop."""
    passes: tuple[Pass, ...]
    """Repair it."""


FORMATS: dict[Provider, Format] = {
    "openai": Format(
        chat.read_chat,
        chat.check,
        chat.find_broken,
        chat.PASSES,
    ),
    "responses": Format(
        responses.read_item, responses.check, responses.find_broken, responses.PASSES
    ),
    "anthropic": Format(
        anthropic.read_message,
        anthropic_rules.check,
        anthropic_broken.find_broken,
        anthropic_repair.PASSES,
    ),
    "gemini": Format(
        gemini.read_content,
        gemini_rules.check,
        gemini_rules.find_broken,
        gemini_repair.PASSES,
    ),
}


# Reading


def read(
    messages: Sequence[Any], layout: Layout | Provider, only: Sequence[int] | None = None
) -> list[Entry]:
    """Return what *messages* hold, in their layout or for a provider.

    With *only*, those at these places.
    """
    if not isinstance(layout, Layout):
        layout = layout_of(messages, layout)

    places = range(len(messages)) if only is None else only
    reader = _read_translated if layout.translated else FORMATS[layout.rules].read
    entries = [reader(index, messages[index]) for index in places]
    if layout.framework and layout.rules == "anthropic":
        _set_aside(entries)

    if layout.translated and layout.rules == "openai":
        entries = [_without_foreign_fault(entry) for entry in entries]

    return entries


def _read_translated(index: int, message: object) -> Entry:
    """Return what a framework's *message* holds, as the framework sends it."""
    native = as_blocks(message)
    entry = anthropic.read_message(index, native)
    return replace(
        entry,
        message=message,
        native=native,
        instructs=has_system_text(message),
    )


def _set_aside(entries: list[Entry]) -> None:
    """Set the first system messages aside: frameworks send them in a field of their own."""
    for at, entry in enumerate(entries):
        if entry.role != "system":
            return

        entries[at] = replace(entry, aside=True, fault=NO_FAULT)


def _without_foreign_fault(entry: Entry) -> Entry:
    """Return *entry* without a fault that only Anthropic's API minds."""
    if entry.rule in STRUCTURAL:
        return entry

    return replace(entry, fault=NO_FAULT)


# Refusing what can't be read


def refuse_unknown(index: int, message: object) -> None:
    """Raise ``InputError`` if *message* isn't one of any format."""
    if is_message(message) and _has_body(message):
        return

    raise InputError(f"messages[{index}]: can't read {described(message)} here. Pass {READABLE}.")


def _has_body(message: object) -> bool:
    """Whether *message* is a dict, a text, or an object that has the fields of a message, filled or
    not."""
    if isinstance(message, str) or is_mapping(message) or framework_of(message):
        return True

    try:
        return any(hasattr(message, name) for name in ("content", "parts", "type"))
    except Exception:  # a class may refuse to be asked
        return False


def refuse_unreadable(entries: Iterable[Entry], layout: Layout) -> None:
    """Raise ``InputError`` for the first message that can't be read in its *layout*: it would be
    guessed or dropped."""
    body_field = "parts" if layout.rules == "gemini" else "content"
    for entry in entries:
        name = f"messages[{entry.index}]"
        refuse_unknown(entry.index, entry.message)
        if entry.rule == "known-role":
            _refuse_role(entry, layout.rules)

        body = get(entry.wire, body_field)
        if entry.role == "user" and entry.rule == "has-content" and body is None:
            raise InputError(
                f"{name}.{body_field}: a user message must have one, and it is missing or None."
            )

        _check_body(body, f"{name}.{body_field}")
        other_format = "" if layout.translated else _other_format(entry.message, layout.rules)
        if other_format:
            raise InputError(
                f"{name}: it is written for {other_format}, and the messages for "
                f"{TITLES[layout.rules]}. "
                "Write all of them in one format, or name theirs with provider="
            )


def _refuse_role(entry: Entry, rules: Provider) -> None:
    """Raise for a message whose role the provider doesn't know."""
    field = "role"
    if get(entry.message, "role") is None and get(entry.message, "type") is not None:
        field = "type"

    roles = ", ".join(ROLE_NAMES[rules])
    raise InputError(
        f"messages[{entry.index}].{field}: {entry.problem}. {TITLES[rules]} has {roles}."
    )


def _check_body(body: object, name: str) -> None:
    """Raise if *body*, which is *name* in the messages, or a part of it, is a value that no
    provider reads."""
    if isinstance(body, SCALARS):
        raise InputError(f"{name}: expected text or a list of parts, not {type(body).__name__}.")

    if not isinstance(body, (list, tuple)):
        return

    for at, part in enumerate(body):
        if part is None or isinstance(part, SCALARS):
            raise InputError(f"{name}[{at}]: expected a part, not {type(part).__name__}.")


def _other_format(message: object, rules: Provider) -> str:
    """Return whose calls or results *message* holds, if not those of *rules*."""
    if rules in ("anthropic", "responses") and filled(get(message, "tool_calls")):
        return TITLES["openai"]

    for block in listed(get(message, "content")):
        title = FOREIGN_BLOCKS.get(string(get(block, "type")), "")
        if not title and any(get(block, field) is not None for field in FOREIGN_FIELDS):
            title = "Amazon Converse"

        if title not in ("", TITLES[rules]) and not langchain_role(message):
            return title

    return ""


# What a pruner must drop


def find_broken(entries: Sequence[Entry], provider: Provider) -> dict[int, str]:
    """Return the messages that *provider* refuses, so a pruner must drop them: their index, and
    why."""
    entries = [entry for entry in entries if not entry.aside]
    broken = {entry.index: entry.problem for entry in entries if entry.problem}
    if entries and provider == "anthropic":
        last = entries[-1]
        if last.rule == "has-content" and anthropic.is_open_end(last.role, last.wire):
            del broken[last.index]

    sound = [entry for entry in entries if entry.index not in broken]
    # A message that leaves can break others, such as the results of its calls.
    while newly_broken := FORMATS[provider].find_broken(sound):
        broken.update(newly_broken)
        sound = [entry for entry in sound if entry.index not in newly_broken]

    return broken


# Checking and repairing


def validate(
    messages: Sequence[Any],
    provider: Provider | Literal["auto"] = "auto",
    *,
    model: str | None = None,
) -> list[Violation]:
    """Return every place where *messages* break a rule of *provider*, in order.

    The rules depend on the history alone, not on the rest of the request; docs/messages.md lists
    them with their sources. An empty history breaks none. *provider* is inferred from the messages
    unless you name it; the messages of a framework don't show it, so name it or the *model* for
    them. Nothing inside a message raises; ``InputError`` if *messages* isn't a list.

    >>> result = {"role": "tool", "tool_call_id": "a", "content": "42"}
    >>> for violation in validate([{"role": "user", "content": "Hi"}, result]):
    ...     print(violation.index, violation.rule, violation.text)
    1 result-has-call the result of a answers no call of the message before it
    """
    history = as_list(messages)
    layout = layout_of(history, provider, model)
    entries = [entry for entry in read(history, layout) if not entry.aside]
    violations = FORMATS[layout.rules].check(entries)
    return sorted(violations, key=lambda violation: violation.index)


def repair(
    messages: Sequence[Any],
    provider: Provider | Literal["auto"] = "auto",
    *,
    restore_calls: bool = False,
) -> Repaired:
    """Return *messages* as *provider* accepts them, and every change made.

    The changes are as small as possible.

    - A result in the wrong place is moved to its call. A result without a call is removed, and its
      text is in the list of changes; with *restore_calls* it stays, and a call without arguments is
      put before it.
    - A call without a result gets one that says so.
    - Ids that are missing or used twice are replaced, on both sides; empty texts go; unknown roles
      become known ones.
    - Nothing is lost: every text is in the messages or in the changes. Messages that need no change
      are the caller's own objects, and none is changed in place; what is added is dicts.
    - A valid history comes back as it is, and so does a repaired one.

    ``InputError`` if something isn't a message at all, such as a number.

    >>> result = {"role": "tool", "tool_call_id": "a", "content": "42"}
    >>> repaired = repair([{"role": "user", "content": "Hi"}, result])
    >>> repaired.messages
    [{'role': 'user', 'content': 'Hi'}]
    >>> repaired.changes
    (Change(index=1, rule='result-has-call', action='removed', text='42'),)
    """
    history = as_list(messages)
    layout = layout_of(history, provider)
    if layout.translated and layout.framework != "langchain":
        raise InputError(
            f"repair can't change messages of {layout.framework}: repair what they were made from"
        )

    rules = layout.rules
    if provider != "auto" and layout.framework:
        # LangChain's own form is OpenAI's; it becomes another provider's when it's sent.
        rules = provider

    for index, message in enumerate(history):
        refuse_unknown(index, message)

    if not validate(history, provider):
        return Repaired(list(history), ())

    work = _run_repairs(history, rules, restore_calls)
    changes = sorted(work.changes, key=lambda change: change.index)
    return Repaired([slot.message for slot in work.slots], tuple(changes))


def _run_repairs(history: list[Any], rules: Provider, restore_calls: bool) -> Repair:
    """Run all repairs of a provider until nothing changes."""
    slots = [RepairSlot(index, message) for index, message in enumerate(history)]
    work = Repair(slots, rules, FORMATS[rules].read, restore_calls)
    for _ in range(ROUNDS):
        changes_before = len(work.changes)
        for repair_pass in FORMATS[rules].passes:
            repair_pass(work)

        if len(work.changes) == changes_before:
            break

    return work
