"""The recorded code of a pattern is what ``re`` makes of it."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.tokens import compiled
from brim.tokens.compiled import find_all, recorded
from brim.tokens.split import patterns
from brim.tokens.table import DATA
from tests.texts import TRICKY

ROOT = Path(__file__).parents[2]


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_patterns", ROOT / "scripts/build_patterns.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_fresh_recording_is_in_the_file_if_this_interpreter_is() -> None:
    rows = script().rows()
    known = Path(DATA, "patterns.tsv").read_text("ascii").splitlines()
    magic = rows[0].split("\t")[0]
    assert [row for row in known if row.startswith(f"{magic}\t")] in (sorted(rows), [])


@pytest.mark.parametrize("name", patterns())
@given(text=st.lists(st.one_of(TRICKY, st.text(st.characters(max_codepoint=0xFF)))).map("".join))
def test_the_recorded_code_finds_what_re_finds(name: str, text: str) -> None:
    pattern = patterns()[name]
    assert find_all(pattern)(text) == re.findall(pattern, text)


def test_a_pattern_that_nobody_recorded_is_compiled_as_usual() -> None:
    assert recorded("[a-c]+") is None
    assert find_all("[a-c]+")("abcxcab") == ["abc", "cab"]


def test_code_that_does_not_fit_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "recorded", lambda _pattern: [4_000_000_000, 7, 7])
    assert find_all("[a-c]+")("abcxcab") == ["abc", "cab"]
