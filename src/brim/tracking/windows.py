"""How large is the window? Several sources say so, and they disagree: which one holds, and what the others say.

What the agent or the provider reports is about this account and these settings; the table is about the model. An
overflow error is the provider's own word, and holds until a larger prompt has gone through.
"""

from __future__ import annotations

from brim._frozen import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

SOURCES = {
    "pinned": "pinned",
    "overflow": "named in an overflow error",
    "reported": "reported by the agent",
    "given": "given",
    "remembered": "reported earlier",
    "table": "model table",
    "family": "nearest known model",
    "default": "default",
}
"""Where a window can come from, strongest first, and how that is said."""

_MOST = 10**12
_MODELS_KEPT = 1_000
_LONGEST_NAME = 300


class _Unsaid(int):
    """A number that nobody asked for: the default, told apart from the same number when it is given."""


DEFAULT_WINDOW = _Unsaid(200_000)
"""The window when nobody says anything: the last resort."""


class Window(Frozen):
    """How many tokens the window holds, who says so, and what the other sources say instead.

    >>> print(Window(1_000_000, "reported", (("given", 200_000),)))
    1,000,000 tokens (reported by the agent; given: 200,000)
    """

    __slots__ = ("others", "source", "tokens")

    tokens: int
    source: str
    """One of ``SOURCES``."""
    others: tuple[tuple[str, int], ...]
    """The sources that say something else, strongest first, each with its tokens."""

    def __init__(self, tokens: int, source: str, others: tuple[tuple[str, int], ...] = ()) -> None:
        self._fill(tokens=tokens, source=source, others=others)

    def __str__(self) -> str:
        said = "".join(f"; {SOURCES.get(source, source)}: {tokens:,}" for source, tokens in self.others)
        return f"{self.tokens:,} tokens ({SOURCES.get(self.source, self.source)}{said})"


class Windows:
    """The windows of a session's models, from every source. *given* is the caller's, for the main thread's model."""

    def __init__(self, given: int = DEFAULT_WINDOW, *, pinned: bool = False) -> None:
        self._given = None if given is DEFAULT_WINDOW else int(given)
        self._pinned = pinned
        self._reported: dict[str, int] = {}
        self._overflow: dict[str, int] = {}
        self._found: dict[tuple[str, bool], Window] = {}

    def report(self, windows: Mapping[str, int]) -> None:
        """Take what an agent says about its models; a later word replaces an earlier one."""
        for model, tokens in windows.items():
            if isinstance(model, str) and _is_size(tokens):
                self._keep(self._reported, _key(model), tokens)

    def overflow(self, model: str, tokens: int) -> None:
        """Take the limit that a provider named when it refused a prompt."""
        if _is_size(tokens):
            self._keep(self._overflow, _key(model), tokens)

    def prove(self, model: str, prompt: int) -> None:
        """Take that a prompt of so many tokens went through: an overflow error that named less is out of date."""
        key = _key(model)
        if prompt > self._overflow.get(key, _MOST):
            del self._overflow[key]
            self._found.clear()

    def of(self, model: str, *, main: bool = True) -> Window:
        """Return the window of *model*; *main* says whether it is the main thread's, which the caller's is for."""
        found = self._found.get((model, main))
        if found is None:
            if len(self._found) > _MODELS_KEPT:
                self._found.clear()
            found = self._found[model, main] = self._decide(model, main=main)
        return found

    def _decide(self, model: str, *, main: bool) -> Window:
        said: list[tuple[str, int]] = []
        if main and self._given is not None:
            said.append(("pinned" if self._pinned else "given", self._given))
        if (tokens := _named(self._overflow, model)) is not None:
            said.append(("overflow", tokens))
        if (tokens := _named(self._reported, model)) is not None:
            said.append(("reported", tokens))
        said += _known(model)
        said.sort(key=lambda one: tuple(SOURCES).index(one[0]))
        if not said:
            return Window(int(DEFAULT_WINDOW), "default")
        source, tokens = said[0]
        return Window(tokens, source, tuple(other for other in said[1:] if other[1] != tokens))

    def _keep(self, kept: dict[str, int], key: str, tokens: int) -> None:
        if kept.pop(key, None) != tokens:
            self._found.clear()
        kept[key] = tokens
        if len(kept) > _MODELS_KEPT:
            del kept[next(iter(kept))]


def is_short_for(name: str, full: str) -> bool:
    """Whether *name* is the model *full* without its suffix for a window: answers do not repeat what was asked for.

    >>> is_short_for("claude-sonnet-4-5-20250929", "claude-sonnet-4-5[1m]"), is_short_for("gpt-4o", "gpt-4o")
    (True, False)
    """
    if "[" not in full or "[" in name:
        return False
    from brim.models.names import split_window

    key = _key(full)
    return split_window(key)[1] > 0 and bool(_spellings(key) & _spellings(_key(name)))


def _is_size(tokens: object) -> bool:
    return type(tokens) is int and 0 < tokens <= _MOST


def _key(model: str) -> str:
    from brim.models.names import clean

    return clean(model[:_LONGEST_NAME])


def _named(kept: dict[str, int], model: str) -> int | None:
    """Return what is kept for *model*, under its own name, without a suffix such as ``[1m]``, or as an alias."""
    if not kept:
        return None
    key = _key(model)
    if not key:
        return next(iter(kept.values())) if len(kept) == 1 else None
    if key in kept:
        return kept[key]
    names = _spellings(key)
    same = (kept[other] for other in reversed(kept) if other and names & _spellings(other))
    return next(same, kept.get(""))


def _spellings(key: str) -> set[str]:
    from brim.models.names import spellings, split_window

    return {spelling for spelling, _ in spellings(split_window(key)[0])}


def _known(model: str) -> list[tuple[str, int]]:
    """Return what brim knows about *model* by itself: the most that a prompt may have, not the sum with its answer."""
    from brim.models.light import UNKNOWN_WINDOW, lookup
    from brim.models.windows import window_of

    key = _key(model)
    if not key:
        return []
    light = lookup(key)
    remembered = window_of(key) or window_of(light.name.lower())
    if remembered:
        return [("remembered", min(remembered, light.max_input))]
    if light.resolved:
        return [("table", light.max_input)]
    return [("family", light.max_input)] if light.max_input != UNKNOWN_WINDOW else []
