"""``brim dev count``: how many tokens is this?"""

from __future__ import annotations

import sys
from argparse import Namespace
from dataclasses import dataclass
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
    found, skipped, failed = _count_all(list(sources(options.inputs or ["-"])), counter)
    if not found and failed:
        return 2
    if not found:
        raise InputError("no text there to count")
    total = sum((each for _, each in found), Count(0))
    emit(
        CountedInput(config["model"], getattr(counter, "encoding", None), found, total, skipped),
        _view,
        options.as_json,
    )
    if failed:
        return 2
    if options.max is not None and total > options.max:
        note(f"{total:,} tokens are more than {options.max:,}")
        return 1
    return 0


def _count_all(
    wanted: list[InputSource], counter: TokenCounter
) -> tuple[list[tuple[InputSource, Count]], list[str], list[str]]:
    """Count what can be read; say what cannot, and go on with the rest."""
    found: list[tuple[InputSource, Count]] = []
    skipped: list[str] = []
    failed: list[str] = []
    with Progress(sum(source.size for source in wanted), shown_from=PROGRESS_FROM) as progress:
        for source in wanted:

            def tell(size: int, name: str = source.name) -> None:
                progress.clear()
                note(
                    f"{name}: {size:,} characters without a place to cut: memory grows until there is one"
                )

            try:
                found.append(
                    (
                        source,
                        count_stream(counter, chunks(source, progress.advance), on_long_block=tell),
                    )
                )
            except InputError as error:
                if source.found:
                    skipped.append(source.name)
                else:
                    failed.append(source.name)
                    progress.clear()
                    note(str(error))
    return found, skipped, failed


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
        return lookup(self.model).context_window if self.model else None

    def to_dict(self) -> dict[str, Any]:
        """Return it for ``--json``."""
        window = self.window
        return {
            "model": self.model,
            "encoding": self.encoding,
            **count_fields(self.total),
            "context_window": window,
            "share": round(self.total / window, 6) if window else None,
            "fits": self.total.high <= window if window else None,
            "resolved": lookup(self.model).resolved if self.model else None,
            "inputs": [{"name": source.name, **count_fields(each)} for source, each in self.found],
            "skipped": self.skipped,
        }


def _view(counted_: CountedInput) -> str:
    found, total, window = counted_.found, counted_.total, counted_.window
    of_window = ""
    if window:  # whether it fits, the upper end of the interval decides
        over = "  does not fit" if total.low > window else "  may not fit"
        of_window = f"{share(total, window)} of {counted_.model}'s {window:,}{'' if total.high <= window else over}"
    if len(found) == 1:
        parts = (counted(int(total), "token"), total.basis, _interval(total), of_window)
        text = "  ".join(part for part in parts if part)
        if found[0][0].is_word:
            note(f"no file named {found[0][0].text}: counted as text")
    else:
        named = [*((source.name, each) for source, each in found), ("total", total)]
        rows = [["tokens", "share", "basis", "interval", "of"]]
        rows += [
            [f"{each:,}", share(each, window or total), each.basis, _interval(each), name]
            for name, each in named
        ]
        if total.low == total.high:
            rows = [[*row[:3], row[4]] for row in rows]
        below = of_window or f"share of the total, in {counted_.encoding or 'tokens'}"
        text = lines(heading(table(rows, right=(0, 1))), paint(below, "faint"))
    if total.note:
        note(total.note)
    if counted_.model and not lookup(counted_.model).resolved:
        note(f"{counted_.model} isn't a model brim knows: count and window are guesses")
    if counted_.skipped:
        note(f"left out what is not text: {counted(len(counted_.skipped), 'file')}")
    return text


def _interval(each: Count) -> str:
    return "" if each.low == each.high else f"{each.low:,} to {each.high:,}"
