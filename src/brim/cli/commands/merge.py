"""``brim merge``: make one behavior of two."""

from __future__ import annotations

from brim.behaviors.duplicates import merge
from brim.cli.asking import add_yes, says_yes
from brim.cli.behaviors import named
from brim.cli.learned import Place, add_behavior, complete_behavior
from brim.cli.merging import in_order, merged_object, say_merged, say_pair, store_merged
from brim.cli.output import say, say_json
from brim.cli.settings import add_json
from brim.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

HELP = """\
Make one behavior of two that say the same. One stays: the one named with --into, else the user's before the project's,
else the one with the higher priority, then the higher confidence, then the older. It takes over the other's wording,
tags, uses and connections, and matters wherever one of the two did. The other is kept as superseded.

Shows what it would do and asks; ends with 1 if the answer is no.

Examples:
  brim merge use-uv prefer-uv --dry-run
  brim merge b-3f2a b-91cc --into b-91cc --yes
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    add_behavior(parser, "one", metavar="A")
    add_behavior(parser, "other", metavar="B")
    into: Any = parser.add_argument("--into", metavar="A|B", help="the one that stays")
    into.completer = complete_behavior
    add_yes(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    """Show, ask, merge, and return the exit code."""
    place = Place()
    with place.open() as scopes:
        one, other = scopes.find(options.one), scopes.find(options.other)
        into = None if options.into is None else scopes.find(options.into)
        if into is not None and into.id not in (one.id, other.id):
            raise InputError(f"--into names one of the two, not {named(into)}")
        kept, gone = in_order(one, other, into)
        merged = merge(kept, gone, place.now)
        if not options.as_json:
            say_pair(kept, gone)
        wanted = not options.dry_run
        agreed = wanted and says_yes(f"Merge {named(gone)} into {named(kept)}?", yes=options.yes)
        if agreed:
            with scopes.writing():
                merged = store_merged(scopes, kept, gone, place.now)
    if options.as_json:
        say_json({"merged": agreed, **merged_object(merged)})
    elif agreed or not wanted:
        say()
        say_merged(merged, "merged" if agreed else "would merge")
    return 1 if wanted and not agreed else 0
