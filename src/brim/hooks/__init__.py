"""What happens inside an agent? One short process per event, and the status line.

- ``process`` is that process; ``brim._startup`` is how it starts fast. The agent's value
  (``brim.agents``) reads the event and words the answer. ``state`` is the workspace of a call, and
  what is remembered between two.
- ``handlers`` has a function per event, ``endings`` those for the end of a turn.
- ``rules`` tells the agent what it must know: ``situations`` says which rules are asked, and with
  what, ``room`` how long a text may be.
- ``blocks`` refuses calls every time, ``stops`` once: ``breaches`` says which rules a call breaks.
- ``protection`` refuses what would change brim: ``loosening`` by a command, ``changed_files`` and
  ``landing`` by writing to ``protected_files`` (``settings_edits``: but not every edit).
  ``commands_run`` says what a command runs, ``arguments``, ``shell_paths`` and ``shell_variables``
  what its words mean, ``protected_code`` what a script does.
- ``limits`` is what happens at a limit, ``notices`` runs the person's own command there.
- ``loops`` and ``loop_reading`` find what goes in circles, ``reminder`` what a turn left undone.
- ``scratchpad``, ``turns``, ``compactions`` and ``corrections`` keep what must survive;
  ``transcript`` reads session files, and how full the window is.
- ``attention`` is what a person should look at, ``retention`` removes what is past its time.
- ``statusline`` reads what the client says, ``status_drawing`` draws it, and ``status_chain`` runs
  the status line that was there before. ``standing`` is how a session stands, for commands.
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
