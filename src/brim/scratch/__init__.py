"""What must survive?

Bottom up: an ``entries.Entry`` is one thing that must. ``quoting`` makes text harmless, ``telling`` picks the line that
says what failed, ``content`` and ``drafts`` make entries of it, without secrets. ``answers`` reads what a person
decided, ``states`` and ``calls`` take entries from events, ``dead_ends`` finds what led nowhere
(``evidence`` makes an entry of that), and ``model`` is all of it for one job. ``journal`` is a line in the file that is
the truth. ``view`` is what of it holds; ``sentences`` says an entry in one line, ``index`` (with ``sharing``) and
``details`` are the files that are rendered. ``matching`` keeps one thing from being written twice. The disk is touched
by ``folder`` (with ``locks``), ``journal_file``, ``archive`` and ``writer``.
"""

from __future__ import annotations

from brim._lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.scratch.content import extract_text
    from brim.scratch.dead_ends import DeadEnd, DeadEndDetector
    from brim.scratch.entries import KINDS, SECTIONS, Entry
    from brim.scratch.index import render_index
    from brim.scratch.journal_file import Journal
    from brim.scratch.model import ScratchModel
    from brim.scratch.view import View
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
        "Journal": "journal_file",
        "ScratchModel": "model",
        "ScratchWriter": "writer",
        "View": "view",
        "extract_text": "content",
        "render_index": "index",
    },
)
