"""Which agent is this, and how do we reach it?

Bottom up: ``call`` is what an agent tells a hook and ``answer`` what it is told, whichever agent it is; ``clients`` has
one file per agent for how it says so. ``state`` is what is remembered of a session between two calls (``state_file``:
how), ``log`` where failures go, ``place`` everything around one call, ``usage`` how full the window is and ``due``
whether to look now. ``handlers`` has one file per event. ``hook`` is the process, ``claims`` says when a server answers
in its place, ``bundle`` how it starts fast, ``launcher`` the script that agents call it by, ``install`` how that gets
into their settings. ``statusline`` is what Claude Code shows below its prompt, ``supervise`` what ``brim run`` does.
"""

from __future__ import annotations

from brim._lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.agents.answer import Answer
    from brim.agents.call import HookCall
    from brim.agents.hook import run_hook
    from brim.agents.launcher import install_launcher, launcher_text
    from brim.agents.place import Place
    from brim.agents.state import SessionState, UsageSeen
    from brim.agents.usage import usage_now

__all__ = [
    "Answer",
    "HookCall",
    "Place",
    "SessionState",
    "UsageSeen",
    "install_launcher",
    "launcher_text",
    "run_hook",
    "usage_now",
]

__getattr__, __dir__ = exports(
    __name__,
    {
        "Answer": "answer",
        "HookCall": "call",
        "Place": "place",
        "SessionState": "state",
        "UsageSeen": "state",
        "install_launcher": "launcher",
        "launcher_text": "launcher",
        "run_hook": "hook",
        "usage_now": "usage",
    },
)
