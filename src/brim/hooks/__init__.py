"""What happens inside an agent? One short process per event, and the status line.

``process`` is that process and ``startup`` how it starts fast. ``event`` is what an agent says and what brim answers,
in neutral words; ``client`` and one module per agent (``claude``, ``codex``, ``gemini``) translate. ``session`` is
the workspace of a call and what is remembered between two.

``events`` has a handler per event. They use ``rules`` (what the agent is told), ``limits`` and ``settlement`` (what it
may spend, and has spent), ``fullness`` (how full the window is), ``journal`` and ``compaction`` (what must survive),
and ``transcript`` (how session files are read). ``statusline`` reads what the client says, ``status_drawing`` draws
it, ``status_chain`` runs the status line that was there before.
"""

from __future__ import annotations

from brim._lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.hooks.event import Answer, HookCall
    from brim.hooks.fullness import usage_now
    from brim.hooks.process import main, run_hook
    from brim.hooks.session import HookWorkspace, SessionState, UsageSeen
    from brim.hooks.startup import write_startup

__all__ = [
    "Answer",
    "HookCall",
    "HookWorkspace",
    "SessionState",
    "UsageSeen",
    "main",
    "run_hook",
    "usage_now",
    "write_startup",
]

__getattr__, __dir__ = exports(
    __name__,
    {
        "Answer": "event",
        "HookCall": "event",
        "HookWorkspace": "session",
        "SessionState": "session",
        "UsageSeen": "session",
        "main": "process",
        "run_hook": "process",
        "usage_now": "fullness",
        "write_startup": "startup",
    },
)
