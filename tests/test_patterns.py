"""A pattern that is made later finds what one of ``re`` finds, and imports nothing before."""

from __future__ import annotations

import re
import subprocess
import sys

from brim._patterns import ASCII, DOT_ALL, IGNORE_CASE, MULTILINE, pattern


def test_it_finds_what_re_finds() -> None:
    made, own = pattern(r"^(a+)b", IGNORE_CASE | MULTILINE), re.compile(r"^(a+)b", re.I | re.M)
    text = "x\nAAb aab\nab"
    assert made.findall(text) == own.findall(text) == ["AA", "a"]
    assert made.sub("-", text) == own.sub("-", text)
    assert [found.span() for found in made.finditer(text)] == [found.span() for found in own.finditer(text)]
    assert made.match("b") is None
    assert (made.pattern, made.flags) == (own.pattern, own.flags)


def test_the_flags_are_those_of_re() -> None:
    assert (IGNORE_CASE, MULTILINE, DOT_ALL, ASCII) == (re.I, re.M, re.S, re.A)


def test_nothing_is_imported_before_it_is_used() -> None:
    code = """
import sys
from brim._patterns import pattern
made = pattern("a")
before = "re" in sys.modules
assert made.search("cat")
print(before, "re" in sys.modules)
"""
    command = [sys.executable, "-I", "-S", "-c", f"import sys; sys.path = {sys.path!r}{code}"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() == ["False", "True"]
