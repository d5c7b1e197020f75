"""What does the browser show?

``server`` puts the pages together and serves them on this machine; ``gate`` lets in only the
browser that brought the token, and keeps other pages out. ``place`` is where the pages look. One
module per page: ``now``, ``session``, ``rules``, ``money``. ``background`` follows sessions while
they grow, and reads what takes longer than a page should. Figures come from the functions behind
the commands' ``--json``.
"""
