"""The modules of a hook in one file: finding a hundred files one by one takes longer than what is in them.

After a hook has answered, the code of brim's modules that it used is kept in the user's folder, with size and time of
each source. The next one takes a module from there if its source is still the same, and from its own file if not: so
the bundle is never older than what is installed. One that is missing, broken or not writable costs time, and nothing
else.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

    Kept = tuple[str, int, int, bytes]
    """Source, its size, when it was changed (nanoseconds), and its code."""

LARGEST = 16 << 20


def bundle_path(home: str) -> str:
    """Return where the bundle for this Python is in the user's folder *home*."""
    return os.path.join(home, "cache", f"hook-{sys.implementation.cache_tag}-{sys.hexversion:08x}.bin")


class Bundle:
    """Finds brim's modules in the bundle; what it does not have, or not as it is now, others find."""

    def __init__(self, kept: dict[str, Kept]) -> None:
        self._kept = kept
        self.missed = False
        """Whether a module was asked for that has to be kept anew."""
        self._spec: Any = type(sys.__spec__)

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> Any:
        """Return how to make the module *name*, None if others must find it."""
        if not name.startswith("brim."):
            return None
        kept = self._kept.get(name)
        if kept is None or not _is_same(kept):
            self.missed = True
            return None
        origin = kept[0]
        spec = self._spec(name, self, origin=origin, is_package=origin.endswith("__init__.py"))
        spec.has_location = True
        if spec.submodule_search_locations is not None:
            spec.submodule_search_locations.append(os.path.dirname(origin))
        return spec

    def create_module(self, spec: object) -> None:
        """Leave the making of the module to Python."""

    def exec_module(self, module: Any) -> None:
        """Run the code of *module*."""
        import marshal

        code = marshal.loads(self._kept[module.__name__][3])  # noqa: S302 (this user's own file: see _read)
        exec(code, module.__dict__)  # noqa: S102 (as Python does with its own)

    def save(self, home: str) -> None:
        """Keep the modules that are loaded now, beside those that are kept already and still the same."""
        import marshal

        from brim._atomic import replace_file

        kept = {name: each for name, each in self._kept.items() if _is_same(each)}
        for name, module in list(sys.modules.items()):
            spec = getattr(module, "__spec__", None)
            if name.startswith("brim.") and name not in kept and spec is not None and spec.loader is not self:
                found = os.stat(spec.origin)
                code: CodeType = spec.loader.get_code(name)
                kept[name] = (spec.origin, found.st_size, found.st_mtime_ns, marshal.dumps(code))
        folder = os.path.dirname(bundle_path(home))
        if not os.path.isdir(folder):
            os.mkdir(folder, 0o700)
        replace_file(bundle_path(home), marshal.dumps(kept), durable=False)


def use_bundle(home: str) -> Bundle:
    """Let brim's modules be found in the bundle of *home* from now on."""
    bundle = Bundle(_read(bundle_path(home)))
    sys.meta_path.insert(0, bundle)
    return bundle


def _read(path: str) -> dict[str, Kept]:
    """Return what the bundle *path* holds; nothing if it is not a plain file that this user alone may write."""
    import marshal

    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(handle, "rb") as file:
            found = os.fstat(handle)
            if found.st_mode & 0o170022 != 0o100000 or found.st_uid != os.getuid() or found.st_size > LARGEST:
                return {}
            kept = marshal.loads(file.read())  # noqa: S302 (this user's own file, as just checked)
    except (OSError, ValueError, EOFError, TypeError):
        return {}
    return kept if isinstance(kept, dict) else {}


def _is_same(kept: Kept) -> bool:
    """Whether the source that was *kept* has not changed since."""
    try:
        found = os.stat(kept[0])
    except OSError:
        return False
    return (found.st_size, found.st_mtime_ns) == kept[1:3]
