"""Long results of tools, shortened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brim.history.arguments import whole_number
from brim.history.base import ChoosingPruner
from brim.history.editing import with_field
from brim.history.leaves import texts_in, with_texts
from brim.history.select import select
from brim.history.shorten import shorten, shorten_together
from brim.tokens.costs import joined, message_costs
from brim.tokens.messages.fields import compact, get, is_mapping, is_sequence, string

if TYPE_CHECKING:
    from brim.history.draft import Draft
    from brim.history.reading.entry import Entry
    from brim.history.types import Pruned
    from brim.tokens.counters import TokenCounter

ROOM = 20
"""Tokens that the names and brackets of a response may take beside its texts."""
LEAST = 50
"""A smaller cap would hold little more than the note about what was cut."""


class ToolResultCap(ChoosingPruner):
    """Shortens results of more than *limit* tokens, oldest first, until the history fits; then drops oldest units.

    Beginning and end of a result stay, and a note says how much is gone between them. Results are shortened in copies
    of their messages; pinned ones stay as they are. What fits is left alone, whatever its results are.
    """

    def __init__(self, limit: int = 2_000) -> None:
        self.limit = whole_number("limit", limit, LEAST, "a whole number of tokens")

    def choose(self, work: Draft, fill: bool) -> Pruned:
        """Return *work* with long results shortened, and then pruned."""
        capped, places = self._cap(work)
        notes = [f"results were shortened in messages {', '.join(map(str, places))}"] if places else []
        kept = select(capped, work.target, fill=fill)
        return capped.finish("cap", kept, reason="it does not fit with what is newer", notes=notes)

    def _cap(self, work: Draft) -> tuple[Draft, list[int]]:
        """Return the draft with as many results shortened as it takes to fit, and the places of their messages."""
        entries = [entry for unit in work.units for entry in unit.entries]
        pinned = {entry.index for at in work.pins for entry in work.units[at].entries}
        over = work.total - work.target
        changed: dict[int, Any] = {}
        costs = []
        for at, entry in enumerate(entries):
            if over <= 0:
                break
            if entry.results and work.costs.each[at] > self.limit and entry.index not in pinned:
                message = self._shortened(entry, work.counter)
                if message is not entry.message:
                    changed[at] = message
                    costs.append(message_costs(work.counter, [message]))
                    over -= work.costs.each[at] - costs[-1].each[0]
        if not changed:
            return work, []
        return work.with_messages(changed, joined(costs)), [entries[at].index for at in changed]

    def _shortened(self, entry: Entry, counter: TokenCounter) -> Any:
        message = entry.message
        for field in ("content", "output", "parts"):
            found = get(message, field)
            if found is not None:
                new = self._result(found, counter) if entry.role == "tool" else self._blocks(found, counter)
                return message if new is found else with_field(message, field, new)
        return message

    def _blocks(self, value: Any, counter: TokenCounter) -> Any:
        """Return the blocks *value* with every result among them shortened; *value* itself if none is."""
        if not is_sequence(value):
            return value
        new = [self._block(block, counter) for block in value]
        return value if all(one is two for one, two in zip(new, value, strict=True)) else new

    def _block(self, block: Any, counter: TokenCounter) -> Any:
        if string(get(block, "type")) == "tool_result":
            content = get(block, "content")
            short = self._result(content, counter)
            return block if short is content else with_field(block, "content", short)
        for field in ("functionResponse", "function_response"):
            answer = get(block, field)
            response = get(answer, "response")
            if is_mapping(response):
                short = self._response(response, counter)
                return block if short is response else with_field(block, field, with_field(answer, "response", short))
        return block

    def _response(self, value: Any, counter: TokenCounter) -> Any:
        """Return the JSON of a response, shortened; one that is too large without its texts becomes a text."""
        short = self._result(value, counter)
        whole = compact(short)
        if int(counter.count(whole)) <= self.limit + ROOM:
            return short
        return {"output": shorten(compact(value), self.limit, counter)}

    def _result(self, value: Any, counter: TokenCounter) -> Any:
        """Return one result with its texts shortened to the limit, which they share; *value* itself if they fit."""
        texts = texts_in(value)
        short = shorten_together(texts, self.limit, counter)
        return value if short == texts else with_texts(value, iter(short))
