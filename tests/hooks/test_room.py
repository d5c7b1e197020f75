"""What a text for the model may take."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from brim.hooks.room import Room, size

LIMITS = st.none() | st.integers(0, 80)
ROOMS = st.builds(Room, LIMITS, st.integers(0, 80))


@given(ROOMS, st.lists(st.text(max_size=20), max_size=6))
def test_texts_that_fit_one_after_another_fit_together(room: Room, texts: list[str]) -> None:
    left = room
    fitting = ""
    for text in texts:
        if left.holds(text):
            left = left.minus(text)
            fitting += text
    assert len(fitting) <= room.chars
    assert room.tokens is None or size(fitting) <= room.tokens


@given(ROOMS, st.text(min_size=1, max_size=20))
def test_an_empty_room_holds_nothing(room: Room, text: str) -> None:
    if room.is_empty:
        assert not room.holds(text)


def test_a_charge_in_tokens_is_not_one_in_bytes() -> None:
    assert Room(100, 100).minus("上下文", 2) == Room(98, 97)
