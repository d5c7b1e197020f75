"""Takes from the transcript what the turn has left: decisions, states, commands, files, and what led nowhere.

Only what was written since the last time is read, and a little before it: a call may have been open then, and a dead
end takes several tries to be one. What the journal holds already is known by its id.
"""

from __future__ import annotations

import time

from brim.agents.scratch_files import writer_of
from brim.agents.transcript_file import FORMATS, size_of, whole_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from brim.agents.call import HookCall
    from brim.agents.place import Place
    from brim.agents.state import SessionState
    from brim.scratch.writer import ScratchWriter

MOST = 8 << 20
"""Bytes of a transcript that one hook reads. What lies farther back is left out: the journal has what hooks saw."""

OVERLAP = 1 << 18
"""Bytes before the new ones that are read again."""

SECONDS = 0.35
"""So long reading may take: a hook has a second, and the rest waits for the next one."""

LARGE = 1 << 19
"""More bytes than this may take too long on a busy machine: what was begun and not ended is begun with less time."""

_NOTED = "noted"
_BEGUN = "turn begun"


def write_turn(
    call: HookCall,
    place: Place,
    *,
    transcript: str = "",
    agent: str = "",
    seconds: float = SECONDS,
    clock: Callable[[], float] = time.monotonic,
) -> ScratchWriter | None:
    """Journal what the transcript says since the last time, and render the scratch files; return their writer.

    It is None if this session may have none. *transcript* is the file of the sub-agent *agent*; without, the session's
    own is read. Reading ends after about so many *seconds*, and the next hook goes on from there.
    """
    writer = writer_of(call, place)
    if writer is None:
        return None
    from brim.scratch.model import ScratchModel

    path = transcript or call.transcript
    state = place.state(call.session)
    noted = state.kept(_NOTED)
    offsets = {key: at for key, at in noted.items() if type(at) is int} if isinstance(noted, dict) else {}
    size = size_of(path)
    start = offsets.get(agent, 0)
    start = max(start if start <= size else 0, size - MOST)
    model = ScratchModel(session=call.session, root=place.project or "")
    until = clock() + _seconds(state, size - start, seconds)
    end = _extract(model, call, path, start, agent, until=until, clock=clock) if size > start else start
    if model.entries or _is_behind(writer):
        writer.write_scratch(model)
    state.keep(_BEGUN, 0)
    if end != offsets.get(agent, 0):
        state.keep(_NOTED, dict(list({**offsets, agent: end}.items())[-64:]))
    return writer


def _seconds(state: SessionState, pending: int, seconds: float) -> float:
    """Return how long reading may take: half as long each time that a hook was ended before it had written."""
    if pending <= LARGE:
        return seconds
    begun = state.kept(_BEGUN)
    begun = begun if type(begun) is int and 0 <= begun < 20 else 0
    state.keep(_BEGUN, begun + 1)
    state.save()
    return seconds / 2.0**begun


def _extract(
    model: object,
    call: HookCall,
    path: str,
    start: int,
    agent: str,
    *,
    until: float,
    clock: Callable[[], float],
) -> int:
    """Give *model* the events of *path* from *start* on; return how far it came."""
    from brim.scratch.model import ScratchModel
    from brim.tracking.readers import AnyReader
    from brim.tracking.readers.stream import Feed

    assert isinstance(model, ScratchModel)  # noqa: S101 - its module is imported late
    reader = AnyReader(FORMATS[call.agent])
    reader.agent = agent
    feed: Feed | None = None
    for at, data in whole_lines(path, start, overlap=OVERLAP, most=MOST + OVERLAP):
        if feed is None:
            feed = Feed(reader=reader, start=at)
        for event in feed.feed(data):
            model.extract(event if event.session == call.session else event.replace(session=call.session))
        if clock() > until and feed.offset > start:
            break
    for event in reader.finish():
        model.extract(event.replace(session=call.session))
    return max(start, feed.offset) if feed is not None else start


def _is_behind(writer: ScratchWriter) -> bool:
    """Whether the journal holds what was not rendered yet."""
    import os

    from brim.errors import BrimError

    try:
        journal = writer.read()
        index = os.path.join(writer.folder, "scratch.md")
        if not journal.entries:
            return False
        return not os.path.exists(index) or os.stat(index).st_mtime_ns <= os.stat(journal.path).st_mtime_ns
    except (BrimError, OSError):
        return False
