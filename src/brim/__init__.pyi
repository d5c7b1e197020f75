"""The names of ``brim`` for type checkers and editors; ``__init__.py`` imports them lazily."""

from brim import activation as activation
from brim import agents as agents
from brim import behaviors as behaviors
from brim import guard as guard
from brim import injection as injection
from brim import memory as memory
from brim import messages as messages
from brim import models as models
from brim import spend as spend
from brim import store as store
from brim import tokens as tokens
from brim import tracking as tracking
from brim.errors import BrimError as BrimError
from brim.errors import DoesNotFit as DoesNotFit
from brim.errors import InputError as InputError
from brim.errors import LimitReached as LimitReached
from brim.guard.conversation import Guard as Guard
from brim.messages.fitting import Fitted as Fitted
from brim.messages.fitting import fit as fit
from brim.messages.formats import repair as repair
from brim.messages.formats import validate as validate
from brim.messages.pruners import prune as prune
from brim.models.catalog import cost as cost
from brim.models.catalog import model as model
from brim.tokens.count import Count as Count
from brim.tokens.counters import count as count
from brim.tokens.counters import counter_for as counter_for

__version__: str
