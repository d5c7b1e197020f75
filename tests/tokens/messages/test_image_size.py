"""Sizes from headers, on small images built by hand."""

from __future__ import annotations

import struct
import zlib

import pytest

from brim.tokens.messages.media import image_size


def png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + b"\0" * width for _ in range(min(height, 4))))
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    )


def jpeg(width: int, height: int, *, progressive: bool = False, metadata: int = 0) -> bytes:
    def segment(marker: int, body: bytes) -> bytes:
        return bytes((0xFF, marker)) + struct.pack(">H", len(body) + 2) + body

    exif = segment(0xE1, b"Exif\0\0MM\0*" + b"\0" * 20)
    filler = segment(0xE2, b"\0" * 65_000) * metadata
    frame = struct.pack(">BHHB", 8, height, width, 1) + b"\1\x11\0"
    tables = segment(0xC4, b"\0" * 17) + segment(0xDB, b"\0" * 65)
    return (
        b"\xff\xd8"
        + exif
        + filler
        + tables
        + b"\xff"
        + segment(0xC2 if progressive else 0xC0, frame)
        + b"\xff\xd9"
    )


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HHBBB", width, height, 0, 0, 0) + b";"


def webp(kind: bytes, body: bytes) -> bytes:
    chunk = kind + struct.pack("<I", len(body)) + body
    return b"RIFF" + struct.pack("<I", len(chunk) + 4) + b"WEBP" + chunk


def webp_lossy(width: int, height: int) -> bytes:
    return webp(b"VP8 ", b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", width, height))


def webp_lossless(width: int, height: int) -> bytes:
    return webp(b"VP8L", b"\x2f" + struct.pack("<I", (width - 1) | (height - 1) << 14))


def webp_extended(width: int, height: int) -> bytes:
    return webp(
        b"VP8X",
        b"\0\0\0\0" + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little"),
    )


def bmp(width: int, height: int) -> bytes:
    return b"BM" + b"\0" * 16 + struct.pack("<ii", width, -height) + b"\0" * 20


def heic(width: int, height: int) -> bytes:
    def ispe(wide: int, high: int) -> bytes:
        return struct.pack(">I4sIII", 20, b"ispe", 0, wide, high)

    return b"\0\0\0\x18ftypheic\0\0\0\0" + ispe(160, 120) + ispe(width, height) + b"\0" * 8


IMAGES = {
    "png": png(640, 480),
    "gif": gif(640, 480),
    "jpeg": jpeg(640, 480),
    "progressive jpeg": jpeg(640, 480, progressive=True),
    "jpeg with much metadata": jpeg(640, 480, metadata=3),
    "lossy webp": webp_lossy(640, 480),
    "lossless webp": webp_lossless(640, 480),
    "extended webp": webp_extended(640, 480),
    "bmp": bmp(640, 480),
}


@pytest.mark.parametrize("kind", IMAGES)
def test_every_format_gives_width_and_height(kind: str) -> None:
    image = IMAGES[kind]
    assert image_size(image) == (640, 480)
    assert all(
        image_size(image[:length]) in (None, (640, 480))
        for length in range(0, min(len(image), 200))
    )


def test_the_largest_size_in_a_heic_file_is_the_image() -> None:
    assert image_size(heic(640, 480)) == (640, 480)


@pytest.mark.parametrize(
    "image", [b"", b"\xff\xd8", b"\xff\xd8\xff\xd9", b"GIF89a\0", b"text", png(0, 5), b"\xff" * 99]
)
def test_what_has_no_size_gives_none(image: bytes) -> None:
    assert image_size(image) is None


def test_a_jpeg_that_ends_before_its_size_gives_none() -> None:
    assert image_size(jpeg(640, 480, metadata=3)[:4_096]) is None
