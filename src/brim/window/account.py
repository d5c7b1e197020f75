"""Accounts for every token of a request: which section it belongs to, what was dropped, and what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim.history.reading.history import read
from brim.tokens.costs import message_costs
from brim.tokens.count import Count
from brim.window.assembly import SECTIONS, Assembly, DroppedItem, Section

if TYPE_CHECKING:
    from collections.abc import Iterable

    from brim.tokens.counters import TokenCounter
    from brim.window.assemble import Assembler, Filled
    from brim.window.items import Chosen
    from brim.window.parts import Parts
    from brim.window.tail import Tail

_TAKING_ORDER = ("current_message", "system_prompt", "procedure", "knowledge", "episodes", "history")


def account(work: Assembler, parts: Parts, tail: Tail, filled: Filled) -> Assembly:
    """Return the request as a result."""
    history, at_current = _divided(tail, filled)
    before = parts.counted
    costs = message_costs(work.counter, [*before, *filled.kept], work.tools)
    current = Count(0) if at_current is None else costs.alone([len(before) + at_current])
    counts = {
        "system_prompt": _count(work.counter, parts.system_prompt),
        "procedure": _count(work.counter, parts.procedure),
        "knowledge": sum((count for _, count in parts.knowledge.kept), Count(0)),
        "episodes": sum((count for _, count in parts.episodes.kept), Count(0)),
        "current_message": current if tail.text is None else _count(work.counter, tail.text),
    }
    history_budget = max(0, work.limits.budget - sum(map(int, counts.values())))
    counts["history"] = costs.alone([len(before) + at for at in history]) if history else Count(0)
    tokens = _shared_out(counts, filled.tokens)
    knowledge, episodes = parts.knowledge, parts.episodes
    contents: dict[str, tuple[int, str, tuple[DroppedItem, ...]]] = {
        "system_prompt": (int(bool(parts.system_prompt)), "text", ()),
        "procedure": (int(bool(parts.procedure)), "text", parts.left_out),
        "knowledge": (len(knowledge.kept), _sources(knowledge), knowledge.dropped),
        "episodes": (len(episodes.kept), _sources(episodes), episodes.dropped),
        "history": (len(history), "messages", _dropped(tail, filled)),
        "current_message": (int(tail.current is not None), "message" if tail.text is None else "text", ()),
        "framing": (0, "roles, tags, priming, tools" if work.tools else "roles, tags, priming", ()),
    }
    sections = tuple(_section(name, tokens[name], work.limits.budget, contents[name]) for name in SECTIONS)
    return Assembly(
        messages=[*parts.sent, *filled.kept],
        system=parts.system,
        sections=sections,
        tokens=filled.tokens,
        budget=work.limits.budget,
        history_budget=history_budget,
        fits=work.limits.fits(filled.tokens),
        reason=_reason(work, tail, filled, sections),
        receipt=filled.pruned.receipt,
        provider=parts.provider,
        context_window=work.limits.window,
    )


def _section(name: str, tokens: Count, budget: int, contents: tuple[int, str, tuple[DroppedItem, ...]]) -> Section:
    items, source, dropped = contents
    share = int(tokens) / budget if budget else 0.0
    return Section(name, tokens, share, source if items or name == "framing" else "", items, dropped)


def _count(counter: TokenCounter, text: str) -> Count:
    return counter.count(text) if text else Count(0)


def _divided(tail: Tail, filled: Filled) -> tuple[list[int], int | None]:
    """Return the places of the history in what was kept, and that of the current message."""
    places = list(range(len(filled.kept)))
    if tail.current is None:
        return places, None
    current = max(at for at in places if filled.kept[at] is tail.current)
    places.remove(current)
    return places, current


def _shared_out(counts: dict[str, Count], whole: Count) -> dict[str, Count]:
    """Return the tokens of each section so that they add up to *whole*; what is left belongs to the framing.

    Texts can take a token less together than apart, and a provider may have reported less than was counted here: then
    a section has no more than there is.
    """
    shared, left = {}, int(whole)
    for name in _TAKING_ORDER:
        count = counts[name]
        shared[name] = count if int(count) <= left else Count(left, count.basis)
        left -= int(shared[name])
    return {**shared, "framing": Count(left, whole.basis)}


def _sources(chosen: Chosen) -> str:
    return ", ".join(dict.fromkeys(item.source for item, _ in chosen.kept if item.source)) or "text"


def _dropped(tail: Tail, filled: Filled) -> tuple[DroppedItem, ...]:
    return tuple(
        DroppedItem(unit.indices[0], f"{unit.kind}: {_places(unit.indices)}", unit.tokens, unit.reason)
        for unit in filled.pruned.receipt.dropped
        if not tail.pins.issuperset(unit.indices)
    )


def _places(indices: tuple[int, ...]) -> str:
    first, last = indices[0], indices[-1]
    return f"message {first}" if first == last else f"messages {first} to {last}"


def _reason(work: Assembler, tail: Tail, filled: Filled, sections: Iterable[Section]) -> str:
    """Return what is wrong, in words; several things are joined."""
    tokens = {section.name: int(section.tokens) for section in sections}
    found = [_too_large(work, tail, filled, tokens)]
    if filled.below_minimum and work.limits.fits(filled.tokens):
        left = f"{tokens['history']:,} tokens of history are left"
        found.append(f"the window has no room for min_history_tokens: {left}")
    found += [
        f"current_message: {unit.reason}"
        for unit in filled.pruned.receipt.dropped
        if tail.pins.issuperset(unit.indices)
    ]
    return "; ".join(text for text in found if text)


def _too_large(work: Assembler, tail: Tail, filled: Filled, tokens: dict[str, int]) -> str:
    limits, count = work.limits, filled.tokens
    largest = max(tokens, key=lambda name: tokens[name])
    named = f"the largest part is {largest} with {tokens[largest]:,}"
    if not limits.fits(count):
        takes = f"{count:,} tokens" if count.high == count else f"{count:,} tokens, perhaps {count.high:,}"
        room = f"the window of {limits.window:,} holds {max(0, limits.most or 0):,} beside the response"
        return f"it takes {takes}, and {room}; {named}"
    if int(count) <= limits.budget:
        return ""
    over = f"it is {int(count) - limits.budget:,} tokens over the budget of {limits.budget:,}"
    kept = [message for message in filled.kept if message is not tail.current]
    if not work.min_history or all(entry.role == "system" for entry in read(kept, tail.provider)):
        return f"{over}: nothing else can leave; {named}"
    stays = f"the newest {tokens['history']:,} tokens of history stay, because of min_history_tokens"
    without = "" if int(count) - tokens["history"] <= limits.budget else f"; it would be over without them too; {named}"
    return f"{over}: {stays}{without}"
