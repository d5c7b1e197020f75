"""What did past sessions lose, cost and waste?

``overview`` puts the report together: ``cache`` finds requests that broke the cache, ``waste`` what
filled windows for nothing, ``compactions`` what they lost, ``money`` what it all cost. ``findings``
gives each of them the events of a file, and says what recorded requests add. ``usage`` adds up the
requests of all sessions, each once; ``index`` remembers what was read, so that the next time only
what is new is. ``watch``, ``context`` and ``lost`` are about one session: how full its window is,
of what, request by request, and what its compactions lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim._lazy import exports

if TYPE_CHECKING:
    from brim.report.overview import Overview as Overview
    from brim.report.overview import sessions_report as sessions_report
    from brim.report.usage import UsageReport as UsageReport
    from brim.report.usage import usage_report as usage_report
    from brim.report.watch import Reading as Reading
    from brim.report.watch import Watch as Watch
else:
    __getattr__, __dir__ = exports(
        __name__,
        overview="Overview sessions_report",
        usage="UsageReport usage_report",
        watch="Reading Watch",
    )
