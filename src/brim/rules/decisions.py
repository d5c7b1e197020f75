"""What a person has decided about the checks of native files: CLAUDE.md, AGENTS.md and the like.

brim doesn't change such a file, so the decisions stand beside what the person has accepted of the
project. A rule with other words is another rule, and waits again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress

from brim.config.trust import CHECKS, LOCK, make_accepted
from brim.files import locked, read_safely, replace_file

_LARGEST = 8 << 20
_YES = "yes"
_NO = "no"


class CheckDecisions:
    """The decisions in the *folder* with what a person has accepted."""

    def __init__(self, folder: str, project: str | None = None) -> None:
        self.path = os.path.join(folder, CHECKS)
        self._folder = folder
        self._project = project

    @property
    def agreed(self) -> frozenset[str]:
        """The digests of the rules that calls are compared with."""
        return self._digests(_YES)

    @property
    def declined(self) -> frozenset[str]:
        """The digests of the rules that a person doesn't want to be checked."""
        return self._digests(_NO)

    def decide(self, digests: Iterable[str], *, yes: bool) -> None:
        """Note that a person wants the rules with these *digests* to be checked, or doesn't."""
        with locked(os.path.join(self._folder, LOCK), prepare=self._make_folder):
            decisions = self._load()
            decisions.update(dict.fromkeys(digests, _YES if yes else _NO))
            lines = [f"{answer} {digest}" for digest, answer in sorted(decisions.items())]
            replace_file(self.path, "\n".join([*lines, ""]).encode())

    def _digests(self, answer: str) -> frozenset[str]:
        decisions = self._load()
        return frozenset([digest for digest in decisions if decisions[digest] == answer])

    def _load(self) -> dict[str, str]:
        """Return the answer for each digest; of a file that can't be read, none."""
        decisions: dict[str, str] = {}
        with suppress(OSError, UnicodeError):
            for line in read_safely(self.path, at_most=_LARGEST).decode().splitlines():
                answer, _, digest = line.partition(" ")
                decisions[digest] = answer
        return decisions

    def _make_folder(self) -> None:
        make_accepted(self._folder, self._project)
