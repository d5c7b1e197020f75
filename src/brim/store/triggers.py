"""What may give a behavior a seed, as texts that can be looked up: what a hook asks for, it finds by an index.

A trigger is a word (its stem), or a key with what ``brim.activation.graph`` files its values under. A trigger that is
met does not say that the condition is; if none is met, no condition is.
"""

from __future__ import annotations

from brim.activation.graph import filed_under, looked_up

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from brim.behaviors.when import When

ALWAYS = ""
"""The trigger of a behavior without conditions."""

INDEX_VERSION = "1"
"""To be raised with every change of stems or of what is filed under what: the next command then writes them anew."""


def triggers_of(when: When, words: Iterable[str]) -> set[str]:
    """Return the triggers of a behavior with these conditions and words."""
    found = set(words) if when else {ALWAYS, *words}
    found.update(f"{key}={filed_under(key, value)}" for key, values in when.conditions for value in values)
    return found


def triggers_in(facts: Mapping[str, tuple[str, ...]], words: Iterable[str]) -> set[str]:
    """Return the triggers that a situation meets."""
    found = {ALWAYS, *words}
    for key, values in facts.items():
        found.update(f"{key}={text}" for value in values for text in looked_up(key, value))
    return found
