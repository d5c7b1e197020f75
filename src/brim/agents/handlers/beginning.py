"""What a session is told when it begins, if its client cannot be told so then: it waits for the next event."""

from __future__ import annotations

from brim.agents.answer import NOTHING, Answer
from brim.agents.handlers.attempting import attempt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.agents.call import HookCall
    from brim.agents.place import Place

BEGAN = "began"
"""What is kept of a session that was not told yet: how it began."""


def tell_later(call: HookCall, place: Place, how: str) -> None:
    """Keep that the session of *call* began *how*, and was not told."""
    if call.session:
        place.state(call.session).keep(BEGAN, how)


def told_late(call: HookCall, place: Place) -> Answer:
    """Return what is still to be told from the last beginning, once; mostly nothing."""
    how = place.state(call.session).kept(BEGAN) if call.session else None
    if not isinstance(how, str):
        return NOTHING
    from brim.agents.handlers.start import told_at_start

    if how == "compact":  # nobody was asked before it: what the turn has left so far is written now
        attempt(_write, call, place)
        attempt(_measure, call, place)
    told = attempt(lambda call, place: told_at_start(call, place, how), call, place)
    if told.context or not place.is_late:  # else the time was over before the rules: the next event tells them
        place.state(call.session).keep(BEGAN, None)
    return told


def _write(call: HookCall, place: Place) -> None:
    from brim.agents.turn import write_turn

    write_turn(call, place)


def _measure(call: HookCall, place: Place) -> None:
    from brim.agents.handlers.compaction import measure_lost

    measure_lost(call, place)
