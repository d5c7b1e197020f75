"""``brim dev window`` and ``models``: what a model holds, and what goes into it."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from functools import partial
from typing import Any

from brim.cli.counts import basis_of, count_fields
from brim.cli.options import (
    add_json,
    add_model,
    command,
    complete_model,
    option,
    settings,
    whole_number,
)
from brim.cli.output import emit, lines, note, paint, share, symbols, terminal_width
from brim.cli.tables import heading, table
from brim.errors import InputError
from brim.messages.budget import Reserves, TokenBudget, TokenBudgetCalculator
from brim.messages.document import read_messages, read_tools
from brim.models.catalog import Model
from brim.models.catalog import model as model_of
from brim.models.catalog import models as models_like
from brim.models.light import lookup
from brim.models.names import provider_forms
from brim.tokens.inputs import read_text


@dataclass(frozen=True)
class DrawnPart:
    """One part of a window, and how it's drawn."""

    field: str
    name: str
    colour: str
    nice: str
    plain: str

    @property
    def symbol(self) -> str:
        """The character that it's drawn with."""
        return symbols(self.nice, self.plain)


PARTS = (
    DrawnPart("messages_tokens", "messages", "cyan", "█", "m"),
    DrawnPart("tools_tokens", "tools", "blue", "▇", "t"),
    DrawnPart("directive_tokens", "directive", "magenta", "▓", "d"),
    DrawnPart("memory_tokens", "free for memory", "green", "░", "."),
    DrawnPart("response_reserve", "response reserve", "yellow", "▒", "r"),
    DrawnPart("safety_buffer", "safety buffer", "red", "╱", "s"),
)
"""The parts of a window in the order they are drawn."""
COUNTED = ("messages_tokens", "tools_tokens", "directive_tokens")
RESERVE = "tokens to reserve for the response (default: 15%% of the window, 500 to 4096)"

SHOWN = 40
"""Models that are listed without ``--all``."""
SHORT_RATES = {
    "in": "input",
    "out": "output",
    "cached": "cache_read",
    "write": "cache_write_5m",
}
"""The columns of prices."""
SPARE = ("tokenizer", "$ write", "$ cached", "output", "max input")
"""Columns of models that go, in this order, where the terminal is narrow."""
MODEL_FIELDS = (
    "name",
    "provider",
    "context_window",
    "max_input",
    "max_output",
    "encoding",
    "resolved",
    "source",
)
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
    messages = []
    if options.messages:
        messages = read_messages(options.messages)
    tools = None
    if options.tools:
        tools = read_tools(options.tools)
    directive = options.directive
    if directive.startswith("@"):
        directive = read_text(directive[1:])
    calculator = TokenBudgetCalculator(reserves=Reserves(**config.section("window")))
    budget = calculator.calculate(
        name,
        messages,
        directive,
        tools=tools,
        max_output=options.max_output,
        context_window=options.window,
    )
    view = partial(_window_view, budget)
    return emit(_budget_dict(budget), view, options.as_json, code=int(not budget.fits))


def _budget_dict(budget: TokenBudget) -> dict[str, Any]:
    counts = {}
    for field in COUNTED:
        fields = count_fields(getattr(budget, field))
        del fields["tokens"]
        counts[field] = fields
    return {
        **asdict(budget),
        "fits": budget.fits,
        "resolved": lookup(budget.model).resolved,
        "counts": counts,
    }


def _window_view(budget: TokenBudget, _: object) -> str:
    rows = []
    for part in PARTS:
        tokens = getattr(budget, part.field)
        if not tokens and part.field in ("tools_tokens", "directive_tokens"):
            continue
        basis = ""
        if part.field in COUNTED:
            basis = paint(basis_of(tokens), "faint")
        key = paint(part.symbol * 2, part.colour)
        of_window = share(tokens, budget.context_window)
        rows.append([key, part.name, f"{tokens:,}", of_window, basis])
    if not budget.fits:
        note(
            "this does not fit: the messages, the directive and the response may be larger"
            " than the window"
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
    sizes = [getattr(budget, part.field) for part in PARTS]
    total = max(budget.context_window, sum(sizes))
    columns = []
    for size in sizes:
        column = 0
        if size:
            column = max(1, size * width // total)
        columns.append(column)
    columns[sizes.index(max(sizes))] += width - sum(columns)
    cells = [
        paint(part.symbol * count, part.colour) for part, count in zip(PARTS, columns, strict=True)
    ]
    return "".join(cells)


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
    matching = _matching(options.patterns)
    if not matching:
        reason = f"no model matches {' '.join(options.patterns)}"
        return emit({"models": [], "total": 0}, "", options.as_json, "", reason, code=1)
    first = matching
    if not options.all and not options.as_json:
        first = matching[:SHOWN]
    result = {"models": [_model_dict(model) for model in first], "total": len(matching)}
    hint = ""
    hidden = len(matching) - len(first)
    if hidden:
        hint = f"{hidden:,} more; narrow the pattern, or use --all"
    return emit(result, lambda _: _models_view(first), options.as_json, hint)


def _matching(patterns: list[str]) -> list[Model]:
    """Return the models that match any of *patterns*.

    A model's own name comes before those of resellers.
    """
    matching: dict[str, Model] = {}
    for pattern in patterns or [""]:
        models = sorted(_models_like(pattern), key=_order)
        matching.update((model.name, model) for model in models)
    return list(matching.values())


def _models_like(pattern: str) -> Sequence[Model]:
    if not pattern:
        return models_like(None)
    model = model_of(pattern)
    # A whole name has its version in it: "sonnet" is looked for, "claude-sonnet-4.5" is meant.
    if model.resolved and any(sign.isdigit() for sign in pattern):
        return [model]
    return models_like(pattern)


def _order(model: Model) -> tuple[int, str]:
    return len(list(provider_forms(model.name.lower()))), model.name


def _models_view(models: Sequence[Model]) -> str:
    columns: dict[str, Callable[[Model], str]] = {
        "model": lambda model: model.name,
        "window": lambda model: f"{model.context_window:,}",
        "max input": _max_input,
        "output": _output,
        "tokenizer": lambda model: model.encoding or "-",
    }
    for name, rate in SHORT_RATES.items():
        columns[f"$ {name}"] = partial(_rate_text, rate)
    if not any(map(_max_input, models)):
        del columns["max input"]
    rows = [list(columns)]
    for model in models:
        rows.append([cell(model) for cell in columns.values()])
    names = list(columns)
    numbers = [at for at, name in enumerate(names) if name not in ("model", "tokenizer")]
    spare = [names.index(name) for name in SPARE if name in names]
    return heading(table(rows, right=numbers, optional=spare))


def _max_input(model: Model) -> str:
    """Return the most input of *model*, if it is less than its window."""
    if model.max_input == model.context_window:
        return ""
    return f"{model.max_input:,}"


def _output(model: Model) -> str:
    if not model.max_output:
        return "-"
    return f"{model.max_output:,}"


def _rate_text(rate: str, model: Model) -> str:
    value: Decimal | None = getattr(model.price(), rate, None)
    if value is None:
        return "-"
    if value == round(value, 2):
        return f"{value:.2f}"
    return f"{value.normalize():f}"


def _model_dict(model: Model) -> dict[str, object]:
    fields: dict[str, Any] = {field: getattr(model, field) for field in MODEL_FIELDS}
    price = model.price()
    if price is None:
        return {**fields, "price": None}
    since = None
    if price.since:
        since = str(price.since)
    tiers = [{"above": tier.above, **_rates(tier)} for tier in price.tiers]
    return {**fields, "price": {"since": since, **_rates(price), "tiers": tiers}}


def _rates(price: object) -> dict[str, str | None]:
    rates: dict[str, str | None] = {}
    for rate in RATES:
        value: Decimal | None = getattr(price, rate)
        rates[rate] = None
        if value is not None:
            rates[rate] = f"{value.normalize():f}"
    return rates
