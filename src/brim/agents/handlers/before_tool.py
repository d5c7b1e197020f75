"""A tool is about to be called: whether it may still cost anything, and what matters for this very call.

What is said here reaches the model with the result of the call. A call that a constraint is about can be held back
once, so that it is known before: the setting ``hooks.gate``.
"""

from __future__ import annotations

from brim.agents.answer import Answer
from brim.agents.due import look_for_limit
from brim.agents.handlers.attempting import attempt, together
from brim.agents.handlers.injecting import tell_now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.agents.call import HookCall
    from brim.agents.place import Place


def handle(call: HookCall, place: Place) -> Answer:
    """Return whether the call may be made, and what the agent is told with its result."""
    spending = attempt(_spending, call, place)
    if spending.deny:
        return spending
    return together(spending, attempt(_told, call, place))


def _spending(call: HookCall, place: Place) -> Answer | None:
    if not look_for_limit(call, place):
        return None
    from brim.agents.gate import spend_gate

    return spend_gate(call, place)


def _told(call: HookCall, place: Place) -> Answer:
    return tell_now(call, place, of_call=True)
