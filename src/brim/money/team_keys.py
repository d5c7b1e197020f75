"""The keys of a team's people, in their ledger: ``TeamKeys``.

A key says whose money a request spends: its scope is a person's, as in ``acme/ann``, or a person's
and a project's, as in ``acme/ann+acme/shop``. The ledger keeps a hash of it, so that nobody who
reads the ledger can use it. A key has 256 random bits: no slow hash is needed.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from brim.errors import InputError
from brim.money.scopes import lineage, paths
from brim.money.stored_ledger import StoredLedger
from brim.record import PlainData

PREFIX = "sk-brim-"
"""How every key begins, so that scanners for secrets find one."""
ENDING = 6
"""Characters at the end of a key by which a person knows it."""
COLUMNS = "hash, ending, scope, made_at, revoked_at"
SELECT = f"SELECT {COLUMNS} FROM team_keys"  # noqa: S608


@dataclass(frozen=True)
class TeamKey(PlainData):
    """What the ledger knows of a key; not the key itself."""

    hash: str
    ending: str
    scope: str
    made_at: float
    revoked_at: float | None = None

    @property
    def person(self) -> str:
        """The scope of the person who has it."""
        return paths(self.scope)[0]

    @property
    def project(self) -> str:
        """The scope of the project that it's for; empty if it's for any."""
        return "".join(paths(self.scope)[1:])

    @property
    def is_valid(self) -> bool:
        """Whether it wasn't revoked."""
        return self.revoked_at is None


class TeamKeys:
    """The keys in *ledger*."""

    def __init__(self, ledger: StoredLedger) -> None:
        self._ledger = ledger

    def add(self, person: str, project: str = "") -> tuple[str, TeamKey]:
        """Make a key for a *person*, and maybe for one *project*; return it, and what is kept."""
        _check_member(person)
        scope = person
        if project:
            _check_member(project)
            scope = f"{person}+{project}"
            if lineage(person)[0] != lineage(project)[0] or person == project:
                raise InputError(f"{project} isn't a project of {lineage(person)[0]}")
        self._check_kinds(person, project)
        secret = PREFIX + secrets.token_urlsafe(32)
        key = TeamKey(hash_of(secret), secret[-ENDING:], scope, self._ledger.now())
        with self._ledger.database.writing() as database:
            database.run(
                f"INSERT INTO team_keys ({COLUMNS}) VALUES (?, ?, ?, ?, ?)",  # noqa: S608
                (key.hash, key.ending, key.scope, key.made_at, key.revoked_at),
            )
        return secret, key

    def revoke(self, name: str) -> list[TeamKey]:
        """Revoke the keys of the person *name*, or the one that ends so; return those that were
        valid."""
        revoked = [key for key in self.all() if key.is_valid and name in (key.person, key.ending)]
        now = self._ledger.now()
        with self._ledger.database.writing() as database:
            for key in revoked:
                database.run("UPDATE team_keys SET revoked_at = ? WHERE hash = ?", (now, key.hash))
        return revoked

    def all(self) -> list[TeamKey]:
        """Return every key that was ever made, by scope and age."""
        with self._ledger.database.reading() as database:
            rows = database.rows(f"{SELECT} ORDER BY scope, made_at, hash")
        return [TeamKey(*row) for row in rows]

    def find(self, secret: str) -> TeamKey | None:
        """Return the valid key that *secret* is; None if it's none."""
        with self._ledger.database.reading() as database:
            row = database.row(f"{SELECT} WHERE hash = ?", (hash_of(secret),))
        if row is None:
            return None
        key = TeamKey(*row)
        if not key.is_valid:
            return None
        return key

    def people(self) -> Sequence[str]:
        """Return the scopes of everyone who ever had a key, by name."""
        return sorted({key.person for key in self.all()})

    def _check_kinds(self, person: str, project: str) -> None:
        """Raise if a person has the name of a project, or the other way round: their sums would
        mix."""
        keys = self.all()
        if any(key.project == person for key in keys):
            raise InputError(f"{person} is a project already: choose another name")
        if project and any(key.person == project for key in keys):
            raise InputError(f"{project} is a person already: choose another name")


def hash_of(secret: str) -> str:
    """Return the hash of a key."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _check_member(scope: str) -> None:
    """Raise unless *scope* is a team's member: two names, as in ``acme/ann``."""
    if len(lineage(scope)) != 2 or "+" in scope:
        raise InputError(f"{scope[:80]!r}: name a team and a person or project, as in acme/ann")
