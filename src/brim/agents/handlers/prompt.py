"""A prompt was sent: what matters for it and is due. What a person typed is counted, and written down."""

from __future__ import annotations

from brim.agents.answer import Answer
from brim.agents.handlers.attempting import attempt
from brim.agents.handlers.injecting import tell_now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.agents.call import HookCall
    from brim.agents.place import Place


def handle(call: HookCall, place: Place) -> Answer:
    """Return what an agent is told with a prompt. A machine's prompt neither counts nor brings up rules."""
    told = attempt(_told, call, place)
    if call.human and not place.supervised:
        attempt(_journal, call, place)
    return told


def _told(call: HookCall, place: Place) -> Answer:
    return tell_now(call, place, new_prompt=call.human)


def _journal(call: HookCall, place: Place) -> None:
    from brim.agents.journal import journal_prompt

    journal_prompt(call, place)
