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
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Generic, Literal, Self, TypeVar

from brim.activation import Context, Graph, activate
from brim.agents.events import Usage
from brim.agents.readers import AnyReader
from brim.behaviors import Behavior
from brim.errors import DoesNotFit, InputError
from brim.guard.cut import Cut
from brim.injection import ActivationTierMapper, render
from brim.messages.budget import window_of
from brim.messages.content import listed, text_of
from brim.messages.draft import Pin
from brim.messages.entries import Provider
from brim.messages.fitting import Fitted, GuardRequest, Name, guessed, in_request, named, room_for
from brim.messages.formats import as_list, provider_of
from brim.messages.pruners import Pruner, in_thread
from brim.messages.receipt import Receipt
from brim.messages.summarize import Summarizer
from brim.messages.thinking import has_thinking
from brim.messages.tiers import TieredPruner
from brim.messages.watermark import WatermarkPruner
from brim.models.light import lookup
from brim.models.terms import Terms, read_terms
from brim.models.usage import Reported, read_response
from brim.spend.ledger import LONG_LEASE, Ledger, ScopeStatus, lineage
from brim.spend.money import micro_dollars
from brim.spend.spending import LEAST_OUTPUT, Quote, Spend
from brim.store.ledger import open_ledger
from brim.tokens.anchor import AnchoredTokenCounter, digests
from brim.tokens.calibrate import MemoryCalibrationStore
from brim.tokens.costs import message_costs
from brim.tokens.count import Count
from brim.tokens.counters import counter_for
from brim.tokens.messages.fields import get, is_sequence, string
from brim.tokens.messages.frameworks import as_blocks
from brim.tokens.messages.request import with_options
from brim.tokens.protocol import TokenCounter
from brim.tracking.budget import ContextBudget

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
    most *rule_tokens*. *max_output*, *target*, *sure*, *pin* and *provider* work as in ``fit``.
    *summarize* and *exclude_tools* are passed to the default strategy.

    *tool_usd* is the most that tools which the provider runs (searches, code) may cost in one call,
    fees and tokens together. It's only needed where nothing limits them, or where their documented
    maximum is too much.

    A guard can be used from many threads and event loops.
    """

    def __init__(
        self,
        model: str,
        *,
        ledger: str | Ledger | None = None,
        scope: str = "agent",
        limit_usd: float | str | Decimal | None = None,
        max_output: int | None = None,
        target: int | None = None,
        sure: bool = False,
        strategy: Name | Pruner | None = None,
        summarize: Summarizer | None = None,
        exclude_tools: Sequence[str] = (),
        rules: Iterable[Behavior] = (),
        rule_tokens: int = RULE_TOKENS,
        provider: Provider | Literal["auto"] = "auto",
        counter: TokenCounter | None = None,
        pin: Pin | None = None,
        lease: float = LONG_LEASE,
        tool_usd: float | str | Decimal | None = None,
    ) -> None:
        if strategy is not None and (summarize is not None or exclude_tools):
            raise InputError(
                "summarize and exclude_tools are for the default strategy: give them to yours instead"
            )
        self.model: str = model
        """The model that is called."""
        self.scope: str = scope
        """Where the money is counted."""
        self.max_output: int | None = max_output
        self.lease: float = lease
        room_for(model, max_output, target)  # refuses wrong values now, not at the first call
        lineage(scope)
        self._target, self._sure, self._provider, self._pin = target, sure, provider, pin
        self.limit: int | None = (
            None if limit_usd is None else micro_dollars(str(limit_usd), up=False)
        )
        """The caller's own limit, in micro-dollars; None for none."""
        self.tool_cost: int | None = None if tool_usd is None else micro_dollars(str(tool_usd))
        """The most that tools which the provider runs may cost in one call, in micro-dollars; None
        if not given."""
        self._standing: dict[
            str, tuple[str, ...]
        ] = {}  # by model: what multiplied a price without being asked for
        self.strategy: Pruner = (
            TieredPruner(summarize=summarize, exclude_tools=exclude_tools)
            if strategy is None
            else named(strategy)
        )
        if isinstance(self.strategy, WatermarkPruner) and self.strategy.decisions.cut:
            raise InputError(
                "strategy: a guard remembers its own cuts, so give a WatermarkPruner without decisions"
            )
        self.ledger: Ledger | None = _ledger(ledger, self.limit)
        """Where money is counted; None if neither a ledger nor a limit was given."""
        self.rules: tuple[Behavior, ...] = tuple(rules)
        """The rules to choose from."""
        if not all(isinstance(each, Behavior) for each in self.rules):
            raise InputError(
                f"rules must be Behavior objects of brim.behaviors, not {self.rules!r:.80}"
            )
        self._rule_tokens = rule_tokens
        self._given_counter = counter
        self._binds_thinking = lookup(model).binds_thinking
        self._begin_all()

    def _begin_all(self) -> None:
        """Begin with no conversations."""
        self._conversations: OrderedDict[str, Guard] = OrderedDict()
        self._beginnings: OrderedDict[str, str] = OrderedDict()
        self._others = threading.RLock()
        self._begin()

    def _begin(self) -> None:
        """Begin a conversation: what follows belongs to one."""
        learned = MemoryCalibrationStore()
        counter = self._given_counter or counter_for(self.model, calibrations=learned)
        ratios = learned if hasattr(counter, "ratio") else None
        self.counter: AnchoredTokenCounter = AnchoredTokenCounter(
            counter, model=self.model, calibrations=ratios
        )
        """Counts what was sent by what the provider reported for it."""
        self.gauge: ContextBudget = ContextBudget(window_of(self.model), model=self.model)
        """How full the window was at the last call."""
        self._cut = Cut()
        self._told: str | None = None
        self._lock = threading.RLock()

    def conversation(self, id: str) -> Guard:
        """Return the guard of the conversation *id*, with its own cuts, counts and gauge.

        Ledger, scope and limit are shared. The same id gives the same guard.
        """
        with self._others:
            found = self._conversations.pop(id, None)
            if found is None:
                found = copy.copy(self)
                found.strategy = copy.copy(self.strategy)
                found._begin()
            self._conversations[id] = found
            if len(self._conversations) > CONVERSATIONS:
                self._conversations.popitem(last=False)
        return found

    def conversation_of(self, messages: Sequence[Any]) -> Guard:
        """Return the guard of the conversation that *messages* continue, for callers without an id.

        *messages* are the whole transcript. If they begin with a conversation's last transcript,
        they continue it; otherwise this is a new conversation.
        """
        known = list(digests(messages, None, ""))
        if not known:
            return self
        with self._others:
            last = next((each for each in reversed(known) if each in self._beginnings), "")
            id = self._beginnings.pop(last, "") or os.urandom(12).hex()
            self._beginnings[known[-1]] = id
            if len(self._beginnings) > CONVERSATIONS:
                self._beginnings.popitem(last=False)
            return self.conversation(id)

    def with_model(self, model: str, provider: Provider | Literal["auto"] | None = None) -> Guard:
        """Return a guard for another model, with its own conversations; ledger, scope and limit are
        shared.

        *provider* is the format of its messages, if that differs too.
        """
        room_for(model, self.max_output, self._target)
        found = copy.copy(self)
        found.model, found._provider = model, provider or self._provider
        found._binds_thinking = lookup(model).binds_thinking
        found.strategy = copy.copy(self.strategy)
        found._begin_all()
        return found

    def call(
        self,
        messages: Sequence[M],
        *,
        system: Any = None,
        tools: Sequence[Any] | None = None,
        max_output: int | None = None,
        min_output: int | None = None,
        billed_output: int | None = None,
        answers: int = 1,
        has_unseen: bool = False,
        options: Mapping[str, Any] | None = None,
    ) -> Call[M]:
        """Return the next call of the conversation, for ``with`` or ``async with``.

        Entering it counts and fits the messages and reserves the money. That raises ``DoesNotFit``
        if even what must stay is too large, and ``LimitReached`` if a limit doesn't allow the call.
        Then nothing is reserved.

        If a limit leaves too little for the longest answer, ``call.max_output`` is lowered, at most
        to *min_output* tokens, and the receipt says so. *min_output* defaults to 1,024 if neither
        you nor the guard set *max_output*; otherwise it stays as it is.

        *billed_output* is how many tokens of an answer may be billed, if you don't send
        ``call.max_output``. *answers* is how many answers you ask for. Set *has_unseen* if the
        provider keeps a part of the prompt that isn't in *messages*: then they are sent as they
        are, and money for a full window is reserved.

        *options* are the other fields of your request, by the names that the provider has for them.
        Those that change what a call costs are reserved for (``n``, ``service_tier``, ``speed``,
        ``inference_geo``, ``modalities``, ``max_tool_calls``), and those that take tokens are
        counted (``tool_choice``, ``response_format``). If nothing limits what the provider's own
        tools cost, entering the call raises ``UnknownPrice``.
        """
        if min_output is None and max_output is self.max_output is billed_output is None:
            min_output = LEAST_OUTPUT
        return Call(
            self,
            messages,
            system,
            tools,
            max_output=max_output,
            min_output=min_output,
            billed_output=billed_output,
            answers=answers,
            has_unseen=has_unseen,
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
            given = as_list(messages)
            output, target = room_for(
                self.model, self.max_output if max_output is None else max_output, self._target
            )
            system = with_text(system, self._rule_text(given))
            cut, note = self._cut.for_transcript(given)
            if note and self._binds_thinking:
                # Thinking that was made after the cut is bound to what the cut sent, and that isn't
                # sent any more.
                cut = Cut.of_thinking(given)
            view = cut.view(given)
            request = GuardRequest(
                view,
                self.model,
                system,
                tools,
                self._provider,
                in_request(self.counter.counter, system),
            )
            pruned = self._pruned(request, cut, given, target, output)
            fitted = pruned
            if pruned.is_cut and self._binds_thinking:
                fitted = pruned.without_thinking(request)
            self._cut, receipt = cut.cut_again(
                given, pruned, fitted.receipt, binds_thinking=self._binds_thinking
            )
            tokens = self.count(fitted.messages, system, tools)
            tokens = (
                tokens if tokens.basis == "anchored" and int(tokens) <= target else fitted.tokens
            )
            size = tokens.high if self._sure else int(tokens)
            is_same = len(fitted.messages) == len(view) and not fitted.receipt.steps
            before = tokens if is_same else receipt.before
            guess = guessed(self.model, self._target)
            if guess and (receipt.dropped or receipt.steps):
                warnings.warn(f"brim cut a transcript: {guess[0]}", stacklevel=2)
            notes = (*receipt.notes, *filter(None, [note]), *guess)
            fits = size <= target
            reason = (
                ""
                if fits
                else receipt.reason or f"it takes {size:,} tokens, and {target:,} is the target"
            )
            about: Any = {
                "target": target,
                "before": before,
                "after": tokens,
                "fits": fits,
                "reason": reason,
            }
            receipt = replace(receipt, notes=notes, **about)
            return Fitted(fitted.messages, tokens, fits, receipt, output, system).with_few_markers(
                tools
            )

    def _unseen(
        self,
        messages: Sequence[M],
        system: Any,
        tools: Sequence[Any] | None,
        max_output: int | None,
    ) -> Fitted[M]:
        """Return a request as it is, if only the provider knows all of it."""
        given, known = as_list(messages), lookup(self.model)
        output, _ = room_for(
            self.model, self.max_output if max_output is None else max_output, self._target
        )
        system = with_text(system, self._rule_text(given))
        seen = self.counter.counter.count_messages(_whole(given, system), tools)
        note = "the provider keeps a part of the prompt"
        tokens = Count(int(seen), "estimated", int(seen), max(known.max_input, int(seen)), note)
        provider = provider_of(given, self._provider, self.model)
        about: Any = {"dropped": (), "fits": True, "reason": "", "cache": None, "notes": (note,)}
        receipt = Receipt("none", provider, self.model, known.max_input, tokens, tokens, **about)
        return Fitted(given, tokens, True, receipt, output, system)

    def count(
        self, messages: Sequence[Any], system: Any = None, tools: Sequence[Any] | None = None
    ) -> Count:
        """Return the tokens of a request, based on what the provider reported before, if it did."""
        return self.counter.count_messages(_whole(messages, system), tools)

    def _pruned(
        self,
        request: GuardRequest,
        cut: Cut,
        transcript: Sequence[Any],
        target: int,
        max_output: int,
    ) -> Fitted[Any]:
        """Return *request*, pruned if it is too large; *cut* made it of the *transcript*."""
        goal = self._goal(request, target)
        pin = cut.pinned(self._pin, transcript)
        for lower_goal in self._lower_goals(request, transcript[cut.count :], goal):
            # A pruner with a memory forgets it: the cut is remembered here.
            fitted = request.fit(
                copy.copy(self.strategy), lower_goal, max_output, sure=self._sure, pin=pin
            )
            if fitted.fits and not _changes_newest_step(request.messages, fitted):
                return fitted
        return request.fit(copy.copy(self.strategy), goal, max_output, sure=self._sure, pin=pin)

    def _lower_goals(self, request: GuardRequest, new: Sequence[Any], goal: int) -> list[int]:
        """Return smaller sizes to cut a request to, smallest first, if the cut costs the model its
        thinking.

        They leave room for as many turns like the *new* ones as should come before the next cut.
        """
        if not self._binds_thinking or not any(
            has_thinking(message) for message in request.messages
        ):
            return []
        size = request.counter.count_messages(request.messages, request.tools)
        if (size.high if self._sure else int(size)) <= goal:
            return []
        answers = sum(1 for message in new if _is_answer(message))
        growth = sum(message_costs(self.counter.counter, new).each) // max(1, answers)
        fixed = int(request.counter.count_messages([], request.tools))
        room = min(growth * TURNS_BETWEEN_CUTS, int((goal - fixed) * DEEPEST_CUT))
        return [goal - room, goal - room // 2] if room > 0 else []

    def _goal(self, request: GuardRequest, target: int) -> int:
        """Return the target in the tokens that pruners count: those may differ from what the
        provider reports."""
        anchored = self.count(request.messages, request.system, request.tools)
        if anchored.basis != "anchored":
            return target
        local = request.counter.count_messages(request.messages, request.tools)
        size = anchored.high if self._sure else int(anchored)
        if size <= target:
            return max(target, local.high if self._sure else int(local))
        return min(target, target * int(local) // size)

    def _rule_text(self, messages: Sequence[Any]) -> str:
        """Return the rules for this conversation; they stay the same, because the cache begins with
        them."""
        if self._told is None:
            prompt = next(
                (text_of(each) for each in messages if string(get(each, "role")) == "user"), ""
            )
            ranked = (
                activate(Graph(self.rules), Context(prompt=prompt), now=time.time())
                if self.rules
                else []
            )
            plan = ActivationTierMapper().plan(
                ranked, self.rules, budget=self._rule_tokens, counter=self.counter
            )
            self._told = render(plan).strip()
        return self._told

    def status(self) -> ScopeStatus | None:
        """Return what was spent in the scope; None without a ledger."""
        return None if self.ledger is None else self.ledger.status(self.scope)


class Call(Generic[M]):
    """One call of a conversation: what to send, and what came of it.

    Leaving the block without ``done`` gives the money back if the request provably cost nothing (no
    connection, or an answer of 400 to 499), and otherwise keeps it reserved until its lease ends:
    the answer may have been written.
    """

    messages: list[M]
    """What to send."""
    system: Any
    """The system prompt, with the guard's rules."""
    max_output: int
    """What to send as ``max_tokens``."""
    is_lowered: bool = False
    """Whether a limit lowered ``max_output``: then send it in any case."""
    tokens: Count
    """The size of the prompt."""
    receipt: Receipt
    """What left or was changed, and why."""

    def __init__(
        self,
        guard: Guard,
        messages: Sequence[M],
        system: Any,
        tools: Sequence[Any] | None,
        *,
        max_output: int | None = None,
        min_output: int | None = None,
        billed_output: int | None = None,
        answers: int = 1,
        has_unseen: bool = False,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.guard: Guard = guard
        self.tools: Sequence[Any] | None = tools
        """The tools to send."""
        self._given = messages, system, max_output
        self._min_output, self._billed_output = min_output, billed_output
        self._answers, self._has_unseen = answers, has_unseen
        self._options: Mapping[str, Any] = options or {}
        self._counted_tools = with_options(tools, self._options)
        self._spend: Spend | None = None
        self.reported: Reported | None = None
        """What the provider reported; None before ``done``."""

    if not TYPE_CHECKING:  # a type checker still reports names that don't exist

        def __getattr__(self, name: str) -> Any:
            """Say what to do about what a call has only inside its block."""
            inside = ", which it has inside its block: with guard.call(...) as call:"
            raise AttributeError(
                f"a Call has no {name!r}{inside if name in Call.__annotations__ else ''}"
            )

    @property
    def model(self) -> str:
        """The model to call."""
        return self.guard.model

    @property
    def reserved(self) -> int:
        """What was reserved for the call, in micro-dollars."""
        return self._spend.amount if self._spend else 0

    @property
    def cost(self) -> int | None:
        """What the call cost, in micro-dollars; None before it's settled, and without a ledger."""
        return self._spend.cost if self._spend else None

    def done(self, response: object) -> None:
        """Take the provider's response, or its usage: settle the cost, anchor the count, feed the
        gauge.

        Inside ``async with``, the cost is settled by another thread before the block ends.
        """
        reported = response if isinstance(response, Reported) else read_response(response)
        if self._spend is not None:
            self._spend.settle(reported)
        self.reported, guard = reported, self.guard
        with guard._lock:
            if not self._has_unseen:
                guard.counter.report(
                    _whole(self.messages, self.system), reported.tokens.prompt, self._counted_tools
                )
        # A project's settings may choose a tier or a region: the next call is reserved at the same
        # price.
        guard._standing[guard.model] = reported.tokens.factors
        model = reported.model or guard.model
        guard.gauge.update(Usage(tokens=reported.tokens, model=model, request=reported.request_id))

    def release(self) -> None:
        """Give back the money: you decided not to send the request."""
        if self._spend is not None:
            self._spend.release()

    async def finish(self) -> None:
        """Wait until what was settled or released after ``async with`` is written."""
        if self._spend is not None:
            await self._spend.finish()

    def stream(self, events: Any) -> Any:
        """Pass on the *events* of a streamed response, sync or async, and call ``done`` with the
        usage at their end.

        OpenAI's chat reports usage only with ``stream_options={"include_usage": True}``.
        """
        return self._astream(events) if hasattr(events, "__aiter__") else self._stream(events)

    def _stream(self, events: Iterable[E]) -> Iterator[E]:
        seen = StreamedUsage()
        for event in events:
            seen.take(event)
            yield event
        self._streamed(seen)

    async def _astream(self, events: Any) -> AsyncIterator[Any]:
        seen = StreamedUsage()
        async for event in events:
            seen.take(event)
            yield event
        self._streamed(seen)
        await self.finish()

    def _streamed(self, seen: StreamedUsage) -> None:
        if seen.reported is not None:
            self.done(seen.reported)
        elif self.reported is None:
            kept = "its money stays reserved and counts in full when the lease ends"
            warnings.warn(
                f"the stream ended without usage, so {kept}: {StreamedUsage.__doc__}", stacklevel=3
            )

    def _prepare(self) -> None:
        messages, system, max_output = self._given
        guard = self.guard
        if self._has_unseen:
            fitted = guard._unseen(messages, system, self._counted_tools, max_output)
        else:
            fitted = guard.fit(
                messages, system=system, tools=self._counted_tools, max_output=max_output
            )
        if not fitted.fits:
            raise DoesNotFit(
                f"the request doesn't fit {self.model}: {fitted.receipt.reason}", fitted
            )
        self.messages = fitted.messages
        self.system = fitted.system
        self.max_output = fitted.max_output
        self.tokens = fitted.tokens
        self.receipt = fitted.receipt
        if guard.ledger is None:
            return
        quote = self._quote(fitted)
        self._asked = quote.output
        self._spend = Spend(
            guard.ledger,
            guard.scope,
            quote,
            least=self._min_output,
            lease=guard.lease,
            at_most=guard.limit,
        )

    def _quote(self, fitted: Fitted[M]) -> Quote:
        """Return the most that the call can cost."""
        terms = self._terms(fitted)
        window = lookup(self.model)
        prompt = fitted.tokens.high
        if window.resolved:
            prompt = min(prompt, window.max_input)
        if terms.prompts > 1:
            prompt = window.max_input * terms.prompts
        output = fitted.max_output if self._billed_output is None else self._billed_output
        hour = any(_is_for_an_hour(part) for part in (fitted.system, self.tools, *fitted.messages))
        answers = max(self._answers, terms.answers)
        return Quote(self.model, prompt, output, answers, hour, terms)

    def _terms(self, fitted: Fitted[M]) -> Terms:
        """Return what the request asks for that changes its price."""
        guard = self.guard
        terms = read_terms(self._options, self.model, self.tools, fitted.messages)
        terms = replace(terms, standing=guard._standing.get(self.model, ()))
        if terms.has_server_tools and guard.tool_cost is not None:
            return terms.with_tool_cost(guard.tool_cost)
        return terms

    def _take_cap(self) -> None:
        """Take the cap of the answer from what was reserved, if that is for a shorter one."""
        if self._spend is None or self._spend.quote.output >= self._asked:
            return
        paid, room = self._spend.quote.output, window_of(self.model) - self.tokens.high
        self.max_output, self.is_lowered = min(paid, max(self.max_output, room)), True
        note = f"an answer may take {self.max_output:,} tokens, not {self._asked:,}: the limit leaves no more"
        self.receipt = replace(self.receipt, notes=(*self.receipt.notes, note))

    def __enter__(self) -> Self:
        self._prepare()
        if self._spend is not None:
            self._spend.__enter__()
        self._take_cap()
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if self._spend is not None:
            self._spend.__exit__(kind, error, trace)

    async def __aenter__(self) -> Self:
        await in_thread(self._prepare)
        if self._spend is not None:
            await self._spend.__aenter__()
        self._take_cap()
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if self._spend is not None:
            await self._spend.__aexit__(kind, error, trace)


class StreamedUsage:
    """Usage comes at the end of a stream; OpenAI's chat needs ``stream_options={"include_usage":
    True}`` for it."""

    def __init__(self) -> None:
        self._reader = AnyReader()
        self.reported: Reported | None = None
        """The last usage that was final."""

    def take(self, event: Any) -> None:
        """Read one event: an object of an SDK, or a dict."""
        dump = getattr(event, "model_dump", None)
        line = (
            dump(by_alias=True, exclude_none=True, mode="json", warnings=False)
            if callable(dump)
            else event
        )
        if not isinstance(line, Mapping):
            return
        response = line.get("response")
        for found in self._reader.events(line):
            if not (isinstance(found, Usage) and found.final):
                continue
            if isinstance(response, Mapping) and response.get("object") == "response":
                self.reported = read_response(response)  # its output says which tools ran
            else:
                is_anthropic = str(line.get("type")).startswith("message_")
                self.reported = Reported(found.tokens, found.model, found.request, is_anthropic)


def _is_answer(message: object) -> bool:
    """Whether the model wrote *message*."""
    return string(get(as_blocks(message), "role")) in ("assistant", "model")


def _changes_newest_step(messages: Sequence[Any], fitted: Fitted[Any]) -> bool:
    """Whether results that the model hasn't seen yet were changed to make *messages* fit."""
    answers = [at for at, message in enumerate(messages) if _is_answer(message)]
    newest = answers[-1] if answers else -1
    return any(at > newest for step in fitted.receipt.steps for at in step.indices)


def _whole(messages: Sequence[Any], system: Any) -> list[Any]:
    """Return the messages as they are counted, after the system prompt."""
    return [
        *([] if system is None or system == "" else [{"role": "system", "content": system}]),
        *messages,
    ]


def with_text(system: Any, text: str) -> Any:
    """Return the system prompt with *text* at its end, in the form that it has."""
    if not text:
        return system
    if system is None or isinstance(system, str):
        return f"{system}\n\n{text}" if system else text
    return [*(system if is_sequence(system) else [system]), {"type": "text", "text": text}]


def _is_for_an_hour(part: Any, depth: int = 0) -> bool:
    """Whether a request asks somewhere for a cache that is kept for an hour, which costs more to
    write."""
    if string(get(get(part, "cache_control"), "ttl")) == "1h":
        return True
    inner = part if is_sequence(part) else get(part, "content")
    return depth < 4 and any(_is_for_an_hour(each, depth + 1) for each in listed(inner))


def _ledger(given: str | Ledger | None, limit: int | None) -> Ledger | None:
    """Return the ledger that was given, or one in a temporary file if there's only a limit."""
    if isinstance(given, (str, os.PathLike)):
        return open_ledger(os.fspath(given))
    if given is not None and not hasattr(given, "reserve"):
        raise InputError(
            f"ledger must be an address such as sqlite:///spend.db or a ledger, not {given!r}"
        )
    if given is not None or limit is None:
        return given
    folder = tempfile.mkdtemp(prefix="brim-")
    made = open_ledger(os.path.join(folder, "spend.db"))
    weakref.finalize(made, _remove, folder, os.getpid())
    return made


def _remove(folder: str, process: int) -> None:
    if os.getpid() == process:  # a child that was forked may end before its parent
        shutil.rmtree(folder, ignore_errors=True)
