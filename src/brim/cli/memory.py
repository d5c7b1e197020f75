"""What a watch remembers of models for the next one: windows that were reported, and how their tokens are counted.

It is a courtesy: whatever goes wrong with it, the watch goes on.
"""

from __future__ import annotations

import os

from brim.errors import BrimError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.store.store import Store
    from brim.tracking.events import Event


class Memory:
    """The user's store, opened when there is something to read or to keep. A store is made only to keep something."""

    def __init__(self, folder: str) -> None:
        self._path = os.path.join(folder, "brim.db")
        self._store: Store | None = None
        self._failed = False
        self._known: set[tuple[str, int]] = set()
        if os.path.exists(self._path) and (store := self._open()) is not None:
            from brim.models.reported import remember_in

            remember_in(store.windows)

    def window(self, model: str, tokens: int) -> None:
        """Keep that *model* has a window of *tokens*, unless the table or the store says so already."""
        if (model, tokens) in self._known or not model or tokens < 1:
            return
        self._known.add((model, tokens))
        from brim.models.light import lookup
        from brim.models.reported import report_window

        try:
            if lookup(model).context_window != tokens and (store := self._open()) is not None:
                report_window(model, tokens, store.windows)
        except BrimError:
            self._failed = True

    def calibrate(self, event: Event) -> None:
        """Learn from *event* how many tokens the model makes of a text."""

    def close(self) -> None:
        """Close the store."""
        if self._store is not None:
            from brim.models.reported import MemoryWindowStore, remember_in

            remember_in(MemoryWindowStore())
            self._store.close()
            self._store = None

    def _open(self) -> Store | None:
        if self._store is None and not self._failed:
            from brim.store.store import open_store

            try:
                self._store = open_store(self._path, timeout=0.5)
            except BrimError:
                self._failed = True
        return self._store
