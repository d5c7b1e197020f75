"""What headings cost, so that a plan from stored costs needs no tokenizer."""

from __future__ import annotations

import os.path

from brim.errors import InputError
from brim.injection.sections import FORMATS, Section

ENCODINGS = ("o200k_base", "o200k_harmony", "cl100k_base")
"""The encodings that costs are stored in."""


def heading_costs(format: str, encoding: str) -> dict[Section, tuple[int, int]]:
    """Return tokens and characters of each section's heading."""
    if encoding not in ENCODINGS:
        raise InputError(f"costs are stored in {', '.join(ENCODINGS)}, not in {encoding!r}")
    if format not in FORMATS:
        raise InputError(f"unknown format {format!r}: it is one of {', '.join(FORMATS)}")
    found = {}
    with open(os.path.join(os.path.dirname(__file__), "data", "headings.tsv"), encoding="utf-8") as file:
        for line in file:
            if line.startswith(f"{format}\t"):
                _, section, characters, *tokens = line.rstrip("\n").split("\t")
                found[Section[section.upper()]] = int(tokens[ENCODINGS.index(encoding)]), int(characters)
    return found
