"""Sessions in a file. A charge is one transaction: two hooks at the same instant can't both spend the last tokens."""

from __future__ import annotations

import json
from contextlib import contextmanager

from brim.config.retention import SESSIONS
from brim.errors import StoreError
from brim.injection.session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from brim.store.database import Database


@contextmanager
def session_in(
    database: Database, session: str, agent: str = "", *, clock: Callable[[], float], **limits: Any
) -> Iterator[Session]:
    """Hand out the session with its *limits*; what becomes of it inside is kept, unless an error leaves.

    The file is locked meanwhile, so decide before and charge inside. A sub-agent (*agent*) has its own backoff and
    spends from the total of the session itself.
    """
    with database.writing():
        now = clock()
        main, mine = _loaded(database, session, agent, limits)
        yield mine
        for name, state in {"": main, agent: mine}.items():
            database.run(
                "INSERT OR REPLACE INTO sessions (session, agent, state, updated_at) VALUES (?, ?, ?, ?)",
                (session, name, json.dumps(state.to_dict()), now),
            )
        database.run("DELETE FROM sessions WHERE updated_at < ?", (now - SESSIONS,))


def session_seen(database: Database, session: str, agent: str = "", **limits: Any) -> Session:
    """Return the session as it is now, to look at: this takes no lock, and changes to it are not kept."""
    return _loaded(database, session, agent, limits)[1]


def _loaded(database: Database, session: str, agent: str, limits: dict[str, Any]) -> tuple[Session, Session]:
    """Return the session itself, and that of *agent* in it, which is the same if there is none."""
    main = Session(**limits)
    mine = Session(**limits, parent=main) if agent else main
    rows = database.rows(
        "SELECT agent = '', state FROM sessions WHERE session = ?1 AND (agent = '' OR agent = ?2)", (session, agent)
    )
    try:
        for is_main, state in rows:
            (main if is_main else mine).load(_checked(json.loads(state)))
    except (TypeError, ValueError, KeyError, AttributeError, RecursionError):
        raise StoreError(
            f"{database.path}: the state of the session {session[:80]!r} cannot be read", "damaged"
        ) from None
    return main, mine


def _checked(state: dict[str, Any]) -> dict[str, Any]:
    """Return *state*; raise ``ValueError`` if it holds anything but counts: a total below 0 would give tokens away."""
    numbers = [state["prompts"], state["spent"], *[number for shown in state["shown"].values() for number in shown]]
    if not all(type(number) is int and number >= 0 for number in numbers):
        raise ValueError("not counts")
    return state
