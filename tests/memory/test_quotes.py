from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.memory.quotes import code, encodable, one_line, plain_lines, shortened, telling_line

NASTY = st.text(
    st.one_of(
        st.sampled_from(
            "`` \n\r\t\v\f\x1c\x1d\x1e\x85\u2028\u2029\x1b[]#>-*\u202e\u200b\ufeff\U000e0041\ud800ab\x00"
        ),
        st.characters(),
    ),
    max_size=300,
)
"""Text that tries to be more than one line, to steer, or to end its quote."""

STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f\ud800-\udfff]"
)


@given(NASTY)
def test_one_line_is_one_line_and_steers_nothing(text: str) -> None:
    line = one_line(text)
    assert len(line.splitlines()) <= 1
    assert not STEERING.search(line)
    assert line.encode().decode() == line


@given(NASTY, st.integers(min_value=3, max_value=130))
def test_code_never_ends_before_its_last_backtick_and_fits(text: str, width: int) -> None:
    quoted = code(text, width)
    assert len(quoted) <= width
    assert len(quoted.splitlines()) == 1
    fence = re.match("`+", quoted)
    assert fence is not None
    inside = quoted[len(fence[0]) : -len(fence[0])]
    assert quoted.endswith(fence[0])
    assert fence[0] not in re.findall("`+", inside)


@given(NASTY)
def test_plain_lines_keep_every_line_and_nothing_that_steers(text: str) -> None:
    lines = plain_lines(text)
    assert len(lines) == len(encodable(text).splitlines())
    assert not any(STEERING.search(line) for line in lines)


def test_colours_titles_and_links_of_a_terminal_are_gone() -> None:
    assert (
        one_line("\x1b[31mred\x1b[0m \x1b]0;title\x07x \x1b]8;;http://h\x1b\\link\x1b]8;;\x1b\\")
        == "red x link"
    )


def test_what_is_cut_off_ends_with_an_ellipsis() -> None:
    assert (shortened("abcdef", 4), shortened("abc", 4), shortened("abc", 0)) == ("abc…", "abc", "")


def test_text_with_backticks_gets_a_longer_fence() -> None:
    assert (code("a"), code("`a`"), code("a``b"), code("")) == (
        "`a`",
        "`` `a` ``",
        "```a``b```",
        "`  `",
    )


def test_every_sign_that_steers_or_is_half_a_pair_counts_as_not_printable() -> None:
    """Lines that are printable are taken as they are, whatever the language."""
    import sys

    from brim.memory.quotes import _HALVES, _STEERING

    every = "".join(map(chr, range(sys.maxunicode + 1)))
    found = re.findall(_STEERING, every) + re.findall(_HALVES, every)
    assert len(found) > 2_000
    assert not any(sign.isprintable() for sign in found)


@pytest.mark.parametrize(
    "text", ["plain", "a\tb", "naïve façade", "日本語 テスト", "x\x1b[31mred", "a\u200bb", "\ud800"]
)
def test_what_is_plain_stays_and_what_steers_goes(text: str) -> None:
    kept = text.replace("\x1b[31m", "").replace("\u200b", "").replace("\ud800", "\ufffd")
    assert plain_lines(text) == [kept]


@pytest.mark.parametrize(
    ("text", "quoted"), [("a", "`a`"), ("a`b", "``a`b``"), ("``a", "``` ``a ```"), ("", "`  `")]
)
def test_a_quote_is_fenced_by_more_backticks_than_it_holds(text: str, quoted: str) -> None:
    assert code(text) == quoted


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
        (
            "src/a.ts(3,5): error TS2304: Cannot find name 'b'.",
            "src/a.ts(3,5): error TS2304: Cannot find name 'b'.",
        ),
        (
            "Exit code 127\nbash: line 1: foo: command not found",
            "bash: line 1: foo: command not found",
        ),
        ("error[E0308]: mismatched types\n --> src/a.rs:3:5", "error[E0308]: mismatched types"),
        ("checked 3 files, 0 errors\nhm", "hm"),
        ("\n\nha", "ha"),
        ("    raise ValueError(x)", "    raise ValueError(x)"),
        ("", ""),
    ],
)
def test_the_line_that_says_what_failed_is_taken_and_not_the_code_around_it(
    output: str, line: str
) -> None:
    assert telling_line(output.splitlines()) == line


@given(st.lists(st.text(max_size=40), max_size=12))
def test_whatever_is_printed_something_of_it_is_told(lines: list[str]) -> None:
    told = telling_line(lines)
    assert bool(told.strip()) == any(line.strip() for line in lines)
    assert not told or any(line in told for line in lines)
