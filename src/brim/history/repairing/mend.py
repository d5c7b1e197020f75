"""Repairs a history: passes over it, each for one kind of fault, until none finds anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from brim.history.reading.detect import provider_of
from brim.history.reading.history import as_list
from brim.history.repairing import anthropic, chat, gemini, responses
from brim.history.repairing.draft import Draft, Pass, Slot
from brim.history.types import Repaired

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brim.history.types import Provider

PASSES: dict[Provider, tuple[Pass, ...]] = {
    "openai": chat.PASSES,
    "responses": responses.PASSES,
    "anthropic": anthropic.PASSES,
    "gemini": gemini.PASSES,
}
ROUNDS = 20
"""What one pass changes can be another one's fault: an orphan that leaves brings its neighbours together. Two rounds or
three are the rule."""


def repair(
    messages: Sequence[Any], provider: Provider | Literal["auto"] = "auto", *, restore_calls: bool = False
) -> Repaired:
    """Return *messages* with the smallest change that *provider* accepts, and every change that it took.

    - A result that stands in the wrong place is moved to its call. A result without a call is removed, and its text is
      in the list of changes; with *restore_calls* it stays, and a call without arguments is put before it.
    - A call without a result gets one that says so.
    - Ids that are missing or used twice are given anew, on both sides; empty texts go; unknown roles become known ones.
    - Nothing is lost: every text is in the messages or in the changes. Messages that need no change are the caller's
      own objects, and none is changed in place; what is added is dicts.
    - A valid history comes back as it is, and so does a repaired one.

    >>> repair([{"role": "user", "content": "Hi"}, {"role": "tool", "tool_call_id": "a", "content": "42"}])
    Repaired(messages=[{'role': 'user', 'content': 'Hi'}],
        changes=(Change(index=1, rule='result-has-call', action='removed', text='42'),))
    """
    several = as_list(messages)
    found = provider_of(several, provider)
    draft = Draft([Slot(index, message) for index, message in enumerate(several)], found, restore_calls)
    for _ in range(ROUNDS):
        before = len(draft.changes)
        for mend in PASSES[found]:
            mend(draft)
        if len(draft.changes) == before:
            break
    changes = sorted(draft.changes, key=lambda change: change.index)
    return Repaired([slot.message for slot in draft.slots], tuple(changes))
