"""Which agent is this, and how do we reach it?

Bottom up: ``call`` is what an agent tells a hook and ``answer`` what it is told, whichever agent it is; ``clients`` has
one file per agent for how it says so. ``state`` is what is remembered of a session between two calls (``state_file``:
how), ``log`` where failures go, ``place`` everything around one call.

How full is the window: ``usage``, ``due`` (whether to look now), ``awaiting`` (whether the last answer is there yet).
What was spent: ``spenders`` (who), ``transcript_file`` and ``reports`` (what requests took), ``account`` (what is
known), ``settling`` (into the ledger), ``user_ledger`` and ``gate`` (whether there is a limit, and what follows). What
must survive: ``scratch_files`` (where), ``journal`` (at once), ``turn`` (from the transcript), ``instructions`` (for
the summariser), ``had`` and ``lost`` (what its summary left out).

``handlers`` has one file per event. ``hook`` is the process, ``claims`` says when a server answers in its place,
``bundle`` how it starts fast. ``statusline`` is what Claude Code shows below its prompt: ``status_reading``,
``status_spend``, ``status_drawing``, and ``status_chain`` for the one that was there before.
"""

from __future__ import annotations

from brim._lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.agents.answer import Answer
    from brim.agents.call import HookCall
    from brim.agents.hook import run_hook
    from brim.agents.place import Place
    from brim.agents.state import SessionState, UsageSeen
    from brim.agents.usage import usage_now

__all__ = [
    "Answer",
    "HookCall",
    "Place",
    "SessionState",
    "UsageSeen",
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
        "run_hook": "hook",
        "usage_now": "usage",
    },
)
