"""How large is the window of a session, and who says so?

Several sources say how large a window is, and they disagree. What the agent or the provider reports
is about this account and these settings; the table is about the model. An overflow error is the
provider's own statement, and holds until a larger prompt has gone through.

Only the client knows the size of its window for this account, and where it compacts with the
options that it was started with. The status line is told, and stores it in the session's state:
hooks, ``brim``, ``brim context`` and the page read it there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from brim.agents.fields import count as whole
from brim.agents.lines import Bounded, model_key, model_spellings
from brim.config.places import mapping_of, read_state, state_path, user_folder
from brim.figures import percent, rounded
from brim.models.light import UNKNOWN_WINDOW, lookup
from brim.models.reported import window_of
from brim.record import PlainData

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

REPORTED = "reported"
"""The key of a session's state under which the client's report is stored."""

GUESSES = ("family", "default")
"""Sources of a window that are no reason to warn: the model isn't known."""


class _Unsaid(int):
    """The default, told apart from the same number when it is given."""


DEFAULT_WINDOW = _Unsaid(200_000)
"""The window when no source says anything."""


@dataclass(frozen=True)
class Window(PlainData):
    """How many tokens the window holds, who says so, and what the other sources say instead.

    >>> print(Window(1_000_000, "reported", (("given", 200_000),)))
    1,000,000 tokens (reported by the agent; given: 200,000)
    """

    tokens: int
    source: str
    """One of ``SOURCES``."""
    others: tuple[tuple[str, int], ...] = ()
    """The sources that say something else, strongest first, each with its tokens."""

    def __str__(self) -> str:
        sizes = "".join(
            f"; {SOURCES.get(source, source)}: {tokens:,}" for source, tokens in self.others
        )
        return f"{self.tokens:,} tokens ({SOURCES.get(self.source, self.source)}{sizes})"


class Windows:
    """The windows of a session's models, from every source.

    *given* is the caller's, for the main thread's model.
    """

    def __init__(self, given: int = DEFAULT_WINDOW, *, pinned: bool = False) -> None:
        self._given = None if given is DEFAULT_WINDOW else int(given)
        self._pinned = pinned
        self._reported = Bounded(1_000)
        self._overflow = Bounded(1_000)
        self._found = Bounded(1_000)

    def report(self, windows: Mapping[str, int]) -> None:
        """Take what an agent says about its models; a later word replaces an earlier one."""
        for model, tokens in windows.items():
            if isinstance(model, str):
                self._keep(self._reported, model, tokens)

    def overflow(self, model: str, tokens: int) -> None:
        """Take the limit that a provider named when it refused a prompt."""
        self._keep(self._overflow, model, tokens)

    def prove(self, model: str, prompt: int) -> None:
        """Take that a prompt of so many tokens went through: an overflow error that named less is
        out of date."""
        key = model_key(model)
        if prompt > self._overflow.get(key, float("inf")):
            del self._overflow[key]
            self._found.clear()

    def of(self, model: str, *, main: bool = True) -> Window:
        """Return the window of *model*.

        *main* says whether it is the main thread's, which the caller's is for.
        """
        if (model, main) in self._found:
            return self._found[model, main]  # type: ignore[no-any-return]
        reported = {
            "overflow": _named(self._overflow, model),
            "reported": _named(self._reported, model),
            **_known(model),
        }
        if main:
            reported["pinned" if self._pinned else "given"] = self._given
        ranked = [
            (source, tokens) for source in SOURCES if (tokens := reported.get(source)) is not None
        ]
        (source, tokens), *other_sizes = ranked or [("default", int(DEFAULT_WINDOW))]
        window = Window(tokens, source, tuple(other for other in other_sizes if other[1] != tokens))
        self._found[model, main] = window
        return window

    def _keep(self, sizes: dict[str, int], model: str, size: object) -> None:
        if tokens := whole(size):
            key = model_key(model)
            if sizes.pop(key, None) != tokens:
                self._found.clear()
            sizes[key] = tokens


def _named(sizes: dict[str, int], model: str) -> int | None:
    """Return what is kept for *model*, under its own name, without a suffix such as ``[1m]``, or as
    an alias."""
    if not sizes:
        return None
    key = model_key(model)
    if not key:
        if len(sizes) == 1:
            return next(iter(sizes.values()))
        return None
    if key in sizes:
        return sizes[key]
    names = model_spellings(key)
    same = (sizes[other] for other in reversed(sizes) if other and names & model_spellings(other))
    return next(same, sizes.get(""))


def _known(model: str) -> dict[str, int | None]:
    """Return what brim's own tables know about *model*: the most that a prompt may have, without
    its answer."""
    key = model_key(model)
    if not key:
        return {}
    light = lookup(key)
    if remembered := window_of(key) or window_of(light.name.lower()):
        return {"remembered": min(remembered, light.max_input)}
    if light.resolved:
        return {"table": light.max_input}
    if light.max_input != UNKNOWN_WINDOW:
        return {"family": light.max_input}
    return {}


# What the client reports -------------------------------------------------------------------------


@dataclass(frozen=True)
class AutoCompact(PlainData):
    """Where Claude Code compacts a window on its own."""

    usable: int
    """Tokens that it calls 100%."""
    at: int | None = None
    """Tokens at which it compacts; None if only a refused prompt makes it, or nothing."""
    off: bool = False
    """Whether it's switched off."""

    def left(self, used: int) -> int:
        """Return how many tokens there are until it compacts, or until nothing more is usable."""
        if self.at is None:
            return max(0, self.usable - used)
        return max(0, self.at - used)

    def told(self, used: int) -> list[str]:
        """Return what that means for a window with *used* tokens, the longest wording first.

        Claude Code counts the last prompt and its answer, which will be in the next one.
        """
        left = rounded(self.left(used))
        if self.at is not None and not self.left(used):
            return ["auto-compact due"]
        if self.at is not None:
            return [f"{left} to auto-compact", f"{left} left"]
        if self.off:
            return [f"{left} left, auto-compact off", f"{left} left"]
        full = percent(used / self.usable)
        usable = rounded(self.usable)
        return [
            f"{left} left ({full} of the usable {usable})",
            f"{left} left ({full} of {usable})",
            f"{left} left",
        ]


@dataclass(frozen=True)
class UsageSeen(PlainData):
    """How full the window was, in exact numbers, when the agent last said so."""

    tokens: int
    """Tokens of the last prompt."""
    window: int = 0
    """Tokens that the window holds, 0 if the source doesn't say."""
    model: str = ""
    time: float = 0.0
    """When it was read, in seconds since 1970."""
    source: str = ""
    """Where it comes from: ``statusline``, ``transcript`` or ``hook``."""
    cost: int | None = None
    """Micro-dollars of the session so far, None if the source doesn't say."""

    @classmethod
    def read(cls, values: object) -> UsageSeen | None:
        """Return the reading that a state file holds, None if it isn't one."""
        fields = mapping_of(values)
        tokens = _count(fields.get("tokens"))
        if tokens is None:
            return None
        return cls(
            tokens,
            window=_count(fields.get("window")) or 0,
            model=str(fields.get("model") or ""),
            time=_number(fields.get("time")) or 0.0,
            source=str(fields.get("source") or ""),
            cost=_count(fields.get("cost")),
        )


@dataclass(frozen=True)
class SaidTotal(PlainData):
    """What the client says that a session cost so far, with requests that no line shows."""

    cost: int
    """Micro-dollars."""
    time: float
    """When the client said so, in seconds since 1970."""

    @classmethod
    def read(cls, values: object) -> SaidTotal | None:
        """Return what a state file holds, None if it holds nothing."""
        fields = mapping_of(values)
        cost = _count(fields.get("cost"))
        time = _number(fields.get("time"))
        if cost is None or time is None:
            return None
        return cls(cost, time)


@dataclass(frozen=True)
class ReportedWindow(PlainData):
    """What the client says about a session's window, whatever is in it."""

    model: str
    window: int
    """Tokens that it holds, 0 if the client doesn't say."""
    share: float | None = None
    """The client's own percentage, as a share; None before the first answer."""
    auto_compact: AutoCompact | None = None
    """Where the client compacts on its own; None if that isn't known."""

    @classmethod
    def read(cls, values: object) -> ReportedWindow | None:
        """Return what a state file holds, None if it holds nothing."""
        fields = mapping_of(values)
        model = fields.get("model")
        if not isinstance(model, str) or not model:
            return None
        return cls(
            model,
            window=_count(fields.get("window")) or 0,
            share=_number(fields.get("share")),
            auto_compact=_point(fields.get("auto_compact")),
        )


def session_window(model: str, *, pinned: int | None, reported: Mapping[str, int]) -> Window:
    """Return how large the window of *model* is: the one answer that every part of brim gives.

    *pinned* is the setting ``context.window``, *reported* what the client says about its models.
    """
    if pinned is None:
        windows = Windows(DEFAULT_WINDOW)
    else:
        windows = Windows(pinned, pinned=True)
    windows.report(reported)
    return windows.of(model)


def certain_window(model: str, *, pinned: int | None, reported: Mapping[str, int]) -> int:
    """Return the tokens of the window, 0 if that would be a guess: its warning would be a false
    one."""
    window = session_window(model, pinned=pinned, reported=reported)
    if window.source in GUESSES:
        return 0
    return window.tokens


def reported_window(environ: Mapping[str, str], session: str) -> ReportedWindow | None:
    """Return what the client last reported about *session*, None if nothing is stored."""
    if not session:
        return None
    state = read_state(state_path(user_folder(environ), session))
    return ReportedWindow.read(state.get(REPORTED))


def _point(value: object) -> AutoCompact | None:
    fields = mapping_of(value)
    usable = _count(fields.get("usable"))
    if usable is None:
        return None
    return AutoCompact(usable, at=_count(fields.get("at")), off=fields.get("off") is True)


def _count(value: object) -> int | None:
    if type(value) is int and value >= 0:
        return value
    return None


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)
