"""How a hook starts fast: one file with the compiled modules that hooks import.

Finding a hundred modules one by one takes longer than running them. So ``brim init`` writes the code of every module
that hooks need, brim's and the standard library's, into one file with an index; a hook reads each from there. The file
is ignored if brim, Python or the file itself isn't exactly what it was written for. There is none for an editable
install, whose modules change.
"""

from __future__ import annotations

import marshal
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
"""The folder that holds this brim."""

LIBRARY = """
    _weakrefset _collections_abc bisect collections collections.abc contextlib copyreg datetime enum functools
    fnmatch json json.decoder json.encoder json.scanner keyword locale math operator random re re._casefix re._compiler
    re._constants re._parser reprlib signal sqlite3 sqlite3.dbapi2 stat string struct types unicodedata weakref
"""
"""The modules of the standard library that hooks may import; those that aren't Python code are left to Python."""

DOORS = ("adapters", "agents", "cli", "guard", "install", "mcp", "report", "run", "web")
"""The packages that no hook imports."""


def startup_path(home: str) -> str:
    """Return where the modules of hooks are in the user's folder *home*, for this version of Python."""
    return os.path.join(home, "cache", f"startup-{sys.implementation.cache_tag}.bin")


def write_startup(home: str) -> str:
    """Write the modules of hooks into the user's folder *home*; return the file, empty for an editable install."""
    from brim.files import replace_file

    record = _record()
    path = startup_path(home)
    if not record:
        if os.path.exists(path):
            os.unlink(path)
        return ""
    index, data = {}, bytearray()
    for name, origin, code in _modules():
        code_bytes = marshal.dumps(code)
        index[name] = (origin, len(data), len(code_bytes))
        data += code_bytes
    head = marshal.dumps((_stamp(record), record, index))
    os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
    replace_file(path, len(head).to_bytes(8, "big") + head + data)
    return path


def use_startup(home: str) -> bool:
    """Take modules from the file that ``write_startup`` wrote, if it fits this brim and this Python."""
    try:
        handle = os.open(startup_path(home), os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        found = os.fstat(handle)
        if found.st_mode & 0o170022 != 0o100000 or (hasattr(os, "getuid") and found.st_uid != os.getuid()):
            return False  # not a plain file that only this user can write
        size = int.from_bytes(os.read(handle, 8), "big")
        stamp, record, index = marshal.loads(os.read(handle, size))  # noqa: S302 (only this user can write it)
        if os.path.dirname(os.path.dirname(record)) != PACKAGE or stamp != _stamp(record):
            return False
    except (OSError, ValueError, EOFError, TypeError, OverflowError, MemoryError):
        return False
    sys.meta_path.insert(0, _Modules(handle, 8 + size, index))
    return True


class _Modules:
    """Finds and loads the modules of a startup file."""

    def __init__(self, handle: int, begin: int, index: dict[str, tuple[str, int, int]]) -> None:
        self._handle, self._begin, self._index = handle, begin, index

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> Any:
        """Return how to load the module *name*, None if it isn't in the file."""
        if name not in self._index:
            return None
        from importlib.machinery import ModuleSpec

        origin = self._index[name][0]
        spec = ModuleSpec(name, self, origin=origin)  # type: ignore[arg-type]
        if origin.endswith("__init__.py"):
            spec.submodule_search_locations = [os.path.dirname(origin)]
        return spec

    def create_module(self, spec: object) -> None:
        """Let Python create the module."""

    def exec_module(self, module: Any) -> None:
        """Run the code of *module*."""
        origin, at, size = self._index[module.__name__]
        module.__file__ = origin
        exec(marshal.loads(os.pread(self._handle, size, self._begin + at)), module.__dict__)  # noqa: S102, S302


def _stamp(record: str) -> tuple[str, str, str]:
    """Return what a startup file is written for: RECORD lists every file of brim with its hash."""
    from brim._sha import sha256_hex

    with open(record, "rb") as file:
        return sha256_hex(file.read()), sys.version, sys.implementation.cache_tag or ""


def _record() -> str:
    """Return the RECORD of the installed brim, whose folder names its version; empty for an editable install."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        files = distribution("brim").files or []
    except PackageNotFoundError:
        return ""
    paths = [str(file.locate()) for file in files if file.name == "RECORD"]
    own = os.path.join(PACKAGE, "brim", "__init__.py")
    is_own = any(os.path.abspath(file.locate()) == own for file in files if file.name == "__init__.py")
    return os.path.abspath(paths[0]) if paths and is_own else ""


def _modules() -> list[tuple[str, str, Any]]:
    """Return name, file and code of every module that a hook may import."""
    from importlib.util import find_spec

    root = os.path.join(PACKAGE, "brim")
    ours = [f"brim.{name}" for name in _named(root) if name.partition(".")[0] not in DOORS]
    found = []
    for name in (*LIBRARY.split(), *ours):
        try:
            spec = find_spec(name)
        except ImportError:  # another version of Python
            continue
        loader: Any = spec.loader if spec is not None else None
        code = loader.get_code(name) if loader is not None and hasattr(loader, "get_code") else None
        if spec is not None and spec.origin and spec.has_location and code is not None:
            found.append((name, spec.origin, code))
    return found


def _named(folder: str, above: str = "") -> list[str]:
    """Return the names of all modules below the package *folder*."""
    found = []
    for entry in sorted(os.scandir(folder), key=lambda each: each.name):
        if entry.is_dir() and os.path.exists(os.path.join(entry.path, "__init__.py")):
            found += [f"{above}{entry.name}", *_named(entry.path, f"{above}{entry.name}.")]
        elif entry.name.endswith(".py") and entry.name != "__init__.py":
            found.append(f"{above}{entry.name[:-3]}")
    return found
