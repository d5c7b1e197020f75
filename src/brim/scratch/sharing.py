"""Shares room by need: who needs little gets all of it, the others get equal parts of what is left."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def shares(needs: Sequence[int], room: int) -> list[int]:
    """Return how much of *room* each of *needs* gets: never more than it needs, in all never more than there is.

    >>> shares([3, 500, 40], 100)
    [3, 57, 40]
    """
    given = [0] * len(needs)
    left = max(0, room)
    order = sorted(range(len(needs)), key=lambda at: (needs[at], at))
    for done, at in enumerate(order):
        given[at] = min(max(0, needs[at]), left // (len(order) - done))
        left -= given[at]
    return given
