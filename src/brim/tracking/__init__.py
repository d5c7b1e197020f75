"""How full is the window, and what happened in the session?

``events`` are what happened, whichever agent wrote it down; ``readers`` make them of lines, one module per client.
``windows`` says how large a window is and what is in it, ``gauge`` when that is too much, ``estimate`` what fills it
and what the next prompt will take; ``budget`` puts these together: ``ContextBudget``. ``compaction`` writes the request
to compact and keeps what waits to be sent. ``sessions`` finds the agents' files and the requests in them, ``live``
follows one while it grows.
"""

from __future__ import annotations

from brim._lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.tracking.budget import ContextBudget
    from brim.tracking.compaction import Pending, build_compact_prompt
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
    from brim.tracking.gauge import CompactDue, ContextWarning
    from brim.tracking.readers import FORMATS, format_of
    from brim.tracking.readers.stream import Feed, read
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

_MODULES = {
    "budget": ("ContextBudget",),
    "compaction": ("Pending", "build_compact_prompt"),
    "gauge": ("CompactDue", "ContextWarning"),
    "readers": ("FORMATS", "format_of"),
    "readers.stream": ("Feed", "read"),
    "windows": ("Window",),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}
__getattr__, __dir__ = exports(__name__, dict.fromkeys(__all__, "events") | _HOMES)
