"""The modules of a hook in one file: finding a hundred files one by one takes longer than what is in them.

After a hook has answered, the code of the modules that its event used, brim's and Python's own, is kept in the user's
folder, with size and time of each source. They are kept in groups: a module that a function asked for, and before it
those that it needs, in the order in which they were made. So the next hook makes a whole group at once, and an
``import`` inside it finds what it names already there. Groups that hooks of the event ask for again are made ahead of
everything else: then nothing has to be asked for.

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
WORTH_WRITING = 4
"""So many groups must be new, or asked for again, before the bundle is written anew for their sake."""
_FIRST = 8
"""Bytes at the beginning that say how long the list of groups is. The groups follow it."""
_HERE = os.path.dirname(os.path.dirname(__file__)) + os.sep
"""Where this brim is. Two that share a user's folder must not run each other's modules."""
_NOTHING: tuple[memoryview, list[tuple[int, list[str]]], list[str]] = (memoryview(b""), [], [])


def bundle_path(home: str, event: str) -> str:
    """Return where the bundle for this Python and the hook of *event* is in the user's folder *home*."""
    return os.path.join(home, "cache", f"hook-{sys.implementation.cache_tag}-{sys.hexversion:08x}-{event}.bin")


def use_bundle(path: str) -> Bundle:
    """Let modules be found in the bundle *path* from now on, and make those that every hook of its event asks for."""
    bundle = Bundle(path)
    sys.meta_path.insert(-1, bundle)  # before the one that looks through folders
    bundle.make_ahead()
    return bundle


class Bundle:
    """Finds modules of brim and of Python in the bundle *path*; what it does not have, or not as it is now, others
    find.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        data, listed, asked = _read(path)
        self._groups = []
        self._group_of: dict[str, int] = {}
        at = 0
        for number, (length, names) in enumerate(listed):
            self._groups.append(_Group(data[at : at + length]))
            self._group_of.update(dict.fromkeys(names, number))
            at += length
        self._asked_before = asked
        self._asked: list[str] = []
        """What groups were asked for now, by the module that each is for."""
        self._missed: list[tuple[str, str | None]] = []
        """Modules that others had to find, in order, each with the module that was being made when it was asked for."""
        self._stale = False

    def make_ahead(self) -> None:
        """Make the modules of the first group: those that were asked for again and again."""
        if self._groups:
            self._make_all(self._groups[0].modules().values())

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> Any:
        """Return how to make the module *name*, None if others must find it."""
        number = self._group_of.get(name)
        if number is not None:
            kept = self._groups[number].modules()[name]
            if self._is_same(kept):
                return _spec(kept, self)
        elif name.startswith("brim.") or name.partition(".")[0] in sys.stdlib_module_names:
            self._missed.append((name, _being_made()))
        return None

    def create_module(self, spec: object) -> None:
        """Leave the making of the module to Python."""

    def exec_module(self, module: Any) -> None:
        """Run the code of *module*; if it is what its group is for, make what it needs before."""
        number = self._group_of[module.__name__]
        modules = self._groups[number].modules()
        *before, last = modules.values()
        if number and last[0] == module.__name__:
            self._asked.append(module.__name__)
            self._make_all(before)
        kept = modules[module.__name__]
        module.__file__ = kept[1]  # not by the spec, which would work out where a cache of it is
        _run(kept, module)

    def _make_all(self, modules: Any) -> None:
        """Make those of *modules* that are not there, as an ``import`` would; one that fails is left to it."""
        for kept in modules:
            name, origin, _, _, code = kept
            above, _, last = name.rpartition(".")
            skipped = name in sys.modules or (above and above not in sys.modules)
            if skipped or code is None or not self._is_same(kept):
                continue
            module: Any = type(sys)(name)
            module.__loader__, module.__file__, module.__package__ = self, origin, above
            if origin.endswith("__init__.py"):
                module.__spec__ = _spec(kept, self)
                module.__package__, module.__path__ = name, module.__spec__.submodule_search_locations
            sys.modules[name] = module
            try:
                _run(kept, module)
            except BaseException as error:
                sys.modules.pop(name, None)
                if not isinstance(error, Exception):  # the time is over
                    raise
                continue
            if above:
                setattr(sys.modules[above], last, module)

    def _is_same(self, kept: Kept) -> bool:
        """Whether the source that was *kept* has not changed since, and is this brim's if it is one of brim."""
        try:
            found = os.stat(kept[1])
            same = found.st_size == kept[2] and found.st_mtime_ns == kept[3]
            same = same and (kept[0][:5] != "brim." or kept[1].startswith(_HERE))
        except OSError:
            same = False
        if not same:
            self._stale = True
        return same

    def save(self) -> bool:
        """Keep what this hook was the first to ask for, throw away what is no longer true; whether there was either."""
        if self._stale:
            os.unlink(self._path)
            return True
        again = [name for name in self._asked if name in self._asked_before]
        new = [name for name in self._asked if name not in self._asked_before]
        found = [(kept, asking) for name, asking in self._missed if (kept := _kept(name)) is not None]
        if not found and max(len(again), len(new)) < WORTH_WRITING:
            return False
        from brim._atomic import replace_file

        groups = [list(group.modules().values()) for group in self._groups] or [[]]
        for name in again:
            moved = groups[self._group_of[name]]
            groups[0] += moved
            moved.clear()
        for kept, asking in found:
            _put(groups, kept, asking)
        folder = os.path.dirname(self._path)
        if not os.path.isdir(folder):
            os.mkdir(folder, 0o700)
        first = [kept[0] for kept, asking in found if asking is None]
        data = _packed([groups[0], *filter(None, groups[1:])], [*self._asked_before, *new, *first])
        replace_file(self._path, data, durable=False)
        return True


class _Group:
    """Modules that are made together. They are read when the first of them is asked for."""

    def __init__(self, packed: memoryview) -> None:
        self._packed = packed
        self._modules: dict[str, Kept] | None = None

    def modules(self) -> dict[str, Kept]:
        """Return the modules by name, in order."""
        if self._modules is None:
            import marshal

            self._modules = {each[0]: each for each in marshal.loads(self._packed)}  # noqa: S302 (see ``_read``)
        return self._modules


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


def _put(groups: list[list[Kept]], kept: Kept, asking: str | None) -> None:
    """Put *kept* into *groups*: before the module that needs it, or into a group of its own."""
    for group in groups:
        names = [each[0] for each in group]
        if kept[0] in names:
            return
        if asking in names:
            group.insert(names.index(asking), kept)
            return
    groups.append([kept])


def _kept(name: str) -> Kept | None:
    """Return the module *name* as it is kept, None if it cannot be: it was not found, or is no file."""
    spec: Any = getattr(sys.modules.get(name), "__spec__", None)
    if spec is None or spec.name != name or not spec.has_location:
        return None
    found = os.stat(spec.origin)
    return name, spec.origin, found.st_size, found.st_mtime_ns, spec.loader.get_code(name)


def _packed(groups: list[list[Kept]], asked: list[str]) -> bytes:
    """Return the bundle that holds *groups*: the length of the list, the list, and each group."""
    import marshal

    packed = [marshal.dumps(group) for group in groups]
    names = [[kept[0] for kept in group] for group in groups]
    listed = marshal.dumps((list(zip(map(len, packed), names, strict=True)), asked))
    return b"".join([len(listed).to_bytes(_FIRST, "big"), listed, *packed])


def _read(path: str) -> tuple[memoryview, list[tuple[int, list[str]]], list[str]]:
    """Return the groups of the bundle *path*, the length and the names of each, and what was asked for: nothing, unless
    the file is whole, a plain one, and this user alone may write it.
    """
    import marshal

    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return _NOTHING
    try:
        found = os.fstat(handle)
        if found.st_mode & 0o170022 == 0o100000 and found.st_uid == os.getuid() and found.st_size <= LARGEST:
            data = memoryview(os.read(handle, found.st_size))  # of which parts are no copies
            begins = _FIRST + int.from_bytes(data[:_FIRST], "big")
            listed, asked = marshal.loads(data[_FIRST:begins])  # noqa: S302 (as just checked)
            if begins + sum([length for length, _ in listed]) == len(data):
                return data[begins:], listed, asked
    except (OSError, ValueError, EOFError, TypeError, AttributeError, IndexError, OverflowError):
        pass
    finally:
        os.close(handle)
    return _NOTHING
