"""Whether this session may have a scratch memory, and where: in its project's ``.context/``, apart from other sessions.

A ``.context/`` that git tracks came with a clone: it is somebody else's memory, and would speak as this person.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.agents.call import HookCall
    from brim.agents.place import Place
    from brim.scratch.writer import ScratchWriter

PATIENCE = 0.4
"""Seconds that a hook waits for another writer of the journal: many sessions may share a project."""

_CHECKED = "scratch"


def scratch_root(call: HookCall, place: Place, *, anew: bool = False) -> str | None:
    """Return the folder ``.context`` that *call* may write to, whether it is there yet or not; None if there is none.

    Whether git tracks it is asked once for each session, or *anew*: before what it holds is told to anybody.
    """
    if place.only_injects or place.project is None or not call.session:
        return None
    root = os.path.join(place.project, ".context")
    state = place.state(call.session)
    known = state.kept(_CHECKED)
    if anew or not isinstance(known, list) or len(known) != 2 or known[0] != root:
        from brim.store.project import is_tracked

        tracked = is_tracked(os.path.join(root, ""), endings=("journal.jsonl", ".brim-scratch"))
        known = [root, not tracked]
        state.keep(_CHECKED, known)
    return root if known[1] is True else None


def writer_of(call: HookCall, place: Place) -> ScratchWriter | None:
    """Return the writer of this session's scratch files, None if it may have none."""
    if scratch_root(call, place, anew=True) is None or place.project is None:
        return None
    from brim.scratch.writer import ScratchWriter

    return ScratchWriter(place.project, session=call.session, clock=lambda: place.now, patience=PATIENCE)
