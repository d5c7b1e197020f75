"""``brim budget``: how is the window divided?"""

from __future__ import annotations

from dataclasses import asdict

from brim.cli.messages import read_messages, read_text, read_tools
from brim.cli.output import note, paint, say, say_json, share, symbols, table, terminal_width
from brim.cli.settings import add_json, add_model, settings, whole_number
from brim.errors import InputError
from brim.models.light import lookup
from brim.tokens.count import Count
from brim.window.budget import Reserves, TokenBudget, TokenBudgetCalculator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

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


HELP = """\
Show how a model's window is divided between messages, directive, tools, response and what is free for memory. Ends with
1 if the request does not fit.

Examples:
  brim budget --model gpt-4o
  brim budget --model claude-sonnet-4-5 --messages chat.json --directive "Answer in German."
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    add_model(parser)
    parser.add_argument("--messages", metavar="FILE|-", help="messages in JSON: a list, or a whole request body")
    parser.add_argument("--directive", default="", metavar="TEXT|@FILE", help="text that always goes in whole")
    parser.add_argument("--tools", metavar="FILE", help="tool schemas in JSON: a list")
    parser.add_argument("--max-output", type=whole_number(0), metavar="N", help="response to reserve, not the 15 %%")
    parser.add_argument("--window", type=whole_number(1), metavar="N", help="window to divide, not the table's")
    add_json(parser)


def run(options: Namespace) -> int:
    """Divide the window, print it, and return the exit code."""
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
    if options.as_json:
        facts = {"fits": budget.fits, "resolved": lookup(name).resolved, "counts": _counts(budget)}
        say_json({**asdict(budget), **facts})
    else:
        _show(budget)
    return 0 if budget.fits else 1


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
    text = count.basis if count.low == count.high else f"{count.basis}, {count.low:,} to {count.high:,}"
    return paint(text, "faint")


def _bar(budget: TokenBudget) -> str:
    """Draw the window: every part that is there gets at least one column, and none gets more than its share else."""
    width = terminal_width()
    sizes = [(getattr(budget, field), colour, symbols(nice, plain)) for field, _, colour, nice, plain in PARTS]
    total = max(budget.context_window, sum(size for size, _, _ in sizes))
    columns = [max(1, size * width // total) if size else 0 for size, _, _ in sizes]
    columns[max(range(len(sizes)), key=lambda at: sizes[at][0])] += width - sum(columns)
    return "".join(paint(symbol * count, colour) for (_, colour, symbol), count in zip(sizes, columns, strict=True))
