"""Packages that an edit adds to a project's manifest: package.json, pyproject.toml and the like."""

from __future__ import annotations

import os
import re
from functools import lru_cache

from brim.files import data_lines
from brim.rules.checks.call import CheckedCall
from brim.rules.globs import fits

_LARGEST = 1 << 20
"""Bytes of a manifest that is read to see which packages it has already."""


class Manifest:
    """How one kind of manifest names its packages."""

    def __init__(self, expression: str, other_names: str) -> None:
        self.expression = re.compile(expression, re.MULTILINE)
        self.other_names = frozenset(other_names.split())

    def packages_in(self, text: str) -> list[str]:
        """Return the packages that *text* names."""
        names: list[str] = []
        for match in self.expression.finditer(text):
            name = match[match.lastindex or 0]
            if name not in self.other_names:
                names.append(name)
        return names


def added_package(pending: CheckedCall) -> str:
    """Return a package that an edit adds to a manifest, and the file; empty if none does."""
    for path, before, after in pending.changes:
        manifest = _manifest_of(os.path.basename(path))
        if manifest is None:
            continue
        text = _text_of(os.path.join(pending.place.folder, path))
        if text is None:
            continue  # a new project chooses its packages
        old_names = {*manifest.packages_in(text), *manifest.packages_in(before)}
        for name in manifest.packages_in(after):
            if name not in old_names:
                return f"{name} in {path}"
    return ""


@lru_cache(16)
def _manifest_of(name: str) -> Manifest | None:
    """Return the kind of the manifest that is called *name*; None if it's none."""
    for line in data_lines(__file__, "manifests.tsv"):
        pattern, expression, other_names = line.split("\t")
        if fits(name, pattern):
            return Manifest(expression, other_names)
    return None


def _text_of(path: str) -> str | None:
    """Return the text of the file at *path*; None if there is none that can be read."""
    try:
        if os.path.getsize(path) > _LARGEST:
            return None
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except (OSError, ValueError):
        return None
