"""Lazy exports (PEP 562): a room lists its public names, and each is imported when it is first used.

Hooks and one-line counts run as fresh processes, where every module that is imported and not used is time the
agent waits. So no room imports its own files at the top of its ``__init__``.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def public(
    package: str, modules: Mapping[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` for *package*.

    *modules* maps each of its modules to the public names in it, separated by spaces. Type checkers read the imports
    under ``TYPE_CHECKING`` instead, which must have the same names.
    """
    names = {name: module for module, each in modules.items() for name in each.split()}
    return *exports(package, names), sorted(names)


def exports(package: str, names: Mapping[str, str]) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` for *package*, where *names* maps each public name to its module."""

    def __getattr__(name: str) -> object:
        module = names.get(name)
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        full_name = f"{package}.{module}"
        __import__(full_name)
        value: object = getattr(sys.modules[full_name], name)
        setattr(sys.modules[package], name, value)
        return value

    def __dir__() -> list[str]:
        return sorted({*names, *vars(sys.modules[package])})

    return __getattr__, __dir__
