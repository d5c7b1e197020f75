"""Holds the next call of a loop once, with what was tried.

A loop is the same call with the same result, two calls in turn, or an edit that is undone and made
again: ``brim.memory.repetition`` finds it. If the agent goes on with it, its user is told. Most
calls are new, so the first look is cheap: whether the words of the pending call are often enough in
the transcript's tail. Only then are the tail's lines read. A prompt, a changed file and waiting
start the count over.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from brim.agents.call import Answer, HookCall
from brim.hooks.state import HookWorkspace
from brim.hooks.transcript import tail_bytes, transcript_of

if TYPE_CHECKING:
    from brim.memory.repetition import Loop

HELD = "Held once by brim: "
"""How the reason begins. In the transcript it shows where the count starts over."""
_ADVICE = (
    "Find out why before you try again, try something else, or ask your user. If the call is still "
    "right, make it again: it isn't held a second time."
)
_WENT_ON = "It was held for that once and went on."
TAIL = 1 << 20
"""Bytes of the transcript that are looked at."""
LAST = 1 << 18
"""Bytes at its end in which a call of a loop is at least once."""
EDITS = 2
"""How often an edit must have been made that the pending one undoes."""

_ESCAPED = bytes.maketrans(b"\\\n\r\t?", b'"' * 5)
"""What looks different in JSON, and what stands for letters that may, all as one of them."""
_LOOKED_AT = 4_000
_SHORT = 12
_FEWEST = 2


def hold_loop(call: HookCall, workspace: HookWorkspace) -> Answer | None:
    """Return the refusal of a pending *call* that goes on with a loop, or the note to its user.

    Mostly it is None.
    """
    loop = _loop_of(call, workspace)
    if loop is None:
        return None
    if not workspace.state(call.session).tell_once(f"loop {loop.key} {loop.goes_on}"):
        return None
    if not loop.goes_on:
        return Answer(deny=f"{HELD}{loop.description}. {_ADVICE}")
    if not workspace.config["hooks.notes"]:
        return None
    note = f"brim: the agent goes in circles: {loop.description}. {_WENT_ON}"
    return Answer(note=note)


def _loop_of(call: HookCall, workspace: HookWorkspace) -> Loop | None:
    number = workspace.config["hooks.loops"]
    if number is None or not call.session or not call.tool.name or not call.transcript:
        return None
    if workspace.only_injects and not workspace.supervised:
        return None
    return find_loop(call, number)


def find_loop(call: HookCall, number: int) -> Loop | None:
    """Return the loop that the pending *call* goes on with, None if it doesn't.

    *number* is how often the same call gave the same result. Two calls in turn are a loop after two
    less than twice as many, an edit when it was undone and made again.
    """
    path = transcript_of(call)
    is_edit = call.tool.changes_files or bool(call.tool.patch)
    needles = _needles(call.tool.name, call.tool.input)
    if not _are_in(tail_bytes(path, LAST)[1], needles, 1):
        return None
    start, data = tail_bytes(path, TAIL)
    if not _are_in(data, needles, EDITS if is_edit else number - 1):
        return None
    from brim.hooks.loop_reading import loop_in

    return loop_in(call, number, start, data, is_edit=is_edit)


# The first look -----------------------------------------------------------------------------------


def _are_in(data: bytes, needles: list[list[bytes]], least: int) -> bool:
    """Whether *data* holds every one of *needles*, in all its forms together, often enough."""
    return all(sum(map(data.count, forms)) >= least for forms in needles)


def _needles(tool: str, call_input: Mapping[str, Any]) -> list[list[bytes]]:
    """Return for each text of a call a stretch of it that is the same in any JSON, in all its
    forms."""
    content = call_input.get("content")
    if isinstance(content, str) and content.isascii():
        return [[json.dumps(content[:_LOOKED_AT])[1:-1].encode()]]
    needles = [_forms(text) for text in _texts(call_input) or [tool]]
    return [forms for forms in needles if forms]


def _forms(text: str) -> list[bytes]:
    """Return the forms that the longest stretch of *text* has in any JSON; none if it has none."""
    stretches = text[:_LOOKED_AT].encode("ascii", "replace").translate(_ESCAPED).split(b'"')
    stretch = max(stretches, key=len).strip(b"+- ")
    is_all = len(stretch) == len(text)
    if len(stretch) >= _SHORT or (len(stretch) >= _FEWEST and not is_all):
        return [stretch]
    if not stretch:
        return []
    return [b'"%b"' % stretch, b'"%b\\"' % stretch]


def _texts(call_input: Mapping[str, Any]) -> list[str]:
    """Return the texts of a call that tell it from others."""
    command = call_input.get("command") or call_input.get("cmd")
    if isinstance(command, str):
        return [command.partition("|")[0]]  # what only cuts the output may differ
    new = call_input.get("new_string")
    if isinstance(new, str):
        return [_own_line(str(call_input.get("old_string") or ""), new)]
    return [text for text in call_input.values() if isinstance(text, str)]


def _own_line(old: str, new: str) -> str:
    """Return the longest line that an edit itself brings, or takes."""
    old = old[:_LOOKED_AT]
    lines = [line for line in new[:_LOOKED_AT].splitlines() if line not in old]
    return max(lines or old.splitlines(), key=len, default="")
