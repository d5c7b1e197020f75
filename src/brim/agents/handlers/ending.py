"""A turn, a sub-agent or the session has ended: what it left is written down, and what it cost is settled."""

from __future__ import annotations

import time

from brim.agents.answer import NOTHING, Answer
from brim.agents.handlers.attempting import attempt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.agents.call import HookCall
    from brim.agents.place import Place

SECONDS, LEAST = 0.4, 0.05
"""How long both may read together, and what writing down is given at least; the next hook reads on."""

LARGE = 1 << 21
"""Bytes since the last end of a turn from which on nothing is waited for."""


def handle(call: HookCall, place: Place) -> Answer:
    """Return what the human is told at the end of a turn; nobody listens at the end of a session."""
    if place.only_injects or not call.session:
        return NOTHING
    from brim.agents.handlers.warning import cost_note, warnings

    if call.event == "stop" and call.agent == "claude":
        attempt(_await, call, place)
    begun = time.monotonic()
    told = warnings(call, place) if call.event == "stop" else attempt(cost_note, call, place)
    left = max(LEAST, SECONDS - (time.monotonic() - begun))
    attempt(lambda call, place: _write(call, place, left), call, place)
    if call.event == "session_end":
        attempt(_close, call, place)
        return NOTHING
    return told


def _await(call: HookCall, place: Place) -> None:
    from brim.agents.due import LOOKED, written

    looked = place.state(call.session).kept(LOOKED)
    if written(call) - (looked if type(looked) is int else 0) > LARGE:  # reading takes all the time that there is
        return
    from brim.agents.awaiting import await_answer

    await_answer(call, now=place.now)


def _write(call: HookCall, place: Place, seconds: float) -> None:
    from brim.agents.turn import write_turn

    if call.event == "subagent_stop":
        path = call.data.get("agent_transcript_path")
        if call.sub_agent and isinstance(path, str) and path:
            write_turn(call, place, transcript=path, agent=call.sub_agent, seconds=seconds)
        return
    write_turn(call, place, seconds=seconds)


def _close(call: HookCall, place: Place) -> None:
    """Say that this session is over: the next one may have the project's own scratch files."""
    from brim.agents.scratch_files import writer_of

    writer = writer_of(call, place)
    if writer is not None:
        writer.close()
