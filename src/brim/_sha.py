"""SHA-256 for a fresh process: Python's own, without OpenSSL, which would take a hook milliseconds to load."""

from __future__ import annotations


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 of *data* in hexadecimal digits.

    >>> sha256_hex(b"")[:16]
    'e3b0c44298fc1c14'
    """
    try:
        from _sha2 import sha256  # type: ignore[import-not-found] # Python 3.12 and later
    except ImportError:
        try:
            from _sha256 import sha256  # type: ignore[import-not-found]
        except ImportError:
            from hashlib import sha256
    digits: str = sha256(data).hexdigest()
    return digits
