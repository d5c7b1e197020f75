"""``brim dev window`` and ``models``: what a model holds, and what goes into it."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from dataclasses import asdict
from decimal import Decimal
from functools import partial
from typing import Any

from brim.cli.options import (
    add_json,
    add_model,
    command,
    complete_model,
    option,
    settings,
    whole_number,
)
from brim.cli.output import (
    basis_of,
    count_fields,
    emit,
    heading,
    lines,
    note,
    paint,
    share,
    symbols,
    table,
    terminal_width,
)
from brim.errors import InputError
from brim.messages.budget import Reserves, TokenBudget, TokenBudgetCalculator
from brim.messages.document import read_messages, read_tools
from brim.models.catalog import Model
from brim.models.catalog import model as model_of
from brim.models.catalog import models as models_like
from brim.models.light import lookup
from brim.models.names import provider_forms
from brim.tokens.inputs import read_text

PARTS = (
    ("messages_tokens", "messages", "cyan", "█", "m"),
    ("tools_tokens", "tools", "blue", "▇", "t"),
    ("directive_tokens", "directive", "magenta", "▓", "d"),
    ("memory_tokens", "free for memory", "green", "░", "."),
    ("response_reserve", "response reserve", "yellow", "▒", "r"),
    ("safety_buffer", "safety buffer", "red", "╱", "s"),
)
"""The parts of a window in the order they are drawn: field, name, colour, and what they are drawn
with."""
COUNTED = ("messages_tokens", "tools_tokens", "directive_tokens")
RESERVE = "tokens to reserve for the response (default: 15%% of the window, 500 to 4096)"

DROPPED = ("index", "text", "tokens", "reason")
SHOWN = 40
"""Models that are listed without ``--all``, and characters of a dropped text."""
SHORT_RATES = ("in", "out", "cached", "write")
SPARE = ("tokenizer", "$ write", "$ cached", "output", "max input")
"""Columns of models that go, in this order, where the terminal is narrow."""
RATES = ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h")


@command(
    lambda parser: add_model(parser, "the setting 'model'"),
    option(
        "--messages", metavar="FILE|-", help="messages in JSON: a list, or a whole request body"
    ),
    option("--directive", default="", metavar="TEXT|@FILE", help="instruction that always goes in"),
    option("--tools", metavar="FILE", help="a JSON list of tool schemas"),
    option("--max-output", type=whole_number(0), metavar="N", help=RESERVE),
    option(
        "--window",
        type=whole_number(1),
        metavar="N",
        help="tokens of the window (default: the model's)",
    ),
    add_json,
)
def window(options: Namespace) -> int:
    """Show how a model's window is divided.

    The parts are messages, directive, tools, response and what is free for memory (text that you
    add to a request). Exits with 1 if the request doesn't fit.

    Examples:
      brim dev window --model gpt-4o
      brim dev window --model claude-sonnet-4-5 --messages chat.json --directive "Answer in German."
    """
    config = settings(model=options.model)
    name = config["model"]
    if not name:
        raise InputError("which model? use --model, for example --model gpt-4o")
    messages = read_messages(options.messages) if options.messages else []
    tools = read_tools(options.tools) if options.tools else None
    directive = (
        read_text(options.directive[1:]) if options.directive.startswith("@") else options.directive
    )
    budget = TokenBudgetCalculator(reserves=Reserves(**config.section("window"))).calculate(
        name,
        messages,
        directive,
        tools=tools,
        max_output=options.max_output,
        context_window=options.window,
    )
    counts = {field: _without(count_fields(getattr(budget, field)), "tokens") for field in COUNTED}
    found = {
        **asdict(budget),
        "fits": budget.fits,
        "resolved": lookup(name).resolved,
        "counts": counts,
    }
    return emit(
        found, lambda _: _window_view(budget), options.as_json, code=0 if budget.fits else 1
    )


def _window_view(budget: TokenBudget) -> str:
    rows = []
    for field, name, colour, nice, plain in PARTS:
        tokens = getattr(budget, field)
        if tokens or field not in ("tools_tokens", "directive_tokens"):
            about = paint(basis_of(tokens), "faint") if field in COUNTED else ""
            key = paint(symbols(nice * 2, plain * 2), colour)
            rows.append([key, name, f"{tokens:,}", share(tokens, budget.context_window), about])
    if not budget.fits:
        note(
            "this does not fit: the messages, the directive and the response may be larger than the window"
        )
    elif budget.is_constrained:
        note("constrained: less than 1,000 tokens are free for memory")
    if not lookup(budget.model).resolved:
        note(f"{budget.model} isn't a model brim knows: counts and window are guesses")
    head = f"{budget.model}  {budget.context_window:,} tokens"
    return lines(head, _bar(budget), table(rows, right=(2, 3), optional=(4,)))


def _bar(budget: TokenBudget) -> str:
    """Draw the window: every part that is there gets at least one column."""
    width = terminal_width()
    sizes = [
        (getattr(budget, field), colour, symbols(nice, plain))
        for field, _, colour, nice, plain in PARTS
    ]
    total = max(budget.context_window, sum(size for size, _, _ in sizes))
    columns = [max(1, size * width // total) if size else 0 for size, _, _ in sizes]
    columns[max(range(len(sizes)), key=lambda at: sizes[at][0])] += width - sum(columns)
    return "".join(
        paint(symbol * count, colour)
        for (_, colour, symbol), count in zip(sizes, columns, strict=True)
    )


# Models -------------------------------------------------------------------------------------------


@command(
    option(
        "patterns", nargs="*", metavar="PATTERN", help="what to look for", completer=complete_model
    ),
    option("--all", action="store_true", help=f"show every match, not the first {SHOWN}"),
    add_json,
)
def models(options: Namespace) -> int:
    """Search models by name, and compare their windows and prices.

    PATTERN is a part of a name, or a glob such as 'gpt-5*'; a whole name, in any spelling, finds
    just that model. Several patterns list the models that match any of them. Prices are today's, in
    dollars per million tokens of input, output, and what is read from (cached) and written to
    (write) the prompt cache; - means unknown. Exits with 1 if nothing matches.

    Examples:
      brim dev models sonnet
      brim dev models gpt-4o claude-sonnet-4-5 gemini-2.5-pro
    """
    settings()
    found = _matching(options.patterns)
    shown = found if options.all or options.as_json else found[:SHOWN]
    listing = {"models": [_model_dict(each) for each in shown], "total": len(found)}
    more = (
        f"{len(found) - len(shown):,} more; narrow the pattern, or use --all"
        if len(found) > len(shown)
        else ""
    )
    nothing = "" if found else f"no model matches {' '.join(options.patterns)}"
    view = "" if options.as_json or not shown else _models_view(shown)
    return emit(listing, view, options.as_json, more, nothing, code=0 if found else 1)


def _matching(patterns: list[str]) -> list[Model]:
    """Return the models that match any of *patterns*; a model's own name comes before those of
    resellers."""

    found: dict[str, Model] = {}
    for pattern in patterns or [""]:
        known = model_of(pattern) if pattern else None
        # A whole name has its version in it: "sonnet" is looked for, "claude-sonnet-4.5" is meant.
        is_whole = known is not None and known.resolved and any(sign.isdigit() for sign in pattern)
        several = [known] if known is not None and is_whole else models_like(pattern or None)
        several = sorted(
            several, key=lambda each: (sum(1 for _ in provider_forms(each.name.lower())), each.name)
        )
        found.update((each.name, each) for each in several)
    return list(found.values())


def _models_view(found: list[Model]) -> str:
    columns: dict[str, Callable[[Model], str]] = {
        "model": lambda each: each.name,
        "window": lambda each: f"{each.context_window:,}",
        "max input": lambda each: (
            "" if each.max_input == each.context_window else f"{each.max_input:,}"
        ),
        "output": lambda each: f"{each.max_output:,}" if each.max_output else "-",
        "tokenizer": lambda each: each.encoding or "-",
        **{
            f"$ {name}": partial(_rate_text, rate)
            for name, rate in zip(SHORT_RATES, RATES, strict=False)
        },
    }
    if not any(map(columns["max input"], found)):
        del columns["max input"]
    rows = [list(columns), *([show(each) for show in columns.values()] for each in found)]
    numbers = [at for at, name in enumerate(columns) if name not in ("model", "tokenizer")]
    spare = [list(columns).index(name) for name in SPARE if name in columns]
    return heading(table(rows, right=numbers, optional=spare))


def _without(fields: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key != name}


def _rate_text(rate: str, model: Model) -> str:
    value: Decimal | None = getattr(model.price(), rate, None)
    return (
        "-"
        if value is None
        else f"{value:.2f}"
        if value == round(value, 2)
        else f"{value.normalize():f}"
    )


def _model_dict(each: Model) -> dict[str, object]:
    def rates(of: object) -> dict[str, str | None]:
        values: dict[str, Decimal | None] = {rate: getattr(of, rate) for rate in RATES}
        return {
            rate: None if value is None else f"{value.normalize():f}"
            for rate, value in values.items()
        }

    fields = (
        "name",
        "provider",
        "context_window",
        "max_input",
        "max_output",
        "encoding",
        "resolved",
        "source",
    )
    found: dict[str, Any] = {**{field: getattr(each, field) for field in fields}, "price": None}
    if (price := each.price()) is not None:
        tiers = [{"above": tier.above, **rates(tier)} for tier in price.tiers]
        found["price"] = {
            "since": str(price.since) if price.since else None,
            **rates(price),
            "tiers": tiers,
        }
    return found
