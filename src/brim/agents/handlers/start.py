"""A session begins, or begins again: the rules of this place; after a compaction also where its scratch memory is."""

from __future__ import annotations

from brim.agents.answer import Answer
from brim.agents.due import LOOKED, written
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
            state.usage = None  # the window was emptied
        if how in ("startup", "clear"):  # whatever the transcript holds, the window is empty
            state.keep(LOOKED, written(call))
        if call.model:
            state.keep("model", call.model)
        remove_old(place.home, now=place.now)
    return attempt(_told, call, place)


def _told(call: HookCall, place: Place) -> Answer | None:
    from brim.agents.clients import client_of

    how = call.source or "startup"
    if client_of(call.agent).max_chars(call.event) <= 0:
        from brim.agents.handlers.beginning import tell_later

        tell_later(call, place, how)
        return None
    return told_at_start(call, place, how)


def told_at_start(call: HookCall, place: Place, how: str) -> Answer:
    """Return the rules of this place; after a compaction with the line that says where the memory is."""
    lines = ""
    if how == "compact":
        from brim.agents.handlers.pointing import scratch_line

        lines = scratch_line(call, place)
    return tell_at_start(call, place, how, lines)
