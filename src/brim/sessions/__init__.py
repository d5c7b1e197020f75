"""What happened in sessions, and what did they cost?

``index`` is the one place that knows what a session, a project or a day cost: ``SessionIndex``.
``bulk`` brings it up to date with many files. ``reading`` reads what is new in one file;
``requests`` is one request as the index keeps it,
``entries`` puts requests in and keeps the sums right, ``rests`` is what only a client's total
shows. ``sums`` has every sum of cost, ``files`` how far each file was read, ``storage`` opens,
copies and restores the database, ``repository`` says which project a folder belongs to.
"""
