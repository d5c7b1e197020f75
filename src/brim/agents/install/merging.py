"""Puts brim's hooks into an agent's settings, and takes exactly those out again.

The shape is the same for every agent: ``{"hooks": {EVENT: [{"matcher": ..., "hooks": [HOOK]}]}}``. Hooks of others are
never moved, changed or counted. What is already there stays where it is, so doing it twice changes nothing.
"""

from __future__ import annotations

from brim._frozen import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from brim.agents.install.settings_text import SettingsText

    IsOurs = Callable[[Any], bool]

HOOKS = "hooks"


class Entry(Frozen):
    """A hook that is wanted: for which event, for which tools (None: the event has none), and what is called."""

    __slots__ = ("event", "matcher", "hook")

    event: str
    matcher: str | None
    hook: Mapping[str, Any]

    def __init__(self, event: str, matcher: str | None, hook: Mapping[str, Any]) -> None:
        self._fill(event=event, matcher=matcher, hook=hook)

    @property
    def group(self) -> dict[str, Any]:
        """The entry as settings hold it."""
        matcher = {} if self.matcher is None else {"matcher": self.matcher}
        return {**matcher, HOOKS: [dict(self.hook)]}


def merge_hooks(settings: SettingsText, entries: Sequence[Entry], is_ours: IsOurs) -> None:
    """Let *settings* hold *entries* and no other hooks that *is_ours* says are brim's."""
    settings.check(dict, HOOKS)
    wanted: dict[str, list[dict[str, Any]]] = {}
    for entry in entries:
        wanted.setdefault(entry.event, []).append(entry.group)
    for event in wanted:
        settings.check(list, HOOKS, event)
    for event in list(settings.get(HOOKS) or {}):
        _settle(settings, event, wanted.setdefault(event, []), is_ours)
    for event, groups in wanted.items():
        for group in groups:
            settings.append(group, HOOKS, event)


def hooks_of(settings: Mapping[str, Any], is_ours: IsOurs) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give each hook in *settings* that is brim's, with its event."""
    events = settings.get(HOOKS)
    for event, groups in events.items() if isinstance(events, dict) else ():
        for group in groups if isinstance(groups, list) else ():
            for hook in _hooks(group):
                if is_ours(hook):
                    yield event, hook


def _settle(settings: SettingsText, event: str, missing: list[dict[str, Any]], is_ours: IsOurs) -> None:
    """Bring brim's hooks of *event* in line with *missing*, from which is taken what is there then."""
    groups = settings.get(HOOKS, event)
    if not isinstance(groups, list):
        return
    other = []
    for at, group in enumerate(groups):
        if group in missing:
            missing.remove(group)
        elif any(map(is_ours, _hooks(group))):
            other.append(at)
    for at in other:
        if missing and all(map(is_ours, _hooks(groups[at]))):
            settings.put(missing.pop(0), HOOKS, event, at)
            groups[at] = None
    for at in reversed(other):
        if groups[at] is not None:
            _take(settings, event, at, is_ours)


def _take(settings: SettingsText, event: str, at: int, is_ours: IsOurs) -> None:
    """Take brim's hooks out of a group, and the group too if nothing else is in it."""
    hooks = _hooks(settings.get(HOOKS, event, at))
    if all(map(is_ours, hooks)):
        settings.remove(HOOKS, event, at)
        return
    for number in reversed(range(len(hooks))):
        if is_ours(hooks[number]):
            settings.remove(HOOKS, event, at, HOOKS, number)


def _hooks(group: Any) -> list[Any]:
    hooks = group.get(HOOKS) if isinstance(group, dict) else None
    return hooks if isinstance(hooks, list) else []
