"""``brim dev count``: how many tokens is this?"""

from __future__ import annotations

import sys
from argparse import Namespace
from dataclasses import dataclass, field
from typing import Any

from brim.cli.counts import count_fields
from brim.cli.options import add_json, add_model, command, option, settings, whole_number
from brim.cli.output import counted, emit, lines, note, paint, share
from brim.cli.progress import Progress
from brim.cli.tables import heading, table
from brim.errors import InputError
from brim.models.light import lookup
from brim.record import PlainData
from brim.tokens.count import Count
from brim.tokens.counters import MODES, counter_for
from brim.tokens.inputs import InputSource, chunks, sources
from brim.tokens.protocol import TokenCounter
from brim.tokens.stream import count_stream

PROGRESS_FROM = 4_000_000
"""Bytes from which a terminal shows the progress."""


@command(
    option("inputs", nargs="*", metavar="TEXT|FILE|FOLDER|-", help="what to count"),
    add_model,
    option("--mode", choices=MODES, help="how to count (default: the setting 'mode', else auto)"),
    option(
        "--max",
        type=whole_number(0),
        metavar="N",
        help="exit with 1 if there are more than N tokens",
    ),
    add_json,
)
def count(options: Namespace) -> int:
    """Count the tokens of text, files or folders.

    Without an argument, or with -, brim reads standard input. In folders it counts text files,
    except node_modules, __pycache__ and names that begin with a dot.

    Examples:
      brim dev count "Hello world" --model gpt-4o
      brim dev count src docs README.md --model claude-sonnet-4-5
      git diff | brim dev count --model gpt-5 --max 20000
    """
    config = settings(model=options.model, mode=options.mode)
    if not options.inputs and (sys.stdin is None or sys.stdin.isatty()):
        raise InputError(
            "nothing to count: give text, files or folders, or pipe text in: brim dev count --help"
        )
    counter = counter_for(config["model"], mode=config["mode"])
    inputs = _count_all(list(sources(options.inputs or ["-"])), counter)
    if not inputs.counts and inputs.failed:
        return 2
    if not inputs.counts:
        raise InputError("no text there to count")
    total = sum(inputs.counts, Count(0))
    encoding = getattr(counter, "encoding", None)
    result = CountedInput(config["model"], encoding, inputs.counted, total, inputs.skipped)
    emit(result, _view, options.as_json)
    if inputs.failed:
        return 2
    if options.max is not None and total > options.max:
        note(f"{total:,} tokens are more than {options.max:,}")
        return 1
    return 0


@dataclass
class _Inputs:
    """What was counted, what is no text, and what can't be read."""

    counted: list[tuple[InputSource, Count]] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    @property
    def counts(self) -> list[Count]:
        return [count for _, count in self.counted]


def _count_all(wanted: list[InputSource], counter: TokenCounter) -> _Inputs:
    """Count what can be read; say what cannot, and go on with the rest."""
    inputs = _Inputs()
    size = sum(source.size for source in wanted)
    with Progress(size, shown_from=PROGRESS_FROM) as progress:
        for source in wanted:
            try:
                count = _count_source(source, counter, progress)
            except InputError as error:
                if source.found:
                    inputs.skipped.append(source.name)
                else:
                    inputs.failed.append(source.name)
                    progress.clear()
                    note(str(error))
            else:
                inputs.counted.append((source, count))
    return inputs


def _count_source(source: InputSource, counter: TokenCounter, progress: Progress) -> Count:
    def tell(size: int) -> None:
        progress.clear()
        note(
            f"{source.name}: {size:,} characters without a place to cut:"
            " memory grows until there is one"
        )

    return count_stream(counter, chunks(source, progress.advance), on_long_block=tell)


@dataclass(frozen=True)
class CountedInput(PlainData):
    """What was counted, and what could not be."""

    model: str | None
    encoding: str | None
    found: list[tuple[InputSource, Count]]
    total: Count
    skipped: list[str]

    @property
    def window(self) -> int | None:
        """The model's window."""
        if not self.model:
            return None
        return lookup(self.model).context_window

    def to_dict(self) -> dict[str, Any]:
        """Return it for ``--json``."""
        window = self.window
        share_of_window = None
        fits = None
        resolved = None
        if self.model and window:
            share_of_window = round(self.total / window, 6)
            fits = self.total.high <= window
            resolved = lookup(self.model).resolved
        inputs = [{"name": source.name, **count_fields(count)} for source, count in self.found]
        return {
            "model": self.model,
            "encoding": self.encoding,
            **count_fields(self.total),
            "context_window": window,
            "share": share_of_window,
            "fits": fits,
            "resolved": resolved,
            "inputs": inputs,
            "skipped": self.skipped,
        }


def _view(result: CountedInput) -> str:
    if len(result.found) == 1:
        text = _one_count(result)
    else:
        text = _count_table(result)
    note(result.total.note)
    if result.model and not lookup(result.model).resolved:
        note(f"{result.model} isn't a model brim knows: count and window are guesses")
    if result.skipped:
        note(f"left out what is not text: {counted(len(result.skipped), 'file')}")
    return text


def _one_count(result: CountedInput) -> str:
    total = result.total
    parts = [counted(int(total), "token"), total.basis, _interval(total), _share_of_window(result)]
    source = result.found[0][0]
    if source.is_word:
        note(f"no file named {source.text}: counted as text")
    return "  ".join(part for part in parts if part)


def _count_table(result: CountedInput) -> str:
    total = result.total
    rows = [["tokens", "share", "basis", "interval", "of"]]
    counts = [(source.name, count) for source, count in result.found]
    for name, count in [*counts, ("total", total)]:
        part = share(count, result.window or total)
        rows.append([f"{count:,}", part, count.basis, _interval(count), name])
    if total.low == total.high:
        rows = [[*row[:3], row[4]] for row in rows]
    below = _share_of_window(result)
    if not below:
        below = f"share of the total, in {result.encoding or 'tokens'}"
    return lines(heading(table(rows, right=(0, 1))), paint(below, "faint"))


def _share_of_window(result: CountedInput) -> str:
    """Return how much of the model's window it takes; the upper end decides whether it fits."""
    window = result.window
    if not window:
        return ""
    text = f"{share(result.total, window)} of {result.model}'s {window:,}"
    if result.total.low > window:
        return f"{text}  does not fit"
    if result.total.high > window:
        return f"{text}  may not fit"
    return text


def _interval(count: Count) -> str:
    if count.low == count.high:
        return ""
    return f"{count.low:,} to {count.high:,}"
