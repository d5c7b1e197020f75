"""``brim rules merge`` and ``dedupe``: rules that say the same become one."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from brim.behaviors.behavior import Behavior
from brim.behaviors.duplicates import Merged, Pair, merge_order
from brim.behaviors.duplicates import merge as merged_of
from brim.cli.options import (
    add_json,
    add_yes,
    answer,
    command,
    complete_rule,
    here,
    is_person_there,
    need_person,
    option,
    rule,
    says_yes,
)
from brim.cli.output import block, counted, emit, lines, note, paint, printable, say
from brim.cli.rule_view import as_object, named, title
from brim.errors import InputError
from brim.store.imports import store_merged
from brim.store.rulebook import alike_pairs, duplicate_pairs, find_rule, merge_pairs

MOST_SHOWN = 50


@command(
    rule("one", metavar="A"),
    rule("other", metavar="B"),
    option("--into", metavar="A|B", help="the one that stays", completer=complete_rule),
    add_yes,
    add_json,
)
def merge(options: Namespace) -> int:
    """Make one rule of two that say the same.

    --into names the one that stays. Without it, brim keeps your own rule rather than the project's, then the one with
    the higher priority, then the higher confidence, then the older one. It takes over the other's wording, tags, uses
    and connections, and applies wherever either did. The other is kept as superseded. brim shows what it would do and
    asks; it exits with 1 if you say no.

    Examples:
      brim rules merge use-uv prefer-uv --dry-run
      brim rules merge b-3f2a b-91cc --into b-91cc --yes
    """
    if not options.dry_run:
        need_person("merges rules")
    workspace = here()
    with workspace.open() as scopes:
        one, other = find_rule(scopes, options.one), find_rule(scopes, options.other)
        into = None if options.into is None else find_rule(scopes, options.into)
        if into is not None and into.id not in (one.id, other.id):
            raise InputError(f"--into names one of the two, not {named(into)}")
        kept, gone = merge_order(one, other, into)
        merged = merged_of(kept, gone, workspace.now)
        if not options.as_json:
            say(_pair_view(kept, gone))
        wanted = not options.dry_run
        agreed = wanted and says_yes(f"Merge {named(gone)} into {named(kept)}?", yes=options.yes)
        if agreed:
            with scopes.writing():
                merged = store_merged(scopes, kept, gone, workspace.now)
    refused = wanted and not agreed
    view = "" if refused else f"\n{_merged_view(merged, 'merged' if agreed else 'would merge')}"
    return emit({"merged": agreed, **_merged_dict(merged)}, view, options.as_json, code=int(refused))


@command(
    option("--threshold", type=float, metavar="X", help="how alike, from 0 to 1 (default: behaviors.near_duplicate)"),
    add_yes,
    add_json,
)
def dedupe(options: Namespace) -> int:
    """Find rules that say the same, and merge each pair.

    Both texts are kept, as with 'brim rules merge'. brim merges rules that use the same words in another
    order or form. It shows pairs that may say the same, and on a terminal you decide about each. It keeps rules apart
    that differ in a negation, a number, a name or an order. Project rules are compared with project rules,
    and your own with your own. It exits with 1 if you say no.

    Examples:
      brim rules dedupe --dry-run
      brim rules dedupe --yes
    """
    if options.threshold is not None and not 0 < options.threshold <= 1:
        raise InputError(f"--threshold is above 0 and at most 1, not {options.threshold:g}")
    if not options.dry_run:
        need_person("merges rules")
    workspace = here({"behaviors.near_duplicate": options.threshold})
    merged: list[Merged] = []
    with workspace.open() as scopes:
        pairs, likely = duplicate_pairs(scopes, workspace.config), alike_pairs(scopes, workspace.config)
        if not pairs and not likely and not options.as_json:
            note("no two rules are alike enough")
        elif pairs and not options.as_json:
            say(_pairs_view(pairs))
        wanted = bool(pairs) and not options.dry_run
        agreed = wanted and says_yes(f"Merge {counted(len(pairs), 'pair')}?", yes=options.yes)
        chosen = [*pairs] if agreed else []
        chosen += _chosen(options, likely)
        if chosen:
            with scopes.writing():
                merged = merge_pairs(scopes, chosen, now=workspace.now)
    found = {"pairs": [_pair_dict(pair) for pair in pairs], "alike": [_pair_dict(pair) for pair in likely]}
    found["merged"] = [_merged_dict(each) for each in merged]
    view = lines(*(_merged_view(each, "merged") for each in merged))
    return emit(found, view, options.as_json, code=1 if wanted and not agreed else 0)


def _chosen(options: Namespace, likely: list[Pair]) -> list[Pair]:
    """Show the pairs that may say the same, and return those that a person wants merged."""
    if options.as_json:
        return []
    asks = is_person_there() and not options.dry_run and not options.yes
    chosen = []
    for pair in likely[:MOST_SHOWN]:
        say(f"{paint('may say the same', 'faint')}\n{_pair_view(pair.one, pair.other)}\n")
        if asks and answer("Merge these two? [y/N] ").casefold() in ("y", "yes"):
            chosen.append(pair)
    if likely and not asks:
        note(f"{counted(len(likely), 'pair')} may say the same: 'brim rules merge A B' merges two")
    return chosen


def _pair_dict(pair: Pair) -> dict[str, Any]:
    return {"kept": as_object(pair.one), "other": as_object(pair.other), "similarity": pair.similarity}


def _pairs_view(pairs: list[Pair]) -> str:
    parts = []
    for number, pair in enumerate(pairs[:MOST_SHOWN], 1):
        about = paint(f"pair {number} of {len(pairs):,}, {pair.similarity:.2f} alike", "faint")
        parts.append(f"{about}\n{_pair_view(pair.one, pair.other)}\n")
    if len(pairs) > MOST_SHOWN:
        parts.append(f"and {len(pairs) - MOST_SHOWN:,} more: --json lists all")
    return "\n".join(parts)


def _pair_view(kept: Behavior, gone: Behavior) -> str:
    """Return two rules that may become one, the one that stays first."""
    both = ((kept, "stays"), (gone, "is merged into it"))
    return lines(*(f"{title(each)}  {becomes}\n{block(each.canonical)}" for each, becomes in both))


def _merged_view(merged: Merged, done: str) -> str:
    text = f"{done}: {named(merged.superseded)} into {named(merged.kept)}"
    return lines(printable(text), *(printable(f"  {change}") for change in merged.changes))


def _merged_dict(merged: Merged) -> dict[str, Any]:
    kept, superseded = as_object(merged.kept), as_object(merged.superseded)
    return {"kept": kept, "superseded": superseded, "changes": list(merged.changes)}
