"""Copies of an agent's settings from before brim changed them: as many as say something that no other says.

A copy lies beside its file. One is made before the first change, and before a later one if somebody has changed
something meanwhile. When brim is taken out, the copies go that say nothing but what the file says then.
"""

from __future__ import annotations

import os
from contextlib import suppress

from brim.agents.install.planning import plan_uninstall
from brim.agents.install.settings_text import BLANK
from brim.agents.install.targets import read_settings_file
from brim.cli.saving import keep
from brim.errors import BrimError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.agents.install.planning import Change
    from brim.agents.install.receipt import Record


class Backups:
    """The copies of the file that *change* is about; *record* is what is known of it, *home* the user's folder."""

    def __init__(self, change: Change, record: Record | None, home: str) -> None:
        self._change, self._record, self._home = change, record, home
        self._theirs = self._without_brim(change.before)

    def make(self) -> str:
        """Copy the file, if it says something that no copy says; return the copy's name, empty if none is needed."""
        before = self._change.before
        if before is None or self._theirs is None or self._same():
            return ""
        return keep(self._change.target.path, before)

    def remove(self) -> None:
        """Remove the copies that say nothing but what the file says without brim."""
        for name in self._same():
            with suppress(OSError):
                os.unlink(name)

    def _same(self) -> list[str]:
        names = self._record.backups if self._record is not None else ()
        return [name for name in names if os.path.lexists(name) and self._says_the_same(name)]

    def _says_the_same(self, name: str) -> bool:
        try:
            return self._without_brim(read_settings_file(name)) == self._theirs
        except BrimError:
            return False

    def _without_brim(self, text: str | None) -> str | None:
        """Return *text* without what is brim's; None if nothing is left."""
        left = plan_uninstall(self._change.target, text, self._record, home=self._home).after
        return left if left is not None and left.strip(BLANK) else None
