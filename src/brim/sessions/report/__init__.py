"""What did past sessions lose, cost and waste?

``overview`` puts the report together: ``cache`` finds requests that broke the cache, ``waste`` what
filled windows for nothing, ``lost`` what compactions lost, ``money`` what it all cost. ``findings``
gives each of them the events of a file, and says what recorded requests add. ``usage`` adds up the
requests of all sessions, each once; ``week`` says in one sentence what brim did, ``own_texts`` what
its own texts took; ``index`` remembers what was read, so that the next time only
what is new is.
"""
