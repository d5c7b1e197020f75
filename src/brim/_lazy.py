"""Lazy exports (PEP 562): a package imports a public name when it's first used.

Hooks and one-line counts run as fresh processes, where every module that is imported and not used
costs time. So a package that they import lists its public names, and imports no module of its own.

Type checkers read ordinary imports instead, and don't see ``exports``: otherwise every name of the
package would be right. For ``brim`` itself they stand in ``__init__.pyi``, elsewhere under
``TYPE_CHECKING``.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # every hook reads this module from the disk, without typing
if TYPE_CHECKING:
    from collections.abc import Callable


def exports(
    package: str, packages: str = "", **modules: str
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` for *package*: ``exports(__name__, module="Name
    Other", ...)``.

    Each module comes with its public names, separated by spaces. Together with *packages*, which
    are exported themselves, they become ``__all__``.
    """
    homes = {name: name for name in packages.split()}
    for module, names in modules.items():
        for name in names.split():
            homes[name] = module

    def __getattr__(name: str) -> object:
        if name == "__all__":
            return sorted(homes)
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        path = f"{package}.{homes[name]}"
        __import__(path)
        value: object = sys.modules[path]
        if name != homes[name]:
            value = getattr(value, name)
        setattr(sys.modules[package], name, value)
        return value

    def __dir__() -> list[str]:
        special = [name for name in vars(sys.modules[package]) if name.startswith("__")]
        return sorted([*special, "__all__", *homes])

    return __getattr__, __dir__
