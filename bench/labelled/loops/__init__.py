"""Sessions in which an agent goes in circles, and ordinary ones.

The checks were made with ``developed``. Each ``unseen`` set was first run when it was complete.
"""
