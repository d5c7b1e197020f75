"""``brim backup``: copies of the store, made and put back."""

from __future__ import annotations

import os

from brim.cli.asking import add_yes, says_yes
from brim.cli.behaviors import counted
from brim.cli.files import readable_size, scope_folders, size_of, store_paths
from brim.cli.learned import Place, add_scope
from brim.cli.output import heading, note, printable, say, say_json, table
from brim.cli.settings import add_json
from brim.errors import BrimError, InputError, StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

FOLDER = "backups"
"""The folder of backups, in the folder of the store."""

HELP = """\
Copy the store to a file, or put such a copy in its place. The project's store is meant inside a project, else your own;
--project and --user say which.

  create [FILE]  copy it as it is at this moment, while others may write (default: a new file in the folder backups
                 beside it); an existing file is never written over
  restore FILE   put FILE, or the backup of that name, in place of the store; what was there is kept beside it
  list           the backups there are, newest first (default)

Examples:
  brim backup create
  brim backup create ~/behaviors.db --user
  brim backup restore brim-20260131-120000.db
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    actions = ("list", "create", "restore")
    parser.add_argument("action", nargs="?", choices=actions, default="list", help="what to do (default: list)")
    file: Any = parser.add_argument("file", nargs="?", metavar="FILE", help="the backup")
    file.completer = complete_backup
    add_scope(parser)
    add_yes(parser)
    add_json(parser)


def complete_backup(prefix: str, **_: object) -> list[str]:
    """Return the names of the backups that begin with what was typed."""
    try:
        found = [os.path.basename(path) for _, path in _backups(scope_folders(Place()))]
    except BrimError:
        return []
    return [name for name in found if name.startswith(prefix)]


def run(options: Namespace) -> int:
    """Do what was asked, and return the exit code."""
    place = Place()
    if options.action != "restore" and (options.yes or options.dry_run):
        raise InputError("--yes and --dry-run belong to 'brim backup restore'")
    if options.action == "list":
        return _list(options, place)
    return _create(options, place) if options.action == "create" else _restore(options, place)


def _create(options: Namespace, place: Place) -> int:
    from brim.store.backup import create

    scope = place.scope(options)
    store = store_paths(place)[scope]
    if os.path.isfile(store):
        _count(store)  # what cannot be restored by this brim is refused before a copy is made
    path = create(store, options.file or _new_name(place, scope))
    count = _count(path)
    if options.as_json:
        say_json({"file": os.path.abspath(path), "scope": scope, "behaviors": count, "bytes": size_of(path)})
    else:
        say(printable(f"{path}: {counted(count, 'behavior')}, {readable_size(size_of(path))}"))
    return 0


def _restore(options: Namespace, place: Place) -> int:
    from brim.store.backup import restore
    from brim.store.events import Event
    from brim.store.store import open_store

    if options.file is None:
        raise InputError("which backup? 'brim backup list' shows them: brim backup restore FILE")
    scope = place.scope(options)
    store = store_paths(place)[scope]
    path = _found(options.file, place, scope)
    count, present = _count(path), _present(store)
    if not options.as_json:
        say(printable(f"{path}: {counted(count, 'behavior')}, would take the place of {store}: {present}"))
    done = not options.dry_run and says_yes("Put it in its place?", yes=options.yes)
    kept = None
    if done:
        if scope == "project":
            place.begin_project()
        kept = restore(path, store)
        with open_store(store) as restored:
            restored.record(Event("restored", place.now, detail={"backup": os.path.basename(path)}))
    if options.as_json:
        say_json({"file": path, "scope": scope, "behaviors": count, "store": store, "kept": kept, "restored": done})
    elif done:
        say(printable("restored" + (f"; what was there is kept in {kept}" if kept else "")))
    if done and scope == "project":
        place.tell_trust()
    return 0 if done or options.dry_run else 1


def _list(options: Namespace, place: Place) -> int:
    from brim.behaviors.jsonl import iso

    if options.file is not None:
        raise InputError(f"'brim backup list' takes no file: brim backup restore {options.file}")
    folders = scope_folders(place)
    if options.scope is not None:
        folders = {options.scope: folders[place.scope(options)]}
    backups = [_described(scope, path) for scope, path in _backups(folders)]
    backups.sort(key=lambda each: (-each["at"], each["file"]))
    for each in backups:
        each["at"] = iso(int(each["at"]))
    if options.as_json:
        say_json({"backups": backups})
        return 0
    if not backups:
        note("there is no backup yet: brim backup create")
        return 0
    rows = [["made (UTC)", "scope", "behaviors", "size", "file"]]
    for each in backups:
        count = f"{each['behaviors']:,}" if each["problem"] is None else each["problem"]
        made = each["at"][:19].replace("T", " ")
        rows.append([made, each["scope"], count, readable_size(each["bytes"]), each["file"]])
    say(heading(table(rows, right=frozenset({2, 3}))))
    return 0


def _new_name(place: Place, scope: str) -> str:
    """Return a name for a backup that says when it was made, in UTC, and that no file has."""
    import time

    made = time.strftime("%Y%m%d-%H%M%S", time.gmtime(place.now))
    start = os.path.join(scope_folders(place)[scope], FOLDER, f"brim-{made}")
    name, number = f"{start}.db", 2
    while os.path.lexists(name):
        name, number = f"{start}-{number}.db", number + 1
    return name


def _found(given: str, place: Place, scope: str) -> str:
    """Return the path of the backup *given*: a file, or the name of one among the backups of *scope*."""
    inside = os.path.join(scope_folders(place)[scope], FOLDER, given)
    if not os.path.exists(given) and os.path.basename(given) == given and os.path.isfile(inside):
        return inside
    if not os.path.isfile(given):
        raise InputError(f"{given}: there is no such backup: 'brim backup list' shows them")
    return os.path.abspath(given)


def _backups(folders: dict[str, str]) -> list[tuple[str, str]]:
    """Return scope and path of every backup in *folders*, and of what a restore kept there."""
    found = []
    for scope, folder in folders.items():
        for inside, begins in ((os.path.join(folder, FOLDER), ""), (folder, "brim.db.bak")):
            try:
                names = sorted(os.listdir(inside))
            except OSError:
                continue
            paths = [os.path.join(inside, name) for name in names if name.startswith(begins)]
            endings = ("-wal", "-shm", "-journal", ".tmp", ".gitignore")
            found += [(scope, path) for path in paths if os.path.isfile(path) and not path.endswith(endings)]
    return found


def _described(scope: str, path: str) -> dict[str, Any]:
    found: dict[str, Any] = {"file": path, "scope": scope, "at": 0.0, "bytes": size_of(path)}
    try:
        found["at"] = os.path.getmtime(path)
        return {**found, "behaviors": _count(path), "problem": None}
    except OSError:
        return {**found, "behaviors": None, "problem": "gone"}
    except StoreError as error:
        return {**found, "behaviors": None, "problem": error.reason}


def _count(path: str) -> int:
    """Return how many behaviors the file *path* holds; raise if it is none that can be used."""
    from brim.store.database import connect
    from brim.store.opening import VERSION, version_of

    database = connect(path, readonly=True)
    try:
        found = version_of(database)
        if found == 0:
            raise StoreError(f"{path}: is empty, so it is no backup", "refused")
        if found > VERSION:
            raise StoreError(f"{path}: was made by a newer brim (version {found}): upgrade brim", "newer")
        return int(database.row("SELECT count(*) FROM behaviors")[0])
    finally:
        database.close()


def _present(store: str) -> str:
    """Say what is in the file that would be replaced; it may be damaged, which is what a backup is for."""
    if not os.path.lexists(store):
        return "there is none yet"
    try:
        return counted(_count(store), "behavior")
    except StoreError as error:
        return f"it is {error.reason}"
