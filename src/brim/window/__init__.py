"""How much room is there?

``budget`` divides a model's window between the messages, the directive, the response and what may
be injected. ``memory`` divides a working memory between its sections, says what is left for
history, and assembles the request. For that, ``assembler`` reads the arguments, decides what leaves
and accounts for every token; ``assembly`` is the result.
"""

from brim.window.assembly import Assembly as Assembly
from brim.window.assembly import DroppedItem as DroppedItem
from brim.window.assembly import WindowSection as WindowSection
from brim.window.budget import DEFAULT_CONTEXT_WINDOW as DEFAULT_CONTEXT_WINDOW
from brim.window.budget import MODEL_CONTEXT_WINDOWS as MODEL_CONTEXT_WINDOWS
from brim.window.budget import RESPONSE_RESERVE_MAX as RESPONSE_RESERVE_MAX
from brim.window.budget import RESPONSE_RESERVE_MIN as RESPONSE_RESERVE_MIN
from brim.window.budget import RESPONSE_RESERVE_RATIO as RESPONSE_RESERVE_RATIO
from brim.window.budget import SAFETY_BUFFER_RATIO as SAFETY_BUFFER_RATIO
from brim.window.budget import Reserves as Reserves
from brim.window.budget import TokenBudget as TokenBudget
from brim.window.budget import TokenBudgetCalculator as TokenBudgetCalculator
from brim.window.memory import MemoryConfig as MemoryConfig
from brim.window.memory import WorkingMemory as WorkingMemory
