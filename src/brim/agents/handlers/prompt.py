"""A prompt was sent: what matters for it and is due. What a person typed is counted, and written down."""

from __future__ import annotations

from brim.agents.answer import NOTHING, Answer
from brim.agents.handlers.attempting import attempt, together
from brim.agents.handlers.injecting import tell_now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.agents.call import HookCall
    from brim.agents.place import Place


def handle(call: HookCall, place: Place) -> Answer:
    """Return what an agent is told with a prompt. A machine's prompt neither counts nor brings up rules."""
    # The others are told when they begin.
    late = attempt(_told_late, call, place) if call.agent == "gemini" else NOTHING
    told = together(late, attempt(_told, call, place))
    if call.human and not place.supervised:
        attempt(_journal, call, place)
    return told


def _told_late(call: HookCall, place: Place) -> Answer:
    from brim.agents.handlers.beginning import told_late

    return told_late(call, place)


def _told(call: HookCall, place: Place) -> Answer:
    return tell_now(call, place, new_prompt=call.human)


def _journal(call: HookCall, place: Place) -> None:
    from brim.agents.journal import journal_prompt

    journal_prompt(call, place)
