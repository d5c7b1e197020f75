"""What did past sessions lose, cost and waste?

``overview`` puts the report together: ``cache`` finds requests that broke the cache, ``waste`` what
filled windows for nothing, ``lost`` what compactions lost, ``money`` what it all cost. ``findings``
gives each of them the events of a file, and says what recorded requests add. ``usage`` adds up the
requests of all sessions, each once; ``index`` remembers what was read, so that the next time only
what is new is.
"""
