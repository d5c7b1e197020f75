"""All errors that brim raises, in one hierarchy.

BrimError
├── InputError          input cannot be read: a missing file, binary data, no messages
├── DoesNotFit          not even what must stay of a request fits into the model's window
├── ConfigError         a configuration file or variable holds something else than it should
├── StoreError          a file of brim's own cannot be used: damaged, newer, busy, read-only, foreign
├── NoExactCounter      an exact count is impossible: the model's vocabulary is not public
├── PersonNeeded        only a person may do this: loosen a limit, a rule or a setting
├── LimitReached        a limit is reached, or a person has stopped the spending
└── UnknownPrice        the cost of a request is unknown, so it is not admitted

Each message says what was wrong, where, and what to do. The command line prints it as one line on
standard error.
"""

from __future__ import annotations


class BrimError(Exception):
    """Every error that brim raises on purpose."""


class InputError(BrimError, ValueError):
    """An argument or input has the wrong form."""


class DoesNotFit(BrimError):
    """What must stay of a request is too large for the model; don't send it.

    ``fitted`` is the smallest request that was possible, with its receipt.
    """

    def __init__(self, message: str, fitted: object = None) -> None:
        super().__init__(message)
        self.fitted = fitted


class ConfigError(BrimError):
    """A configuration file or environment variable has an invalid value."""


class NoExactCounter(BrimError):
    """There's no vocabulary to count this model exactly."""


class StoreError(BrimError):
    """One of brim's own files can't be used; its content is unchanged.

    ``reason`` is one word, for a caller that goes on without it: ``missing``, ``busy``,
    ``damaged``, ``version`` (of another brim), ``read-only``, ``full``, ``refused``, ``foreign``
    (it came from elsewhere), ``lost`` (a server can't be reached), ``conflict`` (with another
    process, try again) or ``failed``.
    """

    def __init__(self, message: str, reason: str = "failed") -> None:
        super().__init__(message)
        self.reason = reason


class PersonNeeded(BrimError):
    """Only a person may do this, and an agent asked for it."""


class LimitReached(BrimError):
    """The limit of ``scope`` is reached; don't send the request.

    ``reason`` is one word: ``limit`` (it does not fit), ``wrapping_up`` (only the wrap-up may still
    spend) or ``stopped`` (a person said so). Amounts are micro-dollars, or tokens if ``unit`` says
    so; ``room`` is what would still be allowed, or None if ``limit`` is None. ``when`` is the
    limit's period in a sentence, as in `` today``; empty if it has none.
    """

    def __init__(
        self,
        message: str,
        *,
        scope: str = "",
        reason: str = "limit",
        amount: int = 0,
        limit: int | None = None,
        spent: int = 0,
        reserved: int = 0,
        room: int | None = None,
        unit: str = "usd",
        when: str = "",
    ) -> None:
        super().__init__(message)
        self.scope = scope
        self.reason = reason
        self.amount = amount
        self.limit = limit
        self.spent = spent
        self.reserved = reserved
        self.room = room
        self.unit = unit
        self.when = when

    @property
    def fits_later(self) -> bool:
        """Whether it would fit if the requests that are reserved now cost nothing."""
        if self.reason != "limit" or self.room is None or self.limit is None:
            return False
        return self.amount <= min(self.room + self.reserved, self.limit - self.spent)


class UnknownPrice(BrimError):
    """The cost is unknown because ``model`` lacks a price for these tokens."""

    def __init__(self, message: str, model: str = "") -> None:
        super().__init__(message)
        self.model = model
