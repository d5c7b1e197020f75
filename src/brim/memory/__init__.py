"""What must survive?

``.context/``: ``quotes`` makes text harmless, and an entry (``entries``) is one thing that must
survive. ``calls``, ``decisions`` and ``states`` take entries from events, ``repetition`` finds what
an agent repeats, and ``model`` collects all of that for one job or from a transcript. ``folder``
manages the folder and its owners, ``journal`` is the file that everything else is made from,
``matching`` avoids duplicates, ``view`` says what holds, ``sentences`` and ``index`` put it into
words, and ``writer`` writes the files.

Compactions: ``inventory`` lists what a window holds (``facts`` are files and numbers,
``statements`` a person's words, ``shell_facts`` commands), ``ranking`` says how much speaks for
giving each back, ``comparison`` what of it is still there. ``compactions`` follows a session
through its compactions, ``lost`` is what each lost and words what comes back, ``instructions`` tell
the summarizer what to keep, and ``token_length`` tells the size of a text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim._lazy import exports

if TYPE_CHECKING:
    from brim.memory.entries import MemoryEntry as MemoryEntry
    from brim.memory.entries import extract_text as extract_text
    from brim.memory.folder import SECTIONS as SECTIONS
    from brim.memory.index import render_index as render_index
    from brim.memory.journal import Journal as Journal
    from brim.memory.model import ScratchModel as ScratchModel
    from brim.memory.repetition import DeadEnd as DeadEnd
    from brim.memory.repetition import RepetitionDetector as RepetitionDetector
    from brim.memory.view import MemoryView as MemoryView
    from brim.memory.writer import ScratchWriter as ScratchWriter
else:
    __getattr__, __dir__ = exports(
        __name__,
        entries="MemoryEntry extract_text",
        folder="SECTIONS",
        index="render_index",
        journal="Journal",
        model="ScratchModel",
        repetition="DeadEnd RepetitionDetector",
        view="MemoryView",
        writer="ScratchWriter",
    )
