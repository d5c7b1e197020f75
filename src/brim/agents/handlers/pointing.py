"""Where an agent whose window was compacted finds what it knew: the line that names its scratch file."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.agents.call import HookCall
    from brim.agents.place import Place


def scratch_line(call: HookCall, place: Place) -> str:
    """Return the line; nothing if this session has written no scratch file."""
    path = scratch_file(call, place)
    if path is None or place.project is None:
        return ""
    here = os.path.realpath(call.cwd or place.cwd) == os.path.realpath(place.project)
    shown = os.path.relpath(path, place.project).replace(os.sep, "/") if here else path
    return (
        f"- Before the compaction this session kept a scratch memory: {_one_line(shown)} "
        "(what the human asked, decisions, files, dead ends). Read it before you go on.\n"
    )


def scratch_file(call: HookCall, place: Place) -> str | None:
    """Return the path of this session's scratch file, or None if it has none that may be used.

    Only a file of this very session counts: one that came with a clone, or another session's, is somebody else's word.
    """
    if place.project is None or not call.session:
        return None
    from brim.scratch.index import NAME as INDEX
    from brim.store.project import is_tracked

    folder = _folder(call, place, place.project)
    path = os.path.join(folder or "", INDEX)
    usable = folder is not None and os.path.isfile(path) and not os.path.islink(path) and not is_tracked(path)
    return path if usable else None


def _folder(call: HookCall, place: Place, project: str) -> str | None:
    """Return the folder that this session has in *project*; a supervisor's own is its agent's too."""
    from brim.errors import BrimError
    from brim.scratch.folder import NAME, check_folder, owner_of, place_of

    root = os.path.join(project, NAME)
    try:
        folder = place_of(root, call.session, now=place.now, claim=False) if check_folder(root) else root
        if not check_folder(folder):
            return None
    except BrimError:
        return None
    owner = owner_of(folder).get("session")
    return folder if owner == call.session or (place.supervised and isinstance(owner, str)) else None


def _one_line(path: str) -> str:
    return "".join([letter if letter.isprintable() else "?" for letter in path])
