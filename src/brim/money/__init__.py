"""What was spent, and what may be spent?

``spending`` is the one question that hooks, runs and commands ask: ``Spending``. ``limits`` is one
limit as a person writes it, ``periods`` when it counts from, ``settings`` where
limits are kept: in the user's ``config.yaml``. ``standing`` compares limits with the index of
requests; ``ahead`` is what the next request will cost. ``decision`` is the table of what happens at
a limit, in one function without side effects; ``forecast`` how far the rest reaches, ``amounts``
and ``words`` how money is said.
"""
