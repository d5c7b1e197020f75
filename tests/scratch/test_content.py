from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from brim.scratch import extract_text

JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["type", "text", "content", "x"]), inner)
    ),
    max_leaves=12,
)


def test_a_string_is_itself() -> None:
    assert extract_text("Fix it") == "Fix it"


def test_of_a_list_of_blocks_the_text_blocks_count() -> None:
    blocks = [{"type": "text", "text": "a"}, {"type": "tool_result", "text": "no"}, "b", {"type": "text", "text": "c"}]
    assert extract_text(blocks) == "a\nb\nc"


def test_what_has_no_text_is_empty() -> None:
    assert [extract_text(value) for value in (None, 3, {}, [], [None], {"type": "image", "text": "x"})] == [""] * 6


@given(JSON)
@settings(max_examples=100)
def test_it_never_raises(content: object) -> None:
    assert isinstance(extract_text(content), str)
