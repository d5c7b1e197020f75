"""Compile a module for the start-up file of hooks.

A module of the standard library loses its docstrings and annotations. A module of brim changes
more, so that its source can be ordinary Python and a hook still loads only what it uses:

- ``from typing import ...`` and ``from dataclasses import ...`` name the stand-ins of this package. What they don't
  support is refused here, with file and line. ``import typing`` is the real module, for reading
  other people's hints.
- An import that only annotations use is left out.
- An import that only functions use moves into these functions, before the first use.
"""

from __future__ import annotations

import ast
from types import CodeType

from brim._startup import dataclasses, typing

STAND_INS = {"dataclasses": dataclasses, "typing": typing}
OPTIONS = {
    "dataclass": {"frozen", "slots", "kw_only", "eq", "repr"},
    "asdict": set(),
    "field": {"default", "default_factory", "repr", "compare", "kw_only"},
}
"""The keywords that the stand-ins understand."""

ALWAYS_LOADED = {"builtins", "marshal", "os", "os.path", "posixpath", "stat", "sys", "time"}
"""Modules that Python has loaded before a hook begins."""

Function = ast.FunctionDef | ast.AsyncFunctionDef
Import = ast.Import | ast.ImportFrom


class Unsupported(ValueError):
    """A module uses what the stand-ins don't have."""


def compile_library(source: str, path: str) -> CodeType:
    """Return the code of a module of the standard library."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        _drop_annotation(node)
    return _code(tree, path)


def compile_brim(source: str, path: str) -> tuple[CodeType, ast.Module]:
    """Return the code of a module of brim, and the tree that it was made of.

    Raises ``Unsupported``.
    """
    tree = ast.parse(source)
    _drop_type_checking(tree)
    is_redirected = False
    for node in ast.walk(tree):
        _drop_annotation(node)
        problem = _problem(node)
        if problem:
            raise Unsupported(f"{path}:{getattr(node, 'lineno', 0)}: hooks can't use {problem}")
        if isinstance(node, ast.Call) and _called_name(node) == "TypeVar":
            node.args = node.args[:1]  # the bound and the constraints are for type checkers
            node.keywords = []
        if isinstance(node, ast.ImportFrom) and node.module in STAND_INS:
            node.module = STAND_INS[node.module].__name__
            is_redirected = True
    if is_redirected and not any(_is_future(statement) for statement in tree.body):
        raise Unsupported(f"{path}:1: hooks need 'from __future__ import annotations' here")
    _place_imports(tree)
    return _code(tree, path), tree


def _code(tree: ast.Module, path: str) -> CodeType:
    code: CodeType = compile(tree, path, "exec", dont_inherit=True, optimize=2)
    return code


def _drop_annotation(node: ast.AST) -> None:
    """Leave out the annotation of a function's argument or answer."""
    if isinstance(node, Function):
        node.returns = None
    elif isinstance(node, ast.arg):
        node.annotation = None


def _drop_type_checking(tree: ast.Module) -> None:
    """Leave out what only type checkers read."""
    body: list[ast.stmt] = []
    for statement in tree.body:
        if isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
            body += statement.orelse
        else:
            body.append(statement)
    tree.body = body


def _is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


# What the stand-ins support -----------------------------------------------------------------------


def _problem(node: ast.AST) -> str:
    """Return what *node* uses that the stand-ins don't have."""
    if isinstance(node, ast.Import):
        return _import_problem(node)
    if isinstance(node, ast.ImportFrom) and node.module in STAND_INS:
        return _names_problem(node, node.module)
    if isinstance(node, ast.Call):
        return _call_problem(node)
    return ""


def _called_name(call: ast.Call) -> str:
    """Return the name of the function that is called; empty if it has none of its own."""
    if isinstance(call.func, ast.Name):
        return call.func.id
    return ""


def _import_problem(node: ast.Import) -> str:
    if any(alias.name == "dataclasses" for alias in node.names):
        return "'import dataclasses': write 'from dataclasses import ...'"
    return ""


def _names_problem(node: ast.ImportFrom, module: str) -> str:
    for alias in node.names:
        if alias.name not in vars(STAND_INS[module]):
            return f"{module}.{alias.name}"
        if alias.name in OPTIONS and alias.asname not in (None, alias.name):
            return f"'{alias.name} as {alias.asname}'"  # its calls couldn't be checked
    return ""


def _call_problem(node: ast.Call) -> str:
    name = _called_name(node)
    for keyword in node.keywords:
        if name in OPTIONS and keyword.arg not in OPTIONS[name]:
            return f"{name}({keyword.arg}=...)"
    return ""


# Where imports stand ------------------------------------------------------------------------------


def _place_imports(tree: ast.Module) -> None:
    """Leave out imports that only annotations use, and move those that only functions use into the
    functions."""
    functions = _outer_functions(tree)
    used_by = {function: _Names(function) for function in functions}
    module_names = _Names(tree, without=set(functions))
    module_names.used |= _exported(tree)
    body: list[ast.stmt] = []
    for statement in tree.body:
        if isinstance(statement, Import) and _can_move(statement):
            _move_names(statement, module_names, used_by)
            if not statement.names:
                continue
        body.append(statement)
    tree.body = body


def _move_names(statement: Import, module_names: _Names, used_by: dict[Function, _Names]) -> None:
    """Move the names of *statement* that only functions use into these functions, and leave out
    those that nothing uses."""
    staying: list[ast.alias] = []
    for alias in statement.names:
        if _is_needed_at_once(alias, statement, module_names, used_by):
            staying.append(alias)
            continue
        for function in _users(alias, used_by):
            _insert(function.body, alias, statement)
    statement.names = staying


def _can_move(statement: Import) -> bool:
    if isinstance(statement, ast.ImportFrom):
        return statement.level == 0 and statement.module not in {"__future__", *ALWAYS_LOADED}
    return True


def _is_needed_at_once(
    alias: ast.alias, statement: Import, module_names: _Names, used_by: dict[Function, _Names]
) -> bool:
    """Whether *alias* has to be imported with the module."""
    name = alias.asname or alias.name
    if "." in name or name in module_names.used or alias.asname == alias.name:
        return True
    if any(name in names.bound for names in used_by.values()):
        return True  # another thing has this name in a function
    is_used = bool(_users(alias, used_by))
    if isinstance(statement, ast.Import):  # it may be imported for what the import does
        return not is_used or alias.name in ALWAYS_LOADED
    return is_used and str(statement.module).startswith("brim._startup.")  # every hook has those


def _users(alias: ast.alias, used_by: dict[Function, _Names]) -> list[Function]:
    """Return the functions that use *alias*."""
    name = alias.asname or alias.name
    return [function for function, names in used_by.items() if name in names.used]


def _insert(block: list[ast.stmt], alias: ast.alias, statement: Import) -> None:
    """Import *alias* in *block* before its first use, in a branch if only branches use it."""
    name = alias.asname or alias.name
    users = [inner for inner in block if _uses(inner, name)]
    first = users[0]
    branches = _branches(first, name) if len(users) == 1 else []
    for branch in branches:
        _insert(branch, alias, statement)
    if branches:
        return
    if isinstance(statement, ast.ImportFrom):
        copy: Import = ast.ImportFrom(statement.module, [alias], 0)
    else:
        copy = ast.Import([alias])
    block.insert(block.index(first), ast.copy_location(copy, first))


def _branches(statement: ast.stmt, name: str) -> list[list[ast.stmt]]:
    """Return the branches of *statement* that use *name*; none if it's used elsewhere in the
    statement too."""
    if isinstance(statement, ast.If):
        always: list[ast.AST] = [statement.test]
        branches = [statement.body, statement.orelse]
    elif isinstance(statement, ast.Try):
        always = [*statement.body, *statement.orelse, *statement.finalbody]
        always += [handler.type for handler in statement.handlers if handler.type is not None]
        branches = [handler.body for handler in statement.handlers]
    else:
        return []
    if any(_uses(node, name) for node in always):
        return []
    return [branch for branch in branches if any(_uses(inner, name) for inner in branch)]


def _uses(node: ast.AST, name: str) -> bool:
    return any(isinstance(inner, ast.Name) and inner.id == name for inner in ast.walk(node))


def _outer_functions(tree: ast.Module) -> list[Function]:
    """Return the functions and methods that aren't in another function."""
    functions: list[Function] = []
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Function):
            functions.append(node)
        else:
            waiting.extend(ast.iter_child_nodes(node))
    return functions


def _exported(tree: ast.Module) -> set[str]:
    """Return the names in ``__all__``."""
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__":
            return set(ast.literal_eval(statement.value))
    return set()


class _Names(ast.NodeVisitor):
    """The names that a function, or a module without its functions, uses and binds when it runs.

    Annotations aren't evaluated, so their names don't count. The decorators and defaults of a
    function belong to what is around it.
    """

    def __init__(self, root: ast.AST, without: set[Function] | None = None) -> None:
        self.used: set[str] = set()
        self.bound: set[str] = set()
        self._without = without or set()
        if isinstance(root, Function):
            self._visit_inside(root)
        else:
            self.generic_visit(root)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.used.add(node.id)
        else:
            self.bound.add(node.id)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.visit(node.target)
        if node.value is not None:
            self.visit(node.value)

    def visit_FunctionDef(self, node: Function) -> None:
        self.bound.add(node.name)
        for expression in (*node.decorator_list, *node.args.defaults, *node.args.kw_defaults):
            if expression is not None:
                self.visit(expression)
        if node not in self._without:
            self._visit_inside(node)

    visit_AsyncFunctionDef = visit_FunctionDef

    def _visit_inside(self, node: Function) -> None:
        self._bind_arguments(node.args)
        for statement in node.body:
            self.visit(statement)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._bind_arguments(node.args)
        self.generic_visit(node)

    def _bind_arguments(self, arguments: ast.arguments) -> None:
        for node in ast.walk(arguments):
            if isinstance(node, ast.arg):
                self.bound.add(node.arg)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.bound.add(node.name)
        self.generic_visit(node)

    def visit_alias(self, node: ast.alias) -> None:
        self.bound.add((node.asname or node.name).partition(".")[0])

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self._bind(node.name)
        self.generic_visit(node)

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> None:
        self.bound.update(node.names)

    visit_Nonlocal = visit_Global

    def visit_MatchAs(self, node: ast.MatchAs | ast.MatchStar) -> None:
        self._bind(node.name)
        self.generic_visit(node)

    visit_MatchStar = visit_MatchAs

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        self._bind(node.rest)
        self.generic_visit(node)

    def _bind(self, name: str | None) -> None:
        if name is not None:
            self.bound.add(name)
