"""Which tokenizer family a model's name says it has: ``data/encodings.tsv``, first rule that matches.

The build script asks here for every model of the table, the light path only for names that the table does not have.
"""

from __future__ import annotations

from brim.models.files import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def encoding_of(key: str) -> str:
    """Return the tokenizer family of the lower-case name *key*, or ``""`` if no rule knows it."""
    for pattern, encoding in _rules():
        if _begins_a_word(pattern, key):
            return encoding
    return ""


def known_encodings() -> set[str]:
    """Return every tokenizer family that a rule names."""
    return {encoding for _, encoding in _rules()}


def _rules() -> Iterator[tuple[str, str]]:
    for line in read("encodings.tsv").decode().split("\n"):
        if line and line[0] != "#":
            pattern, _, encoding = line.partition("\t")
            yield pattern, encoding


def _begins_a_word(pattern: str, key: str) -> bool:
    """Tell whether *pattern* stands in *key* at the start of a word; a final ``|`` means that the word ends there."""
    word = pattern.removesuffix("|")
    at = key.find(word)
    while at >= 0:
        end = at + len(word)
        starts = at == 0 or not key[at - 1].isalnum()
        if starts and (word == pattern or end == len(key) or not key[end].isalnum()):
            return True
        at = key.find(word, at + 1)
    return False
