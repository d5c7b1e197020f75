"""A summary in place of the oldest units."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from brim.errors import InputError
from brim.messages.content import result_text, text_of, user_message
from brim.messages.draft import Draft, whole_number
from brim.messages.entries import Entry
from brim.messages.pruners import Strategy, finished
from brim.messages.receipt import Pruned
from brim.tokens.costs import message_costs
from brim.tokens.count import Count
from brim.tokens.protocol import TokenCounter

ROUNDS = 8
"""How often a summary that is too large is made again from more messages."""
SHARE = 0.1
"""The share of the target that is kept free for the summary, between ``LEAST`` and ``MOST``
tokens."""
LEAST, MOST = 100, 2_000
HEAD = re.compile(r"Summary of [\d,]+ earlier messages, made by quoting:")
"""The first line of a summary that quotes."""
LINE = 200
"""The most characters of a quoted line."""
TROUBLE = ("error", "traceback", "failed", "exception", "denied", "not found")
"""A line of a result that holds one of these words is worth a line of the summary."""
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
        self.summarize, self.min_turns = summarize, whole_number("min_turns", min_turns)

    def choose(self, work: Draft, fill: bool) -> Pruned:
        """Return *work* with a summary in place of what doesn't fit."""
        target = work.target
        if work.total <= target or work.price(work.required) > target:
            return work.finish("summarize", work.select(target), reason="")
        room = max(LEAST, min(MOST, int(SHARE * target)))
        notes: list[str] = []
        text, gone = "", set[int]()
        for _ in range(ROUNDS):
            kept = work.select(
                target - room, turns=self.min_turns, most=target, fill=fill and not gone
            )
            leaving = [at for at in range(len(work.units)) if at not in kept and at not in gone]
            if leaving:
                text = self._summary(
                    work, text, leaving, min(room, target - work.price(kept)), notes
                )
            if not leaving or not text:
                notes.append(NO_ROOM)
                break
            gone.update(leaving)
            summary = _tagged(work, text)
            final, tokens = _counted(work, kept, summary)
            if tokens >= sum(work.sizes[at] for at in gone):
                notes.append(
                    f"a summary of {tokens:,} tokens is not smaller than what it replaces: rejected"
                )
                break
            if final.price(kept) + tokens <= target:
                reason = "it is in the summary"
                return final.finish(
                    "summarize", kept, reason=reason, notes=notes, limit=0, added=(summary, tokens)
                )
            room = max(room, int(tokens))
        else:
            notes.append(f"the summary did not fit after {ROUNDS} rounds: left out")
        return work.finish("summarize", work.select(target, fill=fill), notes=notes)

    def _summary(
        self, work: Draft, so_far: str, leaving: list[int], room: int, notes: list[str]
    ) -> str:
        entries = [entry for at in leaving for entry in work.units[at].entries]
        if self.summarize is not None:
            earlier = [_tagged(work, so_far)] if so_far else []
            try:
                text = finished(self.summarize([*earlier, *(entry.message for entry in entries)]))
            except (
                Exception
            ) as error:  # a summary must not end the agent's turn: quoting always works
                notes.append(
                    f"summarize failed ({type(error).__name__}: {error}): the summary quotes instead"
                )
            else:
                if isinstance(text, str) and text.strip():
                    return text.strip()
                what = (
                    "an empty text"
                    if isinstance(text, str)
                    else f"{type(text).__name__}, not a text"
                )
                notes.append(f"summarize returned {what}: the summary quotes instead")
        return "\n".join(filter(None, (so_far, extract(entries, work.counter, room - 20))))


def _tagged(work: Draft, text: str) -> Any:
    """Return *text* as a message; quoted text can't end the summary."""
    inside = text.replace("</summary", "<\\/summary")
    prompts = (entry.message for unit in work.units for entry in unit.entries if entry.is_prompt)
    like = next(prompts, None) if work.layout.framework else None
    return user_message(work.provider, f"<summary>\n{inside}\n</summary>", like)


def _counted(work: Draft, kept: set[int], summary: Any) -> tuple[Draft, Count]:
    """Return the draft as it is with *summary* in it, and the size of the summary.

    Models drop the reasoning of earlier turns. A summary speaks for the user, so reasoning that
    stays before it, and was of the last turn until now, is of an earlier one: only that is counted
    again.
    """
    first_gone = next(at for at in range(len(work.units)) if at not in kept)
    entries = [entry for unit in work.units[:first_gone] for entry in unit.entries]
    last_prompt = max((at for at, entry in enumerate(entries) if entry.is_prompt), default=-1)
    outdated = [at for at, entry in enumerate(entries) if entry.reasons and at > last_prompt]
    if not outdated or not hasattr(work.counter, "costs"):
        return work, message_costs(work.counter, [summary]).alone([0])
    costs = message_costs(work.counter, [*(entries[at].message for at in outdated), summary])
    return replace(work, costs=work.costs.replaced(outdated, costs)), costs.alone([len(outdated)])


def extract(entries: Sequence[Entry], counter: TokenCounter, budget: int) -> str:
    """Return a summary of *entries* of at most *budget* tokens.

    Empty if not one line fits.

    It is deterministic and invents nothing: every line is quoted or counted. The user's words come
    first, then what was called, what went wrong, and what the assistant said.
    """
    head = f"Summary of {len(entries):,} earlier messages, made by quoting:"  # HEAD matches it
    lines: list[tuple[int, int, str]] = []
    for at, entry in enumerate(entries):
        said = text_of(entry.wire)
        if entry.is_prompt:
            lines += [(0, at, line) for line in _prompt_lines(said)]
        if entry.results:
            results = result_text(entry.wire).splitlines()
            troubles = [line for line in results if any(word in line.lower() for word in TROUBLE)]
            lines += [(2, at, f"- a tool: {_shortened(line)}") for line in troubles[-1:]]
        if entry.role == "assistant" and said:
            lines.append((3, at, f"- the assistant: {_shortened(said)}"))
    names = Counter(call.name or "a tool" for entry in entries for call in entry.calls)
    if names:
        called = ", ".join(f"{name} ({count})" for name, count in sorted(names.items()))
        lines.append((1, len(entries), f"- called: {called}"))
    room = budget - int(counter.count(head)) - 1
    if room < 0:
        return ""
    chosen = []
    # The newest of each kind matter most, so they are taken first; they are printed in their own
    # order.
    for rank, at, line in sorted(lines, key=lambda row: (row[0], -row[1])):
        tokens = int(counter.count(line)) + 1
        if tokens <= room:
            room -= tokens
            chosen.append((at, rank, line))
    return "\n".join([head, *(line for _, _, line in sorted(chosen))])


def _prompt_lines(text: str) -> list[str]:
    """Return the user's words as a line; of an earlier summary, which speaks for the user, its
    lines."""
    if text.startswith("<summary>") and text.endswith("</summary>"):
        lines = text.removeprefix("<summary>").removesuffix("</summary>").splitlines()
        quoted = [
            line.removeprefix("- ") for line in lines if line.strip() and not HEAD.fullmatch(line)
        ]
        return [f"- {_shortened(line)}" for line in quoted]
    return [f"- the user: {_shortened(text)}"]


def _shortened(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= LINE else words[: LINE - 1].rstrip() + "…"
