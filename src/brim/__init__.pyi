"""The names of ``brim`` for type checkers and editors; ``__init__.py`` imports them lazily."""

from brim import adapters as adapters
from brim import agents as agents
from brim import config as config
from brim import guard as guard
from brim import memory as memory
from brim import messages as messages
from brim import models as models
from brim import money as money
from brim import rules as rules
from brim import sessions as sessions
from brim import tokens as tokens
from brim.errors import BrimError as BrimError
from brim.errors import DoesNotFit as DoesNotFit
from brim.errors import InputError as InputError
from brim.errors import LimitReached as LimitReached
from brim.errors import UnknownPrice as UnknownPrice
from brim.guard.conversation import Guard as Guard
from brim.memory.model import ScratchModel as ScratchModel
from brim.memory.writer import ScratchWriter as ScratchWriter
from brim.messages.budget import TokenBudgetCalculator as TokenBudgetCalculator
from brim.messages.fitting import Fitted as Fitted
from brim.messages.fitting import fit as fit
from brim.messages.formats import repair as repair
from brim.messages.formats import validate as validate
from brim.messages.memory import MemoryConfig as MemoryConfig
from brim.messages.memory import WorkingMemory as WorkingMemory
from brim.models.catalog import cost as cost
from brim.models.catalog import model as model
from brim.money.budget import CostBudget as CostBudget
from brim.money.ledger import Ledger as Ledger
from brim.money.opening import open_ledger as open_ledger
from brim.rules.activation import activate as activate
from brim.rules.library_rule import Rule as Rule
from brim.rules.mapper import ActivationTierMapper as ActivationTierMapper
from brim.rules.session import Session as Session
from brim.rules.text import render as render
from brim.sessions.window.budget import ContextBudget as ContextBudget
from brim.tokens.count import Count as Count
from brim.tokens.counters import count as count
from brim.tokens.counters import counter_for as counter_for
from brim.usd import Money as Money

__version__: str
