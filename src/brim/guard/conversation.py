"""``Guard``: every call of a conversation fits, stays within its limit, and is measured."""

from __future__ import annotations

import copy
import os
import shutil
import tempfile
import threading
import time
import warnings
import weakref
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeVar

from brim.agents.events import Usage
from brim.errors import InputError
from brim.guard.call import LOG, Call, OnCall
from brim.guard.cut import Cut
from brim.guard.requests import changes_newest_step, is_answer, with_system, with_text
from brim.messages.arguments import as_list
from brim.messages.budget import window_of
from brim.messages.content import text_of
from brim.messages.draft import Pin
from brim.messages.entries import Provider
from brim.messages.fitting import FitRequest, Fitted, Name, guessed, in_request, named, room_for
from brim.messages.layouts import provider_of
from brim.messages.pruners import Pruner
from brim.messages.receipt import Receipt
from brim.messages.summarize import Summarizer
from brim.messages.thinking import has_thinking
from brim.messages.tiers import TieredPruner
from brim.messages.watermark import WatermarkPruner
from brim.models.light import lookup
from brim.models.usage import Reported
from brim.money.ledger import LONG_LEASE, Ledger, ScopeStatus
from brim.money.opening import open_ledger, shared_ledger
from brim.money.quote import LEAST_OUTPUT
from brim.money.scopes import lineage
from brim.rules import ActivationTierMapper, Context, Graph, Rule, activate, render
from brim.sessions.window.budget import ContextBudget
from brim.tokens.anchor import AnchoredTokenCounter, digests
from brim.tokens.calibrate import MemoryCalibrationStore
from brim.tokens.costs import counted_once, message_costs
from brim.tokens.count import Count
from brim.tokens.counters import local_counter
from brim.tokens.messages.fields import get, string
from brim.tokens.protocol import TokenCounter
from brim.usd import Dollars, Money, read_money

M = TypeVar("M")
E = TypeVar("E")

CONVERSATIONS = 10_000
"""How many conversations a guard remembers; one that was forgotten is cut from the start again."""
TURNS_BETWEEN_CUTS = 20
"""Turns that a cut makes room for if the model loses its thinking by it."""
DEEPEST_CUT = 0.75
"""The most of a request that is cut to make that room."""
RULE_TOKENS = 500
"""The most tokens of rules in the system prompt."""


class Guard:
    """Fits, reserves, settles and measures every call of one conversation.

    Pass the whole transcript to every call. The guard sends it as it is until it no longer fits.
    Then *strategy* cuts it (by default ``TieredPruner``), and the cut stays the same until the next
    one is needed, so that the provider's cache stays warm. Counts are based on what the provider
    reported for earlier calls.

    *ledger* is where money is counted: an address for ``open_ledger``, or a ledger. Before a call
    is sent, the guard reserves the most that it can cost in *scope*. *limit_usd* is an additional
    limit for that scope: it doesn't change a stored limit, and the smaller one applies. Without a
    ledger, it applies to this process and its children.

    *rules* that matter for the first prompt are added to the system prompt (``call.system``), in at
    most *rule_tokens*. *max_output*, *target*, *conservative*, *pin* and *provider* work as in
    ``fit``.
    *summarize* and *exclude_tools* are passed to the default strategy.

    *tool_usd* is the most that tools which the provider runs (searches, code) may cost in one call,
    fees and tokens together. It's only needed where nothing limits them, or where their documented
    maximum is too much.

    *on_call* is called after every answer, with the call's receipt and its cost. Cuts and refusals
    are logged to ``brim.guard`` at the level INFO.

    A guard can be used from many threads and event loops.
    """

    def __init__(
        self,
        model: str,
        *,
        ledger: str | Ledger | None = None,
        scope: str = "agent",
        limit_usd: Dollars | None = None,
        max_output: int | None = None,
        target: int | None = None,
        conservative: bool = False,
        strategy: Name | Pruner | None = None,
        summarize: Summarizer | None = None,
        exclude_tools: Sequence[str] = (),
        rules: Iterable[Rule] = (),
        rule_tokens: int = RULE_TOKENS,
        provider: Provider | Literal["auto"] = "auto",
        counter: TokenCounter | None = None,
        pin: Pin | None = None,
        lease: float = LONG_LEASE,
        tool_usd: Dollars | None = None,
        on_call: OnCall | None = None,
    ) -> None:
        if strategy is not None and (summarize is not None or exclude_tools):
            raise InputError(
                "summarize and exclude_tools are for the default strategy: "
                "give them to yours instead"
            )

        self.model: str = model
        """The model that is called."""
        self.scope: str = scope
        """Where the money is counted."""
        self.max_output: int | None = max_output
        self.lease: float = lease
        self.on_call: OnCall | None = on_call
        """Called after every answer, with the receipt and the cost; None if the price is
        unknown."""
        room_for(model, max_output, target)  # refuses wrong values now, not at the first call
        lineage(scope)
        self._target = target
        self._conservative = conservative
        self._provider = provider
        self._pin = pin
        self.limit: Money | None = None
        """The caller's own limit; None for none."""
        if limit_usd is not None:
            self.limit = read_money(limit_usd, "limit_usd", up=False)

        self.tool_cost: Money | None = None
        """The most that tools which the provider runs may cost in one call; None if not given."""
        if tool_usd is not None:
            self.tool_cost = read_money(tool_usd, "tool_usd")

        self._standing: dict[str, tuple[str, ...]] = {}
        """By model: what multiplied a price without being asked for."""
        if strategy is None:
            strategy = TieredPruner(summarize=summarize, exclude_tools=exclude_tools)

        self.strategy: Pruner = named(strategy)
        if isinstance(self.strategy, WatermarkPruner) and self.strategy.decisions.cut:
            raise InputError(
                "strategy: a guard remembers its own cuts, "
                "so give a WatermarkPruner without decisions"
            )

        self.ledger: Ledger | None = _ledger_of(ledger, self.limit)
        """Where money is counted; None if neither a ledger nor a limit was given."""
        self.rules: tuple[Rule, ...] = tuple(rules)
        """The rules to choose from."""
        if not all(isinstance(rule, Rule) for rule in self.rules):
            raise InputError(f"rules must be Rule objects of brim.rules, not {self.rules!r:.80}")

        self._rule_tokens = rule_tokens
        self._own_counter = counter
        self._binds_thinking = lookup(model).binds_thinking
        self._begin_all()

    def _begin_all(self) -> None:
        """Begin with no conversations."""
        self._conversations: OrderedDict[str, Guard] = OrderedDict()
        self._beginnings: OrderedDict[str, str] = OrderedDict()
        self._conversations_lock = threading.RLock()
        self._begin()

    def _begin(self) -> None:
        """Begin a conversation: what follows belongs to one."""
        calibrations = MemoryCalibrationStore()
        counter = self._own_counter
        if counter is None:
            own_counter = local_counter(self.model, calibrations)
            own_counter.keep_counts()
            counter = own_counter

        self.counter: AnchoredTokenCounter = AnchoredTokenCounter(
            counter,
            model=self.model,
            calibrations=calibrations if hasattr(counter, "ratio") else None,
        )
        """Counts what was sent by what the provider reported for it."""
        self.gauge: ContextBudget = ContextBudget(window_of(self.model), model=self.model)
        """How full the window was at the last call."""
        self._cut = Cut()
        self._rules_told: str | None = None
        self._lock = threading.RLock()

    def conversation(self, id: str) -> Guard:
        """Return the guard of the conversation *id*, with its own cuts, counts and gauge.

        Ledger, scope and limit are shared. The same id gives the same guard.
        """
        with self._conversations_lock:
            guard = self._conversations.pop(id, None)
            if guard is None:
                guard = copy.copy(self)
                guard.strategy = copy.copy(self.strategy)
                guard._begin()

            self._conversations[id] = guard
            if len(self._conversations) > CONVERSATIONS:
                self._conversations.popitem(last=False)

        return guard

    def conversation_of(self, messages: Sequence[Any]) -> Guard:
        """Return the guard of the conversation that *messages* continue, for callers without an id.

        *messages* are the whole transcript. If they begin with a conversation's last transcript,
        they continue it; otherwise this is a new conversation.
        """
        message_digests = list(digests(messages, None, ""))
        if not message_digests:
            return self

        with self._conversations_lock:
            id = self._take_beginning(message_digests) or os.urandom(12).hex()
            self._beginnings[message_digests[-1]] = id
            if len(self._beginnings) > CONVERSATIONS:
                self._beginnings.popitem(last=False)

            return self.conversation(id)

    def _take_beginning(self, message_digests: list[str]) -> str:
        """Return the id of the conversation whose last transcript is the longest beginning of these
        messages; empty if there is none."""
        for digest in reversed(message_digests):
            if digest in self._beginnings:
                return self._beginnings.pop(digest)

        return ""

    def with_model(self, model: str, provider: Provider | Literal["auto"] | None = None) -> Guard:
        """Return a guard for another model, with its own conversations; ledger, scope and limit are
        shared.

        *provider* is the format of its messages, if that differs too.
        """
        room_for(model, self.max_output, self._target)
        guard = copy.copy(self)
        guard.model = model
        guard._provider = provider or self._provider
        guard._binds_thinking = lookup(model).binds_thinking
        guard.strategy = copy.copy(self.strategy)
        guard._begin_all()
        return guard

    def call(
        self,
        messages: Sequence[M],
        *,
        system: Any = None,
        tools: Sequence[Any] | None = None,
        max_output: int | None = None,
        min_output: int | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> Call[M]:
        """Return the next call of the conversation, for ``with`` or ``async with``.

        Entering it counts and fits the messages and reserves the money. That raises ``DoesNotFit``
        if even what must stay is too large, and ``LimitReached`` if a limit doesn't allow the call.
        Then nothing is reserved.

        If a limit leaves too little for the longest answer, ``call.max_output`` is lowered, at most
        to *min_output* tokens, and the receipt says so. *min_output* defaults to 1,024 if neither
        you nor the guard set *max_output*; otherwise it stays as it is.

        *options* are the other fields of your request, by the names that the provider has for them.
        Those that change what a call costs are reserved for (``n``, ``service_tier``, ``speed``,
        ``inference_geo``, ``modalities``, ``max_tool_calls``, ``cache_control``,
        ``context_management``, ``previous_response_id``), and those that take tokens are
        counted (``tool_choice``, ``response_format``). If nothing limits what the provider's own
        tools cost, entering the call raises ``UnknownPrice``.
        """
        if min_output is None and max_output is self.max_output is None:
            min_output = LEAST_OUTPUT

        return Call(
            self,
            messages,
            system,
            tools,
            max_output=max_output,
            min_output=min_output,
            options=options,
        )

    def fit(
        self,
        messages: Sequence[M],
        *,
        system: Any = None,
        tools: Sequence[Any] | None = None,
        max_output: int | None = None,
    ) -> Fitted[M]:
        """Return what the next call would send; nothing is reserved."""
        with self._lock:
            return self._fit(as_list(messages), system, tools, self._room(max_output))

    def _fit(
        self,
        transcript: list[Any],
        system: Any,
        tools: Sequence[Any] | None,
        room: tuple[int, int],
    ) -> Fitted[Any]:
        """Return the *transcript* with what was cut from it so far, cut again if it is too
        large."""
        output, target = room
        system = with_text(system, self._rule_text(transcript))
        cut, note = self._cut.for_transcript(transcript)
        if note and self._binds_thinking:
            # Thinking that was made after the cut is bound to what the cut sent, and that isn't
            # sent any more.
            cut = Cut.of_thinking(transcript)

        view = cut.view(transcript)
        counter = counted_once(in_request(self.counter.counter, system))
        request = FitRequest(view, self.model, system, tools, self._provider, counter)
        sent_tokens = self.count(view, system, tools)
        pruned = self._pruned(request, cut, transcript, (sent_tokens, target), output)
        fitted = pruned
        if pruned.is_cut and self._binds_thinking:
            fitted = pruned.without_thinking(request)

        self._cut, receipt = cut.cut_again(
            transcript, pruned, fitted.receipt, binds_thinking=self._binds_thinking
        )
        tokens = sent_tokens
        if not _are_same(fitted.messages, view):
            tokens = self.count(fitted.messages, system, tools)

        if tokens.basis != "anchored" or int(tokens) > target:
            tokens = fitted.tokens

        before = receipt.before
        if len(fitted.messages) == len(view) and not fitted.receipt.steps:
            before = tokens

        notes = list(receipt.notes)
        if note:
            notes.append(note)

        for guess in guessed(self.model, self._target):
            notes.append(guess)
            if receipt.dropped or receipt.steps:
                warnings.warn(f"brim cut a transcript: {guess}", stacklevel=3)

        receipt = replace(receipt, notes=tuple(notes), before=before, after=tokens)
        receipt = self._judged(receipt, target)
        if pruned.is_cut:
            LOG.info("%s: %s", self.model, receipt)

        final = Fitted(fitted.messages, tokens, receipt.fits, receipt, output, system)
        return final.with_few_markers(tools)

    def _judged(self, receipt: Receipt, target: int) -> Receipt:
        """Return *receipt* with whether its request fits the *target*, and why not."""
        size = receipt.after.high if self._conservative else int(receipt.after)
        if size <= target:
            return replace(receipt, target=target, fits=True, reason="")

        too_large = f"it takes {size:,} tokens, and {target:,} is the target"
        return replace(receipt, target=target, fits=False, reason=receipt.reason or too_large)

    def _room(self, max_output: int | None) -> tuple[int, int]:
        """Return how many tokens an answer may take, and how many a prompt."""
        if max_output is None:
            max_output = self.max_output

        return room_for(self.model, max_output, self._target)

    def fit_unseen(
        self,
        messages: Sequence[M],
        *,
        system: Any = None,
        tools: Sequence[Any] | None = None,
        max_output: int | None = None,
    ) -> Fitted[M]:
        """Return a request as it is, if only the provider knows all of it."""
        transcript = as_list(messages)
        output, _ = self._room(max_output)
        system = with_text(system, self._rule_text(transcript))
        request = with_system(transcript, system)
        visible = int(self.counter.counter.count_messages(request, tools))
        largest = lookup(self.model).max_input
        note = "the provider keeps a part of the prompt"
        tokens = Count(visible, "estimated", visible, max(largest, visible), note)
        receipt = Receipt(
            pruner="none",
            provider=provider_of(transcript, self._provider, self.model),
            model=self.model,
            target=largest,
            before=tokens,
            after=tokens,
            dropped=(),
            fits=True,
            reason="",
            cache=None,
            notes=(note,),
        )
        return Fitted(transcript, tokens, True, receipt, output, system)

    def measure(
        self,
        reported: Reported,
        request: Sequence[Any] | None = None,
        tools: Sequence[Any] | None = None,
    ) -> None:
        """Take what the provider *reported* for a call; None for a *request* that only the
        provider knows."""
        if request is not None:
            with self._lock:
                self.counter.report(request, reported.tokens.prompt, tools)

        # A project's settings may choose a tier or a region: the next call is reserved at the same
        # price.
        self._standing[self.model] = reported.tokens.factors
        model = reported.model or self.model
        self.gauge.update(Usage(tokens=reported.tokens, model=model, request=reported.request_id))

    def standing_factors(self, model: str) -> tuple[str, ...]:
        """Return what multiplied the price of the last call to *model* without being asked for."""
        return self._standing.get(model, ())

    def count(
        self, messages: Sequence[Any], system: Any = None, tools: Sequence[Any] | None = None
    ) -> Count:
        """Return the tokens of a request, based on what the provider reported before, if it did."""
        return self.counter.count_messages(with_system(messages, system), tools)

    def _pruned(
        self,
        request: FitRequest,
        cut: Cut,
        transcript: Sequence[Any],
        size: tuple[Count, int],
        max_output: int,
    ) -> Fitted[Any]:
        """Return *request*, pruned if it is too large; *cut* made it of the *transcript*.

        *size* is how many tokens it has, by what the provider reported, and its target.
        """
        goal = self._goal(request, *size)
        pin = cut.pinned(self._pin, transcript)
        for lower_goal in self._lower_goals(request, transcript[cut.count :], goal):
            # A pruner with a memory forgets it: the cut is remembered here.
            fitted = request.fit(
                copy.copy(self.strategy),
                lower_goal,
                max_output,
                conservative=self._conservative,
                pin=pin,
            )
            if fitted.fits and not changes_newest_step(request.messages, fitted):
                return fitted

        return request.fit(
            copy.copy(self.strategy), goal, max_output, conservative=self._conservative, pin=pin
        )

    def _lower_goals(self, request: FitRequest, new: Sequence[Any], goal: int) -> list[int]:
        """Return smaller sizes to cut a request to, smallest first, if the cut costs the model its
        thinking.

        They leave room for as many turns like the *new* ones as should come before the next cut.
        """
        if not self._binds_thinking:
            return []

        if not any(has_thinking(message) for message in request.messages):
            return []

        tokens = request.counter.count_messages(request.messages, request.tools)
        size = tokens.high if self._conservative else int(tokens)
        if size <= goal:
            return []

        answers = sum(is_answer(message) for message in new)
        growth = sum(message_costs(self.counter.counter, new).each) // max(1, answers)
        fixed = int(request.counter.count_messages([], request.tools))
        room = min(growth * TURNS_BETWEEN_CUTS, int((goal - fixed) * DEEPEST_CUT))
        if room <= 0:
            return []

        return [goal - room, goal - room // 2]

    def _goal(self, request: FitRequest, anchored: Count, target: int) -> int:
        """Return the target in the tokens that pruners count: those may differ from what the
        provider reports."""
        if anchored.basis != "anchored":
            return target

        local = request.counter.count_messages(request.messages, request.tools)
        size = anchored.high if self._conservative else int(anchored)
        local_size = local.high if self._conservative else int(local)
        if size <= target:
            return max(target, local_size)

        return min(target, target * int(local) // size)

    def _rule_text(self, messages: Sequence[Any]) -> str:
        """Return the rules for this conversation; they stay the same, because the cache begins with
        them."""
        if self._rules_told is None:
            ranked = []
            if self.rules:
                context = Context(prompt=_first_prompt(messages))
                ranked = activate(Graph(self.rules), context, now=time.time())

            plan = ActivationTierMapper().plan(
                ranked, self.rules, budget=self._rule_tokens, counter=self.counter
            )
            self._rules_told = render(plan).strip()

        return self._rules_told

    def status(self) -> ScopeStatus | None:
        """Return what was spent in the scope; None without a ledger."""
        return None if self.ledger is None else self.ledger.status(self.scope)


def _are_same(messages: Sequence[Any], view: Sequence[Any]) -> bool:
    """Whether both are lists of the same objects."""
    if len(messages) != len(view):
        return False

    return all(message is other for message, other in zip(messages, view, strict=True))


def _first_prompt(messages: Sequence[Any]) -> str:
    """Return what the user said first; empty if nobody did."""
    for message in messages:
        if string(get(message, "role")) == "user":
            return text_of(message)

    return ""


def _ledger_of(ledger: str | Ledger | None, limit: Money | None) -> Ledger | None:
    """Return the *ledger*, or one in a temporary file if there's only a limit."""
    if isinstance(ledger, (str, os.PathLike)):
        return shared_ledger(os.fspath(ledger))

    if ledger is None and limit is not None:
        folder = tempfile.mkdtemp(prefix="brim-")
        temporary = open_ledger(os.path.join(folder, "spend.db"))
        weakref.finalize(temporary, _remove, folder, os.getpid())
        return temporary

    if ledger is not None and not hasattr(ledger, "reserve"):
        raise InputError(
            f"ledger must be an address such as sqlite:///spend.db or a ledger, not {ledger!r}"
        )

    return ledger


def _remove(folder: str, process: int) -> None:
    if os.getpid() == process:  # a child that was forked may end before its parent
        shutil.rmtree(folder, ignore_errors=True)
