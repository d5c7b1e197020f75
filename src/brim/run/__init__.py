"""Who watches a run, from its first turn to its last?

``command`` reads the agent's own command line; how each agent is started, resumed and spoken to is
in its ``RUN``. ``purse`` keeps the money. ``session`` is what is known of the session: gauge, purse
and scratch memory. ``turns`` decides what comes next and holds what brim itself says to the agent.
``conversation`` has its process and hears the agent and the person, and ``supervisor`` runs it all.
``start`` puts a run together. ``sdk`` is the same for programs that drive Claude through its Agent
SDK.
"""

from brim.run.command import ClientCommand as ClientCommand
from brim.run.command import client_command as client_command
from brim.run.conversation import Face as Face
from brim.run.sdk import supervised as supervised
from brim.run.supervisor import RunReport as RunReport
from brim.run.supervisor import Supervisor as Supervisor
