"""What happened in sessions: what did they cost, how full is the window, and what fills it?

``index`` is the one place that knows what a session, a project or a day cost: ``SessionIndex``.
``up_to_date`` asks whether files have grown; if so, ``updating`` changes the index, ``bulk`` with
many files. ``reading`` reads what is new in one file; ``requests`` is one request as the index
keeps it, ``entries`` puts requests in and keeps the sums right, ``rests`` is what only a client's
total shows. ``sums`` has every sum of cost, ``files`` how far each file was read, ``storage``
opens, copies and restores the database, ``repository`` says which project a folder belongs to.

``session_files`` finds the agents' files, ``lines`` reads one for a report or a composition,
``processes`` many at once. ``window`` says how full a window is, ``composition``
what each request was made of, ``report`` what past sessions lost, cost and wasted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim._lazy import exports

if TYPE_CHECKING:
    from brim.sessions.composition.composed_request import compare as compare
    from brim.sessions.composition.reading import read_requests as read_requests
    from brim.sessions.report.overview import sessions_report as sessions_report
    from brim.sessions.report.usage import usage_report as usage_report
    from brim.sessions.window.budget import ContextBudget as ContextBudget
    from brim.sessions.window.compaction import Pending as Pending
    from brim.sessions.window.compaction import build_compact_prompt as build_compact_prompt
    from brim.sessions.window.windows import Window as Window
else:
    __getattr__, __dir__ = exports(
        __name__,
        **{
            "composition.composed_request": "compare",
            "composition.reading": "read_requests",
            "report.overview": "sessions_report",
            "report.usage": "usage_report",
            "window.budget": "ContextBudget",
            "window.compaction": "Pending build_compact_prompt",
            "window.windows": "Window",
        },
    )
