"""How full is the window, and what happened in the session?

Bottom up: ``events`` are what happened, whichever agent wrote it down; ``readers`` make them of lines. ``windows`` says
how large the window is, ``occupancy`` what is in it, ``thresholds`` when that is too much, ``filling`` what fills it.
``estimate`` is what the next prompt will take, ``calibrating`` learns from what the last one took. ``gauge`` keeps the
main thread and its sub-agents apart, ``budget`` puts all of it together: ``ContextBudget``. ``compaction`` writes the
request to compact, ``pending`` keeps it from overwriting what a person wrote. ``usage`` adds up what all sessions took.
"""

from __future__ import annotations

from brim._lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.tracking.budget import ContextBudget
    from brim.tracking.compaction import build_compact_prompt
    from brim.tracking.events import (
        Compaction,
        End,
        Event,
        Message,
        ModelSeen,
        RunTotal,
        StateSeen,
        ToolCall,
        ToolResult,
        Usage,
    )
    from brim.tracking.pending import Pending
    from brim.tracking.readers.detect import FORMATS, format_of
    from brim.tracking.readers.feed import Feed
    from brim.tracking.readers.files import read
    from brim.tracking.thresholds import CompactDue, ContextWarning
    from brim.tracking.windows import Window

__all__ = [
    "FORMATS",
    "CompactDue",
    "Compaction",
    "ContextBudget",
    "ContextWarning",
    "End",
    "Event",
    "Feed",
    "Message",
    "ModelSeen",
    "Pending",
    "RunTotal",
    "StateSeen",
    "ToolCall",
    "ToolResult",
    "Usage",
    "Window",
    "build_compact_prompt",
    "format_of",
    "read",
]

__getattr__, __dir__ = exports(
    __name__,
    {
        "FORMATS": "readers.detect",
        "CompactDue": "thresholds",
        "Compaction": "events",
        "ContextBudget": "budget",
        "ContextWarning": "thresholds",
        "End": "events",
        "Event": "events",
        "Feed": "readers.feed",
        "Message": "events",
        "ModelSeen": "events",
        "Pending": "pending",
        "RunTotal": "events",
        "StateSeen": "events",
        "ToolCall": "events",
        "ToolResult": "events",
        "Usage": "events",
        "Window": "windows",
        "build_compact_prompt": "compaction",
        "format_of": "readers.detect",
        "read": "readers.files",
    },
)
