"""The examples that the providers give for their own rules, and how images are found in parts."""

from __future__ import annotations

import base64
import struct
import time
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.tokens.messages import measure
from brim.tokens.messages.media import image_cost
from brim.tokens.messages.rules import best, family, load, spellings


def words(text: str) -> int:
    return len(text.split())


def cost(model: str, size: tuple[int, int] | None, detail: str = "") -> tuple[int, int, int]:
    names = spellings(model)
    return image_cost(size, detail, names, family(names).provider)


def png(width: int, height: int, size: int = 0) -> bytes:
    return (
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
        + struct.pack(">II", width, height)
        + b"\x08\0\0\0\0"
        + b"\0" * size
    )


@pytest.mark.parametrize(
    ("model", "size", "detail", "tokens"),
    [
        ("gpt-4o", (1024, 1024), "high", 765),
        ("gpt-4o", (2048, 4096), "high", 1105),
        ("gpt-4o", (4096, 8192), "low", 85),
        ("gpt-4o", (150, 150), "high", 255),
        ("gpt-4o-mini", (1024, 1024), "high", 2833 + 4 * 5667),
        ("gpt-4.1", (1024, 1024), "high", 765),
        ("gpt-5", (1024, 1024), "high", 70 + 4 * 140),
        ("gpt-5-chat-latest", (1024, 1024), "low", 70),
        ("o3", (1024, 1024), "high", 75 + 4 * 150),
        ("computer-use-preview", (1024, 1024), "high", 65 + 4 * 129),
        ("gpt-4.1-mini", (1024, 1024), "high", 1659),
        ("gpt-4.1-mini", (1800, 2400), "high", 2353),
        ("gpt-4.1-nano", (1024, 1024), "", 2520),
        ("o4-mini", (1800, 2400), "", 2498),
        ("gpt-5.4", (1024, 1024), "", 1229),
        ("gpt-5.5", (3840, 2160), "", 9792),
        ("gpt-6-sol", (4032, 3024), "", 14364),
        ("gpt-6-sol", (4032, 3024), "high", 2942),
        ("gpt-6-sol", (2560, 1440), "high", 2931),
        ("claude-sonnet-4-5", (200, 200), "", 64),
        ("claude-sonnet-4-5", (1000, 1000), "", 1296),
        ("claude-sonnet-4-5", (1092, 1092), "", 1521),
        ("claude-sonnet-4-5", (1920, 1080), "", 1560),
        ("claude-sonnet-4-5", (2000, 1500), "", 1564),
        ("claude-sonnet-4-5", (3840, 2160), "", 1560),
        ("claude-opus-4.8", (1920, 1080), "", 2691),
        ("claude-opus-4-8", (2000, 1500), "", 3888),
        ("claude-opus-4-8", (2160, 3840), "", 4784),
        ("gemini-2.5-pro", (384, 384), "", 258),
        ("gemini-2.0-flash", (960, 540), "", 1548),
        ("gemini-3-pro-preview", (4000, 3000), "", 1120),
        ("gemini-3-pro-preview", (4000, 3000), "low", 280),
        ("gemini-3-pro-preview", (40, 30), "ultra_high", 2240),
    ],
)
def test_the_examples_of_the_providers(
    model: str, size: tuple[int, int], detail: str, tokens: int
) -> None:
    point, low, high = cost(model, size, detail)
    assert point == tokens
    assert low <= point <= high


MODELS = [
    "gpt-4o", "gpt-4o-mini", "o1", "gpt-5", "computer-use-preview", "gpt-4.1-mini", "gpt-5-nano", "o4-mini", "gpt-5.2",
    "gpt-5.4", "gpt-5.5", "claude-haiku-4-5", "claude-opus-5", "gemini-2.5-pro", "gemini-3-pro", "unknown",
]  # fmt: skip
SIDES = st.one_of(st.integers(1, 100_000_000), st.integers(1, 4000))


@settings(deadline=None)
@given(
    st.sampled_from(MODELS),
    SIDES,
    SIDES,
    st.sampled_from(["", "low", "high", "auto", "original", "medium", "?"]),
)
def test_any_size_lies_within_its_interval_and_turning_changes_nothing(
    model: str, w: int, h: int, detail: str
) -> None:
    point, low, high = cost(model, (w, h), detail)
    assert 0 < low <= point <= high
    assert cost(model, (h, w), detail) == (point, low, high)
    unknown = cost(model, None, detail)
    assert unknown[1] <= unknown[0] <= unknown[2]
    if model != "unknown":
        assert high <= best(load("images")["rules"], spellings(model))["max_tokens"]
        assert unknown[1] <= low
        assert high <= unknown[2] or detail == "low"


def measured(part: object, model: str = "gpt-4o") -> tuple[int, int]:
    """Tokens and width of the interval that *part* adds."""
    tally = measure(
        [{"role": "user", "content": [part]}],
        model_name=model,
        encoding="o200k_base",
        count_text=words,
    )
    empty = measure(
        [{"role": "user", "content": ""}], model_name=model, encoding="o200k_base", count_text=words
    )
    return tally.tokens - empty.tokens, tally.high - tally.low


DATA = base64.b64encode(png(1024, 1024, 9_000)).decode()
URL = "data:image/png;base64," + DATA
HIGH = {"detail": "high"}


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": URL, **HIGH}},
        {"type": "image_url", "image_url": URL, **HIGH},
        {"type": "input_image", "image_url": URL, **HIGH},
        {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": DATA},
            **HIGH,
        },
        {"type": "image", "data": DATA, "mimeType": "image/png", **HIGH},
        {"type": "computer_screenshot", "image_url": URL, **HIGH},
        {"type": "image_generation_call", "result": DATA, **HIGH},
        {"inlineData": {"mimeType": "image/png", "data": DATA}, **HIGH},
        {"inline_data": {"mime_type": "image/png", "data": base64.b64decode(DATA)}, **HIGH},
        {
            "inline_data": {
                "mime_type": "image/png",
                "data": base64.urlsafe_b64encode(png(1024, 1024)).decode(),
            },
            **HIGH,
        },
        {"image": {"format": "png", "source": {"bytes": png(1024, 1024)}}, **HIGH},
        SimpleNamespace(type="image_url", image_url=SimpleNamespace(url=URL, detail="high")),
        {
            "type": "image",
            "source": {"type": "base64", "data": base64.encodebytes(png(1024, 1024)).decode()},
            **HIGH,
        },
    ],
)
def test_an_image_is_found_wherever_a_provider_puts_it(part: object) -> None:
    assert measured(part) == (765, 0)


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "high"}},
        {"type": "input_image", "file_id": "file-1", "detail": "high"},
        {
            "type": "image",
            "source": {"type": "base64", "data": "not base64 at all"},
            "detail": "high",
        },
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,A", "detail": "high"}},
        {
            "type": "image_url",
            "image_url": {"url": "data:image/png;base64,\ud800é", "detail": "high"},
        },
        {"type": "image_url", "image_url": None, "detail": "high"},
        {"type": "image", "detail": "high"},
    ],
)
def test_an_image_of_unknown_size_is_an_interval_with_a_default(part: object) -> None:
    assert measured(part) == (765, 1445 - 255)


def test_a_level_of_detail_left_to_the_model_is_an_interval() -> None:
    assert measured({"type": "image_url", "image_url": {"url": URL}}) == (765, 765 - 85)


def test_gemini_reads_its_own_level_of_detail() -> None:
    part = {
        "inlineData": {"mimeType": "image/png", "data": DATA},
        "mediaResolution": {"level": "MEDIA_RESOLUTION_LOW"},
    }
    assert measured(part, "gemini-3-pro")[0] == 280


def test_a_large_image_is_neither_tokenized_nor_decoded_whole() -> None:
    data = base64.b64encode(png(1024, 1024, 30_000_000)).decode()
    started = time.process_time()
    part = {
        "type": "image_url",
        "image_url": {"url": "data:image/png;base64," + data, "detail": "high"},
    }
    counted: list[int] = []

    def count(text: str) -> int:
        counted.append(len(text))
        return 1

    tally = measure(
        [{"role": "user", "content": [part] * 5}],
        model_name="gpt-4o",
        encoding="o200k_base",
        count_text=count,
    )
    assert tally.tokens == 3 + 3 + 1 + 5 * 765
    assert max(counted) < 100
    assert time.process_time() - started < 1.0
