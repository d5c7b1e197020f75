"""Who watches a run, from its first turn to its last?

``command`` reads the agent's own command line; how each agent is started, resumed and spoken to is
in its ``RUN``. ``purse`` keeps the money. ``session`` is what is known of the session: gauge, purse
and scratch memory. ``turns`` decides what comes next and holds what brim itself says to the agent.
``conversation`` has its process and hears the agent and the person, and ``supervisor`` runs it all.
``start`` puts a run together. ``sdk`` is the same for programs that drive Claude through its Agent
SDK. ``watch`` only looks on: at a session that goes on without brim, or that is over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim._lazy import exports

if TYPE_CHECKING:
    from brim.run.command import ClientCommand as ClientCommand
    from brim.run.command import client_command as client_command
    from brim.run.conversation import Face as Face
    from brim.run.sdk import supervised as supervised
    from brim.run.supervisor import RunReport as RunReport
    from brim.run.supervisor import Supervisor as Supervisor
else:
    __getattr__, __dir__ = exports(
        __name__,
        command="ClientCommand client_command",
        conversation="Face",
        sdk="supervised",
        supervisor="RunReport Supervisor",
    )
