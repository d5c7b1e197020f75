from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.behaviors.globs import matches

STEPS = st.text(alphabet="ab.", min_size=1, max_size=3).filter(lambda step: step != ".")
PARTS = st.one_of(st.just("**"), st.text(alphabet="ab.*?", min_size=1, max_size=3).filter(lambda part: part != "."))


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("/home/me/shop/src/app.py", "src/*.py"),
        ("src/app.py", "*.py"),
        ("app.py", "**/*.py"),
        ("src/a/b/c.py", "src/**/*.py"),
        ("src/c.py", "src/**/*.py"),
        ("docs/a/b", "docs/**"),
        ("/etc/hosts", "/etc/*"),
        ("a/b/a/b/c", "a/**/b/c"),
        ("src\\win\\app.py", "src/**/*.py"),
        ("C:\\code\\app.py", "code/app.py"),
        ("file1.txt", "file[0-9].txt"),
        ("filex.txt", "file[!0-9].txt"),
        ("a[b", "a[b"),
        ("./src/app.py", "src/app.py"),
        ("src/app.py", "./src/app.py"),
        ("/src//a/./app.py", "/src/a/app.py"),
    ],
)
def test_path_is_meant_by_the_pattern(path: str, pattern: str) -> None:
    assert matches(path, pattern)


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("src/a/b.py", "src/*.py"),
        ("mysrc/app.py", "src/app.py"),
        ("src/app.pyc", "*.py"),
        ("src/app.py", "/src/app.py"),
        ("/home/src/app.py", "/src/app.py"),
        ("src", "src/a"),
        ("app.PY", "*.py"),
        ("a/b", "a?b"),
        ("x", ""),
        ("", "*"),
    ],
)
def test_path_is_not_meant_by_the_pattern(path: str, pattern: str) -> None:
    assert not matches(path, pattern)


def expression(parts: list[str]) -> str:
    """The same pattern as a regular expression, part by part; a path is written with a slash after each step."""
    made = ""
    for part in parts:
        if part == "**":
            made += "(?:[^/]+/)*"
        else:
            each = {"*": "[^/]*", "?": "[^/]"}
            made += "".join(each.get(character, re.escape(character)) for character in part) + "/"
    return made


@settings(max_examples=300, deadline=None)
@given(st.lists(STEPS, min_size=1, max_size=5), st.lists(PARTS, min_size=1, max_size=5))
def test_patterns_mean_what_regular_expressions_mean(steps: list[str], parts: list[str]) -> None:
    path = "".join(step + "/" for step in steps)
    whole = re.fullmatch(expression(parts), path) is not None
    tail = re.fullmatch("(?:[^/]+/)*" + expression(parts), path) is not None
    assert matches("/" + "/".join(steps), "/" + "/".join(parts)) == whole
    assert matches("/".join(steps), "/".join(parts)) == tail


def test_pattern_made_to_be_slow_is_not() -> None:
    assert not matches("a" * 2_000, "*a" * 200 + "b")
    assert not matches("/".join("a" * 1_000), "/".join(["**", "a"] * 100) + "/b")


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=30), st.text(max_size=30))
def test_any_pattern_gives_an_answer(path: str, pattern: str) -> None:
    assert matches(path, pattern) in (True, False)
