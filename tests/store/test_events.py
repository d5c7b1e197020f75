"""Secrets in events are masked; what is too short to be one is not looked at."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.masking import mask
from brim.store import Event, open_store
from brim.store.events import SHORT, is_short_word

SECRET = "xoxb-" + "1234567890"
"""The shortest shape there is, put together here so that no scanner takes it for a real one."""


@given(st.text("abekxosyAEIKSGJ_-0129", max_size=SHORT + 2))
def test_no_secret_is_as_short_as_what_is_not_looked_at(text: str) -> None:
    assert not is_short_word(text) or mask(text) == text


@pytest.mark.parametrize("text", ["", "a b", "key=abc", "é", "a.b", SECRET])
def test_only_a_plain_word_is_not_looked_at(text: str) -> None:
    assert not is_short_word(text)


def test_a_secret_among_ids_is_masked(tmp_path: Path) -> None:
    kept = ["b-0123456789", "a-behavior-with-a-long-id", 7, ["x", "a longer text"]]
    with open_store(str(tmp_path / "brim.db")) as store:
        store.record(Event("injected", 1.0, detail={"ids": [*kept, SECRET], "event": "prompt", "why": [SECRET]}))
        (event,) = store.events()
    masked = mask(SECRET)
    assert masked != SECRET
    assert event.detail == {"ids": [*kept, masked], "event": "prompt", "why": [masked]}
