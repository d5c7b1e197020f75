"""Long results of tools, shortened in the middle; those of the newest step, so that it can stay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from brim.messages.arguments import TOKENS, whole_number
from brim.messages.content import body_field, with_fields
from brim.messages.draft import Draft, Pin
from brim.messages.drafting import draft
from brim.messages.entries import Entry, Provider
from brim.messages.outcome import Outcome
from brim.messages.pruners import Strategy
from brim.messages.receipt import Pruned
from brim.messages.shortening import shorten_text, shorten_together
from brim.tokens.costs import message_costs
from brim.tokens.messages.fields import compact, first, get, is_mapping, is_sequence, string
from brim.tokens.protocol import TokenCounter

LEAST = 50
"""A smaller cap would hold little more than the note about what was cut."""
ROOM = 20
"""Tokens for the names and brackets of a response, in addition to its texts."""
DEEPEST = 20
"""Texts that lie deeper are left alone."""
STEP_ROUNDS = 12
"""How often the results of the newest step are shortened further."""
BODY_FIELDS = ("content", "output", "parts", "_content")
"""Where a message holds its results."""

Change = Callable[[str, Any], Any]
"""Gets the id of a call and the content of its result, and returns the content that it shall
have."""


class ToolResultCap(Strategy):
    """Shortens results of more than *limit* tokens until the history fits.

    The oldest are shortened first; if that isn't enough, the oldest units are dropped. Beginning
    and end of a result stay, and a note says how much is gone between them. Results are shortened
    in copies of their messages; pinned ones stay as they are. What fits is left alone, whatever its
    results are.
    """

    def __init__(self, limit: int = 2_000) -> None:
        self.limit = whole_number("limit", limit, LEAST, TOKENS)

    def choose(self, work: Draft, fill: bool) -> Pruned:
        """Return *work* with long results shortened, and then pruned."""
        changed = self._shortened(work)
        notes = []
        if changed:
            places = ", ".join(str(work.entries[at].index) for at in changed)
            notes.append(f"results were shortened in messages {places}")
            work = work.with_messages(changed, message_costs(work.counter, list(changed.values())))

        units = frozenset(work.select(work.target, fill=fill))
        return Outcome(
            pruner="cap",
            draft=work,
            units=units,
            notes=notes,
        ).pruned()

    def _shortened(self, work: Draft) -> dict[int, Any]:
        """Return as many messages with shortened results as it takes to fit, by their places."""
        pinned = set(work.indices(work.pins))
        shortener = Shortener(self.limit, work.counter)
        over = work.total - work.target
        changed: dict[int, Any] = {}
        for at, entry in enumerate(work.entries):
            if over <= 0:
                break

            tokens = work.costs.each[at]
            if not entry.results or tokens <= self.limit or entry.index in pinned:
                continue

            message = shortener.message(entry)
            if message is not entry.message:
                changed[at] = message
                over -= tokens - message_costs(work.counter, [message]).each[0]

        return changed


@dataclass(frozen=True, slots=True)
class Shortener:
    """Shortens results to *limit* tokens each.

    What fits is returned as it is.
    """

    limit: int
    counter: TokenCounter

    def message(self, entry: Entry) -> Any:
        """Return the message with its results shortened."""
        return map_results(entry, self._change)

    def _change(self, _: str, value: Any) -> Any:
        if is_mapping(value):
            return self._response(value)

        return self._result(value)

    def _response(self, value: Any) -> Any:
        """Return the JSON of a response, shortened; one that is too large without its texts becomes
        a text."""
        short = self._result(value)
        if int(self.counter.count(compact(short))) <= self.limit + ROOM:
            return short

        return {"output": shorten_text(compact(value), self.limit, self.counter)}

    def _result(self, value: Any) -> Any:
        """Return one result with its texts shortened to the limit, which they share."""
        texts: list[str] = []

        def collect(text: str) -> str:
            texts.append(text)
            return text

        map_texts(value, collect)
        short_texts = shorten_together(texts, self.limit, self.counter)
        if short_texts == texts:
            return value

        remaining = iter(short_texts)
        return map_texts(value, lambda _: next(remaining))


# Changing results


def map_results(entry: Entry, change: Change) -> Any:
    """Return the message of *entry* with *change* applied to each of its results.

    The message itself is returned if *change* returns every content as it is.
    """
    message = entry.message
    field = body_field(message, BODY_FIELDS)
    body: Any = get(message, field)
    call = string(first(message, "tool_call_id", "call_id"))
    if body is not None and (call or entry.role == "tool"):
        return _with_result(message, field, call, change)

    if not is_sequence(body):
        return message

    blocks = [_map_block(block, change) for block in body]
    if all(new is old for new, old in zip(blocks, body, strict=True)):
        return message

    return with_fields(message, **{field: blocks})


def _map_block(block: Any, change: Change) -> Any:
    if string(get(block, "type")) == "tool_result":
        return _with_result(block, "content", string(get(block, "tool_use_id")), change)

    if string(get(block, "part_kind")) == "tool-return":  # pydantic-ai
        return _with_result(block, "content", string(get(block, "tool_call_id")), change)

    if get(block, "origin") is not None:  # Haystack
        return _with_result(
            block,
            "result",
            string(get(get(block, "origin"), "id")),
            change,
        )

    answer = get(block, "toolResult")  # Bedrock's Converse
    if answer is not None:
        new_answer = _with_result(
            answer, "content", string(get(answer, "toolUseId")), _as_blocks(change)
        )
        return block if new_answer is answer else with_fields(block, toolResult=new_answer)

    for field in ("functionResponse", "function_response"):
        answer = get(block, field)
        if is_mapping(get(answer, "response")):
            new_answer = _with_result(
                answer,
                "response",
                string(get(answer, "id")),
                change,
            )
            is_same = new_answer is answer
            return block if is_same else with_fields(block, **{field: new_answer})

    return block


def _as_blocks(change: Change) -> Change:
    """Return *change*, whose texts become a list of blocks."""

    def change_blocks(call: str, content: Any) -> Any:
        changed = change(call, content)
        return [{"text": changed}] if isinstance(changed, str) else changed

    return change_blocks


def _with_result(
    holder: Any,
    field: str,
    call: str,
    change: Change,
) -> Any:
    """Return *holder* with the result in *field* changed."""
    content = get(holder, field)
    new_content = change(call, content)
    if new_content is content:
        return holder

    return with_fields(holder, **{field: new_content})


def map_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Return a copy of a result with *change* applied to its texts, in order.

    Those are a text itself, the texts of its parts, or every text in the JSON of a response. What
    stands in it twice, or in itself, is looked at once.
    """
    return _TextWalk(change).walk(value, 0)


class _TextWalk:
    """Changes the texts in a result."""

    def __init__(self, change: Callable[[str], str]) -> None:
        self.change = change
        self.visited: set[int] = set()

    def walk(self, value: Any, depth: int) -> Any:
        """Return *value* with its texts changed."""
        if isinstance(value, str):
            return self.change(value)

        if depth >= DEEPEST or id(value) in self.visited:
            return value

        if is_sequence(value):
            self.visited.add(id(value))
            return self._walk_parts(value, depth)

        if isinstance(value, dict) and "type" not in value:  # the caller's JSON
            self.visited.add(id(value))
            return {name: self.walk(inner, depth + 1) for name, inner in value.items()}

        text = get(value, "text")  # of a part only its text is the result
        if isinstance(text, str):
            return with_fields(value, text=self.change(text))

        return value

    def _walk_parts(self, parts: Sequence[Any], depth: int) -> list[Any]:
        new_parts = []
        for part in parts:
            new_part = self.walk(part, depth + 1)
            # A part that was emptied goes: providers refuse a text without a letter.
            is_emptied = get(new_part, "text") == "" != get(part, "text")
            if not is_emptied:
                new_parts.append(new_part)

        return new_parts


# The newest step
#
# A pruner drops what doesn't fit. If that is the last step, the agent doesn't see what its tools
# said, and calls them again. So the results of that step are shortened instead, in copies of their
# messages: beginning and end stay, and a note says how much is gone between them.


def shorten(
    messages: Sequence[Any],
    target: int,
    *,
    model: str | None = None,
    tools: Sequence[Any] | None = None,
    provider: Provider | Literal["auto"] = "auto",
    counter: TokenCounter | None = None,
    pin: Pin | None = None,
) -> Pruned:
    """Return *messages* with the results of the newest step shortened, if they don't fit with the
    last user message.

    Nothing else changes and nothing leaves, except messages that the provider refuses. A pruner
    then keeps the step: ``FifoPruner().prune(messages, target, shorten=True)`` does both.
    """
    work = draft(
        messages,
        target,
        model=model,
        tools=tools,
        provider=provider,
        counter=counter,
        pin=pin,
    )
    work = with_newest_step(work)
    all_units = frozenset(range(len(work.units)))
    return Outcome(pruner="shorten", draft=work, units=all_units).pruned()


def with_newest_step(work: Draft) -> Draft:
    """Return *work* with the results of its newest step as short as it takes for the step to
    stay."""
    if not work.loses_last_step:
        return work

    step = work.last_step
    wanted = work.with_prompts({*work.pins, *work.prompts[-1:], step})
    places = [at for at in work.positions([step]) if work.entry_at(at).results]
    if step not in wanted or not places:
        return work

    tokens = sum(work.costs.each[at] for at in places)
    results = sum(len(work.entry_at(at).results) for at in places)
    over = work.price(wanted) - work.target
    limit = max(LEAST, (tokens - over) // results)
    for _ in range(STEP_ROUNDS):
        changed = _short_messages(work, places, limit)
        shortened = work
        if changed:
            costs = message_costs(work.counter, list(changed.values()))
            shortened = work.with_messages(changed, costs)

        if shortened.price(wanted) <= shortened.target:
            indices = [work.entry_at(at).index for at in changed]
            return _noted(shortened, indices, work.total - shortened.total)

        if limit == LEAST:
            break

        limit = max(LEAST, int(limit * 0.8) - 1)

    return work.noted("the newest step doesn't fit, however short its results are")


def _short_messages(work: Draft, places: list[int], limit: int) -> dict[int, Any]:
    """Return the messages at *places* whose results are longer than *limit*, shortened."""
    shortener = Shortener(limit, work.counter)
    changed = {}
    for at in places:
        entry = work.entry_at(at)
        message = shortener.message(entry)
        if message is not entry.message:
            changed[at] = message

    return changed


def _noted(work: Draft, indices: list[int], tokens: int) -> Draft:
    """Return *work* with a note and a step about the messages that were shortened."""
    places = ", ".join(map(str, indices))
    note = f"the newest step didn't fit: its results were shortened in messages {places}"
    return work.noted(note).stepped("shortened", indices, tokens)
