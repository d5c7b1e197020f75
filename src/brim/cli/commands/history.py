"""``brim dev fit``, ``check`` and ``repair``: histories that a provider accepts."""

from __future__ import annotations

import json
import os
from argparse import Namespace
from dataclasses import asdict
from typing import Any

import brim.messages
from brim.cli.options import add_json, add_model, command, option, settings, whole_number
from brim.cli.output import (
    basis_of,
    count_fields,
    counted,
    cut,
    dollars,
    emit,
    heading,
    lines,
    listed,
    note,
    say_json,
    say_text,
    table,
    tell,
)
from brim.config import Config
from brim.errors import InputError
from brim.files import keep, save
from brim.messages import (
    PROVIDERS,
    CacheEffect,
    Change,
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
NO_RESULT = " has no result"
"""A broken message names the calls that were not answered; together they are one line."""


def _share_or_auto(text: str) -> float | str:
    return text if text == "auto" else float(text)


_share_or_auto.__name__ = "share"  # argparse says: invalid share value


@command(
    option(
        "file", metavar="FILE|-", help="messages in JSON, or a request body; - is standard input"
    ),
    lambda parser: add_model(parser, "the model of the request body, or the setting 'model'"),
    option("--tokens", dest="target", type=whole_number(0), metavar="N", help=TARGET),
    option(
        "--strategy", choices=list(STRATEGIES), default="fifo", help="what to drop (default: fifo)"
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
      fifo       drops the oldest messages
      sliding    keeps only the newest --turns, as far as they fit
      summarize  replaces the oldest messages with a summary
      watermark  cuts only above the --high mark, then down to the --low mark, so that the provider's cache lasts
      cap        cuts long tool results to --cap tokens, oldest first; then drops the oldest messages

    Examples:
      echo '[{"role": "user", "content": "Hello"}]' | brim dev fit - --model gpt-4o --tokens 100
      brim dev fit chat.json --model gpt-4o --tokens 8000 > fitted.json brim dev fit request.json
      --model claude-sonnet-4-5 --strategy watermark --low auto --decisions chat.decisions
    """
    pruner = _pruner(options)
    document = read_document(options.file)
    if document.lines is not None:
        raise InputError(
            f"{document.name}: a transcript can only be checked: brim dev check {document.name}"
        )
    config = settings(model=options.model)
    name = options.model or document.model or config["model"]
    if not name:
        raise InputError("which model? use --model, for example --model gpt-4o")
    target, target_from = options.target, "--tokens"
    if target is None:
        target, target_from = _room(name, config)
    pruned = document.fit(
        pruner,
        target,
        model=name,
        counter=counter_for(name, mode=config["mode"]),
        tools=None if options.tools is None else read_tools(options.tools),
        provider=options.provider,
        pin=options.pin,
        fill=options.fill,
    )
    decisions = pruned.decisions.to_json() if pruned.decisions is not None else None
    if options.as_json:
        found = {"messages": pruned.messages, "tokens": int(pruned.tokens), "fits": pruned.fits}
        say_json(
            {
                **found,
                "receipt": receipt_dict(pruned.receipt),
                "decisions": json.loads(decisions or "null"),
            }
        )
    else:
        say_text(document.with_messages(pruned.messages))
        _tell_receipt(pruned, name, target_from)
    note(document.looks_otherwise(options.provider))
    if options.decisions is not None and decisions is not None:
        save(options.decisions, f"{decisions}\n")
    return 0 if pruned.fits else 1


def _pruner(options: Namespace) -> Pruner:
    """Return the strategy that *options* name; an option of another one is a mistake."""
    kind, own = STRATEGIES[options.strategy]
    every = dict.fromkeys(each for _, several in STRATEGIES.values() for each in several)
    given = {name: value for name in every if (value := getattr(options, name)) is not None}
    for name in given:
        if name not in own:
            homes = " or ".join(
                strategy for strategy, (_, names) in STRATEGIES.items() if name in names
            )
            raise InputError(
                f"--{name.replace('_', '-')} belongs to --strategy {homes}, not to {options.strategy}"
            )
    if "cap" in given:
        given["limit"] = given.pop("cap")
    if path := given.pop("decisions", ""):
        try:
            text = read_text(path) if os.path.exists(path) else ""
            given["decisions"] = brim.messages.Decisions.from_json(text) if text.strip() else None
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
    try:
        pruner: Pruner = getattr(brim.messages, kind)(**given)
    except InputError as error:
        raise InputError(f"--strategy {options.strategy}: {error}") from None
    return pruner


def _room(name: str, config: Config) -> tuple[int, str]:
    """Return what a request to the model *name* may take, and where that comes from."""
    model, reserves = lookup(name), Reserves(**config.section("window"))
    window = model.context_window
    reserve, safety, room = reserves.response(window), reserves.safety(window), reserves.room(name)
    if room == model.max_input:
        return room, f"the most input that {name} takes"
    return (
        room,
        f"{name}'s window of {window:,} less {reserve:,} for the response and {safety:,} to be safe",
    )


# Receipts -----------------------------------------------------------------------------------------


def receipt_dict(receipt: Receipt) -> dict[str, Any]:
    """Return *receipt* for JSON: its fields, each count as an object."""
    cache = receipt.cache
    return {
        **asdict(receipt),
        "before": count_fields(receipt.before),
        "after": count_fields(receipt.after),
        "over_by": receipt.over_by,
        "cache": None if cache is None else {**asdict(cache), "pays_after": cache.pays_after},
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
    dropped, more = listed(
        [["dropped", f"{tokens:,}", what] for tokens, what in _groups(receipt.dropped)], most=12
    )
    rows += [*dropped, ["", "", more]] if more else dropped
    if receipt.cache is not None:
        rows += _cache_rows(receipt.cache)
    tell(table(rows, right=(1,)))
    note(receipt.after.note, *receipt.notes)
    known = lookup(name)
    if pruned.fits and receipt.after.high > known.context_window:
        note(
            f"at the upper end of its interval this is more than {name}'s window of {known.context_window:,}"
        )
    if not known.resolved:
        note(f"{name} isn't a model brim knows: counts and window are guesses")


def _groups(dropped: tuple[Dropped, ...]) -> list[tuple[int, str]]:
    """Return tokens and words for what left, by kind and reason, in the order in which they first
    appear."""
    groups: dict[tuple[str, str], list[Dropped]] = {}
    for unit in dropped:
        _, unanswered, rest = unit.reason.partition(NO_RESULT)
        groups.setdefault(
            (unit.kind, f"a call{unanswered}{rest}" if unanswered else unit.reason), []
        ).append(unit)
    found = []
    for (kind, reason), units in groups.items():
        messages = sum(len(unit.indices) for unit in units)
        many = "" if messages == len(units) else f" of {messages:,} messages"
        what = counted(len(units), kind if kind == "step" else f"{kind} message")
        found.append((sum(unit.tokens for unit in units), f"{what}{many}: {reason}"))
    return found


def _cache_rows(cache: CacheEffect) -> list[list[str]]:
    rewrite, saving = cache.rewrite_cost, cache.saving_per_turn
    again = "moved up: written to the cache once more" + (
        "" if rewrite is None else f", {dollars(rewrite)} more"
    )
    saved = "not read in any later request" + (
        "" if saving is None else f", {dollars(saving)} less in each"
    )
    if cache.pays_after:
        saved += f"; pays after {counted(cache.pays_after, 'request')}"
    return [
        [
            "cached",
            f"{cache.prefix_tokens:,}",
            "the same at the beginning: still read from the cache",
        ],
        ["rewritten", f"{cache.rewritten_tokens:,}", again],
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

    by = f"by the rules of {provider} ({found_by})"
    view = f"{document.name}: {counted(len(document.messages), 'message')}, valid {by}"
    if violations:
        rows = [[each.rule, cut(each.text, 100)] for each in violations]
        shown = heading(_places(document, ["rule", "what"], violations, rows))
        view = f"{document.name}: {counted(len(violations), 'problem')} {by}\n{shown}"
    found = {
        "valid": not violations,
        "messages": len(document.messages),
        "provider": provider,
        "found_by": found_by,
        "violations": [_placed(document, each) for each in violations],
        "broken_lines": document.broken,
    }
    emit(found, view, options.as_json)
    _tell_broken(document)
    note(document.looks_otherwise(options.provider))
    return 1 if violations else 0


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
    left = brim.messages.validate(repaired.messages, provider=provider)
    backup = None
    if options.in_place and repaired.changes and not left:
        backup = _write(document, options.file, document.with_messages(repaired.messages))
    if options.as_json:
        found = {
            "valid": not left,
            "changed": bool(repaired.changes),
            "changes": [_placed(document, each) for each in repaired.changes],
            "violations": [_placed(document, each) for each in left],
            "backup": backup,
            "broken_lines": document.broken,
        }
        say_json(found if options.dry_run else {"messages": repaired.messages, **found})
    else:
        _show_repair(document, repaired, backup, options)
        for each in left[:10]:
            note(f"message {each.index:,} cannot be repaired: {each.text} ({each.rule})")
        if left and options.in_place:
            note(f"{document.name}: not written")
    _tell_broken(document)
    return 1 if left or (options.dry_run and repaired.changes) else 0


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
    summary = counted(len(changes), "change") if changes else "nothing to repair"
    if backup is not None:
        summary += f"; the old file is {backup}"
    elif options.dry_run and changes:
        summary += " needed"
    rows = [[each.action, each.rule, cut(each.text, 80)] for each in changes]
    shown = _places(document, ["change", "rule", "what"], changes, rows) if changes else ""
    if is_json:
        tell(lines(f"{document.name}: {summary}", shown))
    else:
        print(lines(f"{document.name}: {summary}", heading(shown) if changes else ""))


def _placed(document: Document, found: Violation | Change) -> dict[str, Any]:
    """Return a violation or a change as JSON: with the line, if it is a transcript's."""
    return (
        asdict(found)
        if document.lines is None
        else {"line": document.place(found.index), **asdict(found)}
    )


def _places(document: Document, names: list[str], found: Any, rows: list[list[str]]) -> str:
    """Return a table of what was *found* where."""
    shown, more = listed(
        [[f"{document.place(each.index):,}", *row] for each, row in zip(found, rows, strict=True)]
    )
    return lines(table([[document.unit, *names], *shown], right=(0,)), more)


def _tell_broken(document: Document) -> None:
    """Say which lines of a transcript are not JSON: the last may be half written, if the agent is
    at work."""
    if broken := document.broken:
        where = ", ".join(f"{number:,}" for number in broken[:5])
        more = f" and {len(broken) - 5:,} more" if len(broken) > 5 else ""
        note(
            f"{document.name}: not JSON, and left out: line{'' if len(broken) == 1 else 's'} {where}{more}"
        )
