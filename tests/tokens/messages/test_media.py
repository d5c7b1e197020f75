from __future__ import annotations

import base64
import struct

import pytest

from brim.tokens.messages import Tally, measure
from brim.tokens.messages.media import count_pages, wav_seconds

PDF = (
    b"%PDF-1.4 /Type /Pages /Count 3 "
    + b"<< /Type /Page >> << /Type/Page >> <</Type\n/Page/Parent 1 0 R>>"
    + b" " * 5000
)


def words(text: str) -> int:
    return len(text.split())


def text_of(data: bytes) -> str:
    return base64.b64encode(data).decode()


def wav(seconds: int) -> bytes:
    rate = 16_000
    body = b"\0" * (2 * rate * seconds)
    form = struct.pack("<HHIIHH", 1, 1, rate, 2 * rate, 2, 16)
    head = (
        b"WAVEfmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", len(body))
    )
    return b"RIFF" + struct.pack("<I", len(head) + len(body)) + head + body


def part_tokens(part: object, model: str) -> tuple[int, int, int]:
    def run(content: list[object]) -> Tally:
        message = {"role": "user", "content": content}
        return measure([message], model_name=model, encoding="o200k_base", count_text=words)

    empty, full = run([{"type": "text", "text": ""}]), run([part])
    return full.tokens - empty.tokens, full.low - empty.low, full.high - empty.high


def test_a_wav_file_says_how_long_it_plays() -> None:
    assert wav_seconds(wav(3)[:256], len(wav(3))) == pytest.approx(3)
    assert wav_seconds(b"ID3", 1000) == 0


@pytest.mark.parametrize(
    ("part", "model", "tokens"),
    [
        (
            {"type": "input_audio", "input_audio": {"data": text_of(wav(10)), "format": "wav"}},
            "gpt-4o-audio-preview",
            100,
        ),
        (
            {"inlineData": {"mimeType": "audio/wav", "data": text_of(wav(10))}},
            "gemini-2.5-pro",
            320,
        ),
    ],
)
def test_sound_is_seconds_times_the_published_rate(part: object, model: str, tokens: int) -> None:
    point, low, high = part_tokens(part, model)
    assert low <= point <= high
    assert point == pytest.approx(tokens, abs=2)


@pytest.mark.parametrize("kind", ["audio/mp3", "video/mp4"])
def test_sound_and_film_of_unknown_length_are_intervals(kind: str) -> None:
    inside = {"inlineData": {"mimeType": kind, "data": text_of(b"\0" * 500_000)}}
    outside = {"fileData": {"mimeType": kind, "fileUri": "https://example.org/film"}}
    for part in (inside, outside):
        point, low, high = part_tokens(part, "gemini-2.5-pro")
        assert 0 < low < point < high


def test_a_film_of_one_minute_at_the_published_rate() -> None:
    part = {"fileData": {"mimeType": "video/mp4", "fileUri": "https://example.org/film"}}
    assert part_tokens(part, "gemini-2.5-pro")[0] == 60 * 263
    assert part_tokens(part, "gemini-3-pro")[0] == 60 * 102


def test_pages_are_counted_in_the_bytes() -> None:
    assert count_pages(PDF) == 3
    assert count_pages(b"%PDF-1.7 compressed") == 0


@pytest.mark.parametrize(
    "part",
    [
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": text_of(PDF)},
        },
        {"inlineData": {"mimeType": "application/pdf", "data": text_of(PDF)}},
        {"type": "input_file", "file_data": "data:application/pdf;base64," + text_of(PDF)},
        {"type": "file", "file": {"file_data": "data:application/pdf;base64," + text_of(PDF)}},
    ],
)
def test_a_document_is_pages_times_the_published_rate(part: object) -> None:
    assert part_tokens(part, "claude-sonnet-4-5") == (3 * 2250, 3 * 1500, 3 * 4568)
    assert part_tokens(part, "gemini-2.5-pro")[0] == 3 * 258
    assert part_tokens(part, "gemini-3-pro")[0] == 3 * 560
    assert part_tokens(part, "gpt-4o")[0] == 3 * (500 + 765)


@pytest.mark.parametrize(
    "part",
    [
        {"type": "document", "source": {"type": "url", "url": "https://example.org/a.pdf"}},
        {"type": "document", "source": {"type": "file", "file_id": "file_1"}},
        {"type": "input_file", "file_id": "file_1"},
        {"fileData": {"mimeType": "application/pdf", "fileUri": "gs://x"}},
    ],
)
def test_a_document_of_unknown_length_is_from_one_page_to_the_most(part: object) -> None:
    assert part_tokens(part, "claude-sonnet-4-5") == (10 * 2250, 1500, 600 * 4568)


def test_a_pdf_that_hides_its_pages_is_judged_by_its_size() -> None:
    part = {
        "type": "document",
        "source": {"type": "base64", "data": text_of(b"%PDF-1.7" + b"\0" * 749_992)},
    }
    point, low, high = part_tokens(part, "claude-sonnet-4-5")
    assert (point, low, high) == (10 * 2250, 1500, 375 * 4568)


@pytest.mark.parametrize(
    "part",
    [
        {
            "type": "document",
            "source": {
                "type": "text",
                "media_type": "text/plain",
                "data": "five words of plain text",
            },
        },
        {
            "type": "document",
            "source": {
                "type": "content",
                "content": [{"type": "text", "text": "five words of plain text"}],
            },
        },
        {"inlineData": {"mimeType": "text/plain", "data": text_of(b"five words of plain text")}},
        {
            "type": "input_file",
            "file_data": "data:text/plain;base64," + text_of(b"five words of plain text"),
        },
    ],
)
def test_a_document_of_text_is_its_text(part: object) -> None:
    assert part_tokens(part, "claude-sonnet-4-5")[0] == 5


def test_broken_data_never_raises() -> None:
    for mime in ("application/pdf", "audio/wav", "video/mp4", "text/plain", "image/png", "", "x/y"):
        for data in ("", "!!!", "é", "A" * 7, b"\0", None, 5):
            point, low, high = part_tokens(
                {"inlineData": {"mimeType": mime, "data": data}}, "gemini-2.5-pro"
            )
            assert low <= point <= high
