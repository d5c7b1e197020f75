"""How full is the window?

``windows`` says how large a window is and what is in it, ``estimate`` what fills it and what the
next prompt will take; ``budget`` puts these together: ``ContextBudget``. ``auto_compact`` knows
where Claude Code compacts on its own. ``compaction`` writes the request to compact and keeps what
waits to be sent. ``live`` follows a session's file while it grows.
"""
