from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.activation.lookup import filed_under, looked_up
from brim.behaviors import When

FILES = st.text(alphabet="ab.*?[]!-/\\", min_size=1, max_size=12).filter(str.strip)
PATHS = st.text(alphabet="ab.-]/\\", min_size=1, max_size=12)


@given(st.sampled_from(("file", "branch")), PATHS, FILES)
@settings(max_examples=500)
def test_what_a_fact_confirms_is_among_what_it_looks_up(key: str, fact: str, value: str) -> None:
    if When(conditions=[(key, [value])]).match({key: (fact,)}).confirmed:
        assert filed_under(key, value) in looked_up(key, fact)


@pytest.mark.parametrize("fact", ["/main", "\\main", "./main", "main/", "main"])
def test_a_branch_is_found_however_it_is_written(fact: str) -> None:
    assert When(branch="main").match({"branch": (fact,)}).confirmed
    assert filed_under("branch", "main") in looked_up("branch", fact)


@given(st.text("aAßſSsİi", min_size=1, max_size=4), st.text("aAßſSsİi", min_size=1, max_size=4))
def test_plain_values_are_found_in_upper_and_lower_case(value: str, fact: str) -> None:
    if When(task=value).match({"task": (fact,)}).confirmed:
        assert filed_under("task", value) in looked_up("task", fact)


@pytest.mark.parametrize(
    ("pattern", "filed"),
    [
        ("**/*.py", "*.py"),
        ("src/app.py", "app.py"),
        ("src/", "src"),
        ("/src/", ""),
        ("/", ""),
        ("*.d.ts", "*.ts"),
        ("*rc", ""),
        ("x[.]py", ""),
        ("[ab].py", "*.py"),
        ("*.p?", ""),
        (".gitignore", ".gitignore"),
        ("src\\*.py", "*.py"),
    ],
)
def test_a_file_pattern_is_filed_under_the_end_of_it(pattern: str, filed: str) -> None:
    assert filed_under("file", pattern) == filed
