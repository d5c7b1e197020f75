"""What happened to behaviors, in order. Events are added and never changed; secrets in them are masked."""

from __future__ import annotations

from brim import _json
from brim._frozen import Frozen
from brim.errors import StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Any

    from brim.store.database import Database


SHORT = 14
"""Characters of a word in which no secret that is told by its shape has room. Made ids have 12."""


class Event(Frozen):
    """One thing that happened. Times are seconds since 1970."""

    __slots__ = ("kind", "time", "behavior", "session", "detail")

    kind: str
    """``learned``, ``merged``, ``edited``, ``injected``, ``confirmed``, ``overridden``, ``forgotten``, ..."""
    time: float
    behavior: str | None
    """The id of the behavior that it happened to; None if it happened to several or to none."""
    session: str
    detail: Mapping[str, Any]
    """What else there is to say, as JSON can hold it."""

    def __init__(
        self,
        kind: str,
        time: float,
        behavior: str | None = None,
        *,
        session: str = "",
        detail: Mapping[str, Any] | None = None,
    ) -> None:
        self._fill(kind=kind, time=time, behavior=behavior, session=session, detail=dict(detail or {}))


def add_event(database: Database, event: Event) -> None:
    """Write *event* after all others."""
    detail = _json.dumps(_masked(event.detail), sort_keys=True) if event.detail else "{}"
    database.run(
        "INSERT INTO events (time, kind, behavior, session, detail) VALUES (?, ?, ?, ?, ?)",
        (event.time, event.kind, event.behavior, event.session, detail),
    )


def read_events(
    database: Database, *, behavior: str | None = None, kind: str | None = None, limit: int | None = None
) -> list[Event]:
    """Return the events, oldest first; of one *behavior* or *kind*; with *limit* only the newest so many."""
    wanted = {"behavior": behavior, "kind": kind}
    given = {name: value for name, value in wanted.items() if value is not None}
    where = f"WHERE {' AND '.join(f'{name} = ?' for name in given)}" if given else ""
    rows = database.rows(
        f"SELECT kind, time, behavior, session, detail FROM events {where} ORDER BY number DESC LIMIT ?",  # noqa: S608
        (*given.values(), -1 if limit is None else limit),
    )
    try:
        return [Event(row[0], row[1], row[2], session=row[3], detail=_json.loads(row[4])) for row in reversed(rows)]
    except (ValueError, TypeError, RecursionError) as error:
        raise StoreError(f"{database.path}: an event cannot be read: {error}", "damaged") from None


def together_lately(database: Database, ids: Collection[str], limit: int) -> dict[tuple[float, str], list[str]]:
    """Return what came up together with several of *ids* in the newest *limit* injections, by time and session.

    Most injections are about something else: their text alone tells, and is not parsed.
    """
    rows = database.rows(
        "SELECT time, session, detail FROM events WHERE kind = 'injected' ORDER BY number DESC LIMIT ?", (limit,)
    )
    found = {}
    written = [_json.dumps(id) for id in ids]
    try:
        for time, session, detail in rows:
            text = detail[detail.rfind('"together"') :]
            if sum([id in text for id in written]) > 1:
                together = _json.loads(detail).get("together") or ()
                found[time, session] = [id for id in together if isinstance(id, str)]
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise StoreError(f"{database.path}: an event cannot be read: {error}", "damaged") from None
    return found


def _masked(value: Any) -> Any:
    if isinstance(value, str):
        return value if is_short_word(value) else _without_secrets(value)
    if isinstance(value, dict):
        return {str(key): _masked(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        long = [each for each in value if not (type(each) is str and is_short_word(each))]
        if all(type(each) is str for each in long):
            together = "\n".join(long)  # many ids, looked at once
            if not together or _without_secrets(together) == together:
                return list(value)
        return [_masked(each) for each in value]
    return value


def _without_secrets(text: str) -> str:
    from brim.masking import mask

    return mask(text)


def is_short_word(text: str) -> bool:
    """Whether *text* is an id or a plain word that no secret is short enough to be: it need not be masked."""
    return len(text) <= SHORT and text.isascii() and text.replace("-", "").replace("_", "").isalnum()
