"""What happens inside an agent? One short process per event, and the status line.

``process`` is that process; ``brim._startup`` is how it starts fast. The agent's value
(``brim.agents``) reads the event and words the answer. ``state`` is the workspace of a call and
what is remembered between two.

``handlers`` has a function per event, ``endings`` those for the end of a turn. They use ``rules``
(what the agent is told), ``situations`` (which rules are asked, and with what), ``room`` (how
long a text may be), ``mentions`` (which calls speak
against a rule), ``blocks`` (what a rule refuses), ``protection`` (what would loosen brim;
``commands_run`` reads commands, ``shell_paths``, ``shell_variables`` and ``landing`` say which
files they change), ``gate`` and ``settlement`` (what it may spend, and has spent),
``limit_words`` (what is said at a limit), ``loops`` (what goes in circles), ``transcript`` (how
session files are read, and how full the window is), ``scratchpad``, ``turns`` and ``compactions``
(what must survive a compaction), ``corrections`` (what a prompt corrects), ``reminder`` (what a
turn has left undone), ``attention`` (what a person should look at), and ``retention`` (what is
past its time).

``statusline`` reads what the client says, ``status_drawing`` draws it, and ``status_chain`` runs
the status line that was there before. ``standing`` is how a session stands, for tools and commands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim._lazy import exports

if TYPE_CHECKING:
    from brim.hooks.process import main as main
else:
    __getattr__, __dir__ = exports(
        __name__,
        process="main",
    )
