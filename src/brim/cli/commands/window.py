"""``brim window``, ``models`` and ``assemble``: what a model holds, and what goes into it."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from dataclasses import asdict
from decimal import Decimal
from functools import partial
from typing import Any

from brim import history
from brim.cli.commands.history import STRATEGIES, receipt_dict
from brim.cli.options import add_json, add_model, command, complete_model, option, settings, whole_number
from brim.cli.output import (
    basis_of,
    count_fields,
    counted,
    cut,
    emit,
    heading,
    lines,
    listed,
    note,
    paint,
    say_json,
    share,
    symbols,
    table,
    terminal_width,
)
from brim.config import Config
from brim.errors import ConfigError, InputError
from brim.history import PROVIDERS
from brim.history.document import read_messages, read_tools
from brim.models.catalog import Model
from brim.models.catalog import model as model_of
from brim.models.catalog import models as models_like
from brim.models.light import lookup
from brim.models.names import provider_forms
from brim.tokens.counters import counter_for
from brim.tokens.inputs import read_text
from brim.window.assembly import Assembly, Section
from brim.window.budget import Reserves, TokenBudget, TokenBudgetCalculator
from brim.window.memory import MemoryConfig, MemoryFile, WorkingMemory

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
    option("--messages", metavar="FILE|-", help="messages in JSON: a list, or a whole request body"),
    option("--directive", default="", metavar="TEXT|@FILE", help="instruction that always goes in"),
    option("--tools", metavar="FILE", help="a JSON list of tool schemas"),
    option("--max-output", type=whole_number(0), metavar="N", help=RESERVE),
    option("--window", type=whole_number(1), metavar="N", help="tokens of the window (default: the model's)"),
    add_json,
)
def window(options: Namespace) -> int:
    """Show how a model's window is divided.

    The parts are messages, directive, tools, response and what is free for memory (text that you add to a request).
    Exits with 1 if the request doesn't fit.

    Examples:
      brim window --model gpt-4o
      brim window --model claude-sonnet-4-5 --messages chat.json --directive "Answer in German."
    """
    config = settings(model=options.model)
    name = config["model"]
    if not name:
        raise InputError("which model? use --model, for example --model gpt-4o")
    messages = read_messages(options.messages) if options.messages else []
    tools = read_tools(options.tools) if options.tools else None
    directive = read_text(options.directive[1:]) if options.directive.startswith("@") else options.directive
    budget = TokenBudgetCalculator(reserves=Reserves(**config.section("window"))).calculate(
        name, messages, directive, tools=tools, max_output=options.max_output, context_window=options.window
    )
    counts = {field: _without(count_fields(getattr(budget, field)), "tokens") for field in COUNTED}
    found = {**asdict(budget), "fits": budget.fits, "resolved": lookup(name).resolved, "counts": counts}
    return emit(found, lambda _: _window_view(budget), options.as_json, code=0 if budget.fits else 1)


def _window_view(budget: TokenBudget) -> str:
    rows = []
    for field, name, colour, nice, plain in PARTS:
        tokens = getattr(budget, field)
        if tokens or field not in ("tools_tokens", "directive_tokens"):
            about = paint(basis_of(tokens), "faint") if field in COUNTED else ""
            key = paint(symbols(nice * 2, plain * 2), colour)
            rows.append([key, name, f"{tokens:,}", share(tokens, budget.context_window), about])
    if not budget.fits:
        note("this does not fit: the messages, the directive and the response may be larger than the window")
    elif budget.is_constrained:
        note("constrained: less than 1,000 tokens are free for memory")
    if not lookup(budget.model).resolved:
        note(f"{budget.model} isn't a model brim knows: counts and window are guesses")
    head = f"{budget.model}  {budget.context_window:,} tokens"
    return lines(head, _bar(budget), table(rows, right=(2, 3), optional=(4,)))


def _bar(budget: TokenBudget) -> str:
    """Draw the window: every part that is there gets at least one column."""
    width = terminal_width()
    sizes = [(getattr(budget, field), colour, symbols(nice, plain)) for field, _, colour, nice, plain in PARTS]
    total = max(budget.context_window, sum(size for size, _, _ in sizes))
    columns = [max(1, size * width // total) if size else 0 for size, _, _ in sizes]
    columns[max(range(len(sizes)), key=lambda at: sizes[at][0])] += width - sum(columns)
    return "".join(paint(symbol * count, colour) for (_, colour, symbol), count in zip(sizes, columns, strict=True))


# Models ---------------------------------------------------------------------------------------------------------


@command(
    option("patterns", nargs="*", metavar="PATTERN", help="what to look for", completer=complete_model),
    option("--all", action="store_true", help=f"show every match, not the first {SHOWN}"),
    add_json,
)
def models(options: Namespace) -> int:
    """Search models by name, and compare their windows and prices.

    PATTERN is a part of a name, or a glob such as 'gpt-5*'; a whole name, in any spelling, finds just that model.
    Several patterns list the models that match any of them. Prices are today's, in dollars per million tokens of input,
    output, and what is read from (cached) and written to (write) the prompt cache; - means unknown. Exits with 1 if
    nothing matches.

    Examples:
      brim models sonnet
      brim models gpt-4o claude-sonnet-4-5 gemini-2.5-pro
    """
    settings()
    found = _matching(options.patterns)
    shown = found if options.all or options.as_json else found[:SHOWN]
    listing = {"models": [_model_dict(each) for each in shown], "total": len(found)}
    more = f"{len(found) - len(shown):,} more; narrow the pattern, or use --all" if len(found) > len(shown) else ""
    nothing = "" if found else f"no model matches {' '.join(options.patterns)}"
    view = "" if options.as_json or not shown else _models_view(shown)
    return emit(listing, view, options.as_json, more, nothing, code=0 if found else 1)


def _matching(patterns: list[str]) -> list[Model]:
    """Return the models that match any of *patterns*; a model's own name comes before those of resellers."""

    found: dict[str, Model] = {}
    for pattern in patterns or [""]:
        known = model_of(pattern) if pattern else None
        # A whole name has its version in it: "sonnet" is looked for, "claude-sonnet-4.5" is meant.
        is_whole = known is not None and known.resolved and any(sign.isdigit() for sign in pattern)
        several = [known] if known is not None and is_whole else models_like(pattern or None)
        several = sorted(several, key=lambda each: (sum(1 for _ in provider_forms(each.name.lower())), each.name))
        found.update((each.name, each) for each in several)
    return list(found.values())


def _models_view(found: list[Model]) -> str:
    columns: dict[str, Callable[[Model], str]] = {
        "model": lambda each: each.name,
        "window": lambda each: f"{each.context_window:,}",
        "max input": lambda each: "" if each.max_input == each.context_window else f"{each.max_input:,}",
        "output": lambda each: f"{each.max_output:,}" if each.max_output else "-",
        "tokenizer": lambda each: each.encoding or "-",
        **{f"$ {name}": partial(_rate_text, rate) for name, rate in zip(SHORT_RATES, RATES, strict=False)},
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
    return "-" if value is None else f"{value:.2f}" if value == round(value, 2) else f"{value.normalize():f}"


def _model_dict(each: Model) -> dict[str, object]:
    def rates(of: object) -> dict[str, str | None]:
        values: dict[str, Decimal | None] = {rate: getattr(of, rate) for rate in RATES}
        return {rate: None if value is None else f"{value.normalize():f}" for rate, value in values.items()}

    fields = ("name", "provider", "context_window", "max_input", "max_output", "encoding", "resolved", "source")
    found: dict[str, Any] = {**{field: getattr(each, field) for field in fields}, "price": None}
    if (price := each.price()) is not None:
        tiers = [{"above": tier.above, **rates(tier)} for tier in price.tiers]
        found["price"] = {"since": str(price.since) if price.since else None, **rates(price), "tiers": tiers}
    return found


# Working memory -------------------------------------------------------------------------------------------------


@command(
    option("--config", required=True, metavar="FILE|-", help="what to assemble, in YAML or JSON; - is standard input"),
    lambda parser: add_model(parser, "the file's, else the setting 'model', else the o200k_base encoding"),
    option("--provider", choices=["auto", *PROVIDERS], help="whose shape the messages have (default: inferred)"),
    option("--strategy", choices=list(STRATEGIES), default="fifo", help="as in brim fit (default: fifo)"),
    option("--messages", action="store_true", help="print the request in JSON, ready to send"),
    add_json,
)
def assemble(options: Namespace) -> int:
    """Put a working memory together from a configuration file.

    System prompt, procedure, knowledge, episodes, history and current message go in, in the shape that the provider
    takes, with as much history as fits. FILE is YAML or JSON; a text in it may be {file: PATH}, relative to FILE. Shows
    what each section takes, and what was dropped and why. Exits with 1 if it is over the budget or does not fit the
    window.

    Examples:
      brim assemble --config memory.yaml --model gpt-4o
      brim assemble --config memory.yaml --messages > request.json
    """
    if options.messages and options.as_json:
        raise InputError("--messages or --json, not both")
    config = settings(model=options.model)
    file = MemoryFile(options.config)
    model = options.model or file.values.get("model") or config["model"]
    found = _assembled(options, file, model, config)
    if options.messages:
        say_json(_request(found))
    elif options.as_json:
        say_json(_assembly_dict(found, file, model))
    else:
        print(_assembly_view(found, file, model))
    note(*file.notes, *found.receipt.notes, found.reason)
    if model and not lookup(model).resolved:
        limited = "" if found.context_window else ", and no window limits the request"
        note(f"{model} isn't a model brim knows: the counts are guesses{limited}")
    return 0 if found.fits and not found.over_budget else 1


def _assembled(options: Namespace, file: MemoryFile, model: str | None, config: Config) -> Assembly:
    values = {key: value for key, value in file.values.items() if key not in ("model", "memory")}
    values["provider"] = options.provider or values.get("provider") or "auto"
    file.config()  # says what is wrong under ``memory``, and where
    limits = MemoryConfig(**{**config.section("memory"), **file.values.get("memory", {})})
    memory = WorkingMemory(limits, model=model, counter=counter_for(model, mode=config["mode"]))
    try:
        return memory.assemble(**values, pruner=getattr(history, STRATEGIES[options.strategy][0])())
    except InputError as error:
        raise ConfigError(file.at(str(error))) from None


def _request(found: Assembly) -> Any:
    """Return what is sent: OpenAI's list of messages, or the fields of the request that the others take."""
    if found.provider == "anthropic":
        return {**({"system": found.system} if found.system else {}), "messages": found.messages}
    if found.provider == "gemini":
        system = {"systemInstruction": {"parts": [{"text": found.system}]}} if found.system else {}
        return {**system, "contents": found.messages}
    return found.messages


def _assembly_dict(found: Assembly, file: MemoryFile, model: str | None) -> dict[str, Any]:
    fields = ("provider", "context_window", "budget", "history_budget", "fits", "over_budget", "over_by", "reason")
    return {
        "model": model,
        **{field: getattr(found, field) for field in fields},
        **_without(count_fields(found.tokens), "note"),
        "sections": [
            {
                "name": section.name,
                **_without(count_fields(section.tokens), "note"),
                "share": section.share,
                "source": _source(section, file),
                "items": section.items,
                "dropped": [{name: getattr(gone, name) for name in DROPPED} for gone in section.dropped],
            }
            for section in found.sections
        ],
        "system": found.system,
        "messages": found.messages,
        "receipt": receipt_dict(found.receipt),
    }


def _assembly_view(found: Assembly, file: MemoryFile, model: str | None) -> str:
    limit = "" if found.context_window is None else f", window {found.context_window:,}"
    rows = [["section", "tokens", "share", "in it", "from"]]
    for section in found.sections:
        size = share(int(section.tokens), found.budget)
        rows.append([section.name, f"{section.tokens:,}", size, section.contents, cut(_source(section, file), SHOWN)])
    rows.append(["request", f"{found.tokens:,}", share(int(found.tokens), found.budget), basis_of(found.tokens), ""])
    rows.append(["budget", f"{found.budget:,}", "", "", ""])
    rows.append(["history budget", f"{found.history_budget:,}", "", "", ""])
    parts = [
        f"{model or 'no model'}  {found.provider}{limit}",
        heading(table(rows, right=(1, 2), optional=(4, 3))),
    ]
    if dropped := [row for section in found.sections for row in _dropped(section)]:
        shown, more = listed(dropped, most=30)
        rows = [["dropped", "tokens", "why"], *shown]
        parts.append(lines(f"\n{heading(table(rows, right=(1,)))}", more))
    verdict = paint("fits", "green")
    if not found.fits:
        verdict = paint("does not fit", "red")
    elif found.over_budget:
        verdict = paint(f"fits the window, but is {found.over_by:,} tokens over the budget", "yellow")
    return lines(*parts, f"\n{verdict}")


def _source(section: Section, file: MemoryFile) -> str:
    """Return where a section comes from: what its items name, else where the file sets it."""
    own = section.source if section.source not in ("text", "message", "messages") else ""
    return own or file.source(section.name)


def _dropped(section: Section) -> list[list[str]]:
    """Return a row for each item that was dropped; the messages of a history are one row for each reason."""
    reasons: dict[str, list[int]] = {}
    rows = []
    for gone in section.dropped:
        reasons.setdefault(gone.reason, []).append(gone.tokens)
        name = "procedure" if section.name == "procedure" else f"{section.name}[{gone.index}]  {cut(gone.text, SHOWN)}"
        rows.append([name, f"{gone.tokens:,}", gone.reason])
    if section.name != "history":
        return rows
    return [[f"history  {counted(len(each), 'unit')}", f"{sum(each):,}", why] for why, each in reasons.items()]
