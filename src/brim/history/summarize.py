"""A summary in place of the oldest."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from brim.errors import InputError
from brim.history.arguments import whole_number
from brim.history.base import ChoosingPruner
from brim.history.extract import extract
from brim.history.select import add_older, cut_for_turns, longest_run, price, required, select
from brim.history.speaking import user_message
from brim.tokens.costs import message_costs

if TYPE_CHECKING:
    from collections.abc import Callable

    from brim.history.draft import Draft
    from brim.history.reading.entry import Entry
    from brim.history.types import Pruned
    from brim.tokens.count import Count

ROUNDS = 8
"""So often is a summary that is still too large made again of more messages."""
SHARE = 0.1
"""The share of the target that is kept free for the summary, between ``LEAST`` and ``MOST`` tokens."""
LEAST, MOST = 100, 2_000


class SummarizePruner(ChoosingPruner):
    """Puts one summary in place of the oldest units, made again of more of them until everything fits.

    *summarize* is given the messages that leave, oldest first (after a first round that was too large the summary so
    far, then what leaves with it), and returns a text. Without it the summary quotes: the user's words, the calls, what
    went wrong (see ``brim.history.extract``). It becomes a message of the user's, between ``<summary>`` tags.

    A summary that is not smaller than what it replaces is rejected, and what it would have replaced is dropped. If
    *summarize* raises or returns no text, the quoting summary stands in. The receipt says which it was. At least
    *min_turns* turns stay while the target allows.
    """

    def __init__(self, summarize: Callable[[list[Any]], str] | None = None, *, min_turns: int = 3) -> None:
        if summarize is not None and not callable(summarize):
            raise InputError(f"summarize must be callable, not {type(summarize).__name__}")
        self.summarize, self.min_turns = summarize, whole_number("min_turns", min_turns)

    def choose(self, work: Draft, fill: bool) -> Pruned:
        """Return *work* with a summary in place of what does not fit."""
        target = work.target
        must = required(work, target)
        if work.total <= target or price(work, must) > target:
            return work.finish("summarize", select(work, target))
        room = max(LEAST, min(MOST, int(SHARE * target)))
        notes: list[str] = []
        text, gone = "", set[int]()
        for _ in range(ROUNDS):
            kept = self._select(work, must, target - room, fill and not gone)
            leaving = [at for at in range(len(work.units)) if at not in kept and at not in gone]
            if not leaving:
                notes.append("there is no room for a summary beside what must stay: left out")
                break
            text = self._summary(work, text, leaving, min(room, target - price(work, kept)), notes)
            if not text:
                notes.append("there is no room for a summary beside what must stay: left out")
                break
            gone.update(leaving)
            summary = _tagged(work, text)
            final, tokens = _counted(work, kept, summary)
            if tokens >= sum(work.sizes[at] for at in gone):
                notes.append(f"a summary of {tokens:,} tokens is not smaller than what it replaces: rejected")
                break
            if price(final, kept) + tokens <= target:
                reason = "it is in the summary"
                return final.finish("summarize", kept, reason=reason, notes=notes, limit=0, added=(summary, tokens))
            room = max(room, int(tokens))
        else:
            notes.append(f"the summary did not fit after {ROUNDS} rounds: left out")
        kept = select(work, target, fill=fill)
        return work.finish("summarize", kept, reason="it does not fit with what is newer", notes=notes)

    def _select(self, work: Draft, must: list[int], limit: int, fill: bool) -> set[int]:
        """Return what stays beside a summary: what fits into *limit*, or the newest turns if only the target does."""
        cut = longest_run(work, must, limit)
        turns = cut_for_turns(work, must, self.min_turns, work.target)
        cut = cut if turns is None else min(cut, turns)
        kept = sorted({*must, *range(cut, len(work.units))})
        if fill:
            add_older(work, kept, cut, limit)
        return set(kept)

    def _summary(self, work: Draft, so_far: str, leaving: list[int], room: int, notes: list[str]) -> str:
        entries: list[Entry] = [entry for at in leaving for entry in work.units[at].entries]
        if self.summarize is not None:
            earlier = [_tagged(work, so_far)] if so_far else []
            try:
                text = self.summarize([*earlier, *(entry.message for entry in entries)])
            except Exception as error:  # a summary must not end the agent's turn: quoting always works
                notes.append(f"summarize failed ({type(error).__name__}: {error}): the summary quotes instead")
            else:
                if isinstance(text, str) and text.strip():
                    return text.strip()
                what = "an empty text" if isinstance(text, str) else f"{type(text).__name__}, not a text"
                notes.append(f"summarize returned {what}: the summary quotes instead")
        quoted = extract(entries, work.counter, room - 20)
        return "\n".join(filter(None, (so_far, quoted)))


def _tagged(work: Draft, text: str) -> dict[str, Any]:
    """Return *text* as a message; quoted text cannot end the summary."""
    inside = text.replace("</summary", "<\\/summary")
    return user_message(work.provider, f"<summary>\n{inside}\n</summary>")


def _counted(work: Draft, kept: set[int], summary: Any) -> tuple[Draft, Count]:
    """Return the draft as it is with *summary* in it, and what that takes.

    Models drop the reasoning of earlier turns. A summary speaks for the user, so reasoning that stays before it, and
    was of the last turn till now, is of an earlier one: only that is counted anew.
    """
    first_gone = next(at for at in range(len(work.units)) if at not in kept)
    entries = [entry for unit in work.units[:first_gone] for entry in unit.entries]
    last_prompt = max((at for at, entry in enumerate(entries) if entry.is_prompt), default=-1)
    outdated = [at for at, entry in enumerate(entries) if entry.reasons and at > last_prompt]
    if not outdated or not hasattr(work.counter, "costs"):
        return work, message_costs(work.counter, [summary]).alone([0])
    costs = message_costs(work.counter, [*(entries[at].message for at in outdated), summary])
    return replace(work, costs=work.costs.replaced(outdated, costs)), costs.alone([len(outdated)])
