"""What stands in this message? One reader per format, one answer: an ``Entry``.

``entry`` is the answer; ``chat``, ``responses``, ``anthropic`` and ``gemini`` read a message of their format;
``detect`` finds out which format a list is in; ``history`` reads a whole list. Reading never raises on what is in a
message: what makes no sense becomes an ``Entry`` with a problem.
"""
