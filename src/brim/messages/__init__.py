"""What may leave, and how much room is there?

``fitting`` has ``fit``: it drops or shortens messages until a request fits its model. Each provider
has its module or folder with everything about its messages, reading, rules and repair: ``chat``,
``responses``, ``anthropic``, ``gemini``. What they share is in ``entries`` (a message, read),
``content``, ``markers``, ``thinking``, ``rules`` and ``repairs``. ``layouts`` finds out whose
format a history is in; ``formats`` has ``validate`` and ``repair``.

``drafting`` makes a ``draft`` of a history: units, which ``cuts`` divides, with their prices.
``outcome`` makes of it what comes back: ``receipt``, with the effect on the cache (``caching``).
The pruners are in ``pruners``, ``summarize`` (with ``quoting``), ``watermark``, ``cap`` (with
``shortening``) and ``tiers`` (with ``bench``); ``threads`` runs them and async summarizers.

``budget`` divides a model's window, ``memory`` a working memory between its sections: of ``parts``
the ``assembler`` makes a request, ``account`` says where its tokens went, and ``assembly`` is the
result. ``document`` reads files, ``transcript`` the conversation in a session file, and
``arguments`` checks what callers give.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim._lazy import exports

if TYPE_CHECKING:
    from brim.messages.assembly import Assembly as Assembly
    from brim.messages.assembly import DroppedItem as DroppedItem
    from brim.messages.assembly import WindowSection as WindowSection
    from brim.messages.budget import DEFAULT_CONTEXT_WINDOW as DEFAULT_CONTEXT_WINDOW
    from brim.messages.budget import MODEL_CONTEXT_WINDOWS as MODEL_CONTEXT_WINDOWS
    from brim.messages.budget import RESPONSE_RESERVE_MAX as RESPONSE_RESERVE_MAX
    from brim.messages.budget import RESPONSE_RESERVE_MIN as RESPONSE_RESERVE_MIN
    from brim.messages.budget import RESPONSE_RESERVE_RATIO as RESPONSE_RESERVE_RATIO
    from brim.messages.budget import SAFETY_BUFFER_RATIO as SAFETY_BUFFER_RATIO
    from brim.messages.budget import Reserves as Reserves
    from brim.messages.budget import TokenBudget as TokenBudget
    from brim.messages.budget import TokenBudgetCalculator as TokenBudgetCalculator
    from brim.messages.cap import ToolResultCap as ToolResultCap
    from brim.messages.cap import shorten as shorten
    from brim.messages.entries import PROVIDERS as PROVIDERS
    from brim.messages.entries import Provider as Provider
    from brim.messages.fitting import Fitted as Fitted
    from brim.messages.fitting import fit as fit
    from brim.messages.formats import repair as repair
    from brim.messages.formats import validate as validate
    from brim.messages.memory import MemoryConfig as MemoryConfig
    from brim.messages.memory import WorkingMemory as WorkingMemory
    from brim.messages.pruners import FifoPruner as FifoPruner
    from brim.messages.pruners import Pruner as Pruner
    from brim.messages.pruners import SlidingWindowPruner as SlidingWindowPruner
    from brim.messages.receipt import CacheEffect as CacheEffect
    from brim.messages.receipt import Change as Change
    from brim.messages.receipt import Decisions as Decisions
    from brim.messages.receipt import Dropped as Dropped
    from brim.messages.receipt import Pruned as Pruned
    from brim.messages.receipt import Receipt as Receipt
    from brim.messages.receipt import Repaired as Repaired
    from brim.messages.receipt import Step as Step
    from brim.messages.receipt import Violation as Violation
    from brim.messages.summarize import SummarizePruner as SummarizePruner
    from brim.messages.summarize import Summarizer as Summarizer
    from brim.messages.tiers import TieredPruner as TieredPruner
    from brim.messages.watermark import WatermarkPruner as WatermarkPruner
else:
    __getattr__, __dir__ = exports(
        __name__,
        assembly="Assembly DroppedItem WindowSection",
        budget=(
            "DEFAULT_CONTEXT_WINDOW MODEL_CONTEXT_WINDOWS RESPONSE_RESERVE_MAX RESPONSE_RESERVE_MIN"
            " RESPONSE_RESERVE_RATIO SAFETY_BUFFER_RATIO Reserves TokenBudget TokenBudgetCalculator"
        ),
        cap="ToolResultCap shorten",
        entries="PROVIDERS Provider",
        fitting="Fitted fit",
        formats="repair validate",
        memory="MemoryConfig WorkingMemory",
        pruners="FifoPruner Pruner SlidingWindowPruner",
        receipt="CacheEffect Change Decisions Dropped Pruned Receipt Repaired Step Violation",
        summarize="SummarizePruner Summarizer",
        tiers="TieredPruner",
        watermark="WatermarkPruner",
    )
