"""What a tool does, by the name that its client gives it."""

from __future__ import annotations

import os

_by_name: dict[str, str] = {}


def tool_of(name: str) -> str:
    """Return which of ``events.TOOLS`` the tool *name* is, empty if that is not known. Case does not matter.

    >>> tool_of("MultiEdit"), tool_of("run_shell_command"), tool_of("mcp__budget__status")
    ('edit', 'shell', '')
    """
    if not _by_name:
        with open(os.path.join(os.path.dirname(__file__), "data", "tools.tsv"), encoding="utf-8") as file:
            rows = [line.rstrip("\n").split("\t") for line in file if line.strip() and not line.startswith("#")]
        _by_name.update({client_name.lower(): tool for tool, names in rows for client_name in names.split()})
    return _by_name.get(name.lower(), "")
