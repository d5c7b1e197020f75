"""A session begins, or begins again: the rules of this place; after a compaction also where its scratch memory is."""

from __future__ import annotations

from brim.agents.answer import Answer
from brim.agents.handlers.attempting import attempt
from brim.agents.handlers.injecting import tell_at_start
from brim.injection.session import RENEWING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.agents.call import HookCall
    from brim.agents.place import Place


def handle(call: HookCall, place: Place) -> Answer:
    """Return what a session is told at its beginning."""
    how = call.source or "startup"
    if call.session:
        from brim.agents.state import remove_old

        state = place.state(call.session)
        if how in RENEWING:
            state.begin_epoch()
        if call.model:
            state.keep("model", call.model)
        remove_old(place.home, now=place.now)
    return attempt(_told, call, place)


def _told(call: HookCall, place: Place) -> Answer:
    how = call.source or "startup"
    lines = ""
    if how == "compact":
        from brim.agents.handlers.pointing import scratch_line

        lines = scratch_line(call, place)
    return tell_at_start(call, place, how, lines)
