"""``brim fit``: make a history fit into a target."""

from __future__ import annotations

import os

from brim.cli.messages import (
    Document,
    add_file,
    add_provider,
    read_document,
    read_text,
    read_tools,
    say_object,
    say_text,
)
from brim.cli.output import note, tell
from brim.cli.receipt import as_object, as_table
from brim.cli.saving import save
from brim.cli.settings import add_json, add_model, settings, whole_number
from brim.errors import InputError
from brim.models.light import lookup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

    from brim.config import Config
    from brim.history import Pruned, Pruner
    from brim.tokens.count import Count
    from brim.tokens.counters import TokenCounter

STRATEGIES = {
    "fifo": (),
    "sliding": ("turns",),
    "summarize": ("min_turns",),
    "watermark": ("high", "low", "min_turns", "decisions"),
    "cap": ("cap",),
}
"""Each strategy, and the options that belong to it alone."""

HELP = """\
Make a history fit into a target of tokens, and keep it valid for its provider. FILE holds messages in JSON, or a whole
request body: then its system text and tools count too, for the model it names unless --model does. The fitted JSON goes
to standard output, in the form it came in; what was dropped and why goes to standard error. Ends with 1 if it does not
fit: then the smallest that it can be is printed.

Strategies:
  fifo       the oldest leave first
  sliding    only the newest --turns stay, as far as they fit
  summarize  the oldest are replaced by a summary
  watermark  cuts only over the --high mark, then down to the --low mark, so that the provider's cache lasts
  cap        long results of tools are cut to --cap tokens, oldest first, until it fits; then the oldest leave

Examples:
  brim fit chat.json --model gpt-4o --target 8000 > fitted.json
  brim fit request.json --model claude-sonnet-4-5 --strategy watermark --low auto --decisions chat.decisions
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    add_file(parser, "messages in JSON, or a request body")
    add_model(parser, "the model of the request body, or the setting 'model'")
    parser.add_argument("--target", type=whole_number(0), metavar="N", help="tokens (default: what the window leaves)")
    parser.add_argument("--strategy", choices=list(STRATEGIES), default="fifo", help="how (default: fifo)")
    parser.add_argument("--turns", type=whole_number(1), metavar="N", help="sliding: turns to keep (default: 10)")
    parser.add_argument(
        "--high", type=float, metavar="X", help="watermark: cut above this share of the target (default: 1.0)"
    )
    parser.add_argument("--low", type=_share, metavar="X|auto", help="watermark: cut down to this share (default: 0.6)")
    parser.add_argument("--decisions", metavar="FILE", help="watermark: what was decided so far, read and written")
    text = "summarize, watermark: newest turns to keep (default: 3)"
    parser.add_argument("--min-turns", type=whole_number(0), metavar="N", help=text)
    parser.add_argument("--cap", type=whole_number(1), metavar="N", help="cap: tokens of a result (default: 2000)")
    parser.add_argument("--fill", action="store_true", help="add older messages where there is room")
    text = "keep a message: its place from 0 on, its id, or the id of a call in it; may be given several times"
    parser.add_argument("--pin", action="append", default=[], metavar="N|ID", help=text)
    parser.add_argument("--tools", metavar="FILE", help="tool schemas in JSON that count too: a list")
    add_provider(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    """Fit, print, and return the exit code."""
    _refuse_what_is_not_used(options)
    document = read_document(options.file)
    if document.lines is not None:
        raise InputError(f"{document.name}: a transcript can only be checked: brim check {document.name}")
    config = settings(model=options.model)
    name = options.model or document.model or config["model"]
    if not name:
        raise InputError("which model? use --model, for example --model gpt-4o")
    target, target_from = (options.target, "--target") if options.target is not None else _room(name, config)
    pruned = _pruned(options, document, name, _counter(name, config["mode"]), target)
    decisions = pruned.decisions.to_json() if pruned.decisions is not None else None
    if options.as_json:
        _say_json(pruned, decisions)
    else:
        say_text(document.with_messages(pruned.messages))
        _show(pruned, name, target_from)
    if document.looks_otherwise(options.provider):
        note(document.looks_otherwise(options.provider))
    if options.decisions is not None and decisions is not None:
        save(options.decisions, f"{decisions}\n")
    return 0 if pruned.fits else 1


def _pruned(options: Namespace, document: Document, name: str, counter: TokenCounter, target: int) -> Pruned:
    tools = _tools(options, document)
    beside = _beside(document, tools, counter)
    provider, _ = document.provider(options.provider, name)
    pruned = _pruner(options).prune(
        document.messages,
        max(0, target - int(beside)),
        model=name,
        tools=tools,
        provider=provider,
        counter=counter,
        fill=options.fill,
        pin=_pins(options.pin, document, provider) or None,
    )
    return _with_beside(pruned, beside, target)


def _refuse_what_is_not_used(options: Namespace) -> None:
    own = STRATEGIES[options.strategy]
    for option in dict.fromkeys(option for several in STRATEGIES.values() for option in several):
        if getattr(options, option) is not None and option not in own:
            homes = " or ".join(strategy for strategy, options in STRATEGIES.items() if option in options)
            raise InputError(f"--{option.replace('_', '-')} belongs to --strategy {homes}, not to {options.strategy}")


def _pruner(options: Namespace) -> Pruner:
    decisions = None if options.decisions is None else _decisions(options.decisions)
    try:
        return _made(options, decisions)
    except InputError as error:
        raise InputError(f"--strategy {options.strategy}: {error}") from None


def _made(options: Namespace, decisions: Any) -> Pruner:
    from brim import history

    given = {
        option: getattr(options, option)
        for option in STRATEGIES[options.strategy]
        if getattr(options, option) is not None
    }
    if options.strategy == "watermark":
        return history.WatermarkPruner(**{**given, "decisions": decisions})
    if options.strategy == "cap":
        return history.ToolResultCap(**({"limit": given["cap"]} if given else {}))
    kinds = {"fifo": history.FifoPruner, "sliding": history.SlidingWindowPruner, "summarize": history.SummarizePruner}
    pruner: Pruner = kinds[options.strategy](**given)
    return pruner


def _decisions(path: str) -> Any:
    """Return the decisions in *path*; None if there is no such file yet."""
    from brim.history import Decisions

    if not os.path.exists(path):
        return None
    try:
        text = read_text(path)
        return Decisions.from_json(text) if text.strip() else None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _counter(name: str, mode: Any) -> TokenCounter:
    from brim.tokens.counters import counter_for

    return counter_for(name, mode=mode)


def _room(name: str, config: Config) -> tuple[int, str]:
    """Return what a request to the model *name* may take, and where that comes from."""
    from brim.window.budget import Reserves

    model, reserves = lookup(name), Reserves(**config.section("window"))
    window = model.context_window
    reserve, safety = reserves.response(window), reserves.safety(window)
    room = max(0, window - reserve - safety)
    if model.max_input < room:
        return model.max_input, f"the most input that {name} takes"
    return room, f"{name}'s window of {window:,} less {reserve:,} for the response and {safety:,} to be safe"


def _tools(options: Namespace, document: Document) -> list[Any] | None:
    """Return the tools that count: the option's, or those of the request body."""
    from brim.tokens.messages.request import split

    own: Any = split(document.body, None).tools if document.key else None
    if options.tools is not None and own:
        raise InputError(f"{document.name}: the request has tools of its own: leave --tools out")
    return (own or None) if options.tools is None else read_tools(options.tools)


def _beside(document: Document, tools: list[Any] | None, counter: TokenCounter) -> Count:
    """Return what a request body holds besides messages and tools: the system text, the schema of the answer."""
    from brim.tokens.count import Count

    if not document.key:
        return Count(0)
    request: Any = {**document.body, document.key: []}
    whole, bare = counter.count_messages(request, tools), counter.count_messages([], tools)
    tokens = max(0, int(whole) - int(bare))
    low, high = max(0, whole.low - bare.low), max(0, whole.high - bare.high)
    return Count(tokens, whole.basis, min(low, tokens), max(high, tokens))


def _with_beside(pruned: Pruned, beside: Count, target: int) -> Pruned:
    """Return *pruned* with what stands beside the messages in its numbers."""
    if not beside:
        return pruned
    from dataclasses import replace

    receipt = pruned.receipt
    after = receipt.after + beside
    fits = int(after) <= target
    over, inside = int(after) - target, int(receipt.after)
    reason = (
        ""
        if fits
        else (
            f"what is never dropped takes {int(after):,} tokens, {over:,} too many "
            f"({beside:,} beside the messages, {inside:,} in them and the tools)"
        )
    )
    cache = receipt.cache and replace(receipt.cache, prefix_tokens=receipt.cache.prefix_tokens + int(beside))
    receipt = replace(receipt, before=receipt.before + beside, after=after, target=target, cache=cache)
    receipt = replace(receipt, fits=fits, reason=reason)
    return replace(pruned, tokens=after, fits=fits, receipt=receipt)


def _pins(given: list[str], document: Document, provider: Any) -> set[int | str]:
    """Return the places and ids in *given*; one that names nothing is a mistake."""
    from brim.history.formats import read

    ids: set[str] = set()
    if given:
        for entry in read(document.messages, provider):
            ids.update((entry.id, *(call.id for call in (*entry.calls, *entry.results))))
    found: set[int | str] = set()
    for text in given:
        if text in ids and text:
            found.add(text)
        elif text.isdecimal() and len(text) < 10 and int(text) < len(document.messages):
            found.add(int(text))
        else:
            raise InputError(f"--pin {text}: no message has that place or id; there are {len(document.messages):,}")
    return found


def _show(pruned: Pruned, name: str, target_from: str) -> None:
    receipt = pruned.receipt
    tell(f"{receipt.pruner} for {name}, by the rules of {receipt.provider}")
    tell(as_table(receipt, target_from))
    for text in (receipt.after.note, *receipt.notes):
        if text:
            note(text)
    known = lookup(name)
    if pruned.fits and receipt.after.high > known.context_window:
        note(f"at the upper end of its interval this is more than {name}'s window of {known.context_window:,}")
    if not known.resolved:
        note(f"{name} is not a model that brim knows: the counts and the window are guesses")


def _say_json(pruned: Pruned, decisions: str | None) -> None:
    import json

    say_object(
        {
            "messages": pruned.messages,
            "tokens": int(pruned.tokens),
            "fits": pruned.fits,
            "receipt": as_object(pruned.receipt),
            "decisions": None if decisions is None else json.loads(decisions),
        }
    )


def _share(text: str) -> float | str:
    return text if text == "auto" else float(text)


_share.__name__ = "share"  # argparse says: invalid share value
