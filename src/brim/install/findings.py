"""What ``brim doctor`` says: one ``Finding`` per check, all of them in a ``Diagnosis``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from brim import __version__

OK, OFF, WRONG = "ok", "off", "wrong"
"""Works; isn't used, or is only worth knowing; has to be corrected."""
FIX = "brim doctor --fix"


class Finding:
    """What one check says: its state, its subject, a text, and the command that corrects it (empty
    if none does)."""

    def __init__(self, state: str, subject: str, text: str, fix: str = "", **facts: Any) -> None:
        self.state = state
        self.what = subject
        self.text = text
        self.fix = fix
        self.facts = facts

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "state": self.state,
            "what": self.what,
            "text": self.text,
            "fix": self.fix,
            **self.facts,
        }


@dataclass
class Diagnosis:
    """What all checks say, and what was corrected before that."""

    findings: list[Finding]
    fixed: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    """What could not be corrected."""

    @property
    def wrong(self) -> list[Finding]:
        """What has to be corrected."""
        return [finding for finding in self.findings if finding.state == WRONG]

    @property
    def exit_code(self) -> int:
        """1 if something is wrong."""
        return 1 if self.wrong else 0

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "version": __version__,
            "ok": not self.wrong,
            "fixed": self.fixed,
            "findings": [finding.to_dict() for finding in self.findings],
        }


def shown_limit(limit: int | None) -> str:
    """Return a number of tokens as people read it."""
    return "unlimited" if limit is None else f"{limit:,}"
