"""A summary in place of the oldest units."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from brim.errors import InputError
from brim.messages.arguments import whole_number
from brim.messages.content import user_message
from brim.messages.draft import Draft
from brim.messages.outcome import HistorySummary, Outcome
from brim.messages.pruners import Strategy
from brim.messages.quoting import extract
from brim.messages.receipt import Pruned
from brim.tokens.costs import message_costs

ROUNDS = 8
"""How often a summary that is too large is made again from more messages."""
SHARE = 0.1
"""The share of the target that is kept free for the summary,"""
SMALLEST = 100
"""but at least so many tokens,"""
LARGEST = 2_000
"""and at most so many."""
FRAME = 20
"""Tokens for the tags of the summary."""
NO_ROOM = "there is no room for a summary next to what must stay: left out"


Summarizer = Callable[[list[Any]], str | Awaitable[str]]
"""Gives a summary of messages."""


class SummarizePruner(Strategy):
    """Puts one summary in place of the oldest units.

    It is made again, of more of them, until everything fits.

    *summarize* is given the messages that leave, oldest first (after a first round that was too
    large the summary so far, then what leaves with it), and returns a text; it may be async.
    Without it the summary quotes: the user's words, the calls, what went wrong (see ``extract``).
    It becomes a message of the user's, between ``<summary>`` tags.

    A summary that isn't smaller than what it replaces is rejected, and what it would have replaced
    is dropped. If *summarize* raises or returns no text, the quoting summary is used. The receipt
    says which it was. At least *min_turns* turns stay while the target allows.
    """

    def __init__(self, summarize: Summarizer | None = None, *, min_turns: int = 3) -> None:
        if summarize is not None and not callable(summarize):
            raise InputError(f"summarize must be callable, not {type(summarize).__name__}")

        self.summarize = summarize
        self.min_turns = whole_number("min_turns", min_turns)

    def choose(self, work: Draft, fill: bool) -> Pruned:
        """Return *work* with a summary in place of what doesn't fit."""
        target = work.target
        if work.total <= target or work.price(work.required) > target:
            units = frozenset(work.select(target))
            return Outcome(
                pruner="summarize",
                draft=work,
                units=units,
                reason="",
            ).pruned()

        notes: list[str] = []
        pruned = self._with_summary(work, fill, notes)
        if pruned is not None:
            return pruned

        units = frozenset(work.select(target, fill=fill))
        return Outcome(
            pruner="summarize",
            draft=work,
            units=units,
            notes=notes,
        ).pruned()

    def _with_summary(
        self,
        work: Draft,
        fill: bool,
        notes: list[str],
    ) -> Pruned | None:
        """Return *work* with a summary; None if there can't be one, for a reason in *notes*."""
        target = work.target
        room = max(SMALLEST, min(LARGEST, int(SHARE * target)))
        text = ""
        gone: set[int] = set()
        for _ in range(ROUNDS):
            may_fill = fill and not gone
            about: Any = {"turns": self.min_turns, "turn_limit": target, "fill": may_fill}
            units = work.select(target - room, **about)
            leaving = [at for at in range(len(work.units)) if at not in units and at not in gone]
            if leaving:
                space = min(room, target - work.price(units))
                text = self._summary(work, text, leaving, space, notes)

            if not leaving or not text:
                notes.append(NO_ROOM)
                return None

            gone.update(leaving)
            final, summary = _counted(work, units, _tagged(work, text))
            size = summary.tokens
            if size >= sum(work.sizes[at] for at in gone):
                notes.append(
                    f"a summary of {size:,} tokens is not smaller than what it replaces: rejected"
                )
                return None

            if final.price(units) + size <= target:
                return Outcome(
                    pruner="summarize",
                    draft=final,
                    units=frozenset(units),
                    reason="it is in the summary",
                    notes=notes,
                    limit=0,
                    summary=summary,
                ).pruned()

            room = max(room, int(size))

        notes.append(f"the summary did not fit after {ROUNDS} rounds: left out")
        return None

    def _summary(
        self, work: Draft, so_far: str, leaving: list[int], room: int, notes: list[str]
    ) -> str:
        """Return a summary of the units that are *leaving*, and of what it says *so_far*."""
        entries = [entry for at in leaving for entry in work.units[at].entries]
        if self.summarize is not None:
            messages = [entry.message for entry in entries]
            if so_far:
                messages.insert(0, _tagged(work, so_far))

            text = _summarized(self.summarize, messages, notes)
            if text:
                return text

        quotes = extract(entries, work.counter, room - FRAME)
        return "\n".join(filter(None, (so_far, quotes)))


def _summarized(summarize: Summarizer, messages: list[Any], notes: list[str]) -> str:
    """Return what *summarize* says; nothing if it fails, for a reason in *notes*."""
    from brim.messages.threads import finished  # asyncio takes longer to load than all of this

    try:
        text = finished(summarize(messages))
    except Exception as error:  # a summary must not end the agent's turn: quoting always works
        reason = f"{type(error).__name__}: {error}"
        notes.append(f"summarize failed ({reason}): the summary quotes instead")
        return ""

    if isinstance(text, str) and text.strip():
        return text.strip()

    answer = "an empty text" if isinstance(text, str) else f"{type(text).__name__}, not a text"
    notes.append(f"summarize returned {answer}: the summary quotes instead")
    return ""


def _tagged(work: Draft, text: str) -> Any:
    """Return *text* as a message; quoted text can't end the summary."""
    inside = text.replace("</summary", "<\\/summary")
    like = None
    if work.layout.framework:
        like = next((entry.message for entry in work.entries if entry.is_prompt), None)

    return user_message(work.provider, f"<summary>\n{inside}\n</summary>", like)


def _counted(work: Draft, units: set[int], message: Any) -> tuple[Draft, HistorySummary]:
    """Return the draft as it is with the summary *message* in it, and the summary with its size.

    Models drop the reasoning of earlier turns. A summary speaks for the user, so reasoning that
    stays before it, and was of the last turn until now, is of an earlier one: only that is counted
    again.
    """
    outdated = _outdated_reasoning(work, units)
    if not outdated or not hasattr(work.counter, "costs"):
        tokens = message_costs(work.counter, [message]).alone([0])
        return work, HistorySummary(message, tokens)

    messages = [work.entries[at].message for at in outdated]
    costs = message_costs(work.counter, [*messages, message])
    final = replace(work, costs=work.costs.replaced(outdated, costs))
    return final, HistorySummary(message, costs.alone([len(outdated)]))


def _outdated_reasoning(work: Draft, units: set[int]) -> list[int]:
    """Return the places of messages with reasoning after the last prompt before the summary."""
    outdated: list[int] = []
    at = 0
    for number, unit in enumerate(work.units):
        if number not in units:
            break

        for entry in unit.entries:
            if entry.is_prompt:
                outdated = []
            elif entry.reasons:
                outdated.append(at)

            at += 1

    return outdated
