"""``brim count``: how many tokens is this?"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from brim.cli.inputs import Source, chunks, sources
from brim.cli.options import MODES, json_option, model_option, settings
from brim.cli.output import faint, note, say, say_json, share, table
from brim.errors import InputError
from brim.models.light import lookup
from brim.tokens.count import Count
from brim.tokens.counters import counter_for
from brim.tokens.stream import count_stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from brim.tokens.types import TokenCounter

PROGRESS_FROM = 4_000_000
"""Bytes from which on a terminal is shown how far it is."""


@click.command("count", short_help="Count the tokens of text, files or folders.")
@click.argument("inputs", nargs=-1, metavar="[TEXT|FILE|FOLDER|-]...")
@model_option
@click.option("--mode", type=MODES, help="How to count. [default: the setting 'mode', else auto]")
@click.option("--max", "limit", type=click.IntRange(min=0), metavar="N", help="Exit with 1 if there are more than N.")
@json_option
def command(inputs: tuple[str, ...], model: str | None, mode: str | None, limit: int | None, as_json: bool) -> None:
    """Count the tokens of text, files or folders.

    Without an argument, or with -, standard input is read. A folder is searched for text; what begins with a dot,
    node_modules, __pycache__ and binary files are left out.

    \b
    Examples:
      brim count "Hello world" --model gpt-4o
      brim count src docs README.md --model claude-sonnet-4-5
      git diff | brim count --model gpt-5 --max 20000
    """
    config = settings(model=model, mode=mode)
    if not inputs:
        if sys.stdin is None or sys.stdin.isatty():
            raise click.UsageError("Nothing to count: give text, files or folders, or pipe text in.")
        inputs = ("-",)
    counter = counter_for(config["model"], mode=config["mode"])
    found, skipped, failed = _count_all(list(sources(inputs)), counter)
    total = sum((count for _, count in found), Count(0))
    window = lookup(config["model"]).context_window if config["model"] else None
    if as_json:
        say_json(_as_json(config["model"], counter, found, total=total, window=window, skipped=skipped))
    elif found:
        _show(config["model"], counter, found, total, window)
    if skipped and not as_json:
        note(f"left out {len(skipped)} files that are not text")
    if not found and not failed:
        raise InputError("no text there to count")
    if failed:
        sys.exit(2)
    if limit is not None and total > limit:
        note(f"{total:,} tokens are more than {limit:,}")
        sys.exit(1)


def _count_all(wanted: list[Source], counter: TokenCounter) -> tuple[list[tuple[Source, Count]], list[str], list[str]]:
    """Count what can be read; say what cannot, and go on with the rest."""
    found, skipped, failed = [], [], []
    with _progress(sum(source.size for source in wanted)) as on_read:
        for source in wanted:
            try:
                found.append((source, _count(source, counter, on_read)))
            except InputError as error:
                if source.found:
                    skipped.append(source.name)
                else:
                    failed.append(source.name)
                    note(str(error))
    return found, skipped, failed


def _count(source: Source, counter: TokenCounter, on_read: Callable[[int], object]) -> Count:
    def long_block(size: int) -> None:
        note(f"{source.name}: {size:,} characters without a place to cut: memory grows until there is one")

    return count_stream(counter, chunks(source, on_read), on_long_block=long_block)


class _progress:
    """A bar on standard error while much is read, if a person is looking."""

    def __init__(self, size: int) -> None:
        self._bar: Any = None
        if size >= PROGRESS_FROM and sys.stderr.isatty():
            self._bar = click.progressbar(length=size, label="counting", file=sys.stderr)

    def __enter__(self) -> Callable[[int], object]:
        if self._bar is None:
            return lambda _size: None
        self._bar.__enter__()
        update: Callable[[int], object] = self._bar.update
        return update

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.__exit__(None, None, None)


def _interval(count: Count) -> str:
    return "" if count.low == count.high else f"{count.low:,} to {count.high:,}"


def _show(
    model: str | None, counter: TokenCounter, found: list[tuple[Source, Count]], total: Count, window: int | None
) -> None:
    if len(found) == 1:
        number = f"{total:,} {'token' if total == 1 else 'tokens'}"
        parts = (number, total.basis, _interval(total), _against(total, model, window))
        say("  ".join(part for part in parts if part))
    else:
        named = [*((source.name, count) for source, count in found), ("total", total)]
        rows = [["tokens", "share", "basis", "interval", "of"]]
        rows += [[f"{n:,}", share(n, window or total), n.basis, _interval(n), name] for name, n in named]
        if total.low == total.high:
            rows = [[*row[:3], row[4]] for row in rows]
        lines = table(rows, right=frozenset({0, 1})).split("\n")
        say("\n".join([faint(lines[0]), *lines[1:]]))
        say(faint(_against(total, model, window) or f"share of the total, in {getattr(counter, 'encoding', 'tokens')}"))
    if total.note:
        note(total.note)
    if model and not lookup(model).resolved:
        note(f"{model} is not a model that brim knows: the count and the window are guesses")


def _against(total: Count, model: str | None, window: int | None) -> str:
    if not model or not window:
        return ""
    over = "" if total.high <= window else ("  does not fit" if total.low > window else "  may not fit")
    return f"{share(total, window)} of {model}'s {window:,}{over}"


def _as_json(
    model: str | None,
    counter: TokenCounter,
    found: list[tuple[Source, Count]],
    *,
    total: Count,
    window: int | None,
    skipped: list[str],
) -> dict[str, object]:
    return {
        "model": model,
        "encoding": getattr(counter, "encoding", None),
        **_fields(total),
        "context_window": window,
        "share": round(total / window, 6) if window else None,
        "fits": total.high <= window if window else None,
        "resolved": lookup(model).resolved if model else None,
        "inputs": [{"name": source.name, **_fields(count)} for source, count in found],
        "skipped": skipped,
    }


def _fields(count: Count) -> dict[str, object]:
    return {"tokens": int(count), "basis": count.basis, "low": count.low, "high": count.high, "note": count.note}
