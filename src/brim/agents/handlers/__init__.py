"""What does brim do when something happens? One file per kind of event, each with ``handle(call, place)``.

``situation`` says what is known around a call, ``candidates`` what matters then, ``injecting`` what of it is told
within the budgets. ``start``, ``prompt`` and ``before_tool`` tell; the others keep what must survive.
"""
