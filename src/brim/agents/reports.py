"""Reads on in the files of a session for what its requests took, and parses no line that cannot say so.

A file of Claude Code is read from where the last hook stopped, its sub-agents' before its own: their requests are in
the total that its own ends with. Files of Codex and Gemini are read from the beginning, because a line there may mean
something only after others; lines without a word about tokens are passed over.
"""

from __future__ import annotations

import os
import time

from brim.agents.transcript_file import FORMATS, size_of, whole_lines
from brim.tracking.events import RunTotal, Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from brim.agents.call import HookCall
    from brim.spend.account import Account
    from brim.tracking.readers import AnyReader

MOST = 64 << 20
"""Bytes of one file that a hook reads; a larger rest waits for the next."""

SECONDS = 0.25
"""So long reading may take: a hook has a second."""

ENOUGH = 500
"""After so many reports the rest waits for the next hook: all of them are written in one transaction."""

_NEEDLES = {
    "claude": (b'"usage"', b'"cost-state"', b"\\u002", b"\\u006", b"\\u007"),  # no client writes a letter as its code
    "codex": (b'"token_', b'"turn_context"', b'"session_meta"', b'"compacted"'),
    "gemini": (b'"tokens"', b'"sessionId"', b'"$set"'),
}


def is_current(call: HookCall, account: Account) -> bool:
    """Whether nothing was written since *account* was: then nothing has to be read, or imported to read it."""
    if not account.offsets:
        return False
    return all(size_of(path) == account.offsets.get(agent, 0) for agent, path in _files(call))


def new_reports(
    call: HookCall, account: Account, *, recorded: int = 0, clock: Callable[[], float] = time.monotonic
) -> Iterator[Usage | RunTotal]:
    """Give every report of the session of *call* that *account* does not have, and move it on.

    What lies before byte *recorded* is in the ledger: it is read whatever time it takes.
    """
    from brim.tracking.readers import AnyReader

    until, count = clock() + SECONDS, 0
    reader = AnyReader(FORMATS[call.agent])
    for agent, path in _files(call):
        reader.agent = agent
        start = account.offsets.get(agent, 0) if call.agent == "claude" else 0
        for at, data in whole_lines(path, start, most=MOST):
            found = list(_reports(reader, call, at, data))
            yield from found
            account.offsets[agent] = at + len(data)
            count += len(found) if at >= recorded else 0
            if at >= recorded and (clock() > until or count > ENOUGH):
                return
    account.anew = call.agent != "claude"
    for event in reader.finish():
        if isinstance(event, Usage | RunTotal):
            yield event


def _reports(reader: AnyReader, call: HookCall, at: int, data: bytes) -> Iterator[Usage | RunTotal]:
    from brim.tracking.readers.stream import parsed_line

    for begin, end in _candidates(call.agent, data):
        parsed = parsed_line(data[begin:end])
        for event in reader.events(parsed, at + begin) if isinstance(parsed, dict) else ():
            if isinstance(event, Usage | RunTotal):
                yield event


def _candidates(agent: str, data: bytes) -> list[tuple[int, int]]:
    found, at = [], 0
    needles = _NEEDLES[agent]
    while at < len(data):
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        if any(data.find(needle, at, end) >= 0 for needle in needles):
            found.append((at, end))
        at = end + 1
    return found


def _files(call: HookCall) -> list[tuple[str, str]]:
    """Return every agent of the session and its file, the session's own last."""
    own = ("", call.transcript)
    folder = os.path.join(call.transcript.removesuffix(".jsonl"), "subagents")
    if call.agent != "claude" or not os.path.isdir(folder):
        return [own]
    from brim.tracking.readers.stream import subagent_files

    return [*subagent_files(call.transcript), own]
