"""Cache markers: ``cache_control`` on the blocks of a request, of which Anthropic accepts four.

Callers move their markers along with every request, so a marker belongs to the request that the
caller makes now and not to a message as it was when an earlier request was cut. Source:
https://platform.claude.com/docs/en/build-with-claude/prompt-caching
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from brim.messages.content import with_fields, without_field
from brim.tokens.messages.fields import get, is_mapping, is_sequence

MOST_MARKERS = 4
"""The most markers in a request: system prompt, tools and messages together."""
FIELD = "cache_control"
DEEPEST = 4
"""How deep markers are looked for: a message, its blocks, the content of a result."""


def count_markers(part: object, depth: int = 0) -> int:
    """Return how many markers are in *part*: a message, a block, a tool, or a list of them."""
    own = 1 if get(part, FIELD) is not None else 0
    if depth >= DEEPEST:
        return own
    inner = part if is_sequence(part) else get(part, "content")
    return own + sum(count_markers(block, depth + 1) for block in _listed(inner))


def with_markers_of(current: Any, changed: Any) -> Any:
    """Return *changed*, an edited copy of a message, with the markers that *current* has now."""
    changed = _with_marker(changed, get(current, FIELD))
    blocks = get(changed, "content")
    if not is_sequence(blocks):
        return changed
    markers = [get(block, FIELD) for block in _listed(get(current, "content"))]
    if len(markers) != len(_listed(blocks)):
        markers = [None] * len(_listed(blocks))
    new = [
        _with_marker(block, marker) for block, marker in zip(_listed(blocks), markers, strict=True)
    ]
    if all(block is old for block, old in zip(new, _listed(blocks), strict=True)):
        return changed
    return with_fields(changed, content=new)


def _listed(value: Any) -> list[Any]:
    return list(value) if is_sequence(value) else []


def _with_marker(block: Any, marker: Any) -> Any:
    if not is_mapping(block) or get(block, FIELD) == marker:
        return block
    return without_field(block, FIELD) if marker is None else with_fields(block, **{FIELD: marker})


def within_limit(messages: Sequence[Any], others: int) -> tuple[list[Any], int]:
    """Return *messages* with only the newest markers, and how many were removed.

    *others* is the number of markers in the system prompt and the tools, which count for the same
    limit.
    """
    surplus = others + sum(map(count_markers, messages)) - MOST_MARKERS
    removed = 0
    kept = []
    for message in messages:
        stripped, count = _without_markers(message, surplus - removed)
        removed += count
        kept.append(stripped)
    return kept, removed


def _without_markers(part: Any, most: int, depth: int = 0) -> tuple[Any, int]:
    """Return *part* without its first markers, at most so many, and how many that were."""
    if most <= 0 or depth > DEEPEST or not count_markers(part):
        return part, 0
    removed = 0
    if get(part, FIELD) is not None:
        part, removed = without_field(part, FIELD), 1
    inner = get(part, "content")
    if not is_sequence(inner):
        return part, removed
    blocks = []
    for block in _listed(inner):
        stripped, count = _without_markers(block, most - removed, depth + 1)
        removed += count
        blocks.append(stripped)
    return with_fields(part, content=blocks), removed
