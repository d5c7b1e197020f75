"""Write the start-up file of hooks, when ``brim init`` installs them."""

from __future__ import annotations

import ast
import marshal
import os
from collections.abc import Iterator
from contextlib import suppress
from importlib.machinery import SourceFileLoader
from importlib.util import find_spec
from pkgutil import walk_packages
from types import CodeType

from brim._startup import PACKAGE, RECORD, is_startup_ours, stamp, startup_path
from brim._startup.compiler import Unsupported, compile_brim, compile_library
from brim.files import replace_file

LIBRARY = """
    _weakrefset _collections_abc bisect collections collections.abc contextlib copyreg datetime
    decimal enum functools fnmatch json json.decoder json.encoder json.scanner keyword locale
    math numbers operator random re re._casefix re._compiler re._constants re._parser reprlib
    signal sqlite3 sqlite3.dbapi2 stat string struct types unicodedata weakref
"""
"""The modules of the standard library that hooks may import.

Those that aren't Python code are left to Python.
"""

IN_C = {"datetime": "_datetime"}
"""Modules of the standard library whose names another one in C has. In Python 3.11 ``datetime``
makes all its classes in Python before it takes those."""

DOORS = [
    "__main__",
    "adapters",
    "cli",
    "guard",
    "install",
    "loopback",
    "mcp",
    "messages",
    "run",
    "sessions.composition",
    "sessions.bulk",
    "sessions.report",
    "sessions.up_to_date",
    "ui",
]
"""The packages and modules that no hook imports."""

LOADED_BEFORE = ["brim", "brim._lazy", "brim._startup"]
"""What a hook has loaded before it uses the file."""


def write_startup(home: str) -> str:
    """Write the modules of hooks into the user's folder *home*.

    Return the file, empty for an editable install.

    Raises ``Unsupported`` if a module can't be in it: hooks then start without the file, only
    slower.
    """
    path = startup_path(home)
    with suppress(FileNotFoundError):
        os.unlink(path)
    if not os.path.exists(RECORD):
        return ""
    index: dict[str, tuple[str, int, int]] = {}
    data = b""
    for name, origin, code in compiled_modules():
        module = marshal.dumps(code)
        index[name] = (origin, len(data), len(module))
        data += module
    head = marshal.dumps((stamp(), index))  # type: ignore[arg-type]
    os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
    replace_file(path, len(head).to_bytes(8, "big") + head + data)
    return path


def startup_problem(home: str) -> str:
    """Return why hooks start without a start-up file, so that they take longer; empty if they have
    one or need none."""
    if not os.path.exists(RECORD) or is_startup_ours(home):
        return ""
    if os.path.exists(startup_path(home)):
        return f"{startup_path(home)} was written by another brim, as before an update"
    try:
        list(compiled_modules())
    except Unsupported as error:
        return str(error)
    return f"{startup_path(home)} is missing"


def compiled_modules() -> Iterator[tuple[str, str, CodeType]]:
    """Return name, path and code of every module for hooks; raises ``Unsupported``."""
    for name in LIBRARY.split():
        source, origin = _source(name)
        in_c = IN_C.get(name)
        if in_c is not None and find_spec(in_c) is not None:
            source = f"from {in_c} import *"
        if source:
            yield name, origin, compile_library(source, origin)
    trees = {}
    for name in _brim_modules():
        source, origin = _source(name)
        code, trees[name] = compile_brim(source, origin)
        yield name, origin, code
    _check_imports(trees)


def _brim_modules() -> list[str]:
    root = os.path.join(PACKAGE, "brim")
    names = [module.name for module in walk_packages([root], "brim.")]
    stand_ins = ["brim._startup.dataclasses", "brim._startup.typing"]
    return stand_ins + [name for name in names if not _is_left_out(name)]


def _is_left_out(name: str) -> bool:
    return any(f"{name}.".startswith(f"brim.{door}.") for door in (*DOORS, "_lazy", "_startup"))


def _source(name: str) -> tuple[str, str]:
    """Return source and path of the module *name*; nothing if it has none in this version of
    Python."""
    with suppress(ImportError):
        spec = find_spec(name)
        if spec is not None and spec.origin and isinstance(spec.loader, SourceFileLoader):
            return spec.loader.get_source(name) or "", spec.origin
    return "", ""


def _check_imports(trees: dict[str, ast.Module]) -> None:
    """Raise ``Unsupported`` if a module imports one of brim that isn't in the file, or a name it no
    longer has."""
    names_of = {module: _top_names(tree) for module, tree in trees.items()}
    for importer, tree in trees.items():
        for module, name in _imported_from_brim(tree):
            if module in LOADED_BEFORE or f"{module}.{name}" in trees:
                continue
            if module not in trees or not names_of[module] & {name, "__getattr__"}:
                raise Unsupported(
                    f"{importer}: hooks can't use {module}.{name}, which isn't in their start-up file"
                )


def _imported_from_brim(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Return the names that *tree* imports from modules of brim, each after its module."""
    for node in ast.walk(tree):
        if (
            not isinstance(node, ast.ImportFrom)
            or node.module is None
            or not node.module.startswith("brim")
        ):
            continue
        for alias in node.names:
            if node.module == "brim" and not alias.name.startswith("__"):
                yield f"brim.{alias.name}", "__init__"
            else:
                yield node.module, alias.name


def _top_names(tree: ast.Module) -> set[str]:
    """Return the names that a module has after it was imported: a package also those it exports
    lazily."""
    names: set[str] = {"__init__"}
    for node in _outside_functions(tree):
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name)
    return names


def _outside_functions(tree: ast.Module) -> Iterator[ast.AST]:
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            waiting.extend(ast.iter_child_nodes(node))
