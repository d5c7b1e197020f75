"""Did this lead anywhere?

Bottom up: a ``finding`` is what is reported, ``tables`` reads the lists in ``data/``. What a call was: ``commands``
reads a shell command, ``git`` what it takes back, ``edits`` what a call changes in files. How it ended: ``signatures``
keeps of an error what makes it the same error, ``classify`` tells failures from answers, refusals and interrupts. A
``step`` is a call with its end. One file for each rule: ``same_call``, ``same_error``, ``alternation`` and
``missed_edits`` suspect; ``undone`` (with ``versions``), ``failing_tests``, ``sub_agents`` and ``backtracks`` confirm.
The ``detector`` gives every step of every agent to all of them.
"""

from __future__ import annotations

from brim._lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.scratch.dead_ends.detector import DeadEndDetector
    from brim.scratch.dead_ends.finding import RULES, STATUSES, DeadEnd

__all__ = ["RULES", "STATUSES", "DeadEnd", "DeadEndDetector"]

__getattr__, __dir__ = exports(
    __name__,
    {"RULES": "finding", "STATUSES": "finding", "DeadEnd": "finding", "DeadEndDetector": "detector"},
)
