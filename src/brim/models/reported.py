"""Windows that an agent or a provider has reported: they outrank the table, and are remembered.

The table says what a model can hold; a status line, a run's result or an overflow error says what this account, this
host and these settings really give. What is reported is kept under the name it was reported for, in a store that the
process shares: in memory, unless :func:`remember_in` is given one that outlives the process.
"""

from __future__ import annotations

from brim.errors import InputError
from brim.models.names import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol
else:
    Protocol = object


class WindowStore(Protocol):
    """Where reported windows are kept. Names come in lower case; an unknown name is ``None``, never an error."""

    def get(self, name: str, /) -> int | None:
        """Return the window that was last put for *name*."""

    def put(self, name: str, tokens: int, /) -> None:
        """Keep *tokens* as the window of *name*, in place of an earlier one."""


class MemoryWindowStore:
    """Reported windows for as long as the process runs."""

    def __init__(self) -> None:
        self._windows: dict[str, int] = {}

    def get(self, name: str, /) -> int | None:
        """Return the window that was last put for *name*."""
        return self._windows.get(name)

    def put(self, name: str, tokens: int, /) -> None:
        """Keep *tokens* as the window of *name*, in place of an earlier one."""
        self._windows[name] = tokens

    def __repr__(self) -> str:
        return f"MemoryWindowStore({self._windows!r})"


_store: WindowStore = MemoryWindowStore()


def remember_in(store: WindowStore) -> WindowStore:
    """Make *store* the one that ``model`` and ``lookup`` consult from now on; return the one before it."""
    global _store
    before, _store = _store, store
    return before


def report_window(name: str, tokens: int, store: WindowStore | None = None) -> None:
    """Remember that the model *name* has a window of *tokens*, in *store* or the one of this process."""
    if type(tokens) is not int or tokens < 1:
        raise InputError(f"the reported window of {name[:80]!r} must be a positive whole number, not {tokens!r}")
    key = clean(name)
    if key:
        (_store if store is None else store).put(key, tokens)


def window_of(key: str) -> int:
    """Return the window reported for the lower-case name *key*, or 0."""
    return (_store.get(key) or 0) if key else 0
