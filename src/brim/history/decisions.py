"""What a pruner has decided so far, small enough to keep beside a transcript.

Transcript and decisions give the same view in any process: that is what keeps the provider's prompt cache warm.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from brim.errors import InputError
from brim.tokens.anchor import digests

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

VERSION = 1


@dataclass(frozen=True, slots=True)
class Decisions:
    """Everything before ``cut`` has left, but for ``kept``. The beginning that this was decided on has ``digest``."""

    cut: int = 0
    """The first message of the run that stays; all after it stay too."""
    kept: tuple[int, ...] = ()
    """Messages before the cut that stay."""
    digest: str = ""
    """Identifies the messages before the cut; empty if they cannot be written down, and then it matches nothing."""
    cuts: int = 0
    """How often it was cut."""

    def view(self, messages: Sequence[Any]) -> list[int] | None:
        """Return the places in *messages* that stay; None if these decisions were made on another transcript."""
        if not self.cut:
            return list(range(len(messages)))
        if not self.digest or self.cut > len(messages) or _digest(messages[: self.cut]) != self.digest:
            return None
        return [*self.kept, *range(self.cut, len(messages))]

    def to_json(self) -> str:
        """Return the decisions as one line of JSON."""
        return json.dumps({"version": VERSION, **asdict(self)}, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Decisions:
        """Return the decisions that ``to_json`` wrote; ``InputError`` for anything else."""
        try:
            found = json.loads(text)
            version = found.pop("version")
            decisions = cls(**{**found, "kept": tuple(found["kept"])})
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise InputError("decisions: this is not what WatermarkPruner wrote; begin anew without them") from None
        if version != VERSION:
            raise InputError(f"decisions: version {version!r} is not {VERSION}; begin anew without them")
        return decisions

    def __post_init__(self) -> None:
        numbers = (self.cut, self.cuts, *self.kept)
        if any(not isinstance(number, int) or isinstance(number, bool) or number < 0 for number in numbers):
            raise InputError(f"decisions: places must be whole numbers from 0 on, not {numbers!r}")
        if list(self.kept) != sorted(set(self.kept)) or (self.kept and self.kept[-1] >= self.cut):
            raise InputError(f"decisions: kept must be in order and before the cut at {self.cut}, not {self.kept!r}")
        if not isinstance(self.digest, str):
            raise InputError(f"decisions: digest must be a text, not {self.digest!r}")


def decide(messages: Sequence[Any], indices: Sequence[int], broken: Collection[int], earlier: Decisions) -> Decisions:
    """Return the decision to keep the messages at the places *indices*, and all that follow the last of them.

    The cut lies before the run of kept messages that reaches to the end; what lies before it is named one by one.
    *broken* messages do not end the run: a call that waits for its result now will have it in the next turn.
    """
    stays = {*indices, *broken}
    cut = len(messages)
    while cut and cut - 1 in stays:
        cut -= 1
    kept = tuple(place for place in indices if place < cut)
    return Decisions(cut, kept, _digest(messages[:cut]), earlier.cuts + 1)


def _digest(messages: Sequence[Any]) -> str:
    """Return what identifies *messages*; empty if one of them cannot be written down."""
    last, read = "", 0
    for last in digests(messages, None, ""):  # noqa: B007
        read += 1
    return last if read == len(messages) else ""
