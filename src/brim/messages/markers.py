"""Cache markers: ``cache_control`` on the blocks of a request, of which Anthropic accepts four.

Callers move their markers along with every request, so a marker belongs to the request that the
caller makes now and not to a message as it was when an earlier request was cut. Source:
https://platform.claude.com/docs/en/build-with-claude/prompt-caching
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from brim.messages.content import listed, with_fields, without_field
from brim.tokens.messages.fields import get, is_mapping, is_sequence

MOST_MARKERS = 4
"""The most markers in a request: system prompt, tools and messages together."""
FIELD = "cache_control"
DEEPEST = 4
"""How deep markers are looked for: a message, its blocks, the content of a result."""


def count_markers(part: object, depth: int = 0) -> int:
    """Return how many markers are in *part*: a message, a block, a tool, or a list of them."""
    markers = 0
    if get(part, FIELD) is not None:
        markers = 1

    if depth >= DEEPEST:
        return markers

    inner = part if is_sequence(part) else get(part, "content")
    for block in listed(inner):
        markers += count_markers(block, depth + 1)

    return markers


def with_markers_of(current: Any, changed: Any) -> Any:
    """Return *changed*, an edited copy of a message, with the markers that *current* has now."""
    changed = _with_marker(changed, get(current, FIELD))
    content = get(changed, "content")
    if not is_sequence(content):
        return changed

    blocks = listed(content)
    markers = [get(block, FIELD) for block in listed(get(current, "content"))]
    if len(markers) != len(blocks):
        markers = [None] * len(blocks)

    new_blocks = [_with_marker(*pair) for pair in zip(blocks, markers, strict=True)]
    if all(new is old for new, old in zip(new_blocks, blocks, strict=True)):
        return changed

    return with_fields(changed, content=new_blocks)


def _with_marker(block: Any, marker: Any) -> Any:
    if not is_mapping(block) or get(block, FIELD) == marker:
        return block

    if marker is None:
        return without_field(block, FIELD)

    return with_fields(block, **{FIELD: marker})


def within_limit(messages: Sequence[Any], other_markers: int) -> tuple[list[Any], int]:
    """Return *messages* with only the newest markers, and how many were removed.

    *other_markers* are in the system prompt and the tools, which count for the same limit.
    """
    surplus = other_markers + sum(map(count_markers, messages)) - MOST_MARKERS
    removed = 0
    limited = []
    for message in messages:
        stripped, count = _without_markers(message, surplus - removed)
        removed += count
        limited.append(stripped)

    return limited, removed


def _without_markers(part: Any, surplus: int, depth: int = 0) -> tuple[Any, int]:
    """Return *part* without its first markers, at most *surplus*, and how many those were."""
    if surplus <= 0 or depth > DEEPEST or not count_markers(part):
        return part, 0

    removed = 0
    if get(part, FIELD) is not None:
        part = without_field(part, FIELD)
        removed = 1

    content = get(part, "content")
    if not is_sequence(content):
        return part, removed

    blocks = []
    for block in listed(content):
        stripped, count = _without_markers(block, surplus - removed, depth + 1)
        removed += count
        blocks.append(stripped)

    return with_fields(part, content=blocks), removed
