"""The modules of a hook in one file: finding a hundred files one by one takes longer than what is in them.

After a hook has answered, the code of the modules that it used, brim's and Python's own, is kept in the user's folder,
with size and time of each source. The next one takes a module from there if its source is still the same, and from its
own file if not: so the bundle is never older than what is installed. One that is missing, broken or not writable costs
time, and nothing else.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

    Kept = tuple[str, int, int, int, int]
    """Source, its size, when it was changed (nanoseconds), where its code begins in the bundle, and how long it is."""

LARGEST = 16 << 20
_FIRST = 8
"""Bytes at the beginning that say how long the list of modules is. Their code follows it."""


def bundle_path(home: str) -> str:
    """Return where the bundle for this Python is in the user's folder *home*."""
    return os.path.join(home, "cache", f"hook-{sys.implementation.cache_tag}-{sys.hexversion:08x}.bin")


class Bundle:
    """Finds modules of brim and of Python in the bundle; what it does not have, or not as it is now, others find."""

    def __init__(self, handle: int = -1, kept: dict[str, Kept] | None = None) -> None:
        self._handle, self._kept = handle, kept or {}
        self.missed = False
        """Whether a module was asked for that has to be kept anew."""
        self._spec: Any = type(sys.__spec__)

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> Any:
        """Return how to make the module *name*, None if others must find it."""
        kept = self._kept.get(name)
        if kept is None or not _is_same(kept):
            self.missed = self.missed or kept is not None or name.startswith("brim.")
            return None
        origin = kept[0]
        spec = self._spec(name, self, origin=origin, is_package=origin.endswith("__init__.py"))
        if spec.submodule_search_locations is not None:
            spec.submodule_search_locations.append(os.path.dirname(origin))
        return spec

    def create_module(self, spec: object) -> None:
        """Leave the making of the module to Python."""

    def exec_module(self, module: Any) -> None:
        """Run the code of *module*."""
        import marshal

        kept = self._kept[module.__name__]
        code = marshal.loads(self._code(kept))  # noqa: S302 (this user's own file: see _read)
        module.__file__ = kept[0]  # not by the spec, which would work out where a cache of it is
        exec(code, module.__dict__)  # noqa: S102 (as Python does with its own)

    def _code(self, kept: Kept) -> bytes:
        return os.pread(self._handle, kept[4], kept[3])

    def save(self, home: str) -> None:
        """Keep the modules that are loaded now, beside those that are kept already and still the same."""
        import marshal

        from brim._atomic import replace_file

        kept = {name: (*each[:3], self._code(each)) for name, each in self._kept.items() if _is_same(each)}
        for name, module in list(sys.modules.items()):
            spec: Any = getattr(module, "__spec__", None)
            if name not in kept and _is_kept(name, spec) and spec.loader is not self:
                found = os.stat(spec.origin)
                code: CodeType = spec.loader.get_code(name)
                kept[name] = (spec.origin, found.st_size, found.st_mtime_ns, marshal.dumps(code))
        folder = os.path.dirname(bundle_path(home))
        if not os.path.isdir(folder):
            os.mkdir(folder, 0o700)
        replace_file(bundle_path(home), _packed(kept), durable=False)


def use_bundle(home: str) -> Bundle:
    """Let modules be found in the bundle of *home* from now on."""
    bundle = Bundle(*_read(bundle_path(home)))
    sys.meta_path.insert(0, bundle)
    return bundle


def _packed(kept: dict[str, tuple[str, int, int, bytes]]) -> bytes:
    """Return the bundle that holds *kept*: the length of the list, the list, and the code of each module."""
    import marshal

    listed, at = {}, 0
    for name, (origin, size, changed, code) in kept.items():
        listed[name] = (origin, size, changed, at, len(code))
        at += len(code)
    packed = marshal.dumps(listed)
    return b"".join([len(packed).to_bytes(_FIRST, "big"), packed, *[each[3] for each in kept.values()]])


def _read(path: str) -> tuple[int, dict[str, Kept]]:
    """Return the bundle *path*, opened, and what it holds: nothing, unless it is whole, a plain file, and this user
    alone may write it.
    """
    import marshal

    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return -1, {}
    try:
        found = os.fstat(handle)
        if found.st_mode & 0o170022 == 0o100000 and found.st_uid == os.getuid() and found.st_size <= LARGEST:
            begins = _FIRST + int.from_bytes(os.pread(handle, _FIRST, 0), "big")
            if begins > found.st_size:
                raise ValueError("it is not whole")
            listed = marshal.loads(os.pread(handle, begins - _FIRST, _FIRST))  # noqa: S302 (as just checked)
            kept = {name: (*each[:3], begins + each[3], each[4]) for name, each in listed.items()}
            if begins + sum([each[4] for each in kept.values()]) == found.st_size:
                return handle, kept
    except (OSError, ValueError, EOFError, TypeError, AttributeError, IndexError, OverflowError):
        pass
    os.close(handle)
    return -1, {}


def _is_kept(name: str, spec: Any) -> bool:
    """Whether the module *name* is one to keep: of brim or of Python, and with a source."""
    if spec is None or spec.name != name or not (spec.origin or "").endswith(".py"):
        return False
    return name.startswith("brim.") or name.partition(".")[0] in sys.stdlib_module_names


def _is_same(kept: Kept) -> bool:
    """Whether the source that was *kept* has not changed since."""
    try:
        found = os.stat(kept[0])
    except OSError:
        return False
    return (found.st_size, found.st_mtime_ns) == kept[1:3]
