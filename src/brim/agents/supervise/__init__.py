"""Who watches a run, from its first turn to its last?

Bottom up: ``command`` reads the agent's own command line, ``clients`` knows how each agent is started, resumed and
spoken to, and what it cannot do; ``child`` is its process. ``notes`` keeps the scratch memory, ``purse`` the money, and
``beside`` reads the file that an agent writes beside its stream; ``tracked`` is all that is known of the session.
``turns`` decides what comes next, ``sentences`` is what brim itself says to the agent, ``asking`` what a person is
asked at the limit. ``face`` is how a run shows itself. ``conversation`` hears the agent and the person, ``at_limit``
finds who answers at the limit, ``supervisor`` runs it all, and ``report`` says how it ended. ``sdk`` (with
``sdk_lines``) is the same for programs that drive Claude through its Agent SDK.
"""

from __future__ import annotations

from brim._lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.agents.supervise.command import ClientCommand, client_command
    from brim.agents.supervise.face import Face
    from brim.agents.supervise.report import RunReport
    from brim.agents.supervise.sdk import supervised
    from brim.agents.supervise.supervisor import Supervisor

__all__ = ["ClientCommand", "Face", "RunReport", "Supervisor", "client_command", "supervised"]

__getattr__, __dir__ = exports(
    __name__,
    {
        "ClientCommand": "command",
        "Face": "face",
        "RunReport": "report",
        "Supervisor": "supervisor",
        "client_command": "command",
        "supervised": "sdk",
    },
)
