"""A model without a price: the error says why, and what to set."""

from __future__ import annotations

import pytest

from brim import Guard
from brim.errors import UnknownPrice
from brim.models import use
from brim.models.catalog import unknown_price

MESSAGES = [{"role": "user", "content": "Hello"}]


@pytest.mark.parametrize(
    "name", ["gpt-image-1", "dall-e-3", "whisper-1", "imagen-4.0-generate-001", "sora-2"]
)
def test_a_model_that_charges_for_images_or_sound_says_so_and_takes_a_price(name: str) -> None:
    with pytest.raises(UnknownPrice) as caught, Guard(name, limit_usd="1").call(MESSAGES):
        pass
    assert "charge for images, sound, videos or pages" in str(caught.value)
    assert f"set models.{name}.prices" in str(caught.value)
    assert caught.value.model == name
    use({name: {"prices": {"input": 5, "output": 40}}})
    with Guard(name, limit_usd="1").call(MESSAGES, max_output=100) as call:
        assert call.reserved >= 4_000


def test_a_text_model_without_a_price_is_only_unknown() -> None:
    error = unknown_price("my-own-model")
    assert str(error).startswith("the price of my-own-model is not known, so nothing is reserved")
    assert "images" not in str(error)
