"""Who wrote this line, and what happened in it?

Bottom up: ``types`` says what a reader is. ``fields``, ``times``, ``tools``, ``inputs`` and ``requests`` are what
readers share. Each format has a module: ``claude_stream``, ``claude_transcript``, ``claude_status``,
``codex_exec``, ``codex_rollout``, ``gemini_stream``, ``gemini_transcript``, ``opencode``, and ``api`` for plain
responses; what only one agent needs is beside it, under its name. ``detect`` finds the format of a line, ``feed`` takes
a stream in pieces, ``files`` reads a session's files, and ``scan`` only the usage in them. Readers raise on nothing
that a line holds.
"""
