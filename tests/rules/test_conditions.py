from __future__ import annotations

import pickle
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.errors import InputError
from brim.rules.conditions import KEYS, When
from brim.rules.globs import matches

VALUES = st.text(alphabet="abAB*/", min_size=1, max_size=3)
CONDITIONS = st.dictionaries(
    st.sampled_from([*KEYS, "customer"]), st.lists(VALUES, min_size=1, max_size=3), max_size=4
)
FACTS = st.dictionaries(
    st.sampled_from([*KEYS, "customer"]), st.lists(VALUES, max_size=2).map(tuple), max_size=4
)


def test_condition_is_confirmed_contradicted_or_absent() -> None:
    when = When(language="python", task=["testing", "debugging"], branch="main")
    match = when.match({"language": ("Python",), "task": ("git",)})
    assert match == (("language",), ("task",), ("branch",))


def test_any_value_and_any_fact_will_do() -> None:
    assert When(file=["*.ts", "*.py"]).match({"file": ("a.md", "b.py")}).confirmed == ("file",)


def test_folder_is_what_is_in_it() -> None:
    assert When(file="src/") == When(file="src/**")
    assert When(file="src/").match({"file": ("/home/me/src/a/app.py",)}).confirmed
    assert When(file="src/").match({"file": ("srcs/app.py",)}).contradicted


def test_branch_is_a_pattern_of_its_whole_name() -> None:
    assert When(branch="release/*").match({"branch": ("release/2.0",)}).confirmed
    assert When(branch="release/**").match({"branch": ("release/a/b",)}).confirmed
    assert When(branch="main").match({"branch": ("feature/main",)}).contradicted


def test_fact_without_a_value_says_nothing() -> None:
    assert When(task="git").match({"task": ()}).absent == ("task",)


def test_no_condition_is_always() -> None:
    assert not When()
    assert str(When()) == "always"
    assert When().match({"task": ("git",)}) == ((), (), ())


def test_other_names_of_a_key_are_the_same_condition() -> None:
    assert When.of({"file_path": "*.py", "lang": ["go"], "env": "ci"}) == When(
        file="*.py", language="go", environment="ci"
    )
    assert When.of({"file": "a", "path": "b"}) == When(file=["a", "b"])


def test_custom_keys_are_conditions_too() -> None:
    assert When(custom={"customer": "acme"}).match({"customer": ("ACME",)}).confirmed == (
        "customer",
    )


@pytest.mark.parametrize(
    "bad",
    [{"task": 3}, {"task": [""]}, {"task": ["a", 1]}, {"": "a"}, {"a\n": "b"}, {"task": None}],
)
def test_bad_condition_is_an_error_that_names_it(bad: dict[str, object]) -> None:
    with pytest.raises(InputError, match="condition"):
        When.of(bad)


@settings(deadline=None)
@given(CONDITIONS, FACTS)
def test_every_condition_has_one_fate(
    conditions: dict[str, list[str]], facts: dict[str, tuple[str, ...]]
) -> None:
    when = When.of(conditions)
    confirmed, contradicted, absent = when.match(facts)
    assert sorted(confirmed + contradicted + absent) == sorted(conditions)
    assert set(absent) == {key for key in conditions if not facts.get(key)}


@settings(deadline=None)
@given(CONDITIONS)
def test_conditions_can_be_written_and_read_again(conditions: dict[str, list[str]]) -> None:
    when = When.of(conditions)
    assert When.of(dict(when.conditions)) == when
    assert When.of(dict(reversed(conditions.items()))) == when
    assert pickle.loads(pickle.dumps(when)) == when
    assert hash(When.of(conditions)) == hash(when)


def test_braces_are_a_choice_of_patterns() -> None:
    when = When(file="src/**/*.{ts,tsx}")
    assert when == When(file=["src/**/*.ts", "src/**/*.tsx"])
    assert when.match({"file": ("src/a/app.tsx",)}).confirmed == ("file",)
    assert when.match({"file": ("src/a/app.js",)}).contradicted == ("file",)
    assert When(language="{a,b}").conditions == (("language", ("{a,b}",)),)


STEPS = st.text(alphabet="ab.", min_size=1, max_size=3).filter(lambda step: step != ".")
PARTS = st.one_of(
    st.just("**"),
    st.text(alphabet="ab.*?", min_size=1, max_size=3).filter(lambda part: part != "."),
)


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
    """The same pattern as a regular expression, part by part; a path is written with a slash after
    each step."""
    made = ""
    for part in parts:
        if part == "**":
            made += "(?:[^/]+/)*"
        else:
            each = {"*": "[^/]*", "?": "[^/]"}
            made += "".join(each.get(character, re.escape(character)) for character in part) + "/"
    return made


@settings(max_examples=120, deadline=None)
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


@settings(deadline=None)
@given(st.text(max_size=30), st.text(max_size=30))
def test_any_pattern_gives_an_answer(path: str, pattern: str) -> None:
    assert matches(path, pattern) in (True, False)
