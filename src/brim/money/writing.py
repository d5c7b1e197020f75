"""Writes limits into the text of the settings; hooks never do, so they parse no YAML."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime

from brim.config.text import read_mapping, with_block, without_key
from brim.errors import InputError
from brim.money.limits import SpendingLimit, amount_text
from brim.money.settings import KEY, read_limits


def with_limits(text: str, limits: Iterable[SpendingLimit], path: str) -> str:
    """Return *text*, that of the settings file *path*, with these limits and no others."""
    lines = block_of(limits)
    if not lines:
        return without_key(text, KEY, path)
    changed = with_block(text, KEY, "\n".join(lines), path)
    written = read_limits(read_mapping(changed, path)[0].get(KEY))
    if sorted(map(repr, written)) != sorted(map(repr, limits)):
        raise InputError(f"{path}: the limits can't be written there; please edit it by hand")
    return changed


def block_of(limits: Iterable[SpendingLimit]) -> list[str]:
    """Return the lines of the setting ``limits``, nothing without limits."""
    by_project: dict[str, list[SpendingLimit]] = {}
    for limit in limits:
        by_project.setdefault(limit.project, []).append(limit)
    if not by_project:
        return []
    lines = [f"{KEY}:"]
    for project, its_limits in by_project.items():
        lines.append(f"  {json.dumps(project)}:")
        for limit in its_limits:
            lines += _entry_lines(limit)
    return lines


def _entry_lines(limit: SpendingLimit) -> list[str]:
    text = json.dumps(limit.text)
    if limit.since is None and limit.raised_to is None:
        return [f"    - {text}"]
    lines = [f"    - limit: {text}"]
    if limit.since is not None:
        lines.append(f"      since: {json.dumps(iso(limit.since))}")
    if limit.raised_to is not None and limit.raised_until is not None:
        amount = json.dumps(amount_text(limit.raised_to, limit.unit))
        until = json.dumps(iso(limit.raised_until))
        lines.append(f"      raised: {{amount: {amount}, until: {until}}}")
    return lines


def iso(moment: float) -> str:
    """Return *moment* as a date and time with this machine's zone."""
    return datetime.fromtimestamp(moment).astimezone().isoformat()
