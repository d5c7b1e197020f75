"""JSON without the modules around it: values, texts and errors are those of ``json``."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim import _json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(VALUES, st.booleans(), st.booleans())
def test_a_value_is_written_as_json_writes_it(value: Any, sort: bool, ascii_only: bool) -> None:
    written = json.dumps(value, sort_keys=sort, ensure_ascii=ascii_only)
    assert _json.dumps(value, sort_keys=sort, ensure_ascii=ascii_only) == written
    assert repr(_json.loads(written)) == repr(json.loads(written))
    data = written.encode("utf-8", "surrogatepass")
    assert repr(_json.loads(data)) == repr(json.loads(data))


@given(st.text(alphabet='{}[]":,0123456789.eE+-\\ntrufals \ufeff\x00', max_size=30))
def test_whatever_the_text_is_both_say_the_same(text: str) -> None:
    for given_text in (text, text.encode()):
        try:
            expected = repr(json.loads(given_text))
        except ValueError as error:
            with pytest.raises(type(error)):
                _json.loads(given_text)
        else:
            assert repr(_json.loads(given_text)) == expected


def test_what_json_has_not_is_the_same_error() -> None:
    with pytest.raises(TypeError, match="set"):
        _json.dumps({1, 2})
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(ValueError, match="Circular"):
        _json.dumps(loop)
    assert _json.dumps({1, 2}, default=len) == "2"
    with pytest.raises(RecursionError):
        _json.loads("[" * 100_000)
