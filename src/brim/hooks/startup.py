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

from brim import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
"""The folder that holds this brim."""

RECORD = os.path.join(PACKAGE, f"brim-{__version__}.dist-info", "RECORD")
"""The list of brim's files, which an installer writes; an editable install has none next to its modules."""

LIBRARY = """
    _weakrefset _collections_abc bisect collections collections.abc contextlib copyreg datetime enum functools
    fnmatch json json.decoder json.encoder json.scanner keyword locale math operator random re re._casefix re._compiler
    re._constants re._parser reprlib signal sqlite3 sqlite3.dbapi2 stat string struct types unicodedata weakref
"""
"""The modules of the standard library that hooks may import; those that aren't Python code are left to Python."""

DOORS = ["adapters", "agents", "cli", "guard", "history", "install", "loopback", "mcp", "report", "run", "ui", "window"]
"""The packages that no hook imports."""


_FLAGS = os.O_RDONLY
for _flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"):  # as brim.files has them, which isn't imported yet
    _FLAGS |= getattr(os, _flag, 0)


def startup_path(home: str) -> str:
    """Return where the modules of hooks are in the user's folder *home*, for this version of Python."""
    return os.path.join(home, "cache", f"startup-{sys.implementation.cache_tag}.bin")


def write_startup(home: str) -> str:
    """Write the modules of hooks into the user's folder *home*; return the file, empty for an editable install."""
    from contextlib import suppress
    from importlib.util import find_spec
    from pkgutil import walk_packages

    from brim.files import replace_file

    path = startup_path(home)
    if not os.path.exists(RECORD):
        with suppress(FileNotFoundError):
            os.unlink(path)
        return ""
    root = os.path.join(PACKAGE, "brim")
    ours = [each.name for each in walk_packages([root], "brim.") if each.name.split(".")[1] not in DOORS]
    index, data = {}, b""
    for name in (*LIBRARY.split(), *ours):
        with suppress(ImportError):  # another version of Python has other modules
            spec: Any = find_spec(name)
            source = spec.loader.get_source(name) if spec is not None and spec.has_location else None
            if source is not None:
                code = marshal.dumps(_compiled(source, spec.origin))
                index[name] = (spec.origin, len(data), len(code))
                data += code
    head = marshal.dumps((_stamp(), index))
    os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
    replace_file(path, len(head).to_bytes(8, "big") + head + data)
    return path


def _compiled(source: str, path: str) -> CodeType:
    """Return the code of a module without docstrings and annotations of functions, which no hook reads."""
    import ast

    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
    return compile(tree, path, "exec", dont_inherit=True, optimize=2)


def use_startup(home: str) -> bool:
    """Take modules from the file that ``write_startup`` wrote, if it fits this brim and this Python."""
    try:
        handle = os.open(startup_path(home), _FLAGS)
        found = os.fstat(handle)
        others = 0o022 if hasattr(os, "getuid") else 0  # Windows doesn't tell who can write it
        if found.st_mode & (0o170000 | others) != 0o100000 or (others and found.st_uid != os.getuid()):
            return False  # not a plain file that only this user can write
        size = int.from_bytes(os.read(handle, 8), "big")
        stamp, index = marshal.loads(os.read(handle, size))  # noqa: S302 (only this user can write it)
        if stamp != _stamp():
            return False
    except (OSError, ValueError, EOFError, TypeError, OverflowError, MemoryError):
        return False
    sys.meta_path.insert(0, _Modules(handle, 8 + size, index))
    return True


def _stamp() -> tuple[Any, ...]:
    """Return what a startup file is written for. An installer replaces RECORD, which has the hash of every file."""
    # Not RECORD's own hash: a hook would have to read and hash it, about a millisecond per call. A hash that only
    # ``brim init`` computes decides nothing, since the hook compares what it can see: path, size, time and inode.
    found = os.stat(RECORD)
    brim = (__version__, RECORD, found.st_size, found.st_mtime_ns, found.st_ino)
    return *brim, sys.version, sys.implementation.cache_tag


_ModuleSpec: Any = type(__spec__)
"""``importlib.machinery.ModuleSpec``, which every module has one of, without the imports around it."""


class _Modules:
    """Finds and loads the modules of a startup file."""

    def __init__(self, handle: int, begin: int, index: dict[str, tuple[str, int, int]]) -> None:
        self._handle, self._begin, self._index = handle, begin, index

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> Any:
        """Return how to load the module *name*, None if it isn't in the file."""
        if name not in self._index:
            return None
        origin = self._index[name][0]
        spec = _ModuleSpec(name, self, origin=origin)
        if origin.endswith("__init__.py"):
            spec.submodule_search_locations = [os.path.dirname(origin)]
        return spec

    def create_module(self, spec: object) -> None:
        """Let Python create the module."""

    def exec_module(self, module: Any) -> None:
        """Run the code of *module*."""
        module.__file__, at, size = self._index[module.__name__]
        exec(marshal.loads(read_at(self._handle, size, self._begin + at)), module.__dict__)  # noqa: S102, S302


def _seek_and_read(handle: int, size: int, at: int) -> bytes:
    os.lseek(handle, at, os.SEEK_SET)
    return os.read(handle, size)


read_at = getattr(os, "pread", _seek_and_read)
"""Read from a place in an open file; Windows has no ``os.pread``."""
