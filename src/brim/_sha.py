"""SHA-256 for a fresh process: Python's own, without OpenSSL, which would take a hook milliseconds to load."""

from __future__ import annotations

import sys


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 of *data* in hexadecimal digits.

    >>> sha256_hex(b"")[:16]
    'e3b0c44298fc1c14'
    """
    try:  # to look for a module that is not there means to list every folder that it could be in
        if sys.version_info >= (3, 12):
            from _sha2 import sha256  # type: ignore[import-not-found]
        else:
            from _sha256 import sha256  # type: ignore[import-not-found]
    except ImportError:
        from hashlib import sha256
    digits: str = sha256(data).hexdigest()
    return digits
