"""Shows two rules that become one."""

from __future__ import annotations

from brim.cli.behaviors import as_object, block, named, title
from brim.cli.output import printable, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brim.behaviors.behavior import Behavior
    from brim.behaviors.duplicates import Merged


def say_pair(kept: Behavior, gone: Behavior, about: str = "") -> None:
    """Print two behaviors that may become one, the one that stays first."""
    if about:
        say(about)
    for behavior, becomes in ((kept, "stays"), (gone, "is merged into it")):
        say(f"{title(behavior)}  {becomes}")
        say(block(behavior.canonical))


def say_merged(merged: Merged, done: str = "merged") -> None:
    """Print what was *done*."""
    say(printable(f"{done}: {named(merged.superseded)} into {named(merged.kept)}"))
    for change in merged.changes:
        say(printable(f"  {change}"))


def merged_object(merged: Merged) -> dict[str, Any]:
    """Return what was done as JSON can hold it."""
    return {
        "kept": as_object(merged.kept),
        "superseded": as_object(merged.superseded),
        "changes": list(merged.changes),
    }
