"""What did all sessions together take?

Bottom up: ``request`` is one request as a file has it, and which of two reports of it counts; ``claude`` reads it from a
line of a transcript without making events; ``gathered`` puts the files together, each request once; ``prices`` says what
each costs; ``unattributed`` is what the clients' own totals have beyond that; ``groups`` adds up by day, model, session
or project. The files themselves are read in ``brim.tracking.readers`` (``scan``, ``scan_files``, ``scan_many``).
"""
