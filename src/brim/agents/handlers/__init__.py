"""What does brim do when something happens? One file per kind of event, each with ``handle(call, place)``.

``situation`` says what is known around a call, ``candidates`` what matters then, ``injecting`` what of it is told
within the budgets; ``pointing`` names the scratch memory, ``beginning`` keeps what a client cannot be told when it
begins, ``warning`` is what a person is told once. ``attempting`` lets one of these fail without the others.

``start``, ``prompt`` and ``before_tool`` tell. ``after_tool``, ``compaction`` and ``ending`` keep what must survive,
and ``model_call`` how full the window was.
"""
