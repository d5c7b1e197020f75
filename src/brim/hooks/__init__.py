"""What happens inside an agent? One short process per event, and the status line.

``process`` is that process and ``startup`` how it starts fast. ``event`` is what an agent says and what brim answers,
in neutral words; ``client`` and one module per agent (``claude``, ``codex``, ``gemini``) translate. ``state`` is the
workspace of a call and what is remembered between two.

``handlers`` has a function per event. They use ``rules`` (what the agent is told), ``gate`` and ``settlement`` (what
it may spend, and has spent), ``fullness`` (how full the window is), ``scratchpad`` and ``lost_facts`` (what must
survive a compaction), ``attention`` (what a person should look at), and ``transcript`` (how session files are read).
``statusline`` reads what the client says, ``status_drawing`` draws it, ``status_chain`` runs the status line that was
there before.
"""

from __future__ import annotations

from brim._lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.hooks.event import Answer as Answer
    from brim.hooks.event import HookCall as HookCall
    from brim.hooks.fullness import usage_now as usage_now
    from brim.hooks.process import main as main
    from brim.hooks.process import run_hook as run_hook
    from brim.hooks.startup import write_startup as write_startup
    from brim.hooks.state import HookWorkspace as HookWorkspace
    from brim.hooks.state import SessionState as SessionState
    from brim.hooks.state import UsageSeen as UsageSeen

__getattr__, __dir__ = exports(
    __name__,
    event="Answer HookCall",
    fullness="usage_now",
    process="main run_hook",
    startup="write_startup",
    state="HookWorkspace SessionState UsageSeen",
)
