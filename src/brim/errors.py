"""What can go wrong, as one tree.

BrimError
├── InputError          what was given cannot be read: a missing file, binary data, messages that are not messages
├── ConfigError         a configuration file or variable holds something else than it should
├── StoreError          a file of brim's own cannot be used: damaged, newer, busy, read-only, or not to be trusted
└── NoExactCounter      an exact count was asked for, and the model's vocabulary is not public

Each message says what was wrong, where, and what to do. The command line prints it as one line on standard error.
"""

from __future__ import annotations


class BrimError(Exception):
    """Every error that brim raises on purpose."""


class InputError(BrimError):
    """What was given cannot be read as what it should be."""


class ConfigError(BrimError):
    """A configuration file or environment variable holds something else than it should."""


class NoExactCounter(BrimError):
    """An exact count was asked for, and no vocabulary for the model is here."""


class StoreError(BrimError):
    """A file of brim's own cannot be used; what it holds is as it was.

    ``reason`` is one word, for a caller that goes on without it: ``missing``, ``busy``, ``damaged``, ``newer``,
    ``older``, ``read-only``, ``full``, ``refused`` or ``failed``.
    """

    def __init__(self, message: str, reason: str = "failed") -> None:
        super().__init__(message)
        self.reason = reason
