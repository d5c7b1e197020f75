"""Lazy exports (PEP 562): a package lists its public names, and each is imported when it's first
used.

Hooks and one-line counts run as fresh processes, where every module that is imported and not used
costs time. So a package that they import doesn't import its own modules at the top of its
``__init__``. The others do.

Type checkers and editors read the imports under ``TYPE_CHECKING``, and those of ``brim`` itself in
``__init__.pyi``.
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

    Each module is given with its public names, separated by spaces; together with *packages*, which
    are exported themselves, they become ``__all__``. The imports under ``TYPE_CHECKING`` must have
    the same names.
    """

    def known() -> dict[str, str]:
        named = {name: module for module, names in modules.items() for name in names.split()}
        return {**dict.fromkeys(packages.split(), ""), **named}

    def __getattr__(name: str) -> object:
        if name == "__all__":
            return sorted(known())
        module = known().get(name)
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        full_name = f"{package}.{module or name}"
        __import__(full_name)
        value: object = getattr(sys.modules[full_name], name) if module else sys.modules[full_name]
        setattr(sys.modules[package], name, value)
        return value

    def __dir__() -> list[str]:
        return sorted({*known(), *vars(sys.modules[package])})

    return __getattr__, __dir__
