"""One message, read: its role, its calls and its results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Provider = Literal["openai", "responses", "anthropic", "gemini"]
"""Whose rules a history keeps: OpenAI's chat and Responses APIs, Anthropic's Messages, Gemini's
contents."""

PROVIDERS: tuple[Provider, ...] = ("openai", "responses", "anthropic", "gemini")
"""Every provider whose rules brim knows."""

Role = Literal["system", "user", "assistant", "tool", ""]
"""Who speaks. A developer is ``system``, Gemini's model is ``assistant``, ``tool`` only answers
calls; ``""`` is an unknown role, and has a ``problem``."""

Fault = tuple[str, str]
"""The rule that a message breaks on its own, and how; both empty if it breaks none."""
NO_FAULT: Fault = ("", "")


@dataclass(frozen=True, slots=True)
class EntryCall:
    """A call of a tool, or the answer to one."""

    id: str
    """What ties call and answer together; empty if the message doesn't say."""
    name: str = ""
    """The tool; empty where the format doesn't repeat it."""
    kind: str = ""
    """The family of tools, where call and answer must match: ``function``, ``custom_tool``,
    ``computer``."""
    required: bool = True
    """Whether the provider wants it answered."""

    @property
    def key(self) -> tuple[str, str]:
        """What a call and its answer have in common."""
        return self.kind, self.id


@dataclass(frozen=True, slots=True)
class Entry:
    """One message, read. Reading never raises on what is in a message."""

    index: int
    """Its place in the given list."""
    message: object
    """The caller's own object."""
    role: Role
    """Who speaks."""
    calls: tuple[EntryCall, ...] = ()
    """The calls it makes, in order."""
    results: tuple[EntryCall, ...] = ()
    """The calls it answers, in order."""
    says: bool = False
    """Whether it holds more than calls, results and reasoning: text, an image, a search by the
    provider."""
    in_order: bool = True
    """Whether results stand before everything else in it, and calls after everything else."""
    reasons: bool = False
    """Whether it holds reasoning."""
    ends_in_reasoning: bool = False
    """Whether the last thing in it is reasoning."""
    opens: tuple[str, ...] = ()
    """Ids of calls of the provider's own tools that are answered in a later message of the same
    turn."""
    closes: tuple[str, ...] = ()
    """Ids of calls of the provider's own tools that are answered here and began in an earlier
    message."""
    id: str = ""
    """The message's own id, if it has one: parts of one message that were stored apart share it."""
    fault: Fault = NO_FAULT
    """Why the provider refuses the message wherever it stands."""
    native: object = None
    """A framework's message as its provider gets it; None if the message is written so already."""
    aside: bool = False
    """Whether a framework takes it out of the messages and sends it separately: the first system
    messages."""
    instructs: bool = False
    """Whether it holds a system text next to something else, as pydantic-ai's requests do."""
    compacts: bool = False
    """Whether it holds the provider's own summary of everything before it."""

    @property
    def wire(self) -> object:
        """The message as its provider gets it."""
        return self.message if self.native is None else self.native

    @property
    def rule(self) -> str:
        """The name of the rule that the message breaks on its own.

        Empty if there is none.
        """
        return self.fault[0]

    @property
    def problem(self) -> str:
        """What is wrong with the message on its own, in words."""
        return self.fault[1]

    @property
    def is_prompt(self) -> bool:
        """Whether a person speaks: a user message that is more than the results of tools."""
        return self.role == "user" and (self.says or not self.results)

    @property
    def ids(self) -> set[str]:
        """The message's own id, and those of its calls and results."""
        ids = {self.id}
        ids.update(call.id for call in self.calls)
        ids.update(result.id for result in self.results)
        ids.discard("")
        return ids


@dataclass(frozen=True, slots=True)
class Unpaired:
    """What is wrong with the pairs of one step: calls, and the results that follow them."""

    results: dict[int, str]
    """Places of messages whose results belong to none of the calls, and why."""
    call_ids: tuple[str, ...]
    """Ids of calls without a result."""

    @property
    def problem(self) -> str:
        """Why the calls can't be sent; empty if each has its result."""
        if not self.call_ids:
            return ""

        return f"{named(self.call_ids)} has no result"


def unpaired(callers: Sequence[Entry], answers: Sequence[Entry], before: str) -> Unpaired:
    """Return which *answers* and calls of *callers* have no other half.

    *before* names what holds the calls.
    """
    called: dict[tuple[str, str], str] = {}
    for caller in callers:
        for call in caller.calls:
            called[call.key] = call.id

    answered: set[tuple[str, str]] = set()
    results: dict[int, str] = {}
    for entry in answers:
        for result in entry.results:
            if result.key not in called:
                results[entry.index] = f"it answers no call of the {before} before it"
            elif result.key in answered:
                results[entry.index] = "its call was answered before"

            answered.add(result.key)

    missing = tuple(id_ for key, id_ in called.items() if key not in answered)
    return Unpaired(results, missing)


def unknown_role(
    index: int,
    message: object,
    own_id: str,
    problem: str,
) -> Entry:
    """Return the entry of a message whose role the provider doesn't know."""
    return Entry(
        index,
        message,
        "",
        id=own_id,
        fault=("known-role", problem),
    )


def named(ids: Sequence[str], limit: int = 3, longest: int = 60) -> str:
    """Return the first of *ids*, shortened, and how many follow them."""
    names = []
    for id_ in ids[:limit]:
        is_short = len(id_) <= longest
        names.append(id_ if is_short else f"{id_[: longest - 1]}…")

    text = ", ".join(names)
    if len(ids) <= limit:
        return text

    return f"{text} and {len(ids) - limit:,} more"
