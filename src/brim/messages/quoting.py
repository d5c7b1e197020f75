"""A summary that quotes: it is deterministic and invents nothing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from brim.messages.content import result_text, text_of
from brim.messages.entries import Entry
from brim.tokens.protocol import TokenCounter

HEAD = re.compile(r"Summary of [\d,]+ earlier messages, made by quoting:")
"""The first line of a summary that quotes."""
LINE = 200
"""The most characters of a quoted line."""
TROUBLE = ("error", "traceback", "failed", "exception", "denied", "not found")
"""A line of a result that holds one of these words is worth a line of the summary."""

PROMPT = 0
CALLS = 1
PROBLEM = 2
ANSWER = 3
"""What a line quotes, the most important first."""


@dataclass(frozen=True, slots=True)
class QuotedLine:
    """One line of a summary."""

    rank: int
    """What it quotes."""
    at: int
    """The place of the message that it quotes."""
    text: str


def extract(entries: Sequence[Entry], counter: TokenCounter, budget: int) -> str:
    """Return a summary of *entries* of at most *budget* tokens.

    Empty if not one line fits.

    Every line is quoted or counted. The user's words come first, then what was called, what went
    wrong, and what the assistant said.
    """
    head = f"Summary of {len(entries):,} earlier messages, made by quoting:"  # HEAD matches it
    room = budget - int(counter.count(head)) - 1
    if room < 0:
        return ""

    lines: list[QuotedLine] = []
    for at, entry in enumerate(entries):
        lines += _lines_of(entry, at)

    lines += _calls_line(entries)
    # The newest of each kind matter most, so they are taken first; they are printed in their own
    # order.
    lines.sort(key=lambda line: (line.rank, -line.at))
    chosen = []
    for line in lines:
        tokens = int(counter.count(line.text)) + 1
        if tokens <= room:
            room -= tokens
            chosen.append(line)

    chosen.sort(key=lambda line: (line.at, line.rank, line.text))
    return "\n".join([head, *(line.text for line in chosen)])


def _lines_of(entry: Entry, at: int) -> Iterator[QuotedLine]:
    """Yield the lines about one message."""
    text = text_of(entry.wire)
    if entry.is_prompt:
        for line in _prompt_lines(text):
            yield QuotedLine(PROMPT, at, line)

    if entry.results:
        trouble = _last_trouble(result_text(entry.wire))
        if trouble:
            yield QuotedLine(PROBLEM, at, f"- a tool: {_shortened(trouble)}")

    if entry.role == "assistant" and text:
        yield QuotedLine(ANSWER, at, f"- the assistant: {_shortened(text)}")


def _calls_line(entries: Sequence[Entry]) -> list[QuotedLine]:
    """Return a line that counts the calls; none without calls."""
    counts = Counter(call.name or "a tool" for entry in entries for call in entry.calls)
    if not counts:
        return []

    called = ", ".join(f"{name} ({count})" for name, count in sorted(counts.items()))
    return [QuotedLine(CALLS, len(entries), f"- called: {called}")]


def _last_trouble(text: str) -> str:
    """Return the last line of *text* that says that something went wrong; empty if none does."""
    for line in reversed(text.splitlines()):
        if any(word in line.lower() for word in TROUBLE):
            return line

    return ""


def _prompt_lines(text: str) -> list[str]:
    """Return the user's words as a line; of an earlier summary, which speaks for the user, its
    lines."""
    if not (text.startswith("<summary>") and text.endswith("</summary>")):
        return [f"- the user: {_shortened(text)}"]

    lines = []
    for line in text.removeprefix("<summary>").removesuffix("</summary>").splitlines():
        if line.strip() and not HEAD.fullmatch(line):
            lines.append(f"- {_shortened(line.removeprefix('- '))}")

    return lines


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    if len(line) <= LINE:
        return line

    return line[: LINE - 1].rstrip() + "…"
