"""The modules of a hook in one file: finding a hundred files one by one takes longer than what is in them.

After a hook has answered, the code of the modules that its event used, brim's and Python's own, is kept in the user's
folder, with size and time of each source. They are kept in groups: a module that a function asked for, and before it
those that it needs, in the order in which they were made. So the next hook makes a whole group at once, and an
``import`` inside it finds what it names already there.

A module is taken from the bundle only while its source is still the same. If one is not, the bundle is thrown away, and
the hook after that makes it anew. One that is missing, broken or not writable costs time, and nothing else.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

    Kept = tuple[str, str, int, int, CodeType | None]
    """Name of a module, its file, the file's size, when it was changed (nanoseconds), and its code; None if the file is
    a library that is loaded as it is."""

LARGEST = 16 << 20
_FIRST = 8
"""Bytes at the beginning that say how long the list of groups is. The groups follow it."""


def bundle_path(home: str, event: str) -> str:
    """Return where the bundle for this Python and the hook of *event* is in the user's folder *home*."""
    return os.path.join(home, "cache", f"hook-{sys.implementation.cache_tag}-{sys.hexversion:08x}-{event}.bin")


class Bundle:
    """Finds modules of brim and of Python in the bundle *path*; what it does not have, or not as it is now, others
    find.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        data, places, self._group_of = _read(path)
        self._groups = [_Group(data, *place) for place in places]
        self._missed: list[tuple[str, str | None]] = []
        """Modules that others had to find, in order, each with the module that was being made when it was asked for."""
        self._stale = False

    @property
    def complete(self) -> bool:
        """Whether it had everything that was asked for, as it is now."""
        return not (self._stale or self._missed)

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> Any:
        """Return how to make the module *name*, None if others must find it."""
        number = self._group_of.get(name)
        if number is not None:
            kept = self._groups[number].kept(name)
            if self._is_same(kept):
                return _spec(kept, self)
        elif name.startswith("brim.") or name.partition(".")[0] in sys.stdlib_module_names:
            self._missed.append((name, _being_made()))
        return None

    def create_module(self, spec: object) -> None:
        """Leave the making of the module to Python."""

    def exec_module(self, module: Any) -> None:
        """Run the code of *module*; if it is what its group is for, make what it needs before."""
        group = self._groups[self._group_of[module.__name__]]
        for kept in group.before(module.__name__):
            if kept[4] is not None and kept[0] not in sys.modules and self._is_same(kept):
                self._make(kept)
        kept = group.kept(module.__name__)
        module.__file__ = kept[1]  # not by the spec, which would work out where a cache of it is
        _run(kept, module)

    def _make(self, kept: Kept) -> None:
        """Make the module *kept* as an ``import`` would; if it fails, leave that to the ``import`` that asks for it."""
        name, origin = kept[:2]
        above, _, last = name.rpartition(".")
        if above and above not in sys.modules:
            return
        module: Any = type(sys)(name)
        module.__spec__ = spec = _spec(kept, self)
        module.__loader__, module.__file__, module.__package__ = self, origin, spec.parent
        if spec.submodule_search_locations is not None:
            module.__path__ = spec.submodule_search_locations
        sys.modules[name] = module
        try:
            _run(kept, module)
        except Exception:
            sys.modules.pop(name, None)
            return
        if above:
            setattr(sys.modules[above], last, module)

    def _is_same(self, kept: Kept) -> bool:
        """Whether the source that was *kept* has not changed since."""
        try:
            found = os.stat(kept[1])
            same = (found.st_size, found.st_mtime_ns) == kept[2:4]
        except OSError:
            same = False
        self._stale = self._stale or not same
        return same

    def save(self) -> None:
        """Keep what others had to find beside what is kept; what is no longer true is thrown away."""
        if self._stale:
            os.unlink(self._path)
        elif self._missed:
            from brim._atomic import replace_file

            groups = [list(group) for group in self._groups]
            _add(groups, self._missed)
            folder = os.path.dirname(self._path)
            if not os.path.isdir(folder):
                os.mkdir(folder, 0o700)
            replace_file(self._path, _packed([group for group in groups if group]), durable=False)


class _Group:
    """Modules that are made together. They are read when the first of them is asked for."""

    def __init__(self, data: bytes, begins: int, ends: int) -> None:
        self._packed = data[begins:ends]
        self._modules: dict[str, Kept] = {}

    def _read(self) -> dict[str, Kept]:
        if not self._modules:
            import marshal

            self._modules = {each[0]: each for each in marshal.loads(self._packed)}  # noqa: S302 (see _read below)
        return self._modules

    def kept(self, name: str) -> Kept:
        return self._read()[name]

    def before(self, name: str) -> list[Kept]:
        """Return what must be made before *name*: everything else if it is the last, which the group is for."""
        *others, last = self._read().values()
        return others if last[0] == name else []

    def __iter__(self) -> Any:
        return iter(self._read().values())


def use_bundle(path: str) -> Bundle:
    """Let modules be found in the bundle *path* from now on."""
    bundle = Bundle(path)
    sys.meta_path.insert(-1, bundle)  # before the one that looks through folders
    return bundle


def _run(kept: Kept, module: Any) -> None:
    code: Any = kept[4]
    exec(code, module.__dict__)  # noqa: S102 (as Python does with its own)


def _spec(kept: Kept, loader: Bundle) -> Any:
    """Return what Python asks of a finder, without importing what makes it."""
    name, origin = kept[:2]
    if kept[4] is None:
        from _frozen_importlib_external import ExtensionFileLoader, spec_from_file_location

        return spec_from_file_location(name, origin, loader=ExtensionFileLoader(name, origin))
    spec_type: Any = type(sys.__spec__)
    spec = spec_type(name, loader, origin=origin, is_package=origin.endswith("__init__.py"))
    if spec.submodule_search_locations is not None:
        spec.submodule_search_locations.append(os.path.dirname(origin))
    return spec


def _being_made() -> str | None:
    """Return the module that is being made now, None if a function asks."""
    frame: Any = sys._getframe(2)
    while frame is not None and frame.f_code.co_name != "<module>":
        frame = frame.f_back
    name = None if frame is None else frame.f_globals.get("__name__")
    return None if name == "__main__" else name


def _add(groups: list[list[Kept]], missed: list[tuple[str, str | None]]) -> None:
    """Put each of the *missed* modules into *groups*: before the one that needs it, or into a group of its own."""
    for name, asking in missed:
        kept = _kept(name)
        if kept is None or any(each[0] == name for group in groups for each in group):
            continue
        for group in groups:
            names = [each[0] for each in group]
            if asking in names:
                group.insert(names.index(asking), kept)
                break
        else:
            groups.append([kept])


def _kept(name: str) -> Kept | None:
    """Return the module *name* as it is kept, None if it cannot be: it was not found, or is no file."""
    spec: Any = getattr(sys.modules.get(name), "__spec__", None)
    if spec is None or spec.name != name or not spec.has_location:
        return None
    found = os.stat(spec.origin)
    return name, spec.origin, found.st_size, found.st_mtime_ns, spec.loader.get_code(name)


def _packed(groups: list[list[Kept]]) -> bytes:
    """Return the bundle that holds *groups*: the length of the list, the list, and each group."""
    import marshal

    packed = [marshal.dumps(group) for group in groups]
    listed = marshal.dumps(
        [(len(each), [kept[0] for kept in group]) for each, group in zip(packed, groups, strict=True)]
    )
    return b"".join([len(listed).to_bytes(_FIRST, "big"), listed, *packed])


def _read(path: str) -> tuple[bytes, list[tuple[int, int]], dict[str, int]]:
    """Return the bundle *path*, where its groups begin and end, and which one a module is in: nothing, unless the file
    is whole, a plain one, and this user alone may write it.
    """
    import marshal

    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return b"", [], {}
    try:
        found = os.fstat(handle)
        if found.st_mode & 0o170022 == 0o100000 and found.st_uid == os.getuid() and found.st_size <= LARGEST:
            data = os.read(handle, found.st_size)
            at = _FIRST + int.from_bytes(data[:_FIRST], "big")
            places, group_of = [], {}
            for number, (length, names) in enumerate(marshal.loads(data[_FIRST:at])):  # noqa: S302 (as just checked)
                places.append((at, at + length))
                group_of.update(dict.fromkeys(names, number))
                at += length
            if at == len(data):
                return data, places, group_of
    except (OSError, ValueError, EOFError, TypeError, AttributeError, IndexError, OverflowError):
        pass
    finally:
        os.close(handle)
    return b"", [], {}
