"""``brim dev fit``, ``check`` and ``repair``: histories that a provider accepts."""

from __future__ import annotations

import json
import os
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import brim.messages
from brim.cli.counts import basis_of, count_fields
from brim.cli.options import add_json, add_model, command, option, settings, whole_number
from brim.cli.output import counted, cut, dollars, emit, lines, note, say_json, say_text, tell
from brim.cli.tables import heading, listed, table
from brim.config import Config
from brim.errors import InputError
from brim.files import keep, save
from brim.messages import (
    PROVIDERS,
    CacheEffect,
    Change,
    Decisions,
    Dropped,
    Pruned,
    Pruner,
    Receipt,
    Repaired,
    Violation,
)
from brim.messages.budget import Reserves
from brim.messages.document import Document, read_document, read_tools
from brim.models.light import lookup
from brim.tokens.counters import counter_for
from brim.tokens.inputs import read_text

STRATEGIES: dict[str, tuple[str, tuple[str, ...]]] = {
    "tiered": ("TieredPruner", ()),
    "fifo": ("FifoPruner", ()),
    "sliding": ("SlidingWindowPruner", ("turns",)),
    "summarize": ("SummarizePruner", ("min_turns",)),
    "watermark": ("WatermarkPruner", ("high", "low", "min_turns", "decisions")),
    "cap": ("ToolResultCap", ("cap",)),
}
"""Each strategy, its class, and the options that belong to it alone."""
FILE = option(
    "file",
    metavar="FILE|-",
    help="messages in JSON, a request body, or a transcript; - is standard input",
)
RULES = "whose rules apply (default: auto, inferred from the messages)"
PROVIDER = option("--provider", choices=["auto", *PROVIDERS], default="auto", help=RULES)
TARGET = "most tokens of the result (default: what the window leaves room for)"
PIN = "keep a message: its position (from 0), its id, or the id of a call in it; may be repeated"
MOST_GROUPS = 12
MOST_VIOLATIONS = 10
MOST_BROKEN = 5
"""How many of each are listed."""
NO_RESULT = " has no result"
"""A broken message names the calls that were not answered; together they are one line."""


def _share_or_auto(text: str) -> float | str:
    if text == "auto":
        return text
    return float(text)


_share_or_auto.__name__ = "share"  # argparse says: invalid share value


@command(
    option(
        "file", metavar="FILE|-", help="messages in JSON, or a request body; - is standard input"
    ),
    lambda parser: add_model(parser, "the model of the request body, or the setting 'model'"),
    option("--tokens", dest="target", type=whole_number(0), metavar="N", help=TARGET),
    option(
        "--strategy",
        choices=list(STRATEGIES),
        default="tiered",
        help="what to drop (default: tiered)",
    ),
    option(
        "--turns", type=whole_number(1), metavar="N", help="sliding: turns to keep (default: 10)"
    ),
    option(
        "--high",
        type=float,
        metavar="X",
        help="watermark: cut above this share of the target (default: 1.0)",
    ),
    option(
        "--low",
        type=_share_or_auto,
        metavar="X|auto",
        help="watermark: cut down to this share (default: 0.6)",
    ),
    option(
        "--decisions",
        metavar="FILE",
        help="watermark: where earlier cuts are read and new ones written",
    ),
    option(
        "--min-turns",
        type=whole_number(0),
        metavar="N",
        help="summarize, watermark: turns to keep (default: 3)",
    ),
    option(
        "--cap",
        type=whole_number(1),
        metavar="N",
        help="cap: most tokens of a result (default: 2000)",
    ),
    option("--fill", action="store_true", help="add older messages where there is room"),
    option("--pin", action="append", default=[], metavar="N|ID", help=PIN),
    option("--tools", metavar="FILE", help="a JSON list of tool schemas, which count too"),
    PROVIDER,
    add_json,
)
def fit(options: Namespace) -> int:
    """Make a history fit a number of tokens, and keep it valid for its provider.

    FILE holds messages in JSON, or a whole request body; then brim uses its model, system text and
    tools. The fitted JSON goes to standard output, in the same form. What was dropped, and why,
    goes to standard error. If the history can't fit, brim prints the smallest valid one and exits
    with 1.

    Strategies:
      tiered     clears and shortens old tool results first, then drops the oldest messages
      fifo       drops the oldest messages
      sliding    keeps only the newest --turns, as far as they fit
      summarize  replaces the oldest messages with a summary
      watermark  cuts only above the --high mark, then down to the --low mark, so that the provider's cache lasts
      cap        cuts long tool results to --cap tokens, oldest first; then drops the oldest messages

    Examples:
      echo '[{"role": "user", "content": "Hello"}]' | brim dev fit - --model gpt-4o --tokens 100
      brim dev fit chat.json --model gpt-4o --tokens 8000 > fitted.json
      brim dev fit request.json --strategy watermark --low auto --decisions chat.decisions
    """
    pruner = _pruner(options)
    document = read_document(options.file)
    if document.lines is not None:
        raise InputError(
            f"{document.name}: a transcript can only be checked: brim dev check {document.name}"
        )
    config = settings(model=options.model)
    model = options.model or document.model or config["model"]
    if not model:
        raise InputError("which model? use --model, for example --model gpt-4o")
    target = _target(model, options, config)
    tools = None
    if options.tools is not None:
        tools = read_tools(options.tools)
    pruned = document.fit(
        pruner,
        target.tokens,
        model=model,
        counter=counter_for(model, mode=config["mode"]),
        tools=tools,
        provider=options.provider,
        pin=options.pin,
        fill=options.fill,
    )
    if options.as_json:
        say_json(_fitted_dict(pruned))
    else:
        say_text(document.with_messages(pruned.messages))
        _tell_receipt(pruned, model, target.origin)
    note(document.looks_otherwise(options.provider))
    if options.decisions is not None and pruned.decisions is not None:
        save(options.decisions, f"{pruned.decisions.to_json()}\n")
    return int(not pruned.fits)


def _pruner(options: Namespace) -> Pruner:
    """Return the strategy that *options* name; an option of another one is a mistake."""
    name, own_options = STRATEGIES[options.strategy]
    arguments: dict[str, Any] = {}
    for option_name in _strategy_options():
        value = getattr(options, option_name)
        if value is None:
            continue
        if option_name not in own_options:
            raise InputError(_wrong_strategy(option_name, options.strategy))
        arguments[option_name] = value
    if "cap" in arguments:
        arguments["limit"] = arguments.pop("cap")
    if "decisions" in arguments:
        arguments["decisions"] = _read_decisions(arguments["decisions"])
    try:
        pruner: Pruner = getattr(brim.messages, name)(**arguments)
    except InputError as error:
        raise InputError(f"--strategy {options.strategy}: {error}") from None
    return pruner


def _strategy_options() -> list[str]:
    """Return the options that belong to strategies, each once."""
    names: dict[str, None] = {}
    for _, own_options in STRATEGIES.values():
        names |= dict.fromkeys(own_options)
    return list(names)


def _wrong_strategy(option_name: str, strategy: str) -> str:
    homes = [name for name, (_, own) in STRATEGIES.items() if option_name in own]
    flag = option_name.replace("_", "-")
    return f"--{flag} belongs to --strategy {' or '.join(homes)}, not to {strategy}"


def _read_decisions(path: str) -> Decisions | None:
    """Return the earlier cuts in the file *path*; None if there are none yet."""
    if not path or not os.path.exists(path):
        return None
    try:
        text = read_text(path)
        if not text.strip():
            return None
        return Decisions.from_json(text)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


@dataclass(frozen=True)
class FitTarget:
    """How many tokens the result may take, and where that comes from."""

    tokens: int
    origin: str


def _target(name: str, options: Namespace, config: Config) -> FitTarget:
    if options.target is not None:
        return FitTarget(options.target, "--tokens")
    model = lookup(name)
    reserves = Reserves(**config.section("window"))
    room = reserves.room(name)
    if room == model.max_input:
        return FitTarget(room, f"the most input that {name} takes")
    window = model.context_window
    response = f"{reserves.response(window):,} for the response"
    safety = f"{reserves.safety(window):,} to be safe"
    return FitTarget(room, f"{name}'s window of {window:,} less {response} and {safety}")


# Receipts -----------------------------------------------------------------------------------------


def _fitted_dict(pruned: Pruned) -> dict[str, Any]:
    decisions = None
    if pruned.decisions is not None:
        decisions = json.loads(pruned.decisions.to_json())
    return {
        "messages": pruned.messages,
        "tokens": int(pruned.tokens),
        "fits": pruned.fits,
        "receipt": receipt_dict(pruned.receipt),
        "decisions": decisions,
    }


def receipt_dict(receipt: Receipt) -> dict[str, Any]:
    """Return *receipt* for JSON: its fields, each count as an object."""
    cache = None
    if receipt.cache is not None:
        cache = {**asdict(receipt.cache), "pays_after": receipt.cache.pays_after}
    return {
        **asdict(receipt),
        "before": count_fields(receipt.before),
        "after": count_fields(receipt.after),
        "over_by": receipt.over_by,
        "cache": cache,
    }


def _tell_receipt(pruned: Pruned, name: str, target_from: str) -> None:
    receipt = pruned.receipt
    tell(f"{receipt.pruner} for {name}, by the rules of {receipt.provider}")
    rows = [
        ["before", f"{receipt.before:,}", basis_of(receipt.before)],
        ["after", f"{receipt.after:,}", basis_of(receipt.after)],
        ["target", f"{receipt.target:,}", target_from],
    ]
    if not receipt.fits:
        rows.append(["too many", f"{receipt.over_by:,}", receipt.reason])
    groups = [["dropped", f"{tokens:,}", text] for tokens, text in _groups(receipt.dropped)]
    dropped, hidden = listed(groups, limit=MOST_GROUPS)
    rows += dropped
    if hidden:
        rows.append(["", "", hidden])
    if receipt.cache is not None:
        rows += _cache_rows(receipt.cache)
    tell(table(rows, right=(1,)))
    note(receipt.after.note, *receipt.notes)
    model = lookup(name)
    window = model.context_window
    if pruned.fits and receipt.after.high > window:
        note(f"at the upper end of its interval this is more than {name}'s window of {window:,}")
    if not model.resolved:
        note(f"{name} isn't a model brim knows: counts and window are guesses")


def _groups(dropped: tuple[Dropped, ...]) -> list[tuple[int, str]]:
    """Return tokens and words for what left, by kind and reason, in the order in which they first
    appear."""
    groups: dict[tuple[str, str], list[Dropped]] = {}
    for unit in dropped:
        reason = unit.reason
        _, unanswered, ending = reason.partition(NO_RESULT)
        if unanswered:
            reason = f"a call{unanswered}{ending}"
        groups.setdefault((unit.kind, reason), []).append(unit)
    return [
        (sum(unit.tokens for unit in units), f"{_units(kind, units)}: {reason}")
        for (kind, reason), units in groups.items()
    ]


def _units(kind: str, units: list[Dropped]) -> str:
    noun = f"{kind} message"
    if kind == "step":
        noun = kind
    messages = sum(len(unit.indices) for unit in units)
    text = counted(len(units), noun)
    if messages != len(units):
        text += f" of {messages:,} messages"
    return text


def _cache_rows(cache: CacheEffect) -> list[list[str]]:
    rewritten = "moved up: written to the cache once more"
    if cache.rewrite_cost is not None:
        rewritten += f", {dollars(cache.rewrite_cost)} more"
    saved = "not read in any later request"
    if cache.saving_per_turn is not None:
        saved += f", {dollars(cache.saving_per_turn)} less in each"
    if cache.pays_after:
        saved += f"; pays after {counted(cache.pays_after, 'request')}"
    prefix = "the same at the beginning: still read from the cache"
    return [
        ["cached", f"{cache.prefix_tokens:,}", prefix],
        ["rewritten", f"{cache.rewritten_tokens:,}", rewritten],
        ["saved", f"{cache.saved_tokens:,}", saved],
    ]


# Validity -----------------------------------------------------------------------------------------


@command(FILE, PROVIDER, add_json)
def check(options: Namespace) -> int:
    """Check whether a provider would accept a history.

    Every tool call needs its result, every result needs its call, and roles must be in the order
    that the provider's API takes. FILE holds messages in JSON, a whole request body, or a Claude
    Code transcript. Exits with 1 if the history isn't valid.

    Examples:
      echo '[{"role": "user", "content": "Hello"}]' | brim dev check -
      brim dev check chat.json
      brim dev check ~/.claude/projects/-home-me-shop/SESSION.jsonl
    """
    document = read_document(options.file)
    provider, found_by = document.provider(options.provider)
    violations = brim.messages.validate(document.messages, provider=provider)
    rules = f"by the rules of {provider} ({found_by})"
    view = f"{document.name}: {counted(len(document.messages), 'message')}, valid {rules}"
    if violations:
        rows = [[violation.rule, cut(violation.text, 100)] for violation in violations]
        places = heading(_places(document, ["rule", "what"], violations, rows))
        view = f"{document.name}: {counted(len(violations), 'problem')} {rules}\n{places}"
    result = {
        "valid": not violations,
        "messages": len(document.messages),
        "provider": provider,
        "found_by": found_by,
        "violations": [_placed(document, violation) for violation in violations],
        "broken_lines": document.broken,
    }
    emit(result, view, options.as_json)
    _tell_broken(document)
    note(document.looks_otherwise(options.provider))
    return int(bool(violations))


@command(
    FILE,
    option(
        "--in-place", action="store_true", help="change the file, and keep the old one as FILE.bak"
    ),
    option("--dry-run", action="store_true", help="list what would change, and write nothing"),
    option(
        "--restore-calls",
        action="store_true",
        help="add a stub call for a result without one; don't drop it",
    ),
    PROVIDER,
    add_json,
)
def repair(options: Namespace) -> int:
    """Make a broken history valid again, with as few changes as possible.

    Lists every change. The repaired JSON goes to standard output, in the same form, or with
    --in-place into the file, next to a backup. brim never writes a Claude Code transcript: use
    --dry-run to see what is wrong with one.

    Exits with 1 if the history can't be repaired or, with --dry-run, if there is something to
    change.

    Examples:
      echo '[{"role": "user", "content": "Hello"}]' | brim dev repair -
      brim dev repair chat.json > repaired.json
      brim dev repair chat.json --in-place
      brim dev repair session.jsonl --dry-run
    """
    if options.in_place and options.file == "-":
        raise InputError("--in-place needs a file: standard input cannot be written")
    if options.in_place and options.dry_run:
        raise InputError("--in-place and --dry-run: use one of them")
    document = read_document(options.file)
    if document.lines is not None and not options.dry_run:
        raise InputError(
            f"{document.name}: a transcript is only checked, never written: use --dry-run"
        )
    provider, _ = document.provider(options.provider)
    repaired = brim.messages.repair(
        document.messages, provider=provider, restore_calls=options.restore_calls
    )
    violations = brim.messages.validate(repaired.messages, provider=provider)
    backup = None
    if options.in_place and repaired.changes and not violations:
        backup = _write(document, options.file, document.with_messages(repaired.messages))
    if options.as_json:
        result = _repaired_dict(document, repaired, violations, backup)
        if not options.dry_run:
            result = {"messages": repaired.messages, **result}
        say_json(result)
    else:
        _show_repair(document, repaired, backup, options)
        _tell_violations(document, violations, options)
    _tell_broken(document)
    return int(bool(violations or (options.dry_run and repaired.changes)))


def _repaired_dict(
    document: Document, repaired: Repaired, violations: Sequence[Violation], backup: str | None
) -> dict[str, Any]:
    return {
        "valid": not violations,
        "changed": bool(repaired.changes),
        "changes": [_placed(document, change) for change in repaired.changes],
        "violations": [_placed(document, violation) for violation in violations],
        "backup": backup,
        "broken_lines": document.broken,
    }


def _tell_violations(
    document: Document, violations: Sequence[Violation], options: Namespace
) -> None:
    for violation in violations[:MOST_VIOLATIONS]:
        where = f"message {violation.index:,} cannot be repaired"
        note(f"{where}: {violation.text} ({violation.rule})")
    if violations and options.in_place:
        note(f"{document.name}: not written")


def _write(document: Document, path: str, text: str) -> str:
    """Write the file after keeping the old one, and return the name of the backup."""
    if not os.path.isfile(path):
        raise InputError(f"{path}: --in-place needs a file")
    if not os.access(path, os.W_OK):
        raise InputError(f"{path}: you may only read it: nothing was written")
    if read_text(path) != document.text:
        raise InputError(f"{path}: it changed during the repair, so nothing was written")
    backup = keep(path, document.text)
    try:
        save(path, f"{text}\n")
    except InputError:
        os.unlink(backup)  # the file is as it was
        raise
    return backup


def _show_repair(
    document: Document, repaired: Repaired, backup: str | None, options: Namespace
) -> None:
    """Print the JSON, unless it is in the file; the list of changes goes to standard output if that
    is free."""
    is_json = not (options.in_place or options.dry_run)
    if is_json:
        say_text(document.with_messages(repaired.messages))
    changes = repaired.changes
    summary = f"{document.name}: {_repair_summary(repaired, backup, options)}"
    if not changes:
        places = ""
    else:
        rows = [[change.action, change.rule, cut(change.text, 80)] for change in changes]
        places = _places(document, ["change", "rule", "what"], changes, rows)
    if is_json:
        tell(lines(summary, places))
    elif places:
        print(lines(summary, heading(places)))
    else:
        print(summary)


def _repair_summary(repaired: Repaired, backup: str | None, options: Namespace) -> str:
    if not repaired.changes:
        return "nothing to repair"
    summary = counted(len(repaired.changes), "change")
    if backup is not None:
        return f"{summary}; the old file is {backup}"
    if options.dry_run:
        return f"{summary} needed"
    return summary


def _placed(document: Document, finding: Violation | Change) -> dict[str, Any]:
    """Return a violation or a change as JSON: with the line, if it is a transcript's."""
    if document.lines is None:
        return asdict(finding)
    return {"line": document.place(finding.index), **asdict(finding)}


def _places(
    document: Document,
    names: list[str],
    findings: Sequence[Violation | Change],
    rows: list[list[str]],
) -> str:
    """Return a table of *findings*, each with its place and its row."""
    placed = []
    for finding, row in zip(findings, rows, strict=True):
        placed.append([f"{document.place(finding.index):,}", *row])
    first, hidden = listed(placed)
    return lines(table([[document.unit, *names], *first], right=(0,)), hidden)


def _tell_broken(document: Document) -> None:
    """Say which lines of a transcript are not JSON.

    The last may be half written, if the agent is at work.
    """
    broken = document.broken
    if not broken:
        return
    noun = "lines"
    if len(broken) == 1:
        noun = "line"
    numbers = ", ".join(f"{number:,}" for number in broken[:MOST_BROKEN])
    if len(broken) > MOST_BROKEN:
        numbers += f" and {len(broken) - MOST_BROKEN:,} more"
    note(f"{document.name}: not JSON, and left out: {noun} {numbers}")
