"""Around your call: does it fit, and may it still spend?

``conversation`` has ``Guard``, which fits, reserves, settles and measures every call of a
conversation; ``cut`` is what it has left out so far. ``call`` is one of its calls, ``requests``
has parts of requests. ``fake`` is a model without a network, for examples and tests.
"""

from brim.guard.call import Call as Call
from brim.guard.conversation import Guard as Guard
