"""Paths that break a check: files that a call edits, deletes, reads or commits."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from brim.rules.blocks import refused_path
from brim.rules.checks.call import CallPlace, CheckedCall
from brim.rules.checks.check import CREATE, EXISTING
from brim.rules.checks.files import EDIT, OUTPUT, WRITE, FileAct

_CHANGING = (EDIT, WRITE, OUTPUT)
_WILDCARDS = re.compile(r"[*?\[\]{},/~]+")


def touched_path(
    pending: CheckedCall,
    acts: Iterable[str],
    patterns: tuple[str, ...],
    other_patterns: tuple[str, ...] = (),
) -> str:
    """Return the first file that *pending* touches in one of the ways *acts*.

    It's one that *patterns* mean and *other_patterns* don't; empty if there is none.
    """
    for act in pending.file_acts:
        if not _is_one_of(acts, act):
            continue
        if not any(_may_mean(pattern, act) for pattern in patterns):
            continue
        if any(is_meant(pattern, act, pending.place) for pattern in other_patterns):
            continue
        if any(is_meant(pattern, act, pending.place) for pattern in patterns):
            return act.path
    return ""


def _is_one_of(acts: Iterable[str], act: FileAct) -> bool:
    """Whether *act* is one of *acts*. Only a file that isn't there can be created."""
    if act.kind not in _CHANGING:
        return act.kind in acts
    if EDIT in acts:
        return True
    if act.kind == EDIT or os.path.lexists(act.full_path):
        return EXISTING in acts
    return CREATE in acts and act.kind == WRITE


def _may_mean(pattern: str, act: FileAct) -> bool:
    """Whether a look at its parts without wildcards lets it seem possible: links apart, which only
    a full comparison follows."""
    return longest_part(pattern) in act.full_path.lower() or os.path.islink(act.full_path)


def longest_part(pattern: str) -> str:
    """Return what every file has in its path that *pattern* means, in lower case.

    >>> longest_part("src/generated/**/*.py"), longest_part("**")
    ('generated', '')
    """
    return max(_WILDCARDS.split(pattern), key=len).lower()


def is_meant(pattern: str, act: FileAct, place: CallPlace) -> bool:
    """Whether the glob *pattern* means the file of *act*."""
    project = place.project or place.folder
    if "\0" in act.path:
        return False
    return refused_path(pattern, act.path, folder=act.folder, project=project, home=place.home)
