"""What does an agent repeat?

Bottom up: ``commands``, ``checks`` and ``git`` read a shell command, ``edits`` what a call changes
in files, ``errors`` which error an output tells, ``outcomes`` how a call ended. A ``step`` is a
call with its end. ``findings`` are dead ends and loops; the rules that find them are in
``failures``, ``circles``, ``failing_tests``, ``undone`` and ``given_up``, and the ``detector``
gives every step of every agent to all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim._lazy import exports

if TYPE_CHECKING:
    from brim.memory.repetition.detector import RepetitionDetector as RepetitionDetector
    from brim.memory.repetition.findings import RULES as RULES
    from brim.memory.repetition.findings import STATUSES as STATUSES
    from brim.memory.repetition.findings import DeadEnd as DeadEnd
    from brim.memory.repetition.findings import Loop as Loop
else:
    __getattr__, __dir__ = exports(
        __name__,
        detector="RepetitionDetector",
        findings="DeadEnd Loop RULES STATUSES",
    )
