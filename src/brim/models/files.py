"""The data files of this room, each read once per process, as bytes."""

from __future__ import annotations

_read: dict[str, bytes] = {}


def read(name: str) -> bytes:
    """Return the content of ``data/<name>``."""
    content = _read.get(name)
    if content is None:
        # importlib.resources costs more than the whole lookup; a wheel is always unpacked, so there is a folder.
        with open(__file__.removesuffix("files.py").removesuffix("files.pyc") + "data/" + name, "rb") as file:
            content = _read[name] = file.read()
    return content
