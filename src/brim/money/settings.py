"""Where limits are kept: as text in the user's ``config.yaml``.

    limits:
      "*":
        - 100/month
      /home/anna/shop:
        - 5/day
        - limit: 20/week
          raised: {amount: "22", until: 2026-11-23T00:00:00+01:00}
        - limit: "50"
          since: 2026-11-01T09:00:00+01:00

A project goes by the main folder of its repository, so its worktrees share its limits. A project's
own files never set any. If the text has a mistake, the limits that were read last go on applying.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from brim import __version__
from brim.errors import InputError
from brim.files import replace_file
from brim.money.limits import SpendingLimit, read_limit
from brim.money.periods import TOTAL
from brim.sessions.requests import EVERYTHING
from brim.usd import micro_dollars

KEY = "limits"
LAST_GOOD = "limits.json"
"""The copy of the last limits without a mistake, in the user's folder ``accepted``."""
LARGEST_COPY = 1 << 20


@dataclass(frozen=True)
class LimitSettings:
    """The limits in force, and what is wrong with the text of the settings."""

    limits: tuple[SpendingLimit, ...] = ()
    problem: str = ""
    """A sentence to tell once; the limits are then those that were read last."""

    def of_project(self, project: str) -> list[SpendingLimit]:
        """Return the limits of *project* and of everything, the tightest kind first."""
        return [limit for limit in self.limits if limit.project in (EVERYTHING, project)]


def limits_in_force(value: object, home: str, problem: str = "") -> LimitSettings:
    """Return the limits that *value*, the setting ``limits``, means.

    *home* is the user's folder of brim. *problem* is what is wrong with the file, if something is:
    then, and if a limit can't be read, the last good ones apply.
    """
    copy = _read_copy(_copy_path(home))
    if not problem:
        try:
            return LimitSettings(tuple(_limits_of(value, copy, home)))
        except InputError as error:
            problem = str(error)
    return LimitSettings(tuple(_limits_in(copy)), problem)


def _limits_of(value: object, copy: dict[str, Any], home: str) -> list[SpendingLimit]:
    """Return the limits that *value* means. A hook reads them in the *copy* if they were read
    before."""
    written = f"{__version__} {json.dumps(value, default=str)}"
    if copy.get("written") == written:
        limits = _limits_in(copy)
        if limits:
            return limits
    limits = read_limits(value)
    if limits or copy:
        _keep({"written": written, "limits": _as_json(limits)}, home)
    return limits


def with_default(settings: LimitSettings, dollars: float, project: str) -> LimitSettings:
    """Return *settings* with a limit of *dollars* for *project*, unless it has one of its own."""
    if not project or any(limit.project == project for limit in settings.limits):
        return settings
    default = SpendingLimit(micro_dollars(repr(dollars), up=False), project=project)
    return replace(settings, limits=(*settings.limits, default))


def read_limits(value: object) -> list[SpendingLimit]:
    """Return the limits in *value*: lists of them by project."""
    if value is None:
        return []
    if not isinstance(value, Mapping):
        raise InputError("limits: must be projects, each with a list of limits")
    limits: list[SpendingLimit] = []
    for project, entries in value.items():
        if not isinstance(entries, list):
            raise InputError(f"limits: {str(project)[:80]}: must be a list, such as [5/day]")
        limits += [_read_entry(entry, str(project)) for entry in entries]
    return limits


def _read_entry(entry: object, project: str) -> SpendingLimit:
    if not isinstance(entry, Mapping):
        return read_limit(str(entry), project=project)
    limit = read_limit(str(entry.get("limit", "")), project=project)
    since = entry.get("since")
    if since is not None:
        limit = replace(limit, since=_moment(since))
    raised = entry.get("raised")
    if isinstance(raised, Mapping):
        raised_to = read_limit(_raised_text(raised, limit)).amount
        limit = replace(limit, raised_to=raised_to, raised_until=_moment(raised.get("until")))
    elif raised is not None:
        raise InputError(f"limits: {limit.text}: raised must have amount and until")
    return limit


def _raised_text(raised: Mapping[str, Any], limit: SpendingLimit) -> str:
    """Return the raised amount as a limit of the same period."""
    per = "" if limit.period == TOTAL else f"/{limit.period}"
    return f"{raised.get('amount', '')}{per}"


def _moment(value: object) -> float:
    """Return the seconds of *value*, a date and time with or without its zone."""
    if isinstance(value, datetime):
        return value.timestamp()
    try:
        return datetime.fromisoformat(str(value)).timestamp()
    except (ValueError, OverflowError):
        raise InputError(f"limits: {str(value)[:40]!r} isn't a date and time") from None


def replaced(
    limits: Sequence[SpendingLimit], changed: Iterable[SpendingLimit]
) -> list[SpendingLimit]:
    """Return *limits* with those that have *changed*: one of the same kind stays where it is."""
    by_kind = {limit.kind: limit for limit in limits}
    for limit in changed:
        by_kind[limit.kind] = limit
    return list(by_kind.values())


# The last good limits


def _copy_path(home: str) -> str:
    return os.path.join(home, "accepted", LAST_GOOD)


def _keep(copy: dict[str, Any], home: str) -> None:
    """Keep *copy*; a missing *home* isn't made. Without limits, nothing is in it."""
    if not copy["limits"]:
        copy = {}
    path = _copy_path(home)
    try:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        replace_file(path, json.dumps(copy).encode(), durable=False)
    except OSError:
        return  # the text of the settings is what counts


def _limits_in(copy: dict[str, Any]) -> list[SpendingLimit]:
    try:
        return [SpendingLimit(**fields) for fields in copy.get("limits", [])]
    except TypeError:
        return []


def _read_copy(path: str) -> dict[str, Any]:
    """Return the copy, without limits if it can't be read; empty if there is none."""
    try:
        with open(path, encoding="utf-8") as file:
            copy = json.loads(file.read(LARGEST_COPY))
    except OSError:
        return {}
    except ValueError:
        return {"limits": []}
    if isinstance(copy, dict):
        return copy
    return {"limits": []}


def _as_json(limits: Iterable[SpendingLimit]) -> list[dict[str, Any]]:
    return [
        {
            "amount": limit.amount,
            "unit": limit.unit,
            "period": limit.period,
            "project": limit.project,
            "since": limit.since,
            "raised_to": limit.raised_to,
            "raised_until": limit.raised_until,
        }
        for limit in limits
    ]
