"""What an agent hands to its status line, as one value: the only exact usage that a client pushes by itself."""

from __future__ import annotations

import math

from brim._frozen import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

MOST = 10**12
"""Tokens beyond which a number is no count."""

LONGEST = 300
"""Characters of a name that are kept."""

_COUNTERS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")


class Status(Frozen):
    """What a client says about one session at one moment. What it does not say is None, or empty."""

    __slots__ = (
        "cache",
        "cache_until",
        "context_window",
        "cost_usd",
        "counters",
        "cwd",
        "emptied",
        "model",
        "model_name",
        "recache_tokens",
        "session",
        "used_tokens",
    )

    session: str
    cwd: str
    model: str
    """The model's id."""
    model_name: str
    """How the client calls the model."""
    used_tokens: int | None
    """What the last request took: input, cache writes and cache reads. None before the first answer."""
    counters: tuple[int, ...]
    """Input, cache writes, cache reads and output of the last request, as they came: they tell two requests apart."""
    context_window: int | None
    emptied: bool
    """Whether every counter is 0: the window was compacted or cleared, and no answer has come since."""
    cost_usd: float | None
    cache: str
    """``warm``, ``cold``, or empty if nothing is cached."""
    cache_until: float | None
    """When a warm cache goes cold."""
    recache_tokens: int | None
    """Tokens that the next request writes to the cache anew if it is cold."""

    def __init__(
        self,
        *,
        session: str = "",
        cwd: str = "",
        model: str = "",
        model_name: str = "",
        used_tokens: int | None = None,
        counters: tuple[int, ...] = (),
        context_window: int | None = None,
        emptied: bool = False,
        cost_usd: float | None = None,
        cache: str = "",
        cache_until: float | None = None,
        recache_tokens: int | None = None,
    ) -> None:
        self._fill(
            session=session,
            cwd=cwd,
            model=model,
            model_name=model_name,
            used_tokens=used_tokens,
            counters=counters,
            context_window=context_window,
            emptied=emptied,
            cost_usd=cost_usd,
            cache=cache,
            cache_until=cache_until,
            recache_tokens=recache_tokens,
        )

    @property
    def utilization(self) -> float | None:
        """The share of the window that is used; it may exceed 1. None if either is not known."""
        if self.used_tokens is None or not self.context_window:
            return None
        return self.used_tokens / self.context_window


def read_status(data: Mapping[str, Any], *, now: float, window: int | None = None) -> Status:
    """Return what *data* says. Nothing in it is required, and nothing in it raises.

    *window* is the size that a setting pins; else it is the client's word, else the model table's.
    """
    model, context = _mapping(data.get("model")), _mapping(data.get("context_window"))
    name = _text(model.get("id"))
    counters = _counters(context.get("current_usage"))
    used = sum(counters[:-1]) or None
    size = window or _count(context.get("context_window_size")) or None
    if size is None and used is not None and name:
        size = _known_window(name)
    cache, until, again = _cache(_mapping(data.get("prompt_cache")), now)
    workspace = _mapping(data.get("workspace"))
    return Status(
        session=_text(data.get("session_id")),
        cwd=_text(data.get("cwd"), 10_000) or _text(workspace.get("current_dir"), 10_000),
        model=name,
        model_name=_text(model.get("display_name")) or name,
        used_tokens=used,
        counters=counters,
        context_window=size,
        emptied=bool(counters) and used is None,
        cost_usd=_amount(_mapping(data.get("cost")).get("total_cost_usd")),
        cache=cache,
        cache_until=until,
        recache_tokens=again,
    )


def _known_window(model: str) -> int | None:
    """Return the window of a model that the table knows; one of another model would be a guess."""
    from brim.models.light import lookup

    found = lookup(model)
    return found.context_window if found.resolved else None


def _counters(usage: object) -> tuple[int, ...]:
    """Return the counters of the last request; none if the client gives none. One that is missing is 0."""
    if not isinstance(usage, dict):
        return ()
    counts = [_count(usage.get(name)) for name in _COUNTERS]
    return tuple(count or 0 for count in counts) if any(count is not None for count in counts[:-1]) else ()


def _cache(cache: Mapping[str, Any], now: float) -> tuple[str, float | None, int | None]:
    if not isinstance(cache.get("warm"), bool) or cache.get("caching_observed") is False:
        return "", None, None
    until = _amount(cache.get("expires_at"))
    warm = cache["warm"] and (until is None or until > now)
    return "warm" if warm else "cold", until if warm else None, _count(cache.get("recache_tokens_if_cold"))


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object, longest: int = LONGEST) -> str:
    return value[:longest] if isinstance(value, str) else ""


def _count(value: object) -> int | None:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 <= value <= MOST else None


def _amount(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= MOST:
        return None
    return float(value) if math.isfinite(value) else None
