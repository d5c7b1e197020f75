"""How many tokens, how much room, and what stays of a history: for an agent that builds prompts of
its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import brim.messages
from brim.config import Config
from brim.errors import InputError
from brim.messages import Pruner
from brim.messages.budget import Reserves, TokenBudgetCalculator
from brim.models.light import lookup
from brim.tokens.count import Count
from brim.tokens.counters import counter_for
from brim.tokens.protocol import Mode
from brim.workspace import Workspace

UNKNOWN = "brim does not know this model: the count and the window are guesses"
LONGEST_NAME = 200
STRATEGIES = {
    "tiered": "TieredPruner",
    "fifo": "FifoPruner",
    "sliding": "SlidingWindowPruner",
    "summarize": "SummarizePruner",
}


@dataclass(frozen=True)
class CountAnswer:
    """How many tokens a text has, and what that rests on."""

    tokens: int
    basis: str
    low: int
    high: int
    model: str | None
    context_window: int | None
    warning: str | None


@dataclass(frozen=True)
class RoomAnswer:
    """How a model's window is divided; ``memory_tokens`` are left."""

    model: str
    context_window: int
    messages_tokens: int
    directive_tokens: int
    response_reserve: int
    safety_buffer: int
    memory_tokens: int
    is_constrained: bool
    fits: bool
    basis: str
    warning: str | None


@dataclass(frozen=True)
class FitAnswer:
    """A history that its provider accepts, within ``target`` tokens if it ``fits``; ``dropped`` are
    places in what was given."""

    messages: list[dict[str, Any]]
    tokens: int
    target: int
    fits: bool
    basis: str
    dropped: list[int]
    reason: str
    warning: str | None


def count_text(workspace: Workspace, text: str, model: str = "") -> CountAnswer:
    """Return how many tokens *text* has for *model*."""
    name = _model(workspace, model)
    mode: Mode = "auto"
    if not model.strip():
        mode = local_mode(workspace.config)
    count: Count = counter_for(name, mode=mode).count(text)
    window = None
    warning = None
    if name:
        window = lookup(name).context_window
        warning = _warning(name)
    return CountAnswer(int(count), count.basis, count.low, count.high, name, window, warning)


def room_for(
    workspace: Workspace, model: str, messages: list[dict[str, Any]], directive: str = ""
) -> RoomAnswer:
    """Return how the window of *model* is divided when it is asked *messages* and *directive*."""
    calculator = TokenBudgetCalculator(reserves=Reserves(**workspace.config.section("window")))
    budget = calculator.calculate(_needed(_model(workspace, model)), messages, directive)
    return RoomAnswer(
        model=budget.model,
        context_window=budget.context_window,
        messages_tokens=budget.messages_tokens,
        directive_tokens=budget.directive_tokens,
        response_reserve=budget.response_reserve,
        safety_buffer=budget.safety_buffer,
        memory_tokens=budget.memory_tokens,
        is_constrained=budget.is_constrained,
        fits=budget.fits,
        basis=(budget.messages_tokens + budget.directive_tokens).basis,
        warning=_warning(budget.model),
    )


def fit_messages(
    workspace: Workspace,
    messages: list[dict[str, Any]],
    tokens: int | None = None,
    model: str = "",
    strategy: str = "tiered",
) -> FitAnswer:
    """Return *messages* pruned to *tokens*, or to what fits into the window of *model*."""
    name = _needed(_model(workspace, model))
    target = tokens
    if target is None:
        target = Reserves(**workspace.config.section("window")).room(name)
    if target < 0:
        raise InputError(f"tokens must be 0 or more, not {target:,}")
    pruner: Pruner = getattr(brim.messages, STRATEGIES[strategy])()
    pruned = pruner.prune(messages, target, model=name)
    dropped: set[int] = set()
    for unit in pruned.receipt.dropped:
        dropped.update(unit.indices)
    return FitAnswer(
        messages=list(pruned.messages),
        tokens=int(pruned.tokens),
        target=target,
        fits=pruned.fits,
        basis=pruned.tokens.basis,
        dropped=sorted(dropped),
        reason=pruned.receipt.reason,
        warning=_warning(name),
    )


def local_mode(config: Config) -> Mode:
    """Return the way of counting of the settings; one that would ask a provider gives way to the
    best one here."""
    mode: Mode = config["mode"]
    if mode == "api":
        return "auto"
    return mode


def _model(workspace: Workspace, model: str) -> str | None:
    name = model.strip()
    if len(name) > LONGEST_NAME:
        raise InputError(f"model has {len(name):,} characters: that isn't the name of a model")
    return name or workspace.config["model"]


def _needed(name: str | None) -> str:
    if not name:
        raise InputError("no model is named: say which, as in model='gpt-4o'")
    return name


def _warning(name: str) -> str | None:
    if lookup(name).resolved:
        return None
    return UNKNOWN
