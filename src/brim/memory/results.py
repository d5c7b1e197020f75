"""How a call ended, as far as its result alone says: its exit code, or why it wasn't made."""

from __future__ import annotations

import re
from collections.abc import Mapping

from brim.agents.events import ToolResult
from brim.files import data_rows

EXIT_CODE = re.compile(
    r"(?i)\s{0,9}(?:error: )?(?:command failed with |process )?"
    r"(?:exit|exited with) (?:code|status):?[ \t]+(-?\d{1,9})"
)
"""How an output begins that says the exit code."""
_CODE_FIELDS = ("exit_code", "exitCode", "code")


def exit_code(result: ToolResult) -> int | None:
    """Return the exit code of a command; None if neither client nor output says it."""
    if isinstance(result.detail, Mapping):
        for field in _CODE_FIELDS:
            code = result.detail.get(field)
            if type(code) is int:
                return code
    match = EXIT_CODE.match(result.text)
    return None if match is None else int(match[1])


def refusal_of(result: ToolResult) -> str:
    """Return why a call wasn't made, one of ``events.REFUSALS``; empty if it was.

    What the readers don't know is told from the text: ``data/refused.tsv``. brim's own refusals
    are there too.
    """
    if result.refusal or not result.error:
        return result.refusal
    opening = result.text[:600].lstrip()
    for reason, pattern in data_rows(__file__, "refused.tsv"):
        if re.match(pattern, opening, re.IGNORECASE):
            return reason
    return ""
