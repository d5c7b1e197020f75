"""After a request to the model: keeps how full the window was, where the agent says so with the call itself."""

from __future__ import annotations

from brim.agents.answer import NOTHING
from brim.agents.usage import remember_reported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.agents.answer import Answer
    from brim.agents.call import HookCall
    from brim.agents.place import Place


def handle(call: HookCall, place: Place) -> Answer:
    """Keep the reading; there is nothing to say between two requests."""
    remember_reported(call, place)
    seen = place.state(call.session).usage if call.session and not call.sub_agent else None
    if seen is not None:
        from brim.agents.handlers.warning import see_compression

        see_compression(call, place, seen.tokens)
    return NOTHING
