"""What does the browser show?

``server`` puts the pages together and serves them on this machine; ``gate`` lets in only the browser that brought the
token, and keeps other pages out. ``place`` is where the pages look. One module per page: ``now``, ``session``,
``rules``, ``money``. ``live`` follows sessions while they grow, ``work`` reads what takes longer than a page should,
``picture`` is a session as it is drawn and shared. Figures come from the functions behind the commands' ``--json``.
"""
