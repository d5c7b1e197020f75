"""Rules, and projects to work in: which calls each rule is about is known.

What a match is was decided with ``developed``. Each ``unseen`` set was first run when it was
complete.
"""
