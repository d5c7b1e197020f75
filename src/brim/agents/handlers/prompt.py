"""A prompt was sent: what matters for it and is due. What a person typed is counted, and written down.

It is also the first chance to warn after a turn that did not end by itself.
"""

from __future__ import annotations

from brim.agents.answer import NOTHING, Answer
from brim.agents.due import forget_refusals, is_look_due, may_be_limited
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
    if place.only_injects or not call.session:
        return told
    if call.human:
        attempt(_journal, call, place)
    return together(told, attempt(_warnings, call, place))


def _told_late(call: HookCall, place: Place) -> Answer:
    from brim.agents.handlers.beginning import told_late

    return told_late(call, place)


def _told(call: HookCall, place: Place) -> Answer:
    return tell_now(call, place, new_prompt=call.human)


def _journal(call: HookCall, place: Place) -> None:
    from brim.agents.journal import journal_prompt

    journal_prompt(call, place)


def _warnings(call: HookCall, place: Place) -> Answer | None:
    if call.human:
        forget_refusals(call, place)
    if not (may_be_limited(call, place) or is_look_due(call, place)):
        return None
    from brim.agents.handlers.warning import warnings_meanwhile

    return warnings_meanwhile(call, place)
