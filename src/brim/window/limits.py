"""How much a request may take: by the working memory that was configured, and by the model's window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from brim.errors import InputError
from brim.models.light import input_within, lookup
from brim.models.names import clean
from brim.models.windows import window_of

if TYPE_CHECKING:
    from brim.tokens.count import Count
    from brim.window.memory import MemoryConfig


@dataclass(frozen=True, slots=True)
class Limits:
    """What a request may take, the response not included."""

    window: int | None
    """The model's window; None if it is not known."""
    most: int | None
    """What the provider takes: more is an error. None if the window is not known."""
    budget: int
    """What it should take: never more than ``most``, never negative."""
    reserve: int
    """What is kept for the response."""

    def fits(self, count: Count) -> bool:
        """Whether the provider takes a request of *count* tokens, even if it is as large as it may be."""
        return self.most is None or count.high <= self.most

    def holds(self, count: Count) -> bool:
        """Whether it fits and is within the budget, too."""
        return int(count) <= self.budget and self.fits(count)


def limits_of(config: MemoryConfig, model: str | None, context_window: int | None = None) -> Limits:
    """Return the limits of a request to *model*; *context_window* outranks its window.

    The window of a model that nobody knows is a guess, so it limits nothing; one that was reported does.
    """
    reserve = config.output_reserve
    window, most_input = _window(model, context_window)
    budget = config.max_working_memory_tokens - reserve
    if window is None or most_input is None:
        return Limits(None, None, max(0, budget), reserve)
    most = min(window - reserve, most_input)
    return Limits(window, most, max(0, min(budget, most)), reserve)


def _window(model: str | None, given: object) -> tuple[int | None, int | None]:
    """Return the window and how much of it a prompt may take: some models keep a part for the response alone."""
    if given is not None and (not isinstance(given, int) or isinstance(given, bool) or given < 1):
        raise InputError(f"context_window must be a whole number of tokens, 1 or more, not {given!r}")
    if not model:
        return given, given
    found = lookup(model)
    if given is not None:
        return given, input_within(found, given) if found.resolved else given
    if not found.resolved and not window_of(clean(model)):
        return None, None
    return found.context_window, found.max_input
