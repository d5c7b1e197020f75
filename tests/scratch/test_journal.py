from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from brim.scratch import Entry
from brim.scratch.journal import decoded, encoded
from tests.scratch.test_content import JSON
from tests.scratch.test_quoting import NASTY


@given(NASTY, NASTY, st.integers(1, 2**53), st.none() | st.floats(allow_nan=False, allow_infinity=False))
@settings(max_examples=100)
def test_an_entry_comes_back_as_it_was_from_one_line(text: str, session: str, number: int, time: float | None) -> None:
    entry = Entry(number=number, id="x", session=session, time=time, kind="human", text=text, refs={"output": text})
    line = encoded(entry)
    assert line.count(b"\n") == 1
    back = decoded(line)
    assert back is not None
    clean = {name: str(getattr(entry, name)).encode("utf-8", "replace") for name in ("number", "time", "kind")}
    assert {name: str(getattr(back, name)).encode() for name in clean} == clean
    if text.isascii():
        assert back.text == text


@given(st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode()))
@settings(max_examples=100)
def test_anything_else_is_no_entry_and_never_raises(line: bytes) -> None:
    assert decoded(line) is None


@given(st.dictionaries(st.sampled_from(Entry.__match_args__), JSON))
@settings(max_examples=100)
def test_fields_of_another_type_never_raise(fields: dict[str, object]) -> None:
    line = json.dumps({"number": 1, "kind": "human", "text": "x", **fields}).encode()
    found = decoded(line)
    assert found is None or (found.number > 0 and isinstance(found.text, str) and isinstance(found.refs, dict))


def test_numbers_that_are_none_are_refused() -> None:
    for number in (0, -1, True, 1.5, "1", 10**400, None):
        assert decoded(json.dumps({"number": number, "kind": "human", "text": "x"}).encode()) is None


def test_a_time_that_is_none_is_unknown() -> None:
    for time in ("NaN", "Infinity", "true", '"now"', "1" + "0" * 400):
        entry = decoded(f'{{"number": 1, "kind": "human", "text": "x", "time": {time}}}'.encode())
        assert entry is not None
        assert entry.time is None
