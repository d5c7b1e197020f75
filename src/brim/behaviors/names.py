"""Names and tags: what they may look like, and how any text becomes one."""

from __future__ import annotations

from brim.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST = 80
_TAG = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
_NAME = _TAG | {"/"}


def checked_name(name: str) -> str:
    """Return *name* if it is one; else raise."""
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST or not _NAME.issuperset(name):
        raise InputError(f"a name has 1 to {LONGEST} of A-Z a-z 0-9 . _ / -, not {str(name)[:LONGEST]!r}")
    return name


def checked_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Return *tags*, each once, in their order, if all of them are tags; else raise."""
    if isinstance(tags, str):
        raise InputError(f"tags are a list of texts, not the text {tags[:LONGEST]!r}")
    if not hasattr(tags, "__iter__"):
        raise InputError(f"tags are a list of texts, not {tags!r}")
    kept = tuple(dict.fromkeys(tags))
    for tag in kept:
        if not isinstance(tag, str) or not 0 < len(tag) <= LONGEST or not _TAG.issuperset(tag):
            raise InputError(f"a tag has 1 to {LONGEST} of A-Z a-z 0-9 . _ -, not {str(tag)[:LONGEST]!r}")
    return kept


def as_name(text: str, otherwise: str = "behavior") -> str:
    """Return the nearest name to *text*: what a name cannot hold becomes a hyphen.

    >>> as_name("Use uv, not pip!"), as_name("規則")
    ('Use-uv-not-pip', 'behavior')
    """
    return _nearest(text, _NAME) or otherwise


def as_tag(text: str) -> str:
    """Return the nearest tag to *text*, or nothing if not one character of it can stay.

    >>> as_tag("code style"), as_tag("c++")
    ('code-style', 'c')
    """
    return _nearest(text, _TAG)


def _nearest(text: str, allowed: frozenset[str]) -> str:
    kept = "".join(character if character in allowed else " " for character in text)
    return "-".join(kept.split())[:LONGEST].strip("-")
