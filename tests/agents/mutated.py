"""Lines as a broken or a newer client may write them: any field, at any depth, is gone or is
something else."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from brim.agents.call import Event
from brim.agents.events import Usage

if TYPE_CHECKING:
    from brim.agents.readers import Reader

ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(),
    st.text(max_size=8),
    st.lists(st.one_of(st.none(), st.integers(), st.text(max_size=3)), max_size=3),
    st.dictionaries(
        st.text(max_size=3), st.one_of(st.none(), st.integers(), st.text(max_size=3)), max_size=3
    ),
)


def read(reader: Reader, lines: Sequence[dict[str, Any]]) -> list[Event]:
    """Return the events of *lines*, each at its number."""
    return [event for at, line in enumerate(lines) for event in reader.events(line, at)]


def paths(value: object, before: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Return the way to everything in *value*."""
    keys = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [path for key, part in keys for path in ((*before, key), *paths(part, (*before, key)))]


def mutated(lines: Sequence[dict[str, Any]]) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Give *lines* with up to four fields dropped or replaced."""
    places = [(number, path) for number, line in enumerate(lines) for path in paths(line)]
    changes = st.lists(
        st.tuples(st.sampled_from(places), st.booleans(), ANYTHING), min_size=1, max_size=4
    )
    return changes.map(lambda chosen: _with(lines, chosen))


def _with(
    lines: Sequence[dict[str, Any]],
    changes: list[tuple[tuple[int, tuple[str | int, ...]], bool, object]],
) -> list[dict[str, Any]]:
    changed = copy.deepcopy(list(lines))
    for (number, path), drop, new in changes:
        place: Any = changed[number]
        try:
            for key in path[:-1]:
                place = place[key]
            if drop:
                del place[path[-1]]
            else:
                place[path[-1]] = new
        except (LookupError, TypeError):
            continue
    return changed


def is_sound(events: Sequence[Event]) -> bool:
    """Return whether every number in *events* is one, and every text a text."""
    for event in events:
        assert isinstance(event.session, str)
        assert isinstance(event.agent, str)
        assert event.time is None or isinstance(event.time, float | int)
        if isinstance(event, Usage):
            used = event.tokens
            assert (
                min(
                    used.input,
                    used.output,
                    used.cache_read,
                    used.cache_write_5m,
                    used.cache_write_1h,
                )
                >= 0
            )
            assert used.prompt or used.output
    return True
