"""How a file is opened: checked, told from files of other programs and versions, and brought up to date.

A migration is a numbered file of SQL. Each runs in a transaction of its own, in which the file's version is
raised as well: after any accident the file is of one version or of the next.
"""

from __future__ import annotations

import os
import time

from brim.errors import StoreError
from brim.store.database import TIMEOUT, connect
from brim.store.folder import check_ours, make_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.store.database import Database

APPLICATION = 0x6272696D
"""``brim`` in ASCII: how SQLite's header says whose file it is."""

MIGRATIONS = os.path.join(os.path.dirname(__file__), "migrations")
"""The folder of the numbered SQL files."""

VERSION = 2
"""The version of the newest migration, which is what this brim reads and writes."""


def open_database(
    path: str,
    *,
    migrate: bool = True,
    timeout: float = TIMEOUT,
    readonly: bool = False,
    migrations: str = MIGRATIONS,
    version: int = VERSION,
) -> Database:
    """Open brim's file *path*.

    With *migrate* it is made if it is missing and brought up to *version*; without, and if *readonly*, that is an
    error. A file that is damaged, newer, or of another program is refused and left as it is.
    """
    migrate = migrate and not readonly
    if migrate and not os.path.lexists(path):
        make_file(path)
    check_ours(path)
    database = connect(path, timeout=timeout, readonly=readonly)
    try:
        found = version_of(database)
        if found > version:
            raise StoreError(
                f"{path}: was written by a newer brim (version {found} of the file; this one reads {version}): "
                "upgrade brim",
                "newer",
            )
        if found < version:
            if not migrate:
                raise StoreError(
                    f"{path}: is of an older brim (version {found} of the file; this one reads {version}): "
                    "'brim upgrade' brings it up to date",
                    "older",
                )
            bring_up_to_date(database, migrations, version, timeout)
    except BaseException:
        database.close()
        raise
    return database


def fold_log(path: str) -> Database:
    """Move what the log of the file *path* holds into the file, and empty the log, unless somebody works with it now.

    The file is handed back open. A process that is about to end need not close it: SQLite would remove the log with its
    last user, and to make it anew lets whoever writes next wait for the disk.
    """
    database = open_database(path, migrate=False, timeout=0.0)
    try:
        database.row("PRAGMA wal_checkpoint(TRUNCATE)")
    except BaseException:
        database.close()
        raise
    return database


def version_of(database: Database) -> int:
    """Return the version of *database*, 0 if it is empty; raise if it is not brim's."""
    with database.reading():  # of one moment: another process may be about to make the tables
        (application,), (version,) = database.row("PRAGMA application_id"), database.row("PRAGMA user_version")
        filled = application or version or database.row("SELECT 1 FROM sqlite_master")
    if application == APPLICATION:
        return int(version)
    if filled:
        raise StoreError(f"{database.path}: is a database of another program, so it is not touched", "refused")
    return 0


def bring_up_to_date(database: Database, migrations: str, version: int, timeout: float) -> None:
    """Run the migrations that *database* lacks, whichever of several processes comes first."""
    _log_ahead(database, timeout)
    while True:
        with database.writing():
            number = version_of(database) + 1  # another process may have been faster
            if number > version:
                return
            for statement in statements(os.path.join(migrations, f"{number:04}.sql")):
                database.run(statement)
            database.run(f"PRAGMA application_id = {APPLICATION}")
            database.run(f"PRAGMA user_version = {number}")


def statements(path: str) -> list[str]:
    """Return the statements in the SQL file *path*."""
    import sqlite3

    with open(path, encoding="utf-8") as file:
        lines = file.readlines()
    found, begun = [], ""
    for line in lines:
        begun += line
        if sqlite3.complete_statement(begun):
            found.append(begun.strip())
            begun = ""
    return found


def _log_ahead(database: Database, timeout: float) -> None:
    """Switch to write-ahead logging, which the file remembers. SQLite does not wait for others here, so this does.

    A file system without shared memory keeps the old journal, which is slower and as safe.
    """
    until = time.monotonic() + timeout
    while True:
        try:
            database.row("PRAGMA journal_mode = WAL")
            return
        except StoreError as error:
            if error.reason != "busy" or time.monotonic() >= until:
                raise
        time.sleep(0.01)
