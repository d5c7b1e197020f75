"""Loops: the same call with the same result, two calls in turn, an edit that is undone and made
again.

The next call of a loop is held once, with what was tried; if the agent goes on with it, its user is
told. Most calls are new, so the first look is cheap: whether the words of the pending call are
often enough in the transcript's tail. Only then are the tail's lines read. A prompt, a changed file
and waiting start the count over.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from brim.agents.call import Answer, HookCall
from brim.hooks.state import HookWorkspace
from brim.hooks.transcript import tail_bytes

if TYPE_CHECKING:
    from brim.hooks.tries import Loop

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
    """Return the refusal of a pending *call* that continues a loop, or the note to its user; mostly
    None."""
    number = workspace.config["hooks.loops"]
    only_injects = workspace.only_injects and not workspace.supervised
    if number is None or only_injects or not (call.session and call.tool.name and call.transcript):
        return None
    loop = find_loop(call, number)
    if loop is None:
        return None
    from brim.hooks.tries import HELD

    if not workspace.state(call.session).tell_once(f"loop {loop.key} {loop.goes_on}"):
        return None
    if loop.goes_on:
        return Answer(
            note=f"brim: the agent goes in circles: {loop.said}. It was held for that once and went on."
        )
    return Answer(
        deny=f"{HELD}{loop.said}. Find out why before you try again, try something else, or ask your user. "
        "If the call is still right, make it again: it isn't held a second time."
    )


def find_loop(call: HookCall, number: int) -> Loop | None:
    """Return the loop that the pending *call* continues, None if it doesn't.

    *number* is how often the same call gave the same result. Two calls in turn are a loop after two
    less than twice as many, an edit when it was undone and made again.
    """
    path = call.transcript
    if call.sub_agent and call.agent.transcripts.has_subagent_files:
        path = os.path.join(
            path.removesuffix(".jsonl"), "subagents", f"agent-{call.sub_agent}.jsonl"
        )
    is_edit = call.tool.changes_files or "*** Begin Patch" in str(call.tool.input.get("command"))
    needles = _needles(call.tool.name, call.tool.input)
    if not _are_in(tail_bytes(path, LAST)[1], needles, 1):
        return None
    start, data = tail_bytes(path, TAIL)
    if not _are_in(data, needles, EDITS if is_edit else number - 1):
        return None
    from brim.hooks.tries import loop_in

    return loop_in(call, number, start, data, is_edit=is_edit)


def _are_in(data: bytes, needles: list[list[bytes]], least: int) -> bool:
    """Whether *data* holds every one of *needles*, in all its forms together, at least so often."""
    return all(sum(map(data.count, forms)) >= least for forms in needles)


def _needles(tool: str, given: Mapping[str, Any]) -> list[list[bytes]]:
    """Return for each text of a call a stretch of it that is the same in any JSON, in all its
    forms."""
    texts = [each for each in given.values() if isinstance(each, str)]
    if isinstance(content := given.get("content"), str) and content.isascii():
        return [[json.dumps(content[:_LOOKED_AT])[1:-1].encode()]]
    if isinstance(command := given.get("command") or given.get("cmd"), str):
        texts = [command]
    elif isinstance(
        new := given.get("new_string"), str
    ):  # the longest line that the edit itself brings or takes
        old = str(given.get("old_string") or "")[:_LOOKED_AT]
        lines = [
            line for line in new[:_LOOKED_AT].splitlines() if line not in old
        ] or old.splitlines()
        texts = [max(lines, key=len, default="")]
    found = []
    for text in texts or [tool]:
        start = (
            text.partition("|")[0] if text is command else text
        )  # what only cuts the output may differ
        stretches = start[:_LOOKED_AT].encode("ascii", "replace").translate(_ESCAPED).split(b'"')
        stretch = max(stretches, key=len).strip(b"+- ")
        if len(stretch) >= _SHORT or _FEWEST <= len(stretch) < len(text):
            found.append([stretch])
        elif stretch:  # all of it
            found.append([b'"%b"' % stretch, b'"%b\\"' % stretch])
    return found
