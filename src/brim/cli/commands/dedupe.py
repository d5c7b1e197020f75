"""``brim dedupe``: find behaviors that say the same, and merge them."""

from __future__ import annotations

from brim.behaviors.behavior import LIVE
from brim.behaviors.duplicates import Pair, near_pairs
from brim.cli.asking import add_yes, says_yes
from brim.cli.behaviors import as_object, counted
from brim.cli.learned import Place
from brim.cli.merging import in_order, merged_object, say_merged, say_pair, store_merged
from brim.cli.output import note, paint, say, say_json
from brim.cli.settings import add_json
from brim.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from brim.behaviors.behavior import Behavior
    from brim.behaviors.duplicates import Merged
    from brim.store.scopes import Scopes

MOST_SHOWN = 50

HELP = """\
Find behaviors that say the same in other words, and merge each pair as 'brim merge' does: both texts are kept. Rules
that differ in a negation, a number, a name or an order are not the same, however alike they look. The project's and
the user's behaviors are each compared among themselves.

Shows the pairs and asks; ends with 1 if the answer is no.

Examples:
  brim dedupe --dry-run
  brim dedupe --threshold 0.9 --yes
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    text = "how alike two texts must be, from 0 to 1 (default: the setting behaviors.near_duplicate)"
    parser.add_argument("--threshold", type=float, metavar="X", help=text)
    add_yes(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    """Find the pairs, show them, ask, merge, and return the exit code."""
    place = Place()
    threshold = place.config["behaviors.near_duplicate"] if options.threshold is None else options.threshold
    if not 0 < threshold <= 1:
        raise InputError(f"--threshold is above 0 and at most 1, not {threshold:g}")
    merged: list[Merged] = []
    with place.open() as scopes:
        pairs = _pairs(scopes, threshold)
        if not options.as_json:
            _show(pairs, threshold)
        wanted = bool(pairs) and not options.dry_run
        agreed = wanted and says_yes(f"Merge {counted(len(pairs), 'pair')}?", yes=options.yes)
        if agreed:
            with scopes.writing():
                merged = _merge(pairs, scopes, place.now)
    if options.as_json:
        say_json({"pairs": [_pair_object(pair) for pair in pairs], "merged": [merged_object(each) for each in merged]})
    else:
        for each in merged:
            say_merged(each)
    return 1 if wanted and not agreed else 0


def _pairs(scopes: Scopes, threshold: float) -> list[Pair]:
    """Return the pairs of each scope, the one that stays first."""
    live = scopes.behaviors(LIVE)
    found = [
        pair for scope in ("user", "project") for pair in near_pairs([b for b in live if b.scope == scope], threshold)
    ]
    return [Pair(*in_order(pair.one, pair.other), pair.similarity) for pair in found]


def _show(pairs: list[Pair], threshold: float) -> None:
    if not pairs:
        note(f"no two behaviors are alike from {threshold:g} on")
    for number, pair in enumerate(pairs[:MOST_SHOWN], 1):
        say_pair(pair.one, pair.other, paint(f"pair {number} of {len(pairs):,}, {pair.similarity:.2f} alike", "faint"))
        say()
    if len(pairs) > MOST_SHOWN:
        say(f"and {len(pairs) - MOST_SHOWN:,} more: --json lists all")


def _merge(pairs: list[Pair], scopes: Scopes, now: float) -> list[Merged]:
    """Merge the most alike first. What is gone by then is left out; what stayed is merged as it has become."""
    became: dict[str, Behavior] = {}
    done: list[Merged] = []
    for pair in pairs:
        one, other = (became.get(each.id, each) for each in (pair.one, pair.other))
        if one.live and other.live:
            merged = store_merged(scopes, *in_order(one, other), now)
            became[merged.kept.id], became[merged.superseded.id] = merged.kept, merged.superseded
            done.append(merged)
    return done


def _pair_object(pair: Pair) -> dict[str, object]:
    return {"kept": as_object(pair.one), "other": as_object(pair.other), "similarity": pair.similarity}
