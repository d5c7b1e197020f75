"""Where the compiler of the start-up file puts the imports of brim's modules."""

from __future__ import annotations

import ast

import pytest

from brim._startup import writer
from brim._startup.compiler import Unsupported, compile_brim


def placed(source: str) -> str:
    """Return the module as it is compiled."""
    _, tree = compile_brim(source, "x.py")
    return ast.unparse(tree)


def test_an_import_for_annotations_goes() -> None:
    assert placed("from a import B, C\nx: B = C\ndef f(b: B) -> B: y: B = b") == placed(
        "from a import C\nx: B = C\ndef f(b): y: B = b"
    )


def test_an_import_for_the_bound_of_a_type_variable_goes() -> None:
    assert placed(
        "from a import B, C\nT = TypeVar('T', bound=B)\nS = TypeVar('S', B, C)"
    ) == placed("T = TypeVar('T')\nS = TypeVar('S')")


def test_an_import_for_functions_moves_into_them() -> None:
    source = "import hashlib\nfrom a import b\nclass X:\n    def f(self):\n        'Text.'\n        return b(hashlib)\n"
    source += "def g():\n    return lambda: [b for _ in range(3)]\ndef h():\n    return 1"
    moved = "class X:\n    def f(self):\n        'Text.'\n        import hashlib\n        from a import b\n"
    moved += "        return b(hashlib)\n"
    moved += "def g():\n    from a import b\n    return lambda: [b for _ in range(3)]\ndef h():\n    return 1"
    assert placed(source) == ast.unparse(ast.parse(moved))


def test_it_moves_to_the_branch_that_uses_it() -> None:
    source = "from a import b\ndef f(x):\n    if not x:\n        return\n    if x == 1:\n        c()\n        b()\n"
    source += "    else:\n        for y in x:\n            b(y)\ndef g(x):\n    if x:\n        b()\n    b()"
    moved = "def f(x):\n    if not x:\n        return\n    if x == 1:\n        c()\n        from a import b\n        b()\n"
    moved += "    else:\n        from a import b\n        for y in x:\n            b(y)\n"
    moved += "def g(x):\n    from a import b\n    if x:\n        b()\n    b()\n"
    source += "\ndef h():\n    try:\n        c()\n    except E:\n        b()\n"
    source += "def i():\n    try:\n        b()\n    except E:\n        b()"
    moved += (
        "def h():\n    try:\n        c()\n    except E:\n        from a import b\n        b()\n"
    )
    moved += "def i():\n    from a import b\n    try:\n        b()\n    except E:\n        b()"
    assert placed(source) == ast.unparse(ast.parse(moved))


@pytest.mark.parametrize(
    "source",
    [
        "from a import b\nx = b",
        "from a import b\n@b\ndef f():\n    return b",
        "from a import b\ndef f(x=b):\n    return b",
        "from a import b\nclass X(b):\n    pass",
        "from a import b\nclass X:\n    y = b",
        "from a import b\ndef f(b):\n    return b\ndef g():\n    return b",
        "from a import b\ndef f():\n    b = 3\ndef g():\n    return b",
        "from a import b\ndef f():\n    global b\n    b = 3\ndef g():\n    return b",
        "from a import b\ndef f():\n    match 3:\n        case b:\n            pass\ndef g():\n    return b",
        "from a import b\ndef f():\n    try:\n        pass\n    except E as b:\n        pass\ndef g():\n    return b",
        "from a import b\n__all__ = ['b']\ndef f():\n    return b",
        "from a import b as b\ndef f():\n    return b",
        "import os\nimport a.b\nimport c\ndef f():\n    return os",
        "from . import b\ndef f():\n    return b",
    ],
)
def test_other_imports_stay(source: str) -> None:
    assert placed(source) == ast.unparse(ast.parse(source))


def test_what_type_checkers_read_goes() -> None:
    assert placed("if TYPE_CHECKING:\n    from a import b\nelse:\n    b = 1") == "b = 1"


def test_every_import_of_a_hook_is_in_the_file() -> None:
    names = {name for name, _, _ in writer.compiled_modules()}
    assert {
        "brim.hooks.process",
        "brim.rules.delivery",
        "brim._startup.dataclasses",
        "json",
        "enum",
    } <= names


def test_an_import_that_is_not_in_the_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "DOORS", [*writer.DOORS, "masking"])
    with pytest.raises(
        Unsupported,
        match=r"brim\.\S+: hooks can't use brim\.masking\.\w+, which isn't in their start-up",
    ):
        list(writer.compiled_modules())
