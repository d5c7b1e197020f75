"""From what a settings file holds to what it should hold. Nothing is written here.

What comes out is read again before it is handed on: it is valid, and without brim's entries it says what it said.
"""

from __future__ import annotations

from brim._frozen import Frozen
from brim.agents.install.entries import Ours, status_value
from brim.agents.install.json_places import read_places
from brim.agents.install.merging import HOOKS, merge_hooks
from brim.agents.install.receipt import GONE, Record
from brim.agents.install.settings_text import BLANK, SettingsText
from brim.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from brim.agents.install.merging import Entry
    from brim.agents.install.targets import Target

STATUS = "statusLine"


class Change(Frozen):
    """What becomes of one settings file."""

    __slots__ = ("target", "before", "after", "record", "chained")

    target: Target
    before: str | None
    """What it holds; None if it is not there."""
    after: str | None
    """What it should hold; None if it should not be there."""
    record: Record | None
    """What is to be remembered of it; None if nothing of brim is left in it."""
    chained: str | None
    """The command of the status line that was there before, for brim's to call; None leaves that as it is."""

    def __init__(
        self, target: Target, before: str | None, after: str | None, record: Record | None, chained: str | None = None
    ) -> None:
        self._fill(target=target, before=before, after=after, record=record, chained=chained)

    @property
    def changes(self) -> bool:
        """Whether the file has to be written."""
        return self.before != self.after


def plan_install(
    target: Target,
    before: str | None,
    record: Record | None,
    *,
    entries: Sequence[Entry],
    home: str,
    status: bool,
    hooks: str,
    resident: bool,
) -> Change:
    """Return how *target*, which holds *before*, gets *entries*, and with *status* the status line."""
    ours = Ours(home)
    settings = SettingsText(
        before or "", target.path, comments=target.comments, empty=record.empty if record is not None else None
    )
    merge_hooks(settings, entries, ours.hook)
    kept = record.status if record is not None else None
    chained = None
    if status:
        kept, chained = _put_status(settings, kept, ours, home)
    elif kept is not None or ours.status(settings.get(STATUS)):
        _take_status(settings, kept, ours)
        kept = None
    blank = record.blank if record is not None else _blank(before)
    after = settings.text
    _check(target, before, after, ours)
    folder = record.folder if record is not None else _missing_folder(target.path)
    made = Record(
        target.agent,
        target.scope,
        hooks=hooks,
        resident=resident,
        blank=blank,
        empty=settings.empty,
        status=kept,
        folder=folder,
        backups=record.backups if record is not None else (),
    )
    unchanged = before is not None and _value(target, before) == settings.value
    return Change(target, before, before if unchanged else after, made, chained)


def plan_uninstall(target: Target, before: str | None, record: Record | None, *, home: str) -> Change:
    """Return how *target*, which holds *before*, is without anything of brim's."""
    if before is None or not before.strip(BLANK):
        return Change(target, before, before, None)
    ours = Ours(home)
    settings = SettingsText(
        before, target.path, comments=target.comments, empty=record.empty if record is not None else None
    )
    merge_hooks(settings, (), ours.hook)
    _take_status(settings, record.status if record is not None else None, ours)
    after: str | None = settings.text
    if after != before and not settings.value and record is not None and record.blank is not None:
        after = None if record.blank == GONE else record.blank
    if after is not None:
        _check(target, before, after, ours)
    return Change(target, before, after, None)


def _put_status(settings: SettingsText, kept: str | None, ours: Ours, home: str) -> tuple[str | None, str | None]:
    """Set the status line; return what was there, as it was written, and the command that is to be called too."""
    found, wanted = settings.get(STATUS), status_value(home)
    if ours.status(found):
        settings.put({**found, **wanted}, STATUS)
        return kept or "", None
    if found is None:
        null = settings.raw(STATUS) if STATUS in settings.value else ""
        settings.put(wanted, STATUS)
        return null, ""
    if not isinstance(found, dict) or not isinstance(found.get("command"), str):
        return None, None
    raw = settings.raw(STATUS)
    settings.put({**found, **wanted}, STATUS)
    return raw, found["command"]


def _take_status(settings: SettingsText, kept: str | None, ours: Ours) -> None:
    """Give back the status line that was there before, unless somebody has set another since."""
    if not ours.status(settings.get(STATUS)):
        return
    if kept:
        settings.put_raw(kept, STATUS)
    else:
        settings.remove(STATUS)


def _missing_folder(path: str) -> str:
    """Return the uppermost folder above *path* that is not there; empty if all are."""
    import os

    missing, folder = "", os.path.dirname(os.path.realpath(path))
    while not os.path.isdir(folder) and folder != os.path.dirname(folder):
        missing, folder = folder, os.path.dirname(folder)
    return missing


def _blank(before: str | None) -> str | None:
    if before is None:
        return GONE
    return None if before.strip(BLANK) else before


def _check(target: Target, before: str | None, after: str, ours: Ours) -> None:
    """Raise if anything but brim's own has changed: then the file is better left alone."""
    old = _foreign(_value(target, before or ""), ours)
    new = _foreign(_value(target, after), ours)
    if old != new:
        raise InputError(f"{target.path}: cannot be changed without touching something else, so it is as it was")


def _value(target: Target, text: str) -> dict[str, Any]:
    if not text.strip(BLANK):
        return {}
    if not target.comments:
        import json

        found: dict[str, Any] = json.loads(text.removeprefix("\ufeff"))
        return found
    value: dict[str, Any] = read_places(text, target.path, comments=True).value
    return value


def _foreign(value: dict[str, Any], ours: Ours) -> dict[str, Any]:
    """Return what in *value* is not brim's, without the lists and objects that hold nothing."""
    events: dict[str, Any] = {}
    hooks = value.get(HOOKS)
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        left = [_without(group, ours) for group in groups] if isinstance(groups, list) else groups
        left = [group for group in left if group is not None] if isinstance(left, list) else left
        if left:
            events[event] = left
    rest = {key: each for key, each in value.items() if key not in (HOOKS, STATUS)}
    if events:
        rest[HOOKS] = events
    return rest


def _without(group: Any, ours: Ours) -> Any:
    hooks = group.get(HOOKS) if isinstance(group, dict) else None
    if not isinstance(hooks, list) or not any(map(ours.hook, hooks)):
        return group
    left = [hook for hook in hooks if not ours.hook(hook)]
    return {**group, HOOKS: left} if left else None
