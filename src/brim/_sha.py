"""SHA-256 for a fresh process, without ``hashlib``.

``hashlib`` loads OpenSSL, which takes a hook milliseconds. Python has the same function in C without it.
"""

from __future__ import annotations

import sys

try:
    if sys.version_info >= (3, 12):
        from _sha2 import sha256  # type: ignore[import-not-found]
    else:
        from _sha256 import sha256  # type: ignore[import-not-found]
except ImportError:
    from hashlib import sha256


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 of *data* in hexadecimal digits.

    >>> sha256_hex(b"")[:16]
    'e3b0c44298fc1c14'
    """
    digits: str = sha256(data).hexdigest()
    return digits
