"""Around your call: does it fit, and may it still spend?

``fitting`` has ``fit``, which makes a request fit the model. ``tiers`` is how a long conversation
is made to fit in steps. ``conversation`` has ``Guard``, which fits, reserves, settles and measures
every call of a conversation. ``fake`` is a model without a network, for examples and tests.
"""

from brim.guard.conversation import Call as Call
from brim.guard.conversation import Guard as Guard
from brim.guard.fitting import Fitted as Fitted
from brim.guard.fitting import fit as fit
from brim.guard.tiers import TieredPruner as TieredPruner
