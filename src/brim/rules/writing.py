"""A rule as a paragraph of a rules file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_-]+")
ORDER = (
    "text",
    "when",
    "block",
    "before_done",
    "passes",
    "checks",
    "kind",
    "must",
    "tags",
    "summary",
    "section",
    "task",
    "environment",
    "related",
    "requires",
    "conflicts",
    "overrides",
    "instead_of",
    "learned",
    "agent",
    "session",
    "project",
    "removed",
    "off",
)
"""The keys of a rule, in the order in which brim writes them."""


def paragraph_of(name: str, fields: Mapping[str, object]) -> str:
    """Return the paragraph of a rule with these *fields*.

    >>> print(paragraph_of("pnpm", {"text": "Use pnpm.", "block": ["npm ci"]}), end="")
    [pnpm]
    text = "Use pnpm."
    block = "npm ci"
    """
    lines = [f"[{written_name(name)}]"]
    for key in ORDER:
        value = fields.get(key)
        if value is None or value in ("", [], (), {}):
            continue
        lines.append(f"{key} = {written_value(value)}")
    return "\n".join(lines) + "\n"


def written_name(name: str) -> str:
    """Return *name* as it stands between brackets."""
    if _PLAIN_NAME.fullmatch(name):
        return name
    return json.dumps(name, ensure_ascii=False)


def written_value(value: object) -> str:
    """Return *value* as TOML has it; a list of one is that one."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        pairs = [f"{written_name(key)} = {written_value(part)}" for key, part in value.items()]
        return f"{{ {', '.join(pairs)} }}"
    if isinstance(value, (list, tuple)):
        if len(value) == 1 and isinstance(value[0], str):
            return written_value(value[0])
        return f"[{', '.join([written_value(part) for part in value])}]"
    if isinstance(value, str):
        return written_text(value)
    return str(value)


def written_text(text: str) -> str:
    """Return *text* in the quotes that need the least escaping.

    >>> print(written_text('Say "please"'), written_text("C:\\\\tools"), written_text("It's"))
    'Say "please"' 'C:\\tools' "It's"
    """
    if text.replace("\n", "").isprintable():
        if "\n" in text:
            if "'''" not in text and not text.endswith("'"):
                return f"'''\n{text}'''"
        elif _needs_escape(text) and "'" not in text:
            return f"'{text}'"
    # JSON escapes what TOML escapes, apart from one character that TOML forbids.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def _needs_escape(text: str) -> bool:
    return "\\" in text or '"' in text
