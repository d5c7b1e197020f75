"""Which models bind their thinking blocks to the prefix of the conversation.

A bound block is valid only if nothing before it has changed. The rule is about sizes and versions
of Claude, so it also answers for releases and hosts that the table doesn't have. Hooks import this,
so it uses no regular expressions.
"""

from __future__ import annotations

from brim.files import data_map

_SEPARATORS = "._@:/[ "

Version = tuple[int, int]


def binds_thinking(name: str) -> bool:
    """Tell whether the Claude model *name* binds its thinking blocks; false for any other model.

    >>> binds_thinking("us.anthropic.claude-opus-5-5-v1:0"), binds_thinking("claude-opus-5")
    (True, False)
    """
    words = _words(name.lower())
    if "claude" not in words:
        return False
    model_words = words[words.index("claude") + 1 :]
    first_versions = data_map(__file__, "thinking.tsv")
    size = next((word for word in model_words if word in first_versions), "*")
    if model_words in ([size], [size, "latest"]):
        return True  # the newest of its size
    version = _version(model_words)
    return version is not None and version >= _first_version(first_versions[size])


def _words(name: str) -> list[str]:
    for separator in _SEPARATORS:
        name = name.replace(separator, "-")
    return name.split("-")


def _version(words: list[str]) -> Version | None:
    """Return the first one or two numbers among *words*: 5.5 for ``opus-5-5-20260921``; None if
    there is none."""
    for at, word in enumerate(words):
        if not _is_number(word):
            continue
        next_word = (*words, "")[at + 1]
        if _is_number(next_word):
            return int(word), int(next_word)
        return int(word), 0
    return None


def _is_number(word: str) -> bool:
    """Tell whether *word* is a part of a version; a longer number is a date."""
    return len(word) <= 2 and word.isascii() and word.isdigit()


def _first_version(text: str) -> Version:
    major, _, minor = text.partition(".")
    return int(major), int(minor)
