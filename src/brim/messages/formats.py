"""The four formats: finding, reading, checking and repairing them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from brim.errors import InputError
from brim.messages import anthropic, chat, gemini, responses
from brim.messages.broken import broken_chat, broken_contents, broken_items, broken_messages
from brim.messages.content import filled, listed
from brim.messages.entries import NO_FAULT, PROVIDERS, Entry, Provider
from brim.messages.receipt import Repaired, Violation
from brim.messages.repairs import KNOWN, Pass, Repair, RepairSlot
from brim.tokens.messages.fields import get, is_mapping, string
from brim.tokens.messages.frameworks import as_blocks, framework_of, has_system_text, langchain_role
from brim.tokens.messages.parts import has_gemini_parts, is_message
from brim.tokens.messages.request import READABLE, described

ROUNDS = 20
"""How often all repairs are run. One repair can cause another fault: an orphan that leaves brings
its neighbors together. Two or three rounds are the rule."""

BLOCKS: dict[str, Provider] = {
    **dict.fromkeys(
        ("tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use"), "anthropic"
    ),
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
    if (
        isinstance(messages, (str, bytes, bytearray))
        or is_mapping(messages)
        or not hasattr(messages, "__iter__")
    ):
        what = (
            "a request body: give its list of messages"
            if is_mapping(messages)
            else type(messages).__name__
        )
        raise InputError(f"messages: expected a list of messages, not {what}")
    several: Iterable[Any] = messages
    return list(several)


@dataclass(frozen=True, slots=True)
class Layout:
    """Who gets a history, whose rules it keeps, and which framework wrote it."""

    provider: Provider
    """Whose API gets it."""
    rules: Provider
    """Whose rules are checked: the provider's, unless a framework translates for it."""
    framework: str = ""
    """``langchain``, ``pydantic-ai``, or empty for a provider's own format."""

    @property
    def translated(self) -> bool:
        """Whether messages are read as the framework sends them, and not as they are."""
        return self.framework == "pydantic-ai" or (
            self.framework == "langchain" and self.rules == "anthropic"
        )


def layout_of(
    messages: Sequence[Any], provider: Provider | Literal["auto"], model: str | None = None
) -> Layout:
    """Return how *messages* are laid out, for *provider* or, with ``auto``, for whom they seem to
    be.

    The first message that only one format has decides. Plain messages, with a role and a text, are
    in every format: then Claude's name in *model* means Anthropic, and anything else, or a system
    message, OpenAI's chat format.

    A framework's messages are for the provider of *model*. The framework joins what Anthropic and
    Gemini want in one message, so for both of them Anthropic's rules about turns hold.
    """
    if provider != "auto" and provider not in PROVIDERS:
        raise InputError(
            f"unknown provider {provider!r}: use one of {', '.join(PROVIDERS)}, or auto"
        )
    framework, found = "", None
    for message in messages:
        # A dict with a type and no role is an item of the Responses API, if that was named.
        framework = "" if provider == "responses" and is_mapping(message) else framework_of(message)
        found = None if framework else _format_of(message)
        if framework or found:
            break
    if framework in ("langchain", "pydantic-ai"):
        whose = _maker_of(model) if provider == "auto" else provider
        return Layout(
            whose, "anthropic" if whose in ("anthropic", "gemini") else "openai", framework
        )
    if provider == "auto":
        is_claude = _maker_of(model) == "anthropic"
        has_system = is_claude and any(
            string(get(message, "role")) in INSTRUCTORS for message in messages
        )
        provider = found or ("anthropic" if is_claude and not has_system else "openai")
    return Layout(provider, provider)


INSTRUCTORS = ("system", "developer")
"""Roles that Anthropic's messages don't have."""


def provider_of(
    messages: Sequence[Any], provider: Provider | Literal["auto"], model: str | None = None
) -> Provider:
    """Return *provider*, or for ``auto`` the one that *messages* are for."""
    return layout_of(messages, provider, model).provider


def _maker_of(model: str | None) -> Provider:
    """Return whose model it is, by its name; other makers' APIs are OpenAI's."""
    name = (model or "").lower()
    return "anthropic" if "claude" in name else "gemini" if "gemini" in name else "openai"


def _format_of(message: object) -> Provider | None:
    role, kind = string(get(message, "role")), string(get(message, "type"))
    if role in gemini.ROLES and get(message, "content") is None and has_gemini_parts(message):
        return "gemini"
    if role == "model" and get(message, "parts") is None:
        return "gemini"
    kinds = [string(get(block, "type")) for block in listed(get(message, "content"))]
    is_item = kind != "message" or any(
        each in ("input_text", "output_text", "refusal") for each in kinds
    )
    if kind in responses.TYPES and is_item:
        return "responses"
    if filled(get(message, "tool_calls")) or role in ("tool", "function"):
        return "openai"
    return next((BLOCKS[each] for each in kinds if each in BLOCKS), None)


def read(
    messages: Sequence[Any], whose: Layout | Provider, only: Sequence[int] | None = None
) -> list[Entry]:
    """Return what *messages* hold, in their layout or for a provider.

    With *only*, those at these places.
    """
    layout = whose if isinstance(whose, Layout) else layout_of(messages, whose)
    reader = _read_translated if layout.translated else FORMATS[layout.rules].read
    entries = [
        reader(index, messages[index]) for index in (range(len(messages)) if only is None else only)
    ]
    if layout.framework and layout.rules == "anthropic":
        # Frameworks send the first system messages in a field of their own.
        for at, entry in enumerate(entries):
            if entry.role != "system":
                break
            entries[at] = replace(entry, aside=True, fault=NO_FAULT)
    if layout.translated and layout.rules == "openai":
        entries = [
            entry if entry.rule in STRUCTURAL else replace(entry, fault=NO_FAULT)
            for entry in entries
        ]
    return entries


def _read_translated(index: int, message: object) -> Entry:
    """Return what a framework's *message* holds, as the framework sends it."""
    native = as_blocks(message)
    entry = anthropic.read_message(index, native)
    return replace(entry, message=message, native=native, instructs=has_system_text(message))


STRUCTURAL = frozenset(
    (
        *("known-role", "has-content", "call-has-id", "result-has-id", "call-ids-unique"),
        *("call-by-assistant", "result-by-user"),
    )
)
"""Faults of a translated message at any provider; others are Anthropic's alone."""
OTHERS = {
    **dict.fromkeys(("tool_use", "tool_result"), "anthropic"),
    **dict.fromkeys(("toolUse", "toolResult"), "Amazon Converse"),
}
"""Calls and results that only one format has."""


def refuse_unknown(index: int, message: object) -> None:
    """Raise ``InputError`` if *message* isn't one of any format."""
    if not is_message(message) or not _has_body(message):
        raise InputError(
            f"messages[{index}]: can't read {described(message)} here. Pass {READABLE}."
        )


def refuse_unreadable(entries: Iterable[Entry], layout: Layout) -> None:
    """Raise ``InputError`` for the first message that can't be read in its *layout*: it would be
    guessed or dropped."""
    for entry in entries:
        message, name = entry.message, f"messages[{entry.index}]"
        refuse_unknown(entry.index, message)
        body = "parts" if layout.rules == "gemini" else "content"
        if entry.rule == "known-role":
            field = (
                "type"
                if get(message, "role") is None and get(message, "type") is not None
                else "role"
            )
            roles = ", ".join(KNOWN[layout.rules])
            raise InputError(
                f"{name}.{field}: {entry.problem}. {TITLES[layout.rules]} has {roles}."
            )
        if entry.role == "user" and entry.rule == "has-content" and get(entry.wire, body) is None:
            raise InputError(
                f"{name}.{body}: a user message must have one, and it is missing or None."
            )
        _check_body(get(entry.wire, body), f"{name}.{body}")
        whose = "" if layout.translated else _other_format(message, layout.rules)
        if whose:
            raise InputError(
                f"{name}: it is written for {whose}, and the messages for {TITLES[layout.rules]}. "
                "Write all of them in one format, or name theirs with provider="
            )


def _check_body(body: object, name: str) -> None:
    """Raise if *body*, which is *name* in the messages, or a part of it, is a value that no
    provider reads."""
    if isinstance(body, SCALARS):
        raise InputError(f"{name}: expected text or a list of parts, not {type(body).__name__}.")
    for at, part in enumerate(body if isinstance(body, (list, tuple)) else ()):
        if part is None or isinstance(part, SCALARS):
            raise InputError(f"{name}[{at}]: expected a part, not {type(part).__name__}.")


SCALARS = (bytes, bytearray, int, float, set, frozenset)
"""Values that are neither a text nor a part of one."""

TITLES: dict[Provider, str] = {
    **{"openai": "OpenAI's chat API", "responses": "OpenAI's Responses API"},
    **{"anthropic": "Anthropic's Messages API", "gemini": "Gemini's API"},
}


def _has_body(message: object) -> bool:
    """Whether *message* is a dict, a text, or an object that has the fields of a message, filled or
    not."""
    if isinstance(message, str) or is_mapping(message):
        return True
    try:
        return any(hasattr(message, name) for name in ("content", "parts", "type"))
    except Exception:  # a class may refuse to be asked
        return False


def _other_format(message: object, rules: Provider) -> str:
    """Return whose calls or results *message* holds, if not those of *rules*."""
    if rules in ("anthropic", "responses") and filled(get(message, "tool_calls")):
        return TITLES["openai"]
    for block in listed(get(message, "content")):
        named = next(
            (name for name in ("toolUse", "toolResult") if get(block, name) is not None), ""
        )
        whose = OTHERS.get(string(get(block, "type"))) or OTHERS.get(named, rules)
        if whose != rules and not langchain_role(message):
            return TITLES["anthropic"] if whose == "anthropic" else whose
    return ""


def find_broken(entries: Sequence[Entry], provider: Provider) -> dict[int, str]:
    """Return the messages that *provider* refuses, so a pruner must drop them: their index, and
    why."""
    entries = [entry for entry in entries if not entry.aside]
    found = {entry.index: entry.problem for entry in entries if entry.problem}
    last = entries[-1] if entries and provider == "anthropic" else None
    if last and last.rule == "has-content" and anthropic.is_open_end(last.role, last.wire):
        del found[last.index]
    left = [entry for entry in entries if entry.index not in found]
    # A message that leaves can break others, such as the results of its calls.
    while more := FORMATS[provider].find_broken(left):
        found.update(more)
        left = [entry for entry in left if entry.index not in more]
    return found


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

    >>> validate([{"role": "user", "content": "Hi"}, {"role": "tool", "tool_call_id": "a", "content": "42"}])
    [Violation(index=1, rule='result-has-call', text='the result of a answers no call of the message before it')]
    """
    several = as_list(messages)
    layout = layout_of(several, provider, model)
    entries = [entry for entry in read(several, layout) if not entry.aside]
    return sorted(FORMATS[layout.rules].check(entries), key=lambda violation: violation.index)


def repair(
    messages: Sequence[Any],
    provider: Provider | Literal["auto"] = "auto",
    *,
    restore_calls: bool = False,
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

    ``InputError`` if something isn't a message at all, such as a number.

    >>> repair([{"role": "user", "content": "Hi"}, {"role": "tool", "tool_call_id": "a", "content": "42"}])
    Repaired(messages=[{'role': 'user', 'content': 'Hi'}],
        changes=(Change(index=1, rule='result-has-call', action='removed', text='42'),))
    """
    several = as_list(messages)
    layout = layout_of(several, provider)
    if layout.framework == "pydantic-ai":
        raise InputError(
            "repair can't change pydantic-ai messages: repair what they were made from"
        )
    # LangChain's own form is OpenAI's; it becomes another provider's when it's sent.
    found = layout.rules if provider == "auto" or not layout.framework else provider
    for index, message in enumerate(several):
        refuse_unknown(index, message)
    if not validate(several, provider):
        return Repaired(list(several), ())
    slots = [RepairSlot(index, message) for index, message in enumerate(several)]
    work = Repair(slots, found, FORMATS[found].read, restore_calls)
    for _ in range(ROUNDS):
        before = len(work.changes)
        for repair_pass in FORMATS[found].passes:
            repair_pass(work)
        if len(work.changes) == before:
            break
    changes = sorted(work.changes, key=lambda change: change.index)
    return Repaired([slot.message for slot in work.slots], tuple(changes))
