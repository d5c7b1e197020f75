"""How full is the window?

``windows`` says how large a window is and what is in it, ``estimate`` what fills it and what the
next prompt will take; ``budget`` puts these together: ``ContextBudget``. ``notices`` are what it
tells. ``auto_compact`` knows where Claude Code compacts on its own, ``plan_windows`` how much of a
subscription's windows is used. ``compaction`` writes the request to compact and keeps what waits to
be sent. ``sessions`` finds the agents' files and the requests in them, ``live`` follows one while
it grows. ``requests`` takes each request apart. The events are in ``brim.agents``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim._lazy import exports

if TYPE_CHECKING:
    from brim.tracking.budget import ContextBudget as ContextBudget
    from brim.tracking.compaction import Pending as Pending
    from brim.tracking.compaction import build_compact_prompt as build_compact_prompt
    from brim.tracking.notices import CompactDue as CompactDue
    from brim.tracking.notices import ContextWarning as ContextWarning
    from brim.tracking.windows import Window as Window
else:
    __getattr__, __dir__ = exports(
        __name__,
        **{
            "budget": "ContextBudget",
            "compaction": "Pending build_compact_prompt",
            "notices": "CompactDue ContextWarning",
            "windows": "Window",
        },
    )
