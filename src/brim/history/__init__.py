"""What may leave?

A history is pruned so that its provider still accepts it. ``entries`` is what was read in a
message; ``content`` its text, and changed copies. One module per provider reads, checks and repairs
its format: ``chat``, ``responses``, ``anthropic``, ``gemini``, with what they share in ``rules``
and ``repairs``. ``formats`` finds the format of a history, and has ``validate`` and ``repair``.

``broken`` says what can't be sent, ``cuts`` where a history may be cut; ``draft`` holds one while
it is pruned, and selects; ``receipt`` is what comes back, with the decisions of a cut. The pruners
are in ``pruners``, ``summarize``, ``watermark`` and ``cap``, which also shortens the newest step
when it would have to leave. ``transcript`` finds the conversation in a session file. ``validate``
shares only the reading with the pruners, because it is what they are tested against.
"""

from brim.history.cap import ToolResultCap as ToolResultCap
from brim.history.cap import shorten as shorten
from brim.history.entries import PROVIDERS as PROVIDERS
from brim.history.entries import Provider as Provider
from brim.history.formats import repair as repair
from brim.history.formats import validate as validate
from brim.history.pruners import FifoPruner as FifoPruner
from brim.history.pruners import Pruner as Pruner
from brim.history.pruners import SlidingWindowPruner as SlidingWindowPruner
from brim.history.pruners import prune as prune
from brim.history.receipt import CacheEffect as CacheEffect
from brim.history.receipt import Change as Change
from brim.history.receipt import Decisions as Decisions
from brim.history.receipt import Dropped as Dropped
from brim.history.receipt import Pruned as Pruned
from brim.history.receipt import Receipt as Receipt
from brim.history.receipt import Repaired as Repaired
from brim.history.receipt import Step as Step
from brim.history.receipt import Violation as Violation
from brim.history.summarize import SummarizePruner as SummarizePruner
from brim.history.summarize import Summarizer as Summarizer
from brim.history.watermark import WatermarkPruner as WatermarkPruner
