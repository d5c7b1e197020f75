from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.scratch.quotes import telling_line

UNITTEST = """\
======================================================================
FAIL: test_every_supplier_is_read (test_importer.ImporterTest.test_every_supplier_is_read)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/home/user/shop/test_importer.py", line 9, in test_every_supplier_is_read
    self.assertEqual(len(Importer("suppliers.csv").rows()), 60)
    ~~~~~~~~~~~~~~~~^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
AssertionError: 59 != 60

----------------------------------------------------------------------
Ran 3 tests in 0.001s

FAILED (failures=1)
"""
PYTEST = """\
    def test_total():
        error = load_error()
>       assert run(error) == 3
E       assert 2 == 3

tests/test_a.py:12: AssertionError
FAILED tests/test_a.py::test_total - assert 2 == 3
"""
NODE = """\
/home/user/shop/app.js:3
    throw new Error('cannot start');
    ^

Error: cannot start: the port is taken
    at Object.<anonymous> (/home/user/shop/app.js:3:11)
"""
RUST = """\
test tests::sums ... FAILED
thread 'tests::sums' panicked at src/lib.rs:5:9:
assertion `left == right` failed
"""
GO = "--- FAIL: TestSum (0.00s)\n    sum_test.go:12: got 3, want 4\nFAIL\n"
GCC = "In file included from a.c:1:\na.h:3:5: error: unknown type name 'u8'\n    3 |     u8 error;\nmake: *** Error 1"
JEST = " FAIL  src/a.test.js\n  ● adds › two\n    expect(received).toBe(expected)\n"


@pytest.mark.parametrize(
    ("output", "line"),
    [
        (UNITTEST, "AssertionError: 59 != 60"),
        (PYTEST, "E       assert 2 == 3"),
        (NODE, "Error: cannot start: the port is taken"),
        (RUST, "thread 'tests::sums' panicked at src/lib.rs:5:9: assertion `left == right` failed"),
        (GO, "    sum_test.go:12: got 3, want 4"),
        (GCC, "a.h:3:5: error: unknown type name 'u8'"),
        (JEST, " FAIL  src/a.test.js"),
        ("src/a.ts(3,5): error TS2304: Cannot find name 'b'.", "src/a.ts(3,5): error TS2304: Cannot find name 'b'."),
        ("Exit code 127\nbash: line 1: foo: command not found", "bash: line 1: foo: command not found"),
        ("error[E0308]: mismatched types\n --> src/a.rs:3:5", "error[E0308]: mismatched types"),
        ("checked 3 files, 0 errors\nhm", "hm"),
        ("\n\nha", "ha"),
        ("    raise ValueError(x)", "    raise ValueError(x)"),
        ("", ""),
    ],
)
def test_the_line_that_says_what_failed_is_taken_and_not_the_code_around_it(output: str, line: str) -> None:
    assert telling_line(output.splitlines()) == line


@given(st.lists(st.text(max_size=40), max_size=12))
def test_whatever_is_printed_something_of_it_is_told(lines: list[str]) -> None:
    told = telling_line(lines)
    assert bool(told.strip()) == any(line.strip() for line in lines)
    assert not told or any(line in told for line in lines)
