"""Finds the data in a part (bytes, base64, a data URL) or what it refers to, and decodes no more than is asked for."""

from __future__ import annotations

from brim.tokens.messages.fields import is_sequence, pairs, string

__all__ = ["Payload", "locate"]

_DATA = frozenset(("data", "bytes", "file_data", "b64_json", "base64", "result", "image_bytes", "video_bytes"))
_LINK = frozenset(("url", "uri", "file_uri", "fileUri", "image_url", "video_url", "file_url", "image"))
_STORED = frozenset(("file_id", "fileId", "id"))
_MIME = frozenset(("media_type", "mime_type", "mimeType", "format"))
_DEEPEST = 4
_URL_SAFE = {ord("-"): "+", ord("_"): "/", ord("\n"): None, ord("\r"): None, ord(" "): None}


class Payload:
    """What a part carries: ``mime``, and data or a reference to it."""

    __slots__ = ("data", "mime", "referred", "start")

    def __init__(self) -> None:
        self.mime = ""
        self.data: bytes | str | None = None
        self.start = 0
        self.referred = False

    def size(self) -> int:
        """How many bytes the data has, to within a few; 0 if there is none."""
        if self.data is None:
            return 0
        size = len(self.data)
        return size if isinstance(self.data, bytes) else (size - self.start) * 3 // 4

    def head(self, size: int) -> bytes:
        """Return the first *size* bytes; fewer if there are no more, none if it is not base64."""
        if isinstance(self.data, bytes):
            return self.data[:size]
        if self.data is None:
            return b""
        # A line break after every 76 letters is the most that encoders add.
        text = self.data[self.start : self.start + size * 4 // 3 + size // 50 + 8]
        return _decode(text)[:size]

    def whole(self) -> bytes:
        """Return all of the data."""
        return self.head(self.size() + 4)


def locate(part: object) -> Payload:
    """Return what *part* carries, wherever its provider puts it."""
    found = Payload()
    _search(part, found, _DEEPEST)
    return found


def _search(value: object, found: Payload, depth: int) -> None:
    if depth == 0 or isinstance(value, str) or is_sequence(value):
        return
    for name, inner in pairs(value):
        if isinstance(inner, (bytes, bytearray, memoryview)):
            if found.data is None:
                found.data = bytes(inner)
        elif isinstance(inner, str):
            _note(name, string(inner), found)
        else:
            _search(inner, found, depth - 1)


def _note(name: str, text: str, found: Payload) -> None:
    if name in _MIME:
        found.mime = found.mime or text[:100].lower()
    elif found.data is None and text[:5].lower() == "data:":
        comma = text.find(",", 0, 300)
        if comma > 0:
            found.data, found.start = text, comma + 1
            found.mime = text[5:comma].partition(";")[0].lower()
    elif name in _DATA:
        if found.data is None:
            found.data = text
    elif name in _LINK or name in _STORED:
        found.referred = True


def _decode(text: str) -> bytes:
    from binascii import Error, a2b_base64

    clean = text.translate(_URL_SAFE) if any(letter in text for letter in "-_\n\r ") else text
    rest = len(clean) % 4
    try:
        return a2b_base64(clean[: len(clean) - rest] if rest == 1 else clean + "=" * (-len(clean) % 4))
    except (Error, ValueError):
        return b""
