"""What a reader is: one format of one agent, line by line."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Protocol

    from brim.tracking.events import Event
else:
    Protocol = object


class Reader(Protocol):
    """Turns the parsed lines of one stream into events. It keeps what it needs to count nothing twice.

    It never raises on what is in a line: what it does not know it leaves out.
    """

    def events(self, line: Mapping[str, Any], at: int = 0) -> list[Event]:
        """Return what happened in *line*, which begins at byte *at* of its stream."""
        ...
