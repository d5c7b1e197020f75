"""``brim budget``: how is the window divided?"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Any

import click

from brim.cli.inputs import Source, chunks
from brim.cli.options import json_option, model_option, settings
from brim.cli.output import faint, note, paint, say, say_json, share, symbols, table, terminal_width
from brim.errors import InputError
from brim.models.light import lookup
from brim.tokens.count import Count
from brim.window.budget import TokenBudget, TokenBudgetCalculator

PARTS = (
    ("messages_tokens", "messages", "cyan", "█", "m"),
    ("tools_tokens", "tools", "blue", "▇", "t"),
    ("directive_tokens", "directive", "magenta", "▓", "d"),
    ("memory_tokens", "free for memory", "green", "░", "."),
    ("response_reserve", "response reserve", "yellow", "▒", "r"),
    ("safety_buffer", "safety buffer", "red", "╱", "s"),
)
"""The parts of a window in the order they are drawn: field, name, colour, and what they are drawn with."""

COUNTED = ("messages_tokens", "tools_tokens", "directive_tokens")


@click.command("budget", short_help="Show how a model's window is divided.")
@model_option
@click.option("--messages", "messages_file", metavar="FILE|-", help="Messages in JSON: a list, or a request body.")
@click.option("--directive", default="", metavar="TEXT|@FILE", help="Text that always goes in whole.")
@click.option("--tools", "tools_file", metavar="FILE", help="Tool schemas in JSON: a list.")
@click.option("--max-output", type=click.IntRange(min=0), metavar="N", help="Response to reserve, not the 15 %.")
@click.option("--window", type=click.IntRange(min=1), metavar="N", help="Window to divide, not the table's.")
@json_option
def command(
    *,
    model: str | None,
    messages_file: str | None,
    directive: str,
    tools_file: str | None,
    max_output: int | None,
    window: int | None,
    as_json: bool,
) -> None:
    """Show how a model's window is divided between messages, directive, response and what is free for memory.

    \b
    Examples:
      brim budget --model gpt-4o
      brim budget --model claude-sonnet-4-5 --messages chat.json --directive "Answer in German."
    """
    config = settings(model=model)
    name = config["model"]
    if not name:
        raise click.UsageError("Which model? Use --model, for example --model gpt-4o.")
    messages = _messages(messages_file) if messages_file else []
    tools = _json(tools_file) if tools_file else None
    if tools is not None and not isinstance(tools, list):
        raise InputError(f"{tools_file}: tools must be a list of schemas, not {_kind(tools)}")
    text = _read(directive[1:]) if directive.startswith("@") else directive
    calculator = TokenBudgetCalculator()
    budget = calculator.calculate(name, messages, text, tools=tools, max_output=max_output, context_window=window)
    if as_json:
        say_json({**asdict(budget), "fits": budget.fits, "resolved": lookup(name).resolved, "counts": _counts(budget)})
    else:
        _show(budget)
    if not budget.fits:
        sys.exit(1)


def _messages(path: str) -> Any:
    value = _json(path)
    if isinstance(value, dict) and any(key in value for key in ("messages", "input", "contents")):
        return value
    if not isinstance(value, list):
        raise InputError(f"{path}: messages must be a list of messages or a request body, not {_kind(value)}")
    return value


def _json(path: str) -> Any:
    try:
        return json.loads(_read(path))
    except json.JSONDecodeError as error:
        raise InputError(f"{path}:{error.lineno}:{error.colno}: not JSON: {error.msg}") from None
    except RecursionError:
        raise InputError(f"{path}: nested too deeply") from None


def _read(path: str) -> str:
    name = "standard input" if path == "-" else path
    return "".join(chunks(Source(name, path=path), lambda _size: None))


def _kind(value: object) -> str:
    return {dict: "an object", list: "a list", str: "a text", bool: "a yes or no", type(None): "null"}.get(
        type(value), "a number"
    )


def _counts(budget: TokenBudget) -> dict[str, object]:
    """Return what each count rests on; the counts themselves are plain numbers in JSON."""
    return {
        field: {"basis": count.basis, "low": count.low, "high": count.high, "note": count.note}
        for field in COUNTED
        for count in [getattr(budget, field)]
    }


def _show(budget: TokenBudget) -> None:
    window = budget.context_window
    say(f"{budget.model}  {window:,} tokens")
    say(_bar(budget))
    rows = []
    for field, name, colour, nice, plain in PARTS:
        tokens = getattr(budget, field)
        if tokens or field not in ("tools_tokens", "directive_tokens"):
            about = _about(tokens) if field in COUNTED else ""
            key = paint(symbols(nice * 2, plain * 2), colour)
            rows.append([key, name, f"{tokens:,}", share(tokens, window), about])
    say(table(rows, right=frozenset({2, 3})))
    if not budget.fits:
        note("this does not fit: the messages, the directive and the response may be larger than the window")
    elif budget.is_constrained:
        note("constrained: less than 1,000 tokens are free for memory")
    if not lookup(budget.model).resolved:
        note(f"{budget.model} is not a model that brim knows: the counts and the window are guesses")


def _about(count: Count) -> str:
    return faint(count.basis if count.low == count.high else f"{count.basis}, {count.low:,} to {count.high:,}")


def _bar(budget: TokenBudget) -> str:
    """Draw the window: every part that is there gets at least one column, and none gets more than its share else."""
    width = terminal_width()
    sizes = [(getattr(budget, field), colour, symbols(nice, plain)) for field, _, colour, nice, plain in PARTS]
    total = max(budget.context_window, sum(size for size, _, _ in sizes))
    columns = [max(1, size * width // total) if size else 0 for size, _, _ in sizes]
    columns[max(range(len(sizes)), key=lambda at: sizes[at][0])] += width - sum(columns)
    return "".join(paint(symbol * count, colour) for (_, colour, symbol), count in zip(sizes, columns, strict=True))
