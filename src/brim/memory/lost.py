"""What a compaction lost: the things, how they came back, and what that took."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from brim.memory.comparison import KINDS
from brim.memory.ranking import OTHER
from brim.record import PlainData

MOST_ITEMS = 200
"""Lost things that are named per compaction; the counts are of all."""

BASIS = "estimated from bytes by the session's billed ratio"
GUESSED = "estimated from bytes by the model's vocabulary; the session is too short to say more"


@dataclass(frozen=True, slots=True)
class LostFact(PlainData):
    """A thing that a compaction lost, and how it came back."""

    kind: str
    """``instruction``, ``decision``, ``file`` or ``command``."""
    text: str
    uses: int
    """How often it was used before."""
    back: str = ""
    """``read``, ``changed`` or ``run`` by the agent, said by ``you`` or a ``hook``; empty if it
    never came back."""
    turns: int = 0
    tokens: int = 0
    """What the agent took to find it again."""
    level: int = OTHER
    """How much it mattered that it came back: 0 for a person's own words, 5 for the rest."""
    given_back: bool = False
    """Whether brim gave it back."""
    used_again: bool = False
    """Whether the agent read, changed or ran it afterwards."""

    @property
    def is_usable(self) -> bool:
        """Whether an agent can use it: nobody can tell whether it followed an instruction."""
        return self.kind in ("file", "command")


@dataclass(frozen=True, slots=True)
class CompactionReport(PlainData):
    """What one compaction lost."""

    time: float | None
    session: str
    agent: str = ""
    """The client: ``claude``, ``codex`` or ``gemini``."""
    sub_agent: str = ""
    """Whose window it was; empty is the main thread's."""
    trigger: str = ""
    before: int | None = None
    after: int | None = None
    in_window: Mapping[str, int] = field(default_factory=dict)
    """How many things of each kind the window held."""
    lost: Mapping[str, int] = field(default_factory=dict)
    """How many of them were in nothing that stood in it afterwards."""
    came_back: Mapping[str, int] = field(default_factory=dict)
    """How many of the lost ones the agent found again, or was told again."""
    items: tuple[LostFact, ...] = ()
    """Lost things, masked, in the order in which they come back. At most 200."""
    turns: int = 0
    tokens: int = 0
    """What finding things again took in all."""
    readable: bool = True
    """False if the client wrote no summary that can be read: then what is lost isn't known."""
    basis: str = BASIS
    """What ``tokens`` rests on."""
    steps: int | None = None
    """Calls until the first edit afterwards; None if there was none yet."""

    @property
    def never(self) -> tuple[LostFact, ...]:
        """What never came back."""
        return tuple([item for item in self.items if not item.back])

    @property
    def given_back(self) -> tuple[LostFact, ...]:
        """What brim gave back."""
        return tuple([item for item in self.items if item.given_back])

    @property
    def total_lost(self) -> int:
        """How many things were lost in all."""
        return sum(self.lost.values())

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON.

        ``counts`` has for each kind how many things there were and how many were lost, ``lost``
        the things themselves.
        """
        values = asdict(self)
        values["counts"] = {}
        for kind in KINDS:
            if self.in_window.get(kind):
                values["counts"][kind] = [self.in_window[kind], self.lost.get(kind, 0)]
        values["lost"] = values.pop("items")
        del values["in_window"]
        return values

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Return what ``to_dict`` wrote."""
        fields = dict(values)
        counts = fields.pop("counts", {})
        fields["items"] = tuple([LostFact(**item) for item in fields.get("lost", ())])
        fields["in_window"] = {kind: pair[0] for kind, pair in counts.items()}
        fields["lost"] = {kind: pair[1] for kind, pair in counts.items()}
        return cls(**fields)
