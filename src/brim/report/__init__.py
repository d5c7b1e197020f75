"""What did past sessions lose, cost and waste?

``usage`` adds up the requests of all sessions, each once; ``index`` remembers what was read, so that the next time only
what is new is. ``watch`` is the same for one session while it goes on: how full its window is and what it cost.

``compactions`` finds what each compaction of a session lost and what came back, ``statements`` which sentences are
instructions and decisions, ``billed`` how many bytes a token has; ``lost`` finds the session that a person means.
"""

from __future__ import annotations

from brim._lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.report.usage import UsageReport as UsageReport
    from brim.report.usage import usage_report as usage_report
    from brim.report.watch import Reading as Reading
    from brim.report.watch import Watch as Watch

__getattr__, __dir__ = exports(__name__, usage="UsageReport usage_report", watch="Reading Watch")
