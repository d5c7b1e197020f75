"""Which tool a client's name for one means, and the command that a call runs.

A hook asks this at every call, so it imports nothing of the readers.
"""

from __future__ import annotations

from functools import cache

from brim.files import data_rows

_SHELLS = ("sh", "bash", "zsh", "dash", "fish", "pwsh", "powershell", "cmd.exe")


@cache
def _tools() -> dict[str, str]:
    return {
        name.lower(): tool
        for tool, names in data_rows(__file__, "tools.tsv")
        for name in names.split()
    }


def tool_of(name: str) -> str:
    """Return which of ``events.TOOLS`` the tool *name* is, empty if that isn't known.

    Case doesn't matter.

    >>> tool_of("MultiEdit"), tool_of("run_shell_command"), tool_of("mcp__budget__status")
    ('edit', 'shell', '')
    """
    return _tools().get(name.lower(), "")


def command_line(command: object) -> str:
    """Return *command* as one text: of ``["bash", "-lc", "make test"]`` only what the shell was
    given."""
    if not isinstance(command, list):
        return command if isinstance(command, str) else ""
    words = [word for word in command if isinstance(word, str)]
    if (
        len(words) == 3
        and words[0].rsplit("/", 1)[-1].rsplit("\\", 1)[-1] in _SHELLS
        and words[1].startswith("-")
    ):
        return words[2]
    return " ".join(words)
