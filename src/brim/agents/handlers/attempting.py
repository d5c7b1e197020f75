"""One part of an answer that fails is logged, and does not take the others with it.

That holds for the part at which the time ends too: what was told before it is noted as told, so it must be said.
"""

from __future__ import annotations

from brim.agents.answer import NOTHING, Answer
from brim.agents.hook import TimeUp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from brim.agents.call import HookCall
    from brim.agents.place import Place


def attempt(part: Callable[[HookCall, Place], Answer | None], call: HookCall, place: Place) -> Answer:
    """Return what *part* answers; nothing, and one line in the log, if it fails. After the time is over none begins."""
    if place.is_late:
        return NOTHING
    try:
        return part(call, place) or NOTHING
    except TimeUp:
        place.is_late, what = True, "took too long: only what was ready is answered"
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
    from brim.agents.log import log

    log(place.environ, f"{call.name or call.event} {call.agent}: {what}")
    return NOTHING


def together(*answers: Answer) -> Answer:
    """Return *answers* as one: what each says to whom, in order. The first reason to deny is the reason."""
    said = [answer for answer in answers if answer]
    if len(said) < 2:
        return said[0] if said else NOTHING
    return Answer(
        context="".join(answer.context for answer in said),
        first="".join(answer.first for answer in said),
        instructions="".join(answer.instructions for answer in said),
        note="\n".join(answer.note for answer in said if answer.note),
        deny=next((answer.deny for answer in said if answer.deny), ""),
        stop_reason=next((answer.stop_reason for answer in said if answer.stop_reason), ""),
    )
