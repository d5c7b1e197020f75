"""``brim models``: search and compare."""

from __future__ import annotations

from brim.cli.output import heading, note, say, say_json, table
from brim.cli.settings import add_json, complete_model, settings
from brim.models.catalog import model, models
from brim.models.names import provider_forms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from decimal import Decimal
    from typing import Any

    from brim.models.catalog import Model, Price

SHOWN = 40
"""Rows that fit a look; ``--all`` shows the rest."""

RATES = ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h")


HELP = """\
Search models by name, and compare what they hold and charge.

PATTERN is a part of a name, or a glob such as 'gpt-5*'; a whole name in any spelling finds just that model. Several
patterns stand side by side. Prices are in dollars per million tokens, as of today; - is unknown. Ends with 1 if
nothing matches.

Examples:
  brim models sonnet
  brim models gpt-4o claude-sonnet-4-5 gemini-2.5-pro
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    patterns: Any = parser.add_argument("patterns", nargs="*", metavar="PATTERN", help="what to look for")
    patterns.completer = complete_model
    parser.add_argument("--all", action="store_true", help=f"show every match, not the first {SHOWN}")
    add_json(parser)


def run(options: Namespace) -> int:
    """Search, print, and return the exit code."""
    settings()
    found = _matches(options.patterns)
    shown = found if options.all or options.as_json else found[:SHOWN]
    if options.as_json:
        say_json({"models": [_as_json(each) for each in shown], "total": len(found)})
    elif found:
        _show(shown)
        if len(found) > len(shown):
            note(f"{len(found) - len(shown):,} more; narrow the pattern, or use --all")
    if not found:
        note(f"no model matches {' '.join(options.patterns)}")
        return 1
    return 0


def _matches(patterns: list[str]) -> list[Model]:
    if not patterns:
        return _own_names_first(models(None))
    found: dict[str, Model] = {}
    for pattern in patterns:
        known = model(pattern)
        # A whole name has its version in it: "sonnet" is looked for, "claude-sonnet-4.5" is meant.
        is_whole = known.resolved and any(character.isdigit() for character in pattern)
        several = [known] if is_whole else models(pattern)
        found.update((each.name, each) for each in _own_names_first(several))
    return list(found.values())


def _own_names_first(found: list[Model]) -> list[Model]:
    """Sort by how much stands before the model's own name: nobody looks for a reseller's region first."""
    return sorted(found, key=lambda each: (sum(1 for _ in provider_forms(each.name.lower())), each.name))


def _show(found: list[Model]) -> None:
    rows = [["model", "window", "max input", "output", "tokenizer", "$ in", "$ out", "$ cached", "$ write"]]
    for each in found:
        price = each.price()
        rows.append(
            [
                each.name,
                f"{each.context_window:,}",
                "" if each.max_input == each.context_window else f"{each.max_input:,}",
                f"{each.max_output:,}" if each.max_output else "-",
                each.encoding or "-",
                *(_dollars(price, rate) for rate in RATES[:4]),
            ]
        )
    right = {1, 2, 3, 5, 6, 7, 8}
    if not any(row[2] for row in rows[1:]):
        rows = [row[:2] + row[3:] for row in rows]
        right = {1, 2, 4, 5, 6, 7}
    say(heading(table(rows, right=frozenset(right))))


def _rate(price: Price | None, rate: str) -> Decimal | None:
    value: Decimal | None = getattr(price, rate, None)
    return value


def _dollars(price: Price | None, rate: str) -> str:
    value = _rate(price, rate)
    return "-" if value is None else f"{value:.2f}" if value == round(value, 2) else f"{value.normalize():f}"


def _as_json(each: Model) -> dict[str, object]:
    price = each.price()
    return {
        "name": each.name,
        "provider": each.provider,
        "context_window": each.context_window,
        "max_input": each.max_input,
        "max_output": each.max_output,
        "encoding": each.encoding,
        "resolved": each.resolved,
        "source": each.source,
        "price": None if price is None else _price(price),
    }


def _price(price: Price) -> dict[str, object]:
    rates: dict[str, object] = {rate: _text(_rate(price, rate)) for rate in RATES}
    tiers = [{"above": tier.above, **{rate: _text(getattr(tier, rate)) for rate in RATES}} for tier in price.tiers]
    return {"since": str(price.since) if price.since else None, **rates, "tiers": tiers}


def _text(value: Decimal | None) -> str | None:
    return None if value is None else f"{value.normalize():f}"
