"""``brim count``: how many tokens is this?"""

from __future__ import annotations

import sys

from brim.cli.inputs import Source, chunks, sources
from brim.cli.output import Progress, heading, note, paint, say, say_json, share, table
from brim.cli.settings import add_json, add_model, settings, whole_number
from brim.errors import InputError
from brim.models.light import lookup
from brim.tokens.count import Count
from brim.tokens.counters import MODES, counter_for
from brim.tokens.stream import count_stream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from brim.tokens.counters import TokenCounter

PROGRESS_FROM = 4_000_000
"""Bytes from which on a terminal is shown how far it is."""

HELP = """\
Count the tokens of text, files or folders.

Without an argument, or with -, standard input is read. A folder is searched for text; what begins with a dot,
node_modules, __pycache__ and binary files are left out.

Examples:
  brim count "Hello world" --model gpt-4o
  brim count src docs README.md --model claude-sonnet-4-5
  git diff | brim count --model gpt-5 --max 20000
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("inputs", nargs="*", metavar="TEXT|FILE|FOLDER|-", help="what to count")
    add_model(parser)
    parser.add_argument("--mode", choices=MODES, help="how to count (default: the setting 'mode', else auto)")
    parser.add_argument("--max", type=whole_number(0), metavar="N", help="exit with 1 if there are more than N")
    add_json(parser)


def run(options: Namespace) -> int:
    """Count, print, and return the exit code."""
    config = settings(model=options.model, mode=options.mode)
    inputs = options.inputs or _standard_input()
    counter = counter_for(config["model"], mode=config["mode"])
    found, skipped, failed = _count_all(list(sources(inputs)), counter)
    if not found:
        if failed:
            return 2
        raise InputError("no text there to count")
    total = sum((count for _, count in found), Count(0))
    report = _Report(config["model"], counter, found, total, skipped)
    report.as_json() if options.as_json else report.show()
    if failed:
        return 2
    if options.max is not None and total > options.max:
        note(f"{total:,} tokens are more than {options.max:,}")
        return 1
    return 0


def _standard_input() -> list[str]:
    if sys.stdin is None or sys.stdin.isatty():
        raise InputError("nothing to count: give text, files or folders, or pipe text in; brim count --help shows how")
    return ["-"]


def _count_all(wanted: list[Source], counter: TokenCounter) -> tuple[list[tuple[Source, Count]], list[str], list[str]]:
    """Count what can be read; say what cannot, and go on with the rest."""
    found: list[tuple[Source, Count]] = []
    skipped: list[str] = []
    failed: list[str] = []
    with Progress(sum(source.size for source in wanted), shown_from=PROGRESS_FROM) as progress:
        for source in wanted:

            def tell(size: int, name: str = source.name) -> None:
                progress.clear()
                note(f"{name}: {size:,} characters without a place to cut: memory grows until there is one")

            try:
                found.append((source, count_stream(counter, chunks(source, progress.advance), on_long_block=tell)))
            except InputError as error:
                if source.found:
                    skipped.append(source.name)
                else:
                    failed.append(source.name)
                    progress.clear()
                    note(str(error))
    return found, skipped, failed


class _Report:
    """What was counted, for people or for scripts."""

    def __init__(
        self,
        model: str | None,
        counter: TokenCounter,
        found: list[tuple[Source, Count]],
        total: Count,
        skipped: list[str],
        /,
    ) -> None:
        self.model, self.found, self.total, self.skipped = model, found, total, skipped
        self.encoding: str | None = getattr(counter, "encoding", None)
        self.known = lookup(model) if model else None
        self.window = self.known.context_window if self.known else None

    def show(self) -> None:
        """Print a line, or a table if there are several, and what should be known about it."""
        if len(self.found) == 1:
            number = f"{self.total:,} {'token' if self.total == 1 else 'tokens'}"
            parts = (number, self.total.basis, _interval(self.total), self._against())
            say("  ".join(part for part in parts if part))
        else:
            self._show_table()
        if len(self.found) == 1 and self.found[0][0].is_word:
            note(f"there is no file {self.found[0][0].text}: it was counted as text")
        if self.total.note:
            note(self.total.note)
        if self.known and not self.known.resolved:
            note(f"{self.model} is not a model that brim knows: the count and the window are guesses")
        if self.skipped:
            note(f"left out what is not text: {len(self.skipped):,} file{'' if len(self.skipped) == 1 else 's'}")

    def _show_table(self) -> None:
        named = [*((source.name, count) for source, count in self.found), ("total", self.total)]
        whole = self.window or self.total
        rows = [["tokens", "share", "basis", "interval", "of"]]
        rows += [[f"{count:,}", share(count, whole), count.basis, _interval(count), name] for name, count in named]
        if self.total.low == self.total.high:
            rows = [[*row[:3], row[4]] for row in rows]
        say(heading(table(rows, right=frozenset({0, 1}))))
        say(paint(self._against() or f"share of the total, in {self.encoding or 'tokens'}", "faint"))

    def _against(self) -> str:
        """Return the share of the model's window, and whether it fits: the upper end of the interval decides."""
        if not self.window:
            return ""
        over = "  does not fit" if self.total.low > self.window else "  may not fit"
        verdict = "" if self.total.high <= self.window else over
        return f"{share(self.total, self.window)} of {self.model}'s {self.window:,}{verdict}"

    def as_json(self) -> None:
        """Print one JSON object."""
        say_json(
            {
                "model": self.model,
                "encoding": self.encoding,
                **_fields(self.total),
                "context_window": self.window,
                "share": round(self.total / self.window, 6) if self.window else None,
                "fits": self.total.high <= self.window if self.window else None,
                "resolved": self.known.resolved if self.known else None,
                "inputs": [{"name": source.name, **_fields(count)} for source, count in self.found],
                "skipped": self.skipped,
            }
        )


def _interval(count: Count) -> str:
    return "" if count.low == count.high else f"{count.low:,} to {count.high:,}"


def _fields(count: Count) -> dict[str, object]:
    return {"tokens": int(count), "basis": count.basis, "low": count.low, "high": count.high, "note": count.note}
