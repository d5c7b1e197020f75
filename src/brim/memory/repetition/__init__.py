"""Did this lead anywhere?

Bottom up: ``commands`` reads a shell command, ``edits`` what a call changes in files. A ``step`` is
a call with its end: a failure, an answer, a refusal or an interrupt. ``rules`` has the rules that
find dead ends, and the detector that gives every step of every agent to all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim._lazy import exports

if TYPE_CHECKING:
    from brim.memory.repetition.rules import DeadEndDetector as DeadEndDetector
    from brim.memory.repetition.step import RULES as RULES
    from brim.memory.repetition.step import STATUSES as STATUSES
    from brim.memory.repetition.step import DeadEnd as DeadEnd
else:
    __getattr__, __dir__ = exports(__name__, rules="DeadEndDetector", step="DeadEnd RULES STATUSES")
