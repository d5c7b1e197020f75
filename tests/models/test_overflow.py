from __future__ import annotations

from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.models import window_from_error


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("prompt is too long: 210000 tokens > 200000 maximum", 200_000),
        (
            "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length",
            200_000,
        ),
        (
            "This model's maximum context length is 128000 tokens. However, your messages resulted in 204308 tokens.",
            128_000,
        ),
        (
            "This endpoint's maximum context length is 163,840 tokens. However, you requested about 200000 tokens",
            163_840,
        ),
        (
            "However, the model's context length is only 202752 tokens, resulting in a maximum input length",
            202_752,
        ),
        (
            "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 289650 tokens.",
            272_000,
        ),
        (
            "The input token count (1196265) exceeds the maximum number of tokens allowed (1048576).",
            1_048_576,
        ),
        (
            "This model's maximum prompt length is 131072 but the request contains 537812 tokens",
            131_072,
        ),
        ("prompt token count of 140000 exceeds the limit of 128000", 128_000),
        ("Your request exceeded model token limit: 262144 (requested: 300000)", 262_144),
        (
            "InternalError.Algo.InvalidParameter: Range of input length should be [1, 204800]",
            204_800,
        ),
        ("Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)", 7_424),
        (
            "the model is loaded with context length of only 32768 tokens, which is not enough",
            32_768,
        ),
    ],
)
def test_the_maximum_is_read_from_the_providers_own_words(text: str, window: int) -> None:
    assert window_from_error(text) == window
    assert window_from_error(f'{{"error": {{"message": "{text.upper()}"}}}}') == window


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Rate limit reached: 200000 tokens per minute",
        "Your input exceeds the context window of this model",
        "prompt is too long",
        "5 tokens > 3 maximum",
        "9 tokens > 99999999999999 maximum",
        "tokens > ,,, maximum",
    ],
)
def test_other_errors_name_no_window(text: str) -> None:
    assert window_from_error(text) is None


def test_what_is_no_text_names_no_window() -> None:
    assert window_from_error(cast("str", None)) is None


@given(st.text())
def test_any_text_is_read_without_raising(text: str) -> None:
    window = window_from_error(text)
    assert window is None or window > 0
