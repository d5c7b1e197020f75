"""How long brim keeps what it writes. Hooks that tidy up go by these numbers.

``docs/config.md`` has them as a table.
"""

from __future__ import annotations

DAY = 86_400.0

SESSIONS = 30 * DAY
"""What is noted of a session that isn't used any more: its state, what it was told, how far its
files were read."""

JOURNALS = 30 * DAY
"""The journal of a memory that was removed."""

REQUEST_DAYS = 90
"""Requests one by one; after that, what they cost per day, scope, model and branch."""

UNFINISHED = 60.0
"""A file that a killed process was writing."""

LARGEST_LOG = 256 * 1024
"""Bytes after which ``hook.log`` becomes ``hook.log.1``, replacing the one before it."""
