"""Where a ledger is: ``sqlite:///path``, as other programs write it, or the path alone."""

from __future__ import annotations

from brim.errors import InputError


def ledger_path(address: str) -> str:
    """Return the file that *address* means: ``sqlite:///`` and a path, which begins with one more ``/`` if absolute.

    >>> ledger_path("sqlite:///money.db"), ledger_path("sqlite:////var/money.db"), ledger_path("money.db")
    ('money.db', '/var/money.db', 'money.db')
    """
    scheme, found, rest = address.partition("://")
    path = address if not found else rest[1:]
    if found and (scheme != "sqlite" or not rest.startswith("/") or "?" in rest):
        raise InputError(
            f"{address[:80]!r} is no ledger: there are sqlite:///PATH, with one more / if PATH is absolute, and PATH"
        )
    if not path or path == ":memory:":
        raise InputError(f"{address[:80]!r} names no file: a ledger is shared through one, as in sqlite:///money.db")
    return path
