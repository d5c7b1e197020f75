"""What may stand next to what, where something between them has left? Again one function per rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from brim.history.reading.entry import Entry
    from brim.history.types import Provider

    Join = Callable[[Entry | None, Entry, Provider], bool]

_STRICT = ("anthropic", "gemini")


def user_speaks_first(before: Entry | None, after: Entry, provider: Provider) -> bool:
    """The first message that is not the system's is a prompt of the user's."""
    return before is not None or provider not in _STRICT or after.is_prompt


def assistant_waits_for_its_turn(before: Entry | None, after: Entry, provider: Provider) -> bool:
    """The assistant does not answer itself: merged into one turn, reasoning and calls would no longer come first.

    For Gemini it is also what keeps a call right after the user's content or a result.
    """
    return provider not in _STRICT or before is None or not before.role == after.role == "assistant"


JOINS: tuple[Join, ...] = (user_speaks_first, assistant_waits_for_its_turn)


def may_follow(before: Entry | None, after: Entry, provider: Provider) -> bool:
    """Whether *after* may come right after *before*, or first if that is None."""
    return all(join(before, after, provider) for join in JOINS)
