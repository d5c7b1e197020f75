"""Makes a folder one that cannot be written: for root too, whom the mode of a file does not keep
from it."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_VERSION = 0x20080522
_OVERRIDE = (1 << 1) | (1 << 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Let nobody write in *folder* for a while; a test for which that cannot be done here is left
    out."""
    paths = [folder, *folder.rglob("*")]
    modes = {path: path.stat().st_mode for path in paths}
    for path in reversed(paths):
        path.chmod(0o500 if path.is_dir() else 0o400)
    before = _without(_OVERRIDE) if os.geteuid() == 0 else None
    try:
        if os.access(folder, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
            pytest.skip("whoever runs this may write anywhere")
        yield
    finally:
        if before is not None:
            _set(before)
        for path in paths:
            if path.exists():
                path.chmod(modes[path])


def _without(rights: int) -> list[int] | None:
    """Take *rights* from this thread of root's, and return what it had; None if there is no way
    to."""
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        header, data = (ctypes.c_uint32 * 2)(_VERSION, 0), (ctypes.c_uint32 * 6)()
        if libc.capget(header, data):
            return None
    except (OSError, AttributeError):  # not Linux
        return None
    had = list(data)
    _set([had[0] & ~rights, *had[1:]])
    return had


def _set(values: list[int]) -> None:
    header, data = (ctypes.c_uint32 * 2)(_VERSION, 0), (ctypes.c_uint32 * 6)(*values)
    assert ctypes.CDLL(None, use_errno=True).capset(header, data) == 0
