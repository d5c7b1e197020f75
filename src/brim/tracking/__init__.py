"""How full is the window, and what happened in the session?

``events`` are what happened, whichever agent wrote it down; ``readers`` make them of lines, one
module per client. ``windows`` says how large a window is and what is in it, ``estimate`` what fills
it and what the next prompt will take; ``budget`` puts these together: ``ContextBudget``.
``notices`` are what it tells. ``auto_compact`` knows where Claude Code compacts on its own,
``plan_windows`` how much of a subscription's windows is used. ``compaction`` writes the request to
compact and keeps what waits to be sent. ``sessions`` finds the agents' files and the requests in
them, ``live`` follows one while it grows. ``requests`` takes each request apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim._lazy import exports

if TYPE_CHECKING:
    from brim.tracking.budget import ContextBudget as ContextBudget
    from brim.tracking.compaction import Pending as Pending
    from brim.tracking.compaction import build_compact_prompt as build_compact_prompt
    from brim.tracking.events import Compaction as Compaction
    from brim.tracking.events import End as End
    from brim.tracking.events import Event as Event
    from brim.tracking.events import Message as Message
    from brim.tracking.events import ModelSeen as ModelSeen
    from brim.tracking.events import RunTotal as RunTotal
    from brim.tracking.events import StateSeen as StateSeen
    from brim.tracking.events import ToolCall as ToolCall
    from brim.tracking.events import ToolResult as ToolResult
    from brim.tracking.events import Usage as Usage
    from brim.tracking.notices import CompactDue as CompactDue
    from brim.tracking.notices import ContextWarning as ContextWarning
    from brim.tracking.readers import FORMATS as FORMATS
    from brim.tracking.readers import format_of as format_of
    from brim.tracking.readers.stream import Feed as Feed
    from brim.tracking.readers.stream import read as read
    from brim.tracking.windows import Window as Window
else:
    __getattr__, __dir__ = exports(
        __name__,
        **{
            "budget": "ContextBudget",
            "compaction": "Pending build_compact_prompt",
            "events": "Compaction End Event Message ModelSeen RunTotal StateSeen ToolCall ToolResult Usage",
            "notices": "CompactDue ContextWarning",
            "readers": "FORMATS format_of",
            "readers.stream": "Feed read",
            "windows": "Window",
        },
    )
