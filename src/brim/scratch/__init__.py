"""What must survive?

Bottom up: ``quotes`` makes text harmless, ``entries`` is what must survive, one thing each. ``calls`` takes entries
from events, ``dead_ends`` finds what led nowhere, and ``model`` is all of it for one job. ``index`` renders the files,
``folder`` is where they are, ``journal`` is the file that is the truth, and ``writer`` writes everything down.
"""

from __future__ import annotations

from brim._lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.scratch.dead_ends import DeadEnd, DeadEndDetector
    from brim.scratch.entries import KINDS, SECTIONS, Entry, View, extract_text
    from brim.scratch.index import render_index
    from brim.scratch.journal import Journal
    from brim.scratch.model import ScratchModel
    from brim.scratch.writer import ScratchWriter

__all__ = [
    "KINDS",
    "SECTIONS",
    "DeadEnd",
    "DeadEndDetector",
    "Entry",
    "Journal",
    "ScratchModel",
    "ScratchWriter",
    "View",
    "extract_text",
    "render_index",
]

__getattr__, __dir__ = exports(
    __name__,
    {
        "KINDS": "entries",
        "SECTIONS": "entries",
        "DeadEnd": "dead_ends",
        "DeadEndDetector": "dead_ends",
        "Entry": "entries",
        "Journal": "journal",
        "ScratchModel": "model",
        "ScratchWriter": "writer",
        "View": "entries",
        "extract_text": "entries",
        "render_index": "index",
    },
)
