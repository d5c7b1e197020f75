"""Whether there may be something to warn of while no turn ends: asked at every event, so it is a look or two.

A turn that a person stops ends without a word: the next prompt is the first chance to tell.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.agents.call import HookCall
    from brim.agents.place import Place

GROWN = 200_000
"""Bytes that a transcript must have grown by before it is looked at again within a turn."""

GROWN_TURN = 16_000
"""Bytes by which it has grown at a prompt if the turn before did not end by itself: what follows an end is less."""

LOOKED, LIMITED, DENIED = "looked", "limited", "denied"
"""What is kept of a session: how long its transcript was, whether there is a limit, and which calls were refused."""


def is_look_due(call: HookCall, place: Place) -> bool:
    """Whether enough was written since the last look at the window to look again."""
    looked = place.state(call.session).kept(LOOKED)
    grown = written(call) - (looked if type(looked) is int else 0)
    return not call.sub_agent and grown >= (GROWN_TURN if call.event == "prompt" else GROWN)


def may_be_limited(call: HookCall, place: Place) -> bool:
    """Whether there may be a limit: as the last look has found, or this one, if it is the first."""
    known = place.state(call.session).kept(LIMITED)
    return known if type(known) is bool else look_for_limit(call, place)


def look_for_limit(call: HookCall, place: Place) -> bool:
    """Look whether there may be a limit for *call*. What follows from one is imported only then."""
    from brim.agents import user_ledger

    found = user_ledger.may_be_limited(call, place)
    if call.session:
        place.state(call.session).keep(LIMITED, found)
    return found


def forget_refusals(call: HookCall, place: Place) -> None:
    """Forget the calls that were refused before: what a person types has its own chance to end well."""
    state = place.state(call.session)
    if state.kept(DENIED):
        state.keep(DENIED, [])


def written(call: HookCall) -> int:
    """Return how many bytes the transcript has, 0 if there is none."""
    try:
        return os.lstat(call.transcript).st_size if call.transcript else 0
    except (OSError, ValueError):
        return 0
