"""What can go wrong, as one tree.

BrimError
├── InputError          what was given cannot be read: a missing file, binary data, messages that are not messages
├── ConfigError         a configuration file or variable holds something else than it should
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
