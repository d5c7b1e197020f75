from __future__ import annotations

import pickle

import pytest

from brim.errors import InputError
from brim.tokens.messages import Tally, measure

IMAGE = {
    "role": "user",
    "content": [{"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}],
}
TEXT = {"role": "user", "content": "four words are here"}


def words(text: str) -> int:
    return len(text.split())


def tally(*messages: object) -> Tally:
    return measure(
        list(messages), model_name="claude-sonnet-4-5", encoding="o200k_base", count_text=words
    )


def test_a_ratio_multiplies_the_text_and_nothing_else() -> None:
    text, image = tally(TEXT), tally(IMAGE)
    assert text.scaled(2).tokens == text.tokens + text.text_tokens
    assert image.scaled(2).tokens == image.tokens
    assert image.scaled(2).high == image.high


def test_the_spread_of_a_ratio_widens_the_interval() -> None:
    plain = tally(TEXT)
    scaled = plain.scaled(1.5, 1.0, 2.0)
    assert (scaled.low, scaled.tokens, scaled.high) == (plain.low, plain.tokens + 2, plain.high + 4)


def test_a_scaled_tally_still_adds_up() -> None:
    scaled = tally(TEXT, IMAGE, TEXT, TEXT).scaled(1.27, 1.0, 1.5)
    assert sum(scaled.per_message) + scaled.fixed == scaled.tokens
    assert scaled.low <= scaled.tokens <= scaled.high


def test_scaling_by_one_keeps_an_estimate() -> None:
    assert tally(TEXT, IMAGE).scaled(1).count == (whole := tally(TEXT, IMAGE)).count
    assert tally(TEXT, IMAGE).scaled(1).per_message == whole.per_message


def test_a_scaled_tally_is_not_exact() -> None:
    exact = measure([TEXT], model_name="gpt-4o", encoding="o200k_base", count_text=words)
    assert exact.exact
    assert not exact.scaled(1.1).exact


@pytest.mark.parametrize(
    "ratio", [(0.0, None, None), (1.0, 1.2, 1.3), (1.0, 0.5, 0.9), (float("inf"), 1.0, None)]
)
def test_a_ratio_outside_its_bounds_is_refused(
    ratio: tuple[float, float | None, float | None],
) -> None:
    with pytest.raises(InputError, match="ratio"):
        tally(TEXT).scaled(*ratio)


def test_a_tally_does_not_change() -> None:
    one = tally(TEXT)
    with pytest.raises(AttributeError, match="cannot assign to field"):
        one.reasons = ()
    with pytest.raises(AttributeError, match="cannot delete field"):
        del one.reasons


def test_a_tally_is_a_value() -> None:
    assert tally(TEXT) == tally(TEXT)
    assert hash(tally(TEXT)) == hash(tally(TEXT))
    assert tally(TEXT) != tally(IMAGE)
    other: object = 1
    assert tally(TEXT) != other
    assert pickle.loads(pickle.dumps(tally(IMAGE))) == tally(IMAGE)


def test_it_prints_itself_usefully() -> None:
    exact = measure([TEXT], model_name="gpt-4o", encoding="o200k_base", count_text=words)
    assert repr(exact) == "Tally(11, exact)"
    assert repr(tally(IMAGE)).startswith("Tally(")
    assert "image of unknown size" in repr(tally(IMAGE))
