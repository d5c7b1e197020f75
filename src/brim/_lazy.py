"""Lazy exports (PEP 562): a room lists its public names, and each is imported when it is first used.

Hooks and one-line counts run as fresh processes, where every module that is imported and not used is time the
agent waits. So no room imports its own files at the top of its ``__init__``.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def exports(
    package: str, names: Mapping[str, str] | None = None, **modules: str
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` for *package*: ``exports(__name__, module="Name Other", ...)``.

    Each module is given with its public names, which also become ``__all__``. *names* maps names to modules instead,
    for a package that has an ``__all__`` of its own.
    """
    known = dict(names or {}) | {name: module for module, all in modules.items() for name in all.split()}
    if modules:
        vars(sys.modules[package])["__all__"] = sorted(known)

    def __getattr__(name: str) -> object:
        module = known.get(name)
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        full_name = f"{package}.{module}"
        __import__(full_name)
        value: object = getattr(sys.modules[full_name], name)
        setattr(sys.modules[package], name, value)
        return value

    def __dir__() -> list[str]:
        return sorted({*known, *vars(sys.modules[package])})

    return __getattr__, __dir__


def public(
    package: str, modules: Mapping[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` for *package*."""
    names = {name: module for module, each in modules.items() for name in each.split()}
    return *exports(package, names), sorted(names)
