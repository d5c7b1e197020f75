"""Sessions with dead ends, and what only looks like one.

The detector was made with ``developed``. Each ``unseen`` set was written after the rules had been
changed by the one before.
"""
