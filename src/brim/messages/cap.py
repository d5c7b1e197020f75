"""Long results of tools, shortened in the middle; those of the newest step, so that it can stay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from brim.messages.content import with_fields
from brim.messages.draft import Draft, Pin, draft, whole_number
from brim.messages.entries import Entry, Provider
from brim.messages.pruners import Strategy
from brim.messages.receipt import Pruned
from brim.tokens.costs import message_costs
from brim.tokens.messages.fields import compact, first, get, is_mapping, is_sequence, string
from brim.tokens.protocol import TokenCounter

LEAST = 50
"""A smaller cap would hold little more than the note about what was cut."""
ROOM = 20
"""Tokens for the names and brackets of a response, in addition to its texts."""
HEAD = 0.6
"""The share of what stays that comes from the beginning: headers and first errors are there, totals
at the end."""
ROUNDS = 40
NOTE = 20
"""Tokens that the note may take."""
SMALLEST = 40
"""A text shortened to fewer tokens would hold little more than the note."""
DEEPEST = 20
"""Texts that lie deeper are left alone."""


class ToolResultCap(Strategy):
    """Shortens results of more than *limit* tokens until the history fits.

    The oldest are shortened first; if that isn't enough, the oldest units are dropped. Beginning
    and end of a result stay, and a note says how much is gone between them. Results are shortened
    in copies of their messages; pinned ones stay as they are. What fits is left alone, whatever its
    results are.
    """

    def __init__(self, limit: int = 2_000) -> None:
        self.limit = whole_number("limit", limit, LEAST, "a whole number of tokens")

    def choose(self, work: Draft, fill: bool) -> Pruned:
        """Return *work* with long results shortened, and then pruned."""
        entries = [entry for unit in work.units for entry in unit.entries]
        pinned = set(work.indices(work.pins))
        over = work.total - work.target
        shortener = Shortener(self.limit, work.counter)
        changed: dict[int, Any] = {}
        for at, entry in enumerate(entries):
            if over <= 0:
                break
            if entry.results and work.costs.each[at] > self.limit and entry.index not in pinned:
                message = shortener.message(entry)
                if message is not entry.message:
                    changed[at] = message
                    over -= work.costs.each[at] - message_costs(work.counter, [message]).each[0]
        notes = []
        if changed:
            work = work.with_messages(changed, message_costs(work.counter, list(changed.values())))
            places = ", ".join(str(entries[at].index) for at in changed)
            notes.append(f"results were shortened in messages {places}")
        return work.finish("cap", work.select(work.target, fill=fill), notes=notes)


@dataclass(frozen=True, slots=True)
class Shortener:
    """Shortens results to *limit* tokens each.

    What fits is returned as it is.
    """

    limit: int
    counter: TokenCounter

    def message(self, entry: Entry) -> Any:
        """Return the message with its results shortened."""
        return map_results(
            entry,
            lambda _, value: self._response(value) if is_mapping(value) else self._result(value),
        )

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
        map_texts(value, lambda text: texts.append(text) or text)  # type: ignore[func-returns-value]
        short = shorten_together(texts, self.limit, self.counter)
        new = iter(short)
        return value if short == texts else map_texts(value, lambda _: next(new))


def map_results(entry: Entry, change: Callable[[str, Any], Any]) -> Any:
    """Return the message of *entry* with *change* applied to each of its results.

    *change* gets the id of the call and the content, and returns that content if nothing is to
    change.
    """
    message = entry.message
    call = string(first(message, "tool_call_id", "call_id"))
    field = next(
        (
            name
            for name in ("content", "output", "parts", "_content")
            if get(message, name) is not None
        ),
        "",
    )
    found: Any = get(message, field)
    if field and (call or entry.role == "tool"):
        return _with(message, field, call, change)
    new = [_map_block(block, change) for block in found] if is_sequence(found) else []
    is_same = all(one is two for one, two in zip(new, found or (), strict=False))
    return message if is_same else with_fields(message, **{field: new})


def _map_block(block: Any, change: Callable[[str, Any], Any]) -> Any:
    if string(get(block, "type")) == "tool_result":
        return _with(block, "content", string(get(block, "tool_use_id")), change)
    if string(get(block, "part_kind")) == "tool-return":  # pydantic-ai
        return _with(block, "content", string(get(block, "tool_call_id")), change)
    if get(block, "origin") is not None:  # Haystack
        return _with(block, "result", string(get(get(block, "origin"), "id")), change)
    for field in ("functionResponse", "function_response"):
        answer = get(block, field)
        if is_mapping(get(answer, "response")):
            new = _with(answer, "response", string(get(answer, "id")), change)
            return block if new is answer else with_fields(block, **{field: new})
    return block


def _with(holder: Any, field: str, call: str, change: Callable[[str, Any], Any]) -> Any:
    found = get(holder, field)
    new = change(call, found)
    return holder if new is found else with_fields(holder, **{field: new})


def map_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Return a copy of a result with *change* applied to its texts, in order.

    Those are a text itself, the texts of its parts, or every text in the JSON of a response. What
    stands in it twice, or in itself, is looked at once.
    """
    seen: set[int] = set()

    def walk(value: Any, depth: int) -> Any:
        if isinstance(value, str):
            return change(value)
        if depth >= DEEPEST or id(value) in seen:
            return value
        if is_sequence(value):
            seen.add(id(value))
            pairs = [(walk(inner, depth + 1), inner) for inner in value]
            # A part that was emptied goes: providers refuse a text without a letter.
            return [
                part for part, old in pairs if not (get(part, "text") == "" != get(old, "text"))
            ]
        if (
            isinstance(value, dict) and "type" not in value
        ):  # the caller's JSON; of a part only its text is the result
            seen.add(id(value))
            return {name: walk(inner, depth + 1) for name, inner in value.items()}
        text = get(value, "text")
        return with_fields(value, text=change(text)) if isinstance(text, str) else value

    return walk(value, 0)


def shorten_text(text: str, limit: int, counter: TokenCounter) -> str:
    """Return *text*, cut in the middle to at most *limit* tokens if it is longer."""
    tokens = int(counter.count(text))
    if tokens <= limit:
        return text
    scale = 1.0
    for _ in range(ROUNDS):
        room = len(text) * limit * scale / tokens
        short = _cut(text, int(room * HEAD), int(room * (1 - HEAD)), tokens - int(limit * scale))
        size = int(counter.count(short))
        if size <= limit:
            return short
        scale *= 0.98 * limit / size
    return ""


def shorten_together(texts: list[str], limit: int, counter: TokenCounter) -> list[str]:
    """Return *texts* in at most *limit* tokens together: the short ones whole, the long ones an
    equal share each.

    If there are too many for that, the first and the last stay, and those between them are emptied.
    """
    sizes = [int(counter.count(text)) for text in texts]
    if sum(sizes) <= limit:
        return texts
    share, left, room = limit, sorted(sizes), limit
    while left:
        share = room // len(left)
        if left[0] > share:
            break
        room -= left.pop(0)
    if share < SMALLEST:
        return _ends(texts, sizes, limit, counter)
    return [
        text if size <= share else shorten_text(text, share, counter)
        for text, size in zip(texts, sizes, strict=True)
    ]


def _ends(texts: list[str], sizes: list[int], limit: int, counter: TokenCounter) -> list[str]:
    """Return the first and the last of *texts*, as many as fit, and empty texts between them; the
    first says so."""
    room = max(0, limit - NOTE)
    head, tail, begin, end = int(room * HEAD), room - int(room * HEAD), 0, len(texts)
    while begin < end and sizes[begin] <= head:
        head -= sizes[begin]
        begin += 1
    while end > begin and sizes[end - 1] <= tail:
        tail -= sizes[end - 1]
        end -= 1
    first = _part(texts[begin], head, counter) if begin == 0 < end else ""
    last = (
        _part(texts[end - 1], tail, counter, from_end=True) if begin < end == len(texts) > 1 else ""
    )
    gone = sum(sizes[begin:end]) - int(counter.count(first)) - int(counter.count(last))
    note = f"{first}\n[about {gone:,} tokens are cut out here]".lstrip("\n")
    middle = (
        [note, *[""] * (end - begin - 2), last]
        if end - begin > 1
        else [f"{note}\n{last}".rstrip("\n")]
    )
    return [*texts[:begin], *(middle if begin < end else []), *texts[end:]]


def _part(text: str, limit: int, counter: TokenCounter, *, from_end: bool = False) -> str:
    """Return as much of the beginning, or end, of *text* as takes at most *limit* tokens."""
    size = min(len(text), len(text) * limit // max(1, int(counter.count(text))))
    while size > 0:
        part = text[len(text) - size :] if from_end else text[:size]
        tokens = int(counter.count(part))
        if tokens <= limit:
            return part
        size = min(size - 1, size * limit // tokens)
    return ""


def _cut(text: str, head: int, tail: int, gone: int) -> str:
    note = f"[about {gone:,} tokens are cut out here]"
    begin, end = text[:head], text[len(text) - tail :]
    # Whole lines read better: a border moves to the nearest line's end, if that costs less than a
    # quarter.
    line = begin.rfind("\n")
    begin = begin[:line] if line > head * 3 // 4 else begin
    line = end.find("\n")
    end = end[line + 1 :] if 0 <= line < tail // 4 else end
    return f"{begin}\n{note}\n{end}"


# The newest step ----------------------------------------------------------------------------------
#
# A pruner drops what doesn't fit. If that is the last step, the agent doesn't see what its tools
# said, and calls them again. So the results of that step are shortened instead, in copies of their
# messages: beginning and end stay, and a note says how much is gone between them.

STEP_ROUNDS = 12


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
        messages, target, model=model, tools=tools, provider=provider, counter=counter, pin=pin
    )
    work = with_newest_step(work)
    return work.finish("shorten", range(len(work.units)))


def with_newest_step(work: Draft) -> Draft:
    """Return *work* with the results of its newest step as short as it takes for the step to
    stay."""
    step = work.last_step
    if step < 0 or step in work.required or step in work.pins:
        return work
    wanted = work.with_prompts({*work.pins, *work.prompts[-1:], step})
    over = work.price(wanted) - work.target
    places = [at for at in work.positions([step]) if work.entry_at(at).results]
    if step not in wanted or not places:
        return work
    taken = sum(work.costs.each[at] for at in places)
    results = sum(len(work.entry_at(at).results) for at in places)
    limit = max(LEAST, (taken - over) // results)
    for _ in range(STEP_ROUNDS):
        shortener = Shortener(limit, work.counter)
        short = {at: shortener.message(work.entry_at(at)) for at in places}
        changed = {
            at: message for at, message in short.items() if message is not work.entry_at(at).message
        }
        new = (
            work.with_messages(changed, message_costs(work.counter, list(changed.values())))
            if changed
            else work
        )
        if new.price(wanted) <= new.target:
            places = [work.entry_at(at).index for at in changed]
            named = ", ".join(map(str, places))
            new = new.noted(
                f"the newest step didn't fit: its results were shortened in messages {named}"
            )
            return new.stepped("shortened", places, work.total - new.total)
        if limit == LEAST:
            break
        limit = max(LEAST, int(limit * 0.8) - 1)
    return work.noted("the newest step doesn't fit, however short its results are")
