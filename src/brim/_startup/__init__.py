"""How a hook starts fast: one file with the compiled modules that hooks import.

Finding a hundred modules one by one takes longer than running them. So ``brim init`` writes the
code of every module that hooks need, brim's and the standard library's, into one file with an
index; a hook reads each from there. The file is ignored if brim, Python or the file itself isn't
exactly what it was written for. There is none for an editable install, whose modules change.

``writer`` writes the file. ``compiler`` compiles a module for it: brim's own modules get the small
stand-ins ``dataclasses`` and ``typing`` of this package instead of the real ones. Only this module
and what ``import brim`` loads are read from the disk at every hook, so they import nothing that
Python hasn't loaded yet.
"""

from __future__ import annotations

import marshal
import os
import sys

from brim import __version__

PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
"""The folder that holds this brim."""

RECORD = os.path.join(PACKAGE, f"brim-{__version__}.dist-info", "RECORD")
"""The list of brim's files, which an installer writes; an editable install has none next to its
modules."""


BETWEEN_REQUESTS = ("PostToolBatch", "BeforeModel")
"""The agents' own names for the events between two requests: most have nothing to do there."""
_LIMITS = (("config.yaml", b"limit"), ("accepted/limits.json", b"amount"))
"""Files of the user's folder, and the word in each without which it sets no limit: the settings,
and the limits that apply while those have a mistake."""
_PROJECT_SETTINGS = ".brim/config.yaml"
"""A project's settings, which may set a limit for it."""
_LARGEST_SETTINGS = 1 << 17


def hook() -> None:
    """Answer one event and end: the process that an agent starts."""
    home = os.environ.get("BRIM_HOME", "")
    if home and sys.argv[1:2] and sys.argv[1] in BETWEEN_REQUESTS and not may_have_limits(home):
        while os.read(0, 1 << 16):  # an agent may fail if nobody takes what it sends
            pass
        os._exit(0)
    _use_startup_of_user()
    from brim.hooks.process import main

    main()


def may_have_limits(home: str) -> bool:
    """Whether the user's folder *home* may set a limit. Anything that can't be read may."""
    if "BRIM_SPEND_LIMIT" in os.environ or os.path.exists(_PROJECT_SETTINGS):
        return True
    for name, word in _LIMITS:
        try:
            handle = os.open(os.path.join(home, name), _FLAGS)
        except FileNotFoundError:
            continue
        except OSError:
            return True
        settings = os.read(handle, _LARGEST_SETTINGS)
        os.close(handle)
        if word in settings or len(settings) == _LARGEST_SETTINGS:
            return True
    return False


def status_line() -> None:
    """Print the status line and end: the process that a client starts after each message."""
    _use_startup_of_user()
    from brim.hooks.process import status_line

    status_line()


def _use_startup_of_user() -> None:
    """Use the start-up file of the user's folder, which the launcher names."""
    home = os.environ.get("BRIM_HOME", "")
    if home:
        use_startup(home)


def startup_path(home: str) -> str:
    """Return where the modules of hooks are in the user's folder *home*, for this version of
    Python."""
    return os.path.join(home, "cache", f"startup-{sys.implementation.cache_tag}.bin")


def use_startup(home: str) -> bool:
    """Take modules from the start-up file of *home*, if it fits this brim and this Python."""
    modules = _modules_for(home)
    if modules is None:
        return False
    sys.meta_path.insert(0, modules)  # type: ignore[arg-type]
    return True


def is_startup_ours(home: str) -> bool:
    """Whether the start-up file of *home* fits this brim and this Python."""
    modules = _modules_for(home)
    if modules is None:
        return False
    os.close(modules.handle)
    return True


def _modules_for(home: str) -> _Modules | None:
    """Return the modules in the start-up file of *home*; None if it's another brim's or damaged."""
    try:
        handle = os.open(startup_path(home), _FLAGS)
        status = os.fstat(handle)
        if not _is_safe(status):
            return None
        size = int.from_bytes(os.read(handle, 8), "big")
        written_for, index = marshal.loads(os.read(handle, size))  # noqa: S302 (only this user can write it)
        if written_for != stamp():
            return None
    except (OSError, ValueError, EOFError, TypeError, OverflowError, MemoryError):
        return None
    return _Modules(handle, 8 + size, index)


# As brim.files has them, which isn't imported yet.
_FLAGS = os.O_RDONLY
for _flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"):
    _FLAGS |= getattr(os, _flag, 0)

_FILE_TYPE = 0o170000
_PLAIN_FILE = 0o100000
_OTHERS_WRITE = 0o022


def _is_safe(status: os.stat_result) -> bool:
    """Whether it's a plain file that only this user can write."""
    if status.st_mode & _FILE_TYPE != _PLAIN_FILE:
        return False
    if not hasattr(os, "getuid"):
        return True  # Windows doesn't tell who can write it
    return status.st_uid == os.getuid() and not status.st_mode & _OTHERS_WRITE


def stamp() -> tuple[object, ...]:
    """Return what a start-up file is written for.

    An installer replaces RECORD, which has the hash of every file.
    """
    # Not RECORD's own hash: a hook would have to read and hash it, about a millisecond per call. A
    # hash that only ``brim init`` computes decides nothing, since the hook compares what it can
    # see: path, size, time and inode.
    status = os.stat(RECORD)
    brim = (__version__, RECORD, status.st_size, status.st_mtime_ns, status.st_ino)
    return *brim, sys.version, sys.implementation.cache_tag


_ModuleSpec = type(__spec__)
"""``importlib.machinery.ModuleSpec``, which every module has one of, without the imports around
it."""


class _Modules:
    """Finds and loads the modules of a start-up file."""

    def __init__(self, handle: int, begin: int, index: dict[str, tuple[str, int, int]]) -> None:
        self.handle = handle
        self._begin = begin
        self._index = index

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> object:
        """Return how to load the module *name*, None if Python has to find it.

        A module of brim that isn't in the file is refused: its dataclasses would be the real ones,
        which don't know those of the stand-ins.
        """
        if name not in self._index:
            if name.startswith("brim."):
                raise ModuleNotFoundError(f"{name} isn't in the start-up file of hooks", name=name)
            return None
        origin = self._index[name][0]
        spec = _ModuleSpec(name, self, origin=origin)  # type: ignore[arg-type]
        if origin.endswith("__init__.py"):
            spec.submodule_search_locations = [os.path.dirname(origin)]
        return spec

    def create_module(self, spec: object) -> None:
        """Let Python create the module."""

    def exec_module(self, module: object) -> None:
        """Run the code of *module*."""
        namespace = vars(module)
        origin, position, size = self._index[namespace["__name__"]]
        namespace["__file__"] = origin
        code = marshal.loads(read_at(self.handle, size, self._begin + position))  # noqa: S302
        exec(code, namespace)  # noqa: S102


def _seek_and_read(handle: int, size: int, position: int) -> bytes:
    os.lseek(handle, position, os.SEEK_SET)
    return os.read(handle, size)


read_at = getattr(os, "pread", _seek_and_read)
"""Read from a place in an open file; Windows has no ``os.pread``."""
