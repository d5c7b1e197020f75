"""What was installed where: ``installed.json`` in the user's folder.

Settings show what is there now, but not what was there before. So each file has a record with its original text, and
uninstalling restores that. Without a record, brim recognizes its entries by what they call.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from typing import Any

from brim.errors import BrimError, StoreError
from brim.files import replace_file
from brim.install.agents import read_settings
from brim.store.project import make_folder

NAME = "installed.json"
SCHEMA = 2
LOCK = "installed.lock"
"""Held while settings of agents are changed."""


@dataclass(frozen=True)
class Record:
    """What brim did to one file."""

    agent: str
    scope: str
    hooks: str = "all"
    """``all``, ``injection-only``, or ``plugin`` if the agent has a plugin that brings them."""
    original: str | None = None
    """The text without brim; None if there was no file."""
    installed: str = ""
    """The SHA-256 of the text that brim wrote; empty if 0.1 did. While the file has it, ``original`` is restored."""
    status: str | None = None
    """The status line that was there before, as written; empty if there was none; None if brim left it alone."""
    folder: str = ""
    """The uppermost folder that was made for the file; empty if all existed."""
    backups: tuple[str, ...] = ()
    """The copies that brim made of it."""


def read_records(home: str) -> dict[str, Record]:
    """Return the record of each file. Damaged ones are left out: the settings themselves say enough."""
    try:
        with open(os.path.join(home, NAME), encoding="utf-8") as file:
            found = {str(path): _record(entry) for path, entry in json.load(file)["files"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
    return {path: record for path, record in found.items() if record is not None}


def write_records(home: str, records: Mapping[str, Record]) -> None:
    """Keep *records*, or remove the file if there are none."""
    path = os.path.join(home, NAME)
    files = {key: asdict(each) for key, each in sorted(records.items())}
    try:
        if records:
            make_folder(home)
            replace_file(path, (json.dumps({"schema": SCHEMA, "files": files}, indent=2) + "\n").encode())
        elif os.path.lexists(path):
            os.unlink(path)
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror or error}; it is as it was") from None


def _record(entry: Any) -> Record | None:
    known = {each.name: entry[each.name] for each in fields(Record) if each.name in entry}
    backups = known["backups"] = tuple(known.get("backups", ()))
    texts = [*backups, *(value for name, value in known.items() if name != "backups")]
    if not {"agent", "scope"} <= known.keys() or not all(each is None or isinstance(each, str) for each in texts):
        return None
    if "installed" not in known:  # of 0.1, which kept the original only as a copy next to the file
        blank = entry.get("blank")
        with suppress(BrimError):
            blank = blank or (read_settings(backups[0]) if backups else "")
        known["original"] = None if blank == "gone" else blank or "{}"
    return Record(**known)
