"""Under which texts conditions are filed, so that a fact finds those that it may confirm without trying them all.

A plain value is filed under itself in lower case. A pattern for files is filed under what its last part must be: a name
(``Makefile``), an extension (``*.py``), or anything (the empty text). A pattern for branches is filed under itself or
under anything. Looking up gives too many now and then (``src/*.py`` for ``docs/a.py``), and never too few.
"""

from __future__ import annotations

_WILD = "*?[]"
ANYTHING = ""
"""Where patterns are filed whose end says nothing."""


def filed_under(key: str, value: str) -> str:
    """Return the text under which the condition *key* = *value* is filed.

    >>> filed_under("file", "src/**/*.test.ts"), filed_under("file", "docs/Makefile"), filed_under("file", "docs/**")
    ('*.ts', 'Makefile', '')
    >>> filed_under("language", "Python"), filed_under("branch", "main"), filed_under("branch", "release/*")
    ('python', 'main', '')
    """
    if key == "file":
        return _tail(value.replace("\\", "/"))
    if key == "branch":
        value = value.replace("\\", "/")
        return ANYTHING if any(sign in value for sign in _WILD) else value
    return value.casefold()


def looked_up(key: str, fact: str) -> tuple[str, ...]:
    """Return the texts under which conditions are filed that the fact *key* = *fact* may confirm.

    >>> looked_up("file", "/home/me/src/app.test.ts"), looked_up("task", "Testing")
    (('app.test.ts', '*.ts', ''), ('testing',))
    """
    if key == "file":
        parts = [part for part in fact.replace("\\", "/").split("/") if part not in ("", ".")]
        name = parts[-1] if parts else ""
        _, dot, extension = name.rpartition(".")
        return (name, "*." + extension, ANYTHING) if dot else (name, ANYTHING) if name else (ANYTHING,)
    if key == "branch":  # matching passes over empty parts and dots
        written = fact.replace("\\", "/")
        parts = [part for part in written.split("/") if part not in ("", ".")]
        return (*dict.fromkeys((written, "/".join(parts))), ANYTHING)
    return (fact.casefold(),)


def _tail(pattern: str) -> str:
    """Return what the last part of *pattern* says of a file's name: all of it, its extension, or nothing."""
    parts = pattern.split("/")
    if not pattern.startswith("/"):
        parts = [part for part in parts if part not in ("", ".")] or [""]
    last = parts[-1]
    if last == ".":
        return ANYTHING
    literal = last[max(last.rfind(sign) for sign in _WILD) + 1 :]
    if literal == last:
        return last
    _, dot, extension = literal.rpartition(".")
    return "*." + extension if dot else ANYTHING
