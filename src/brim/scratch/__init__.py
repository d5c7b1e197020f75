"""What must survive?

Bottom up: ``quotes`` makes text harmless, and an entry (``entries``) is one thing that must
survive. ``calls`` takes entries from events, ``dead_ends`` finds approaches that failed, and
``model`` collects all of that for one job. ``folder`` manages ``.context/``, ``journal`` is the
file that everything else is made from, ``index`` renders the other files, and ``writer`` writes
them. ``inventory`` lists what a window holds, and ``facts`` decides what of it a compaction has
kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim._lazy import exports

if TYPE_CHECKING:
    from brim.scratch.dead_ends import DeadEnd as DeadEnd
    from brim.scratch.dead_ends import DeadEndDetector as DeadEndDetector
    from brim.scratch.entries import MemoryEntry as MemoryEntry
    from brim.scratch.entries import MemoryView as MemoryView
    from brim.scratch.entries import extract_text as extract_text
    from brim.scratch.folder import SECTIONS as SECTIONS
    from brim.scratch.index import render_index as render_index
    from brim.scratch.journal import Journal as Journal
    from brim.scratch.model import ScratchModel as ScratchModel
    from brim.scratch.writer import ScratchWriter as ScratchWriter
else:
    __getattr__, __dir__ = exports(
        __name__,
        dead_ends="DeadEnd DeadEndDetector",
        entries="MemoryEntry MemoryView extract_text",
        folder="SECTIONS",
        index="render_index",
        journal="Journal",
        model="ScratchModel",
        writer="ScratchWriter",
    )
