"""Texts that break a check: new lines of files, and commit messages."""

from __future__ import annotations

import os
import re
from functools import lru_cache

from brim.rules.checks.call import CheckedCall
from brim.rules.checks.check import RuleCheck
from brim.rules.checks.files import WRITE, FileAct
from brim.rules.checks.paths import is_meant
from brim.rules.globs import fits

_COMMENT = ("#", "//", "/*", "*", "<!--", "--", '"""')
_LARGEST = 1 << 20
"""Bytes of a file that is read to see which lines it has already."""


@lru_cache(256)
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression)


def wrong_message(check: RuleCheck, pending: CheckedCall) -> str:
    """Return the line of a commit message that breaks *check*; empty if none does."""
    if not check.message and not check.subject:
        return ""
    for message in pending.messages:
        subject = message.strip().split("\n")[0]
        if check.subject and not _compiled(check.subject).match(subject):
            return subject
        match = _compiled(check.message).search(message)
        if check.message and match is not None:
            return match[0].strip()
    return ""


def wrong_line(check: RuleCheck, pending: CheckedCall) -> str:
    """Return the new line that breaks *check*, and its file; empty if none does."""
    if not check.written:
        return ""
    for path, before, after in pending.changes:
        if not _counts_in(check, path, pending):
            continue
        line = _first_wrong(check, before, after)
        full_path = os.path.join(pending.place.folder, path)
        if line and line not in _lines_of(full_path):
            return f"{line.strip()[:80]} in {path}"
    return ""


def _counts_in(check: RuleCheck, path: str, pending: CheckedCall) -> bool:
    """Whether *check* forbids its text in the file at *path*."""
    name = path.replace("\\", "/").rsplit("/", 1)[-1]
    endings = tuple([pattern.lstrip("*") for pattern in check.written_in])
    if not name.endswith(endings):
        return False
    if any(fits(name, pattern) for pattern in check.written_not_in):
        return False
    if not check.written_under:
        return True
    act = FileAct(WRITE, path, pending.place.folder)
    return any(is_meant(pattern, act, pending.place) for pattern in check.written_under)


def _first_wrong(check: RuleCheck, before: str, after: str) -> str:
    """Return the first line of *after*, but not of *before*, that *check* forbids."""
    old_lines = {line.strip() for line in before.splitlines()}
    expression = _compiled(check.written)
    for line in after.splitlines():
        text = line.strip()
        is_comment = text.startswith(_COMMENT) and not check.in_comments
        if text not in old_lines and not is_comment and expression.search(line):
            return line
    return ""


def _lines_of(path: str) -> frozenset[str]:
    """Return the lines of the file as it is: a line that is there already isn't new."""
    try:
        if os.path.getsize(path) > _LARGEST:
            return frozenset()
        with open(path, encoding="utf-8", errors="replace") as file:
            return frozenset(file.read().splitlines())
    except (OSError, ValueError):
        return frozenset()
