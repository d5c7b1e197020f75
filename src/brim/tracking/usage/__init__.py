"""What did all sessions together take?

Bottom up: ``request`` is one request as a file has it, and says which of two reports of it counts; ``gathered`` puts
files together, each request once. For Claude Code's transcripts, ``claude_lines`` says which lines are worth parsing,
``claude_repeats`` which only repeat, and ``claude`` reads one without making events. ``prices`` says what a request
costs, ``unattributed`` what the clients' own totals have beyond the requests, ``groups`` adds up by day, model, session
or project. The files themselves are read in ``brim.tracking.readers``: ``scan``, ``scan_files``, ``scan_many``.
"""
