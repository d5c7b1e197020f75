"""What the last summary lost and the agent gets back, as soon as an event has room for it."""

from __future__ import annotations

from brim.agents.call import HookCall
from brim.hooks.room import Room, size
from brim.hooks.state import HookWorkspace
from brim.rules.session import Session


def gives_back(call: HookCall, workspace: HookWorkspace, room: Room) -> bool:
    """Whether something that the last summary lost fits. It was lost from the window of the main
    thread."""
    if call.sub_agent or room.is_empty:
        return False
    text, _ = _fitting_lines(workspace.state(call.session).lost, room)
    return bool(text)


def give_back_lost(call: HookCall, workspace: HookWorkspace, session: Session, room: Room) -> str:
    """Return what the last summary lost, once, charged by its bytes; lines that don't fit wait for
    the next event."""
    if not gives_back(call, workspace, room):
        return ""
    state = workspace.state(call.session)
    text, waiting = _fitting_lines(state.take_lost(), room)
    session.spend(size(text))
    if waiting:
        state.lost = waiting
    return text


def _fitting_lines(text: str, room: Room) -> tuple[str, str]:
    """Return the lines of *text* that fit, and those that don't, each below the first line, which
    is a heading."""
    lines = [f"{line}\n" for line in text.split("\n") if line.strip()]
    if not lines:
        return "", text
    heading = lines.pop(0)
    fitting = heading
    waiting = heading
    for line in lines:
        if room.holds(fitting + line):
            fitting += line
        else:
            waiting += line
    if waiting == heading:
        waiting = ""
    if not room.holds(fitting) or (waiting and fitting == heading):
        return "", text
    return fitting, waiting
