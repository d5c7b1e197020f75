"""Anthropic's Messages format.

Messages of one role in a row are one turn; results begin the turn after their calls. ``reading``
reads a message, ``turns`` what belongs together. ``rules`` has ``check``, ``broken`` finds what a
pruner must drop, and ``repair`` has ``PASSES``.
"""
