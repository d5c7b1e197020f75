"""What must survive?

Bottom up: ``quotes`` makes text harmless, and an entry (``entries``) is one thing that must
survive. ``calls`` takes entries from events, ``repetition`` finds approaches that failed, and
``model`` collects all of that for one job. ``folder`` manages ``.context/``, ``journal`` is the
file that everything else is made from, ``index`` renders the other files, and ``writer`` writes
them. ``inventory`` lists what a window holds, and ``facts`` decides what of it a compaction has
kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim._lazy import exports

if TYPE_CHECKING:
    from brim.memory.entries import MemoryEntry as MemoryEntry
    from brim.memory.entries import MemoryView as MemoryView
    from brim.memory.entries import extract_text as extract_text
    from brim.memory.folder import SECTIONS as SECTIONS
    from brim.memory.index import render_index as render_index
    from brim.memory.journal import Journal as Journal
    from brim.memory.model import ScratchModel as ScratchModel
    from brim.memory.repetition import DeadEnd as DeadEnd
    from brim.memory.repetition import DeadEndDetector as DeadEndDetector
    from brim.memory.writer import ScratchWriter as ScratchWriter
else:
    __getattr__, __dir__ = exports(
        __name__,
        repetition="DeadEnd DeadEndDetector",
        entries="MemoryEntry MemoryView extract_text",
        folder="SECTIONS",
        index="render_index",
        journal="Journal",
        model="ScratchModel",
        writer="ScratchWriter",
    )
