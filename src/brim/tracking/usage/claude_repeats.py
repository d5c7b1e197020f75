"""Knows the lines that only repeat: one answer is a line for each of its blocks, each with the usage of the whole.

They are known by their bytes, before they are parsed. A line repeats the last request if the one ``"usage"`` in it is
the same text, and both ids of the request are in it. Whatever else it holds, it reports these numbers or none.
"""

from __future__ import annotations

from json import JSONDecoder

_KEY = b'"usage"'
_USUAL_LENGTH = 2_000
_decode = JSONDecoder().raw_decode


class Repeats:
    """The last request of a file, as bytes."""

    def __init__(self) -> None:
        self._usage = self._id = self._request = b""

    def has(self, line: bytes) -> bool:
        """Return whether *line* repeats the last request."""
        if not self._usage:
            return False
        at = line.find(_KEY)
        if not line.startswith(self._usage, at) or self._id not in line or self._request not in line:
            return False
        return line.find(_KEY, at + len(_KEY)) < 0

    def see(self, line: bytes, id: str, request: str) -> None:
        """Remember that *line* is the first of the request with these ids; if it has no usual form, that none is."""
        self._usage = b""
        at = line.find(_KEY)
        if at < 0 or not _is_plain(id) or not _is_plain(request) or line.find(_KEY, at + len(_KEY)) >= 0:
            return
        text = line[at : at + _USUAL_LENGTH].decode("ascii", "replace")
        if text[7:9] != ":{":
            return
        try:
            _, end = _decode(text, 8)
        except (ValueError, RecursionError):
            return
        self._usage = line[at : at + end]
        self._id, self._request = f'"id":"{id}"'.encode(), f'"requestId":"{request}"'.encode()


def _is_plain(id: str) -> bool:
    return id.isascii() and id.isprintable() and '"' not in id and "\\" not in id and id != ""
