"""A draft while the results in it are changed, and what each result answers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from brim.messages.cap import map_results
from brim.messages.content import listed
from brim.messages.draft import Draft
from brim.messages.entries import Entry
from brim.tokens.costs import message_costs
from brim.tokens.messages.fields import compact, first, get, is_mapping, string
from brim.tokens.messages.frameworks import as_blocks

SHOWN = 100
"""Characters of a call that a placeholder shows."""
PATHS = frozenset(
    (
        "path",
        "file_path",
        "filepath",
        "file",
        "filename",
        "absolute_path",
        "notebook_path",
        "uri",
        "url",
    )
)
"""Arguments that name what was read."""
PLAIN = ("", "function", "custom_tool")
"""Kinds of calls whose results may be any text."""
GEMINI_CALLS = ("functionCall", "function_call")
"""Fields of a part of Gemini's that holds a call."""


@dataclass(frozen=True, slots=True)
class CallText:
    """A call in a message of any format: its tool, and the arguments."""

    id: str
    name: str
    arguments: Any


@dataclass(frozen=True, slots=True)
class AnsweredCall:
    """The result of one call."""

    at: int
    """The place of its message among those that aren't broken."""
    id: str
    """The id of the call; empty where the format has none."""
    number: int
    """Which result of the message it is."""
    name: str
    """The tool."""
    arguments: Any
    """What it was called with."""

    def __str__(self) -> str:
        text = ""
        if self.arguments not in (None, "", {}):
            text = compact(self.arguments)

        if len(text) > SHOWN:
            text = f"{text[: SHOWN - 1]}…"

        return f"{self.name or 'a tool'}({text})"

    @property
    def reading(self) -> str:
        """What identifies the reading of a file; empty if it isn't one."""
        if not is_mapping(self.arguments) or not PATHS.intersection(self.arguments):
            return ""

        return f"{self.name} {json.dumps(self.arguments, sort_keys=True, default=str)}"


@dataclass(frozen=True, slots=True)
class ChangedResult:
    """One change of a message, for the receipt."""

    action: str
    at: int
    saved: int
    """How many tokens it saves."""


@dataclass
class Bench:
    """A draft while its messages are changed."""

    work: Draft
    changed: dict[int, tuple[Any, int]] = field(default_factory=dict)
    """Changed messages, and their tokens, by their place among those that aren't broken."""
    changes: list[ChangedResult] = field(default_factory=list)
    """What was changed, in order."""
    noted: set[tuple[int, int]] = field(default_factory=set)
    """Results that a note stands for: the place of the message, and which of its results it is."""

    @property
    def total(self) -> int:
        """The tokens of everything, as it is now."""
        return self.work.total - sum(change.saved for change in self.changes)

    def entry(self, at: int) -> Entry:
        """Return the entry at a place, with its message as it is now."""
        entry = self.work.entries[at]
        if at not in self.changed:
            return entry

        message, _ = self.changed[at]
        return replace(entry, message=message)

    def tokens(self, at: int) -> int:
        """Return the tokens of the message at a place, as it is now."""
        if at not in self.changed:
            return self.work.costs.each[at]

        _, tokens = self.changed[at]
        return tokens

    def change(
        self,
        at: int,
        message: Any,
        action: str,
    ) -> bool:
        """Put *message* at a place, unless it isn't smaller than what is there; return whether it
        is."""
        if message is self.entry(at).message:
            return False

        # Without the system prompt, which a counter for a request adds to every count.
        counter = getattr(self.work.counter, "inner", self.work.counter)
        before = self.tokens(at)
        after = message_costs(counter, [message]).each[0]
        if after >= before:
            return False

        self.changed[at] = (message, after)
        self.changes.append(ChangedResult(action, at, before - after))
        return True

    def put(
        self,
        result: AnsweredCall,
        note: str,
        action: str,
    ) -> None:
        """Put *note* in place of the content of a result."""
        numbers = iter(range(len(self.work.entries[result.at].results)))

        def content(_: str, value: Any) -> Any:
            if next(numbers, None) != result.number:
                return value

            return {"output": note} if is_mapping(value) else note

        if self.change(result.at, map_results(self.entry(result.at), content), action):
            self.noted.add((result.at, result.number))

    @cached_property
    def results(self) -> list[AnsweredCall]:
        """The results that may be changed, oldest first: not pinned ones."""
        pinned = set(self.work.indices(self.work.pins))
        calls: dict[str, CallText] = {}
        calls_before: list[CallText] = []
        results = []
        for at, entry in enumerate(self.work.entries):
            for number, answer in enumerate(entry.results):
                call = CallText("", "", None)
                if answer.id:
                    call = calls.get(answer.id, call)
                elif number < len(calls_before):
                    call = calls_before[number]

                if entry.index not in pinned and answer.kind in PLAIN:
                    name = call.name or answer.name
                    results.append(
                        AnsweredCall(
                            at,
                            answer.id,
                            number,
                            name,
                            call.arguments,
                        )
                    )

            if entry.calls:
                calls_before = list(calls_in(entry))
                calls.update({call.id: call for call in calls_before if call.id})

        return results

    def draft(self) -> Draft:
        """Return the draft with everything that was changed, and a step for each kind of change."""
        if not self.changed:
            return self.work

        messages = {at: message for at, (message, _) in self.changed.items()}
        costs = message_costs(self.work.counter, list(messages.values()))
        work = self.work.with_messages(messages, costs)
        for action in dict.fromkeys(change.action for change in self.changes):
            same_action = [change for change in self.changes if change.action == action]
            places = {self.work.entries[change.at].index for change in same_action}
            saved = sum(change.saved for change in same_action)
            work = work.stepped(action, places, saved)

        return work


def calls_in(entry: Entry) -> Iterator[CallText]:
    """Yield each call in a message of any format."""
    for call in _calls(as_blocks(entry.message)):
        function = first(call, "function", "custom", *GEMINI_CALLS) or call
        arguments = first(function, "input", "arguments", "args")
        if isinstance(arguments, str):
            with suppress(ValueError, RecursionError):  # what isn't JSON is shown as it is
                arguments = json.loads(arguments)

        id_ = string(first(call, "call_id", "id")) or string(get(function, "id"))
        yield CallText(id_, string(get(function, "name")), arguments)


def _calls(message: object) -> Sequence[Any]:
    if get(message, "call_id") is not None:
        return [message]

    calls = listed(get(message, "tool_calls"))
    for block in listed(first(message, "content", "parts")):
        if get(block, "type") == "tool_use" or first(block, *GEMINI_CALLS) is not None:
            calls.append(block)

    return calls
