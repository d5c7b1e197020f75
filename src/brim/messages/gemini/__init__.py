"""Gemini's format.

Calls come right after the user's content, and the very next content answers all of them.
``reading`` reads a content, ``rules`` has ``check`` and finds what a pruner must drop
(``find_broken``), and ``repair`` has ``PASSES``.
"""
