"""Reads the size of an image from its first bytes: PNG, JPEG, GIF, WebP, BMP, HEIC and AVIF.

The orientation that EXIF gives is left alone: every published rule gives an upright image and a turned one the same.
"""

from __future__ import annotations

__all__ = ["STEPS", "image_size"]

STEPS = (4_096, 262_144, 4_194_304)
"""How many bytes to try, in this order: a JPEG can have megabytes of metadata before its size."""

_NO_SIZE = frozenset((0xC4, 0xC8, 0xCC))
_NO_LENGTH = frozenset((0x01, *range(0xD0, 0xD9)))


def image_size(head: bytes) -> tuple[int, int] | None:
    """Return width and height of the image that begins with *head*; ``None`` if that does not say."""
    try:
        size = _read(head)
    except IndexError:
        return None
    return size if size and size[0] > 0 and size[1] > 0 else None


def _read(head: bytes) -> tuple[int, int] | None:
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        at = head.find(b"IHDR", 8, 64)
        return (_big(head, at + 4, 4), _big(head, at + 8, 4)) if at > 0 else None
    if head.startswith(b"\xff\xd8"):
        return _jpeg(head)
    if head.startswith((b"GIF87a", b"GIF89a")):
        return _little(head, 6, 2), _little(head, 8, 2)
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return _webp(head)
    if head.startswith(b"BM"):
        height = _little(head, 22, 4)
        return _little(head, 18, 4), min(height, 2**32 - height)
    return _heif(head) if head[4:8] == b"ftyp" else None


def _jpeg(head: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 <= len(head):
        if head[at] != 0xFF:
            return None
        marker = head[at + 1]
        if marker == 0xFF:
            at += 1
        elif marker in _NO_LENGTH:
            at += 2
        elif 0xC0 <= marker <= 0xCF and marker not in _NO_SIZE:
            return _big(head, at + 7, 2), _big(head, at + 5, 2)
        elif marker in (0xD9, 0xDA):
            return None
        else:
            at += 2 + max(2, _big(head, at + 2, 2))
    return None


def _webp(head: bytes) -> tuple[int, int] | None:
    kind = head[12:16]
    if kind == b"VP8X":
        return _little(head, 24, 3) + 1, _little(head, 27, 3) + 1
    if kind == b"VP8L" and head[20] == 0x2F:
        bits = _little(head, 21, 4)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 " and head[23:26] == b"\x9d\x01\x2a":
        return _little(head, 26, 2) & 0x3FFF, _little(head, 28, 2) & 0x3FFF
    return None


def _heif(head: bytes) -> tuple[int, int] | None:
    """The largest of the sizes that the file lists: the others are thumbnails and tiles."""
    largest: tuple[int, int] | None = None
    at = head.find(b"ispe")
    while at > 0 and at + 16 <= len(head):
        size = _big(head, at + 8, 4), _big(head, at + 12, 4)
        if largest is None or size[0] * size[1] > largest[0] * largest[1]:
            largest = size
        at = head.find(b"ispe", at + 4)
    return largest


def _big(head: bytes, at: int, size: int) -> int:
    return int.from_bytes(_slice(head, at, size), "big")


def _little(head: bytes, at: int, size: int) -> int:
    return int.from_bytes(_slice(head, at, size), "little")


def _slice(head: bytes, at: int, size: int) -> bytes:
    if at + size > len(head):
        raise IndexError(at)
    return head[at : at + size]
