"""What was installed where: ``installed.json`` in the user's folder.

Settings show what is there, but not what was there before. So each file has a record of that, and uninstalling gives
it back as it was. Without a record brim's entries are found by what they call.
"""

from __future__ import annotations

import json
import os

from brim._frozen import Frozen
from brim.errors import StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

NAME = "installed.json"
SCHEMA = 1
LOCK = "installed.lock"
"""Is held while settings of agents are changed."""


class Record(Frozen):
    """What brim did to one file."""

    __slots__ = ("agent", "scope", "hooks", "resident", "blank", "empty", "status", "folder", "backups")

    agent: str
    scope: str
    hooks: str
    """``all`` or ``injection-only``."""
    resident: bool
    blank: str | None
    """What the file held if that was only blanks; ``gone`` if it was not there; None if it held settings."""
    empty: Mapping[str, str]
    """What stood in containers that were empty."""
    status: str | None
    """The status line that was there before, as it was written; empty if there was none; None if brim left it."""
    folder: str
    """The uppermost folder that had to be made for the file; empty if none had to be."""
    backups: Sequence[str]
    """The copies of it that brim made."""

    def __init__(
        self,
        agent: str,
        scope: str,
        *,
        hooks: str = "all",
        resident: bool = False,
        blank: str | None = None,
        empty: Mapping[str, str] | None = None,
        status: str | None = None,
        folder: str = "",
        backups: Sequence[str] = (),
    ) -> None:
        self._fill(
            agent=agent,
            scope=scope,
            hooks=hooks,
            resident=resident,
            blank=blank,
            empty=dict(empty or {}),
            status=status,
            folder=folder,
            backups=list(backups),
        )


GONE = "gone"


def read_records(home: str) -> dict[str, Record]:
    """Return the record of each file; what is damaged is left out, for the settings themselves say more."""
    try:
        with open(os.path.join(home, NAME), encoding="utf-8") as file:
            files = json.load(file)["files"]
        found = {str(path): _record(entry) for path, entry in files.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
    return {path: record for path, record in found.items() if record is not None}


def write_records(home: str, records: Mapping[str, Record]) -> None:
    """Keep *records*; nothing is left of the file if there are none."""
    from brim._atomic import replace_file
    from brim.store.project import make_folder

    path = os.path.join(home, NAME)
    files = {key: dict(zip(each.__slots__, each._values(), strict=True)) for key, each in sorted(records.items())}
    try:
        if not records:
            if os.path.lexists(path):
                os.unlink(path)
            return
        make_folder(home)
        replace_file(path, (json.dumps({"schema": SCHEMA, "files": files}, indent=2) + "\n").encode())
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror or error}; nothing was changed") from None


def _record(entry: Any) -> Record | None:
    try:
        record = Record(**{name: entry[name] for name in Record.__slots__ if name in entry})
    except (KeyError, TypeError, ValueError):
        return None
    texts = (record.agent, record.scope, record.hooks, record.folder, *record.backups, *record.empty.values())
    optional = (record.blank, record.status)
    sound = all(isinstance(each, str) for each in texts)
    return record if sound and all(each is None or isinstance(each, str) for each in optional) else None
